//! The text form of interfaces: `GET /cart/{}`, `shop.Cart/GetCart`.
//!
//! Two words are HTTP, one is gRPC. Owns how half an interface is told from a
//! gRPC name; wildcards are added by `pattern`.

use std::fmt::{self, Write};

use super::SyntaxError;
use super::lexer::{Cursor, Word};
use super::point::literal;
use super::text::{IN_FRAME, Stops, write_literal, write_quoted};
use crate::Interface;

const EXPECTED: &str =
    "expected an interface: `METHOD /path`, or `package.Service/Method` for gRPC";

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_interface(f, self, IN_FRAME)
    }
}

pub(super) fn write_interface(
    f: &mut impl Write,
    interface: &Interface,
    stops: Stops,
) -> fmt::Result {
    match interface {
        Interface::Http { method, path } => {
            write_literal(f, method, stops)?;
            f.write_char(' ')?;
            match path.contains('?') {
                // Without quotes, a query would begin there.
                true => write_quoted(f, path),
                false => write_literal(f, path, stops),
            }
        }
        Interface::Grpc { service, method } => {
            let name = format!("{service}/{method}");
            match looks_like_path(&name) {
                true => write_quoted(f, &name),
                false => write_literal(f, &name, stops),
            }
        }
    }
}

/// The interface that none, one or two words behind a destination spell out.
pub(super) fn interface(
    cursor: &Cursor<'_>,
    destination: &Word<'_>,
    words: &[Word<'_>],
) -> Result<Interface, SyntaxError> {
    match words {
        [method, path] => Ok(Interface::http(
            literal(cursor, method)?,
            literal(cursor, path)?,
        )),
        [name] => {
            check_grpc_name(cursor, name)?;
            match literal(cursor, name)?.rsplit_once('/') {
                Some((service, method)) => Ok(Interface::grpc(service, method)),
                None => Err(not_an_interface(cursor, name)),
            }
        }
        _ => {
            let end = destination.raw.range().end;
            Err(cursor.error(end..end, EXPECTED, "the interface is missing"))
        }
    }
}

/// Refuses a lone word that is more likely half of an HTTP interface than a
/// gRPC name. In quotes it is taken at its word.
pub(super) fn check_grpc_name(cursor: &Cursor<'_>, word: &Word<'_>) -> Result<(), SyntaxError> {
    let half = match word.literal() {
        Some(name) => looks_like_path(name) || !name.contains('/'),
        None => looks_like_path(word.raw.text),
    };
    match half && !word.begins_quoted() {
        true => Err(not_an_interface(cursor, word)),
        false => Ok(()),
    }
}

/// Whether a gRPC name would be taken for a path whose method is missing.
pub(super) fn looks_like_path(name: &str) -> bool {
    name.starts_with('/')
}

fn not_an_interface(cursor: &Cursor<'_>, word: &Word<'_>) -> SyntaxError {
    let raw = word.raw;
    let error = cursor.error(raw.range(), EXPECTED, "not an interface");
    match looks_like_path(raw.text) {
        true => error.with_hint(format!(
            "put the method before the path, as in `GET {}`",
            raw.text.escape_debug()
        )),
        false => error.with_hint("an HTTP interface is a method and a path, as in `GET /cart`"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_refused;
    use crate::Point;

    #[test]
    fn half_an_interface_is_refused_with_its_place() {
        let cases = [
            ("cart", "", "the interface is missing"),
            ("cart GET", "GET", "as in `GET /cart`"),
            ("cart /cart", "/cart", "as in `GET /cart`"),
            (r#"cart "x""#, r#""x""#, "not an interface"),
        ];
        for (text, at, says) in cases {
            assert_refused::<Point>(text, at, says);
        }
    }
}
