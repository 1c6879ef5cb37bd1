//! `{NAME.url}` and its like, found in a text.
//!
//! Owns the check that a template can be filled in. Filling it in is the live
//! world's job, which alone knows addresses.

use super::Span;

/// What can be said of a service.
pub(super) const PROPERTIES: [&str; 4] = ["url", "address", "host", "port"];

/// A placeholder in a template.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Placeholder<'t> {
    /// `{port}`: the service's own.
    OwnPort,
    /// `{NAME.property}`, with one of [`PROPERTIES`].
    Of {
        /// The service.
        service: &'t str,
    },
}

/// A text that is no template.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoTemplate<'t> {
    /// Where.
    pub(super) part: Span,
    /// What stands between the braces; `None` where one is alone.
    pub(super) inside: Option<&'t str>,
}

/// The placeholders of a template with their places, braces included.
pub(super) fn names(text: &str) -> Result<Vec<(Span, Placeholder<'_>)>, NoTemplate<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(brace) = text[at..].find(['{', '}']).map(|offset| at + offset) {
        let rest = &text[brace..];
        if rest.starts_with("{{") || rest.starts_with("}}") {
            at = brace + 2;
            continue;
        }
        let alone = |part| NoTemplate { part, inside: None };
        if rest.starts_with('}') {
            return Err(alone(brace..brace + 1));
        }
        let length = rest.find('}').ok_or(alone(brace..text.len()))?;
        let (part, inside) = (brace..brace + length + 1, &rest[1..length]);
        let placeholder = placeholder(inside).ok_or(NoTemplate {
            part: part.clone(),
            inside: Some(inside),
        })?;
        at = part.end;
        found.push((part, placeholder));
    }
    Ok(found)
}

fn placeholder(inside: &str) -> Option<Placeholder<'_>> {
    if inside == "port" {
        return Some(Placeholder::OwnPort);
    }
    let (service, property) = inside.split_once('.')?;
    PROPERTIES
        .contains(&property)
        .then_some(Placeholder::Of { service })
}

/// A word typed by someone who knows nothing of templates: only what names a
/// service is a placeholder, other braces are meant literally.
pub(super) fn of_typed(word: &str, is_service: impl Fn(&str) -> bool) -> String {
    let mut template = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(brace) = rest.find(['{', '}']) {
        template.push_str(&rest[..brace]);
        rest = &rest[brace..];
        let end = rest.find('}').unwrap_or(0) + 1;
        let meant = rest.get(1..end - 1).and_then(placeholder);
        let length = match meant {
            Some(Placeholder::Of { service }) if is_service(service) => {
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

    #[test]
    fn placeholders_are_found_and_doubled_braces_are_not() {
        let service = |service| Placeholder::Of { service };
        assert_eq!(names("plain {{x}} }}").unwrap(), []);
        assert_eq!(
            names("{cart.url}/x?p={port}&{a-b.port}").unwrap(),
            [
                (0..10, service("cart")),
                (15..21, Placeholder::OwnPort),
                (22..32, service("a-b")),
            ]
        );
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
            let refused = names(text).unwrap_err();
            assert_eq!((&text[refused.part], refused.inside), (wrong, inside));
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
}
