//! The text form of points: `checkout POST /checkout > cart GET /cart #2`.
//!
//! Owns the strict reading of a chain, in which every frame is spelled out.

use std::fmt::{self, Write};
use std::str::FromStr;

use super::SyntaxError;
use super::frame::{Chain, RawFrame, expect_end, read_chain};
use super::interface::{interface, write_interface};
use super::lexer::{Cursor, Word};
use super::options;
use super::text::{IN_FRAME, write_literal};
use crate::{Attempts, Frame, Point, Text};

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_frame(f, self, Attempts::Exactly(self.count))
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_point(f, self, Attempts::Exactly(self.frame().count))
    }
}

impl FromStr for Point {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        let mut cursor = Cursor::new("point", text);
        let chain = read_chain(&mut cursor)?;
        expect_end(&mut cursor)?;
        from_chain(&cursor, &chain)
    }
}

impl FromStr for Frame {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        let mut cursor = Cursor::new("call", text);
        let chain = read_chain(&mut cursor)?;
        expect_end(&mut cursor)?;
        let point = from_chain(&cursor, &chain)?;
        match point.depth() {
            1 => Ok(point.frame().clone()),
            _ => Err(cursor.error(0..text.len(), "one call is expected", "a chain of calls")),
        }
    }
}

/// Writes a point whose last frame stands for these attempts.
pub(super) fn write_point(f: &mut impl Write, point: &Point, last: Attempts) -> fmt::Result {
    for ancestor in point.frames().iter().rev().skip(1).rev() {
        write!(f, "{ancestor} > ")?;
    }
    write_frame(f, point.frame(), last)
}

fn write_frame(f: &mut impl Write, frame: &Frame, count: Attempts) -> fmt::Result {
    write_literal(f, &frame.destination, IN_FRAME)?;
    f.write_char(' ')?;
    write_interface(f, &frame.interface, IN_FRAME)?;
    write_count(f, count, Attempts::Exactly(1))?;
    let payload = frame.payload.map(|hash| hash.to_string());
    let site = frame.site.as_ref().map(|site| Text::exactly(site));
    options::write(
        f,
        payload.as_deref(),
        frame.predecessors.as_ref(),
        site.as_ref(),
    )
}

/// Writes which attempts are meant, unless it is what a missing `#` says.
pub(super) fn write_count(f: &mut impl Write, count: Attempts, unsaid: Attempts) -> fmt::Result {
    match count {
        _ if count == unsaid => Ok(()),
        Attempts::Exactly(n) => write!(f, " #{n}"),
        Attempts::UpTo(n) => write!(f, " #..{n}"),
        Attempts::Any => f.write_str(" #*"),
    }
}

fn from_chain(cursor: &Cursor<'_>, chain: &Chain<'_>) -> Result<Point, SyntaxError> {
    if let Some(stars) = chain.anywhere {
        return Err(cursor
            .error(
                stars.range(),
                "a point begins with the entry call",
                "stands for any path",
            )
            .with_hint("only the targets of faults and other patterns may leave the path open"));
    }
    let frames: Result<Vec<Frame>, _> = chain.frames.iter().map(|raw| frame(cursor, raw)).collect();
    Ok(Point::from_frames(frames?).expect("a chain has at least one frame"))
}

fn frame(cursor: &Cursor<'_>, raw: &RawFrame<'_>) -> Result<Frame, SyntaxError> {
    let site = raw.options.site.as_ref();
    Ok(Frame {
        destination: literal(cursor, &raw.destination)?.into(),
        interface: interface(cursor, &raw.destination, &raw.interface)?,
        payload: raw
            .options
            .body
            .map(|digits| digits.hash(cursor))
            .transpose()?,
        predecessors: raw.options.after.clone(),
        site: site
            .map(|site| literal(cursor, site))
            .transpose()?
            .map(Into::into),
        count: count(cursor, raw)?,
    })
}

fn count(cursor: &Cursor<'_>, raw: &RawFrame<'_>) -> Result<u32, SyntaxError> {
    match &raw.count {
        None => Ok(1),
        Some(count) => match count.attempts {
            Attempts::Exactly(n) => Ok(n),
            _ => Err(cursor.error(
                count.raw.range(),
                "a point is one call",
                "means several calls",
            )),
        },
    }
}

/// The text of a word that must not hold wildcards.
pub(super) fn literal<'w>(cursor: &Cursor<'_>, word: &'w Word<'_>) -> Result<&'w str, SyntaxError> {
    word.literal().ok_or_else(|| {
        cursor
            .error(
                word.raw.range(),
                "expected a text without wildcards",
                "holds a wildcard",
            )
            .with_hint(r#"a plain star is written in quotes: `"*"`"#)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_refused;
    use super::*;
    use crate::{Interface, PayloadHash, Predecessors, Sibling};
    use std::sync::Arc;

    const HASH: &str = "000102030405060708090a0b0c0d0e0f";

    fn hash() -> PayloadHash {
        PayloadHash(std::array::from_fn(|i| i as u8))
    }

    #[test]
    fn a_point_is_written_with_all_it_knows() {
        let sibling = |destination: &str, interface| Sibling {
            destination: destination.into(),
            interface,
            payload: None,
        };
        let with_payload = Sibling {
            payload: Some(hash()),
            ..sibling("pay", Interface::grpc("shop.Pay", "Charge"))
        };
        let siblings = [
            (sibling("cart", Interface::http("GET", "/a;b:7 c")), 1),
            (with_payload, 2),
        ];
        let frame = Frame {
            payload: Some(hash()),
            predecessors: Some(Predecessors(Arc::new(siblings.into()))),
            site: Some("app.py:41".into()),
            ..Frame::new("cart", Interface::http("GET", "/cart/{}")).nth(2)
        };
        let point =
            Point::entry(Frame::new("checkout", Interface::http("POST", "/checkout"))).child(frame);
        let text = format!(
            r#"checkout POST /checkout > cart GET /cart/{{}} #2 {{body={HASH}, after="cart GET \"/a;b:7 c\":1; pay shop.Pay/Charge:2 {{body={HASH}}}", site="app.py:41"}}"#
        );
        assert_eq!(point.to_string(), text);
        assert_eq!(text.parse(), Ok(point));
    }

    #[test]
    fn a_point_may_be_written_in_other_ways_too() {
        let cases = [
            ("  cart\tGET\n/cart  ", "cart GET /cart"),
            ("cart GET /cart #1", "cart GET /cart"),
            (
                r#"cart GET /cart {site=app.py:41 , after=""}"#,
                r#"cart GET /cart {after="", site="app.py:41"}"#,
            ),
            (
                r#"cart GET /cart {after=" "} #3"#,
                r#"cart GET /cart #3 {after=""}"#,
            ),
            (r#""cart" "GET" /"ca rt""#, r#"cart GET "/ca rt""#),
            (r#"cart "/m""#, r#"cart "/m""#),
            ("cart a/b/c", "cart a/b/c"),
        ];
        for (text, written) in cases {
            assert_eq!(text.parse::<Point>().unwrap().to_string(), written);
        }
    }

    #[test]
    fn what_is_no_point_is_refused_with_its_place() {
        let cases = [
            ("", "", "expected the name of a service"),
            ("cart GET /cart >", "", "nothing follows"),
            ("cart GET /cart > > a b/c", ">", "not a name"),
            (
                "cart GET /cart >pay GET /",
                ">pay",
                "white space around `>`",
            ),
            ("cart GET /cart = 503", "=", "a mode is not wanted"),
            ("cart GET /cart more", "more", "a further call, or the end"),
            ("cart GET #2 /cart", "/cart", "does not belong here"),
            ("cart GET /cart #2 #3", "#3", "does not belong here"),
            ("cart GET /cart #0", "#0", "counts begin at 1"),
            ("cart GET /cart #", "#", "not a count"),
            ("cart GET /cart #+1", "#+1", "not a count"),
            ("cart GET /cart #5000000000", "#5000000000", "not a count"),
            ("cart GET /cart #*", "#*", "means several calls"),
            ("#1 GET /cart", "#1", "in quotes"),
            (", GET /cart", ",", "not a name"),
            ("** > cart GET /cart", "**", "begins with the entry call"),
            ("** cart", "**", "any service is `*`"),
            ("a b/c > ** > d e/f", "**", "any path can only come first"),
            ("c* GET /cart", "c*", "without wildcards"),
            ("cart GET /*", "/*", "without wildcards"),
            (r#"cart GET "/cart"#, "\"", "never closed"),
        ];
        for (text, at, says) in cases {
            assert_refused::<Point>(text, at, says);
        }
    }

    #[test]
    fn a_chain_too_deep_to_walk_is_refused() {
        let text = "a b/c > ".repeat(200_000) + "d e/f";
        assert!(
            text.parse::<Point>()
                .unwrap_err()
                .message()
                .contains("at most 1000")
        );
    }
}
