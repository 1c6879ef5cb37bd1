//! `${VAR}` in string values.
//!
//! Owns the syntax: `${VAR}`, `${VAR:-what to use if it is unset or empty}`,
//! and `$$` for a dollar. A `$` before anything else means itself, so JSON
//! paths and prices need no care. Keys are left alone.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Span;

/// Looks up a variable of the environment.
pub type Variables<'v> = &'v dyn Fn(&str) -> Option<String>;

/// Something that cannot be expanded.
pub(super) struct BadVariable {
    /// The value it is in.
    pub(super) value: Span,
    /// The value, and the part of it that is wrong.
    pub(super) text: String,
    pub(super) part: Span,
    pub(super) message: String,
    pub(super) label: String,
    pub(super) hint: String,
}

/// Expands every string value below `table`; what cannot be is left as it is.
pub(super) fn expand(table: &mut DeTable<'_>, variables: Variables<'_>) -> Vec<BadVariable> {
    let mut bad = Vec::new();
    for (_, value) in table.iter_mut() {
        expand_value(value, variables, &mut bad);
    }
    bad
}

fn expand_value(
    value: &mut Spanned<DeValue<'_>>,
    variables: Variables<'_>,
    bad: &mut Vec<BadVariable>,
) {
    let span = value.span();
    match value.get_mut() {
        DeValue::String(text) => match expanded(text, variables) {
            Ok(new) => *text = Cow::Owned(new),
            Err((part, message, label, hint)) => bad.push(BadVariable {
                value: span,
                text: text.to_string(),
                part,
                message,
                label,
                hint,
            }),
        },
        DeValue::Array(items) => {
            for item in items.iter_mut() {
                expand_value(item, variables, bad);
            }
        }
        DeValue::Table(table) => bad.extend(expand(table, variables)),
        _ => {}
    }
}

/// What is wrong: the place, the message, the label and the hint.
type Refused = (Span, String, String, String);

fn expanded(text: &str, variables: Variables<'_>) -> Result<String, Refused> {
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(dollar) = text[at..].find('$').map(|offset| at + offset) {
        result.push_str(&text[at..dollar]);
        let rest = &text[dollar + 1..];
        at = match rest.as_bytes().first() {
            Some(b'$') => {
                result.push('$');
                dollar + 2
            }
            Some(b'{') => {
                let length = rest.find('}').ok_or_else(|| not_closed(text, dollar))?;
                let end = dollar + 1 + length + 1;
                result.push_str(&variable(&rest[1..length], dollar..end, variables)?);
                end
            }
            _ => {
                result.push('$');
                dollar + 1
            }
        };
    }
    result.push_str(&text[at..]);
    Ok(result)
}

/// The value of what stands between the braces.
fn variable(inside: &str, place: Span, variables: Variables<'_>) -> Result<String, Refused> {
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    if !is_name(name) {
        return Err((
            place,
            format!("`{name}` cannot be the name of a variable"),
            "letters, digits and `_` are expected".to_owned(),
            "write `${NAME}`, `${NAME:-default}`, or `$$` for a dollar sign".to_owned(),
        ));
    }
    match (variables(name), default) {
        (Some(value), None) => Ok(value),
        (Some(value), Some(_)) if !value.is_empty() => Ok(value),
        (_, Some(default)) => Ok(default.to_owned()),
        (None, None) => Err((
            place,
            format!("the environment has no variable `{name}`"),
            "not set".to_owned(),
            format!("set it, or give a default: `${{{name}:-…}}`"),
        )),
    }
}

fn not_closed(text: &str, dollar: usize) -> Refused {
    (
        dollar..text.len(),
        "`${` is not closed".to_owned(),
        "no `}` follows".to_owned(),
        "write `${NAME}`, or `$$` for a dollar sign".to_owned(),
    )
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str) -> Option<String> {
        match name {
            "PORT" => Some("5001".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        }
    }

    #[test]
    fn variables_are_replaced_and_other_dollars_stay() {
        let cases = [
            ("127.0.0.1:${PORT}", "127.0.0.1:5001"),
            ("${PORT}${PORT}", "50015001"),
            ("${EMPTY}", ""),
            ("${EMPTY:-x}", "x"),
            ("${NONE:-a:-b c}", "a:-b c"),
            ("${NONE:-}", ""),
            ("$$PORT and $${PORT}", "$PORT and ${PORT}"),
            ("$.items[0], $5, é$", "$.items[0], $5, é$"),
        ];
        for (text, wanted) in cases {
            assert_eq!(expanded(text, &known).unwrap(), wanted, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_replaced_is_refused_with_its_place() {
        let cases = [
            ("a ${NONE} b", "${NONE}"),
            ("a ${PORT", "${PORT"),
            ("a ${} b", "${}"),
            ("${1A}", "${1A}"),
            ("${A-B}", "${A-B}"),
        ];
        for (text, wrong) in cases {
            let (place, ..) = expanded(text, &known).unwrap_err();
            assert_eq!(&text[place], wrong, "{text}");
        }
    }
}
