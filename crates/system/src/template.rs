//! Texts that name places not known before a system starts: `{cart.url}`.
//!
//! Owns how such texts are read and filled in; where the places are depends
//! on the service, and is for the wiring to say. Pure, so that a configuration
//! can be checked before anything runs.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use murphy_model::nearest;
pub use murphy_request::{FIELDS, Place, Places};

/// A template that cannot be read or filled in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// Braces that are not a placeholder.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// No service has this name.
    #[error("`{{{name}.{field}}}`: no service is called `{name}`{}; there are {}", meant(.name, .known), .known.join(", "))]
    UnknownService {
        /// The name.
        name: String,
        /// What is asked of it.
        field: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// Only what Murphy starts has a port of its own.
    #[error(
        "`{{port}}` is the port of a service that Murphy starts; here it is nobody's: name the service, as in `{{NAME.port}}`"
    )]
    NoOwnPort,
}

fn meant(name: &str, known: &[String]) -> String {
    let nearest = nearest(name, known.iter().map(String::as_str));
    nearest.map_or_else(String::new, |it| format!("; did you mean `{it}`?"))
}

/// Braces that are neither a placeholder nor doubled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Where they are in the text.
    pub part: Range<usize>,
    /// What is between them; `None` where a brace is alone.
    pub inside: Option<String>,
    text: String,
}

impl std::error::Error for Malformed {}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Malformed { part, inside, text } = self;
        match inside {
            Some(inside) => write!(
                f,
                "`{{{inside}}}` is no template: there are {{NAME.url}}, {{NAME.address}}, {{NAME.host}}, {{NAME.port}} and {{port}}; write `{{{{` and `}}}}` for braces"
            ),
            None => {
                let brace = &text[part.start..part.start + 1];
                write!(
                    f,
                    "a lone `{brace}` in `{text}`; write `{brace}{brace}` for the character itself"
                )
            }
        }
    }
}

/// A piece of a template.
#[derive(Debug, PartialEq, Eq)]
pub enum Part<'t> {
    /// What stands for itself.
    Text(&'t str),
    /// `{port}`: the service's own.
    OwnPort,
    /// `{NAME.field}`: the service, and one of [`FIELDS`].
    Of(&'t str, &'t str),
}

/// Fills in a template. `own` is the port of the service it is for, if Murphy
/// starts it.
pub fn expand(text: &str, places: &Places, own: Option<u16>) -> Result<String, TemplateError> {
    let mut filled = String::with_capacity(text.len());
    for (_, part) in parts(text)? {
        match part {
            Part::Text(piece) => filled.push_str(piece),
            Part::OwnPort => filled.push_str(&own.ok_or(TemplateError::NoOwnPort)?.to_string()),
            Part::Of(name, field) => {
                let place = places.get(name);
                let place = place.ok_or_else(|| TemplateError::UnknownService {
                    name: name.to_owned(),
                    field: field.to_owned(),
                    known: places.keys().cloned().collect(),
                })?;
                filled.push_str(&place.field(field));
            }
        }
    }
    Ok(filled)
}

/// The services that a template names.
pub fn names(text: &str) -> Result<BTreeSet<String>, Malformed> {
    let named = |(_, part)| match part {
        Part::Of(name, _) => Some(String::from(name)),
        Part::Text(_) | Part::OwnPort => None,
    };
    Ok(parts(text)?.into_iter().filter_map(named).collect())
}

/// The pieces of a template with their places, braces included.
pub fn parts(text: &str) -> Result<Vec<(Range<usize>, Part<'_>)>, Malformed> {
    let malformed = |part, inside: Option<&str>| Malformed {
        part,
        inside: inside.map(str::to_owned),
        text: text.to_owned(),
    };
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(brace) = text[at..].find(['{', '}']).map(|offset| at + offset) {
        parts.push((at..brace, Part::Text(&text[at..brace])));
        let rest = &text[brace..];
        if rest.starts_with("{{") || rest.starts_with("}}") {
            at = brace + 2;
            parts.push((brace..at, Part::Text(&rest[..1])));
            continue;
        }
        if rest.starts_with('}') {
            return Err(malformed(brace..brace + 1, None));
        }
        let length = rest.find('}');
        let length = length.ok_or_else(|| malformed(brace..text.len(), None))?;
        at = brace + length + 1;
        let inside = &rest[1..length];
        let part = placeholder(inside).ok_or_else(|| malformed(brace..at, Some(inside)))?;
        parts.push((brace..at, part));
    }
    parts.push((at..text.len(), Part::Text(&text[at..])));
    Ok(parts)
}

fn placeholder(inside: &str) -> Option<Part<'_>> {
    if inside == "port" {
        return Some(Part::OwnPort);
    }
    // Names of services may hold dots themselves.
    let (name, field) = inside.rsplit_once('.')?;
    FIELDS.contains(&field).then_some(Part::Of(name, field))
}

/// A word typed by someone who knows nothing of templates: only what names a
/// service is a placeholder, other braces are meant literally.
pub fn of_typed(word: &str, is_service: impl Fn(&str) -> bool) -> String {
    let mut template = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(brace) = rest.find(['{', '}']) {
        template.push_str(&rest[..brace]);
        rest = &rest[brace..];
        let end = rest.find('}').unwrap_or(0) + 1;
        let length = match rest.get(1..end - 1).and_then(placeholder) {
            Some(Part::Of(service, _)) if is_service(service) => {
                template.push_str(&rest[..end]);
                end
            }
            _ => {
                template.push_str(&rest[..1].repeat(2));
                1
            }
        };
        rest = &rest[length..];
    }
    template + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn places() -> Places {
        let place = |address: &str| Place::parse(address).unwrap();
        let all = [
            ("cart", "127.0.0.1:4711"),
            ("cart.v2", "[::1]:80"),
            ("payment", "payment.local:8080"),
        ];
        all.map(|(name, address)| (name.to_owned(), place(address)))
            .into()
    }

    #[test]
    fn templates_are_filled_in() {
        let cases = [
            ("", ""),
            ("plain", "plain"),
            ("{cart.url}/items", "http://127.0.0.1:4711/items"),
            ("{cart.address}", "127.0.0.1:4711"),
            ("{payment.host}:{payment.port}", "payment.local:8080"),
            ("{cart.v2.url} {cart.v2.host}", "http://[::1]:80 ::1"),
            ("--port={port}", "--port=99"),
            ("{{\"a\": {port}}}", "{\"a\": 99}"),
            ("{{cart.url}}", "{cart.url}"),
            ("é{port}é", "é99é"),
        ];
        for (text, filled) in cases {
            assert_eq!(expand(text, &places(), Some(99)).as_deref(), Ok(filled));
        }
    }

    #[test]
    fn what_cannot_be_filled_in_is_refused_with_a_way_out() {
        let cases = [
            (
                "{carts.url}",
                "no service is called `carts`; did you mean `cart`?",
            ),
            ("{zebra.url}", "there are cart, cart.v2, payment"),
            ("{cart.ulr}", "`{cart.ulr}` is no template"),
            ("{\"a\": 1}", "write `{{` and `}}` for braces"),
            ("{cart.url", "a lone `{` in `{cart.url`"),
            ("cart.url}", "write `}}` for the character itself"),
            ("{port}", "is the port of a service that Murphy starts"),
        ];
        for (text, says) in cases {
            let error = expand(text, &places(), None).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn names_are_found_without_places() {
        let text = "{cart.url} {port} {cart.port} {payment.host} {{x.url}}";
        let found: Vec<_> = names(text).unwrap().into_iter().collect();
        assert_eq!(found, ["cart", "payment"]);
    }

    #[test]
    fn what_is_no_placeholder_is_refused_with_its_place() {
        let cases = [
            ("x {cart}", "{cart}", Some("cart")),
            ("{cart.uri}", "{cart.uri}", Some("cart.uri")),
            ("{}", "{}", Some("")),
            ("a } b", "}", None),
            ("a {b.url", "{b.url", None),
        ];
        for (text, wrong, inside) in cases {
            let refused = parts(text).unwrap_err();
            assert_eq!(
                (&text[refused.part], refused.inside.as_deref()),
                (wrong, inside)
            );
        }
    }

    #[test]
    fn typed_braces_are_literal_unless_they_name_a_service() {
        let cases = [
            (r#"{"a": {"b": 1}}"#, r#"{{"a": {{"b": 1}}}}"#),
            ("{cart.url}/x", "{cart.url}/x"),
            ("{shop.url}", "{{shop.url}}"),
            ("{port} } {", "{{port}} }} {{"),
            ("plain", "plain"),
        ];
        for (typed, template) in cases {
            assert_eq!(of_typed(typed, |name| name == "cart"), template);
        }
    }

    #[test]
    fn places_need_a_host_and_a_port() {
        for text in ["cart", ":80", "cart:", "cart:x", "cart:70000"] {
            assert_eq!(Place::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_survives_with_its_braces_doubled(text in ".{0,60}") {
            let doubled = text.replace('{', "{{").replace('}', "}}");
            prop_assert_eq!(expand(&doubled, &places(), None), Ok(text));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[{}a-z.é]{0,30}") {
            let known = names(&text).is_ok_and(|names| names.iter().all(|n| places().contains_key(n)));
            prop_assert_eq!(expand(&text, &places(), Some(1)).is_ok(), known);
        }
    }
}
