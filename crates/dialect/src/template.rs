//! Texts with placeholders, for headers and bodies.
//!
//! Owns which placeholders there are. A brace that is not followed by a plain
//! word stands for itself, since JSON is full of them.

use std::str::FromStr;

use serde::Deserialize;

/// A text with placeholders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Placeholder(Placeholder),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placeholder {
    Status,
    Code,
    Message,
    Type,
    Id,
}

const PLACEHOLDERS: [(&str, Placeholder); 5] = [
    ("status", Placeholder::Status),
    ("code", Placeholder::Code),
    ("message", Placeholder::Message),
    ("type", Placeholder::Type),
    ("id", Placeholder::Id),
];

/// What is put in place of the placeholders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Values<'v> {
    pub(crate) status: u16,
    pub(crate) code: &'v str,
    pub(crate) message: &'v str,
    pub(crate) id: &'v str,
}

impl Values<'_> {
    fn of(&self, placeholder: Placeholder) -> String {
        match placeholder {
            Placeholder::Status => self.status.to_string(),
            Placeholder::Code => self.code.to_owned(),
            Placeholder::Message => self.message.to_owned(),
            Placeholder::Type => self.type_().to_owned(),
            Placeholder::Id => self.id.to_owned(),
        }
    }

    /// In the words of AWS: whose fault it is.
    fn type_(&self) -> &'static str {
        match self.status {
            400..=499 => "Sender",
            _ => "Receiver",
        }
    }
}

impl Template {
    pub(crate) fn fill(&self, values: &Values<'_>) -> String {
        let parts = self.0.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Placeholder(placeholder) => values.of(*placeholder),
        });
        parts.collect()
    }
}

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Template {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, word, after)) = next_word(rest) {
            let found = PLACEHOLDERS.iter().find(|(name, _)| *name == word);
            let (_, placeholder) = found.ok_or_else(|| unknown(word))?;
            parts.push(Part::Text(before.to_owned()));
            parts.push(Part::Placeholder(*placeholder));
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned()));
        Ok(Template(parts))
    }
}

/// The first plain word in braces, with what is before and behind it.
fn next_word(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices('{').find_map(|(open, _)| {
        let (word, after) = text[open + 1..].split_once('}')?;
        let plain = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic());
        plain.then_some((&text[..open], word, after))
    })
}

fn unknown(word: &str) -> String {
    let known: Vec<String> = PLACEHOLDERS.map(|(name, _)| format!("{{{name}}}")).into();
    format!(
        "`{{{word}}}` is not a placeholder; there are {}",
        known.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str, status: u16) -> String {
        let values = Values {
            status,
            code: "SlowDown",
            message: "wait",
            id: "murphy-1",
        };
        text.parse::<Template>().unwrap().fill(&values)
    }

    #[test]
    fn placeholders_are_filled_in() {
        assert_eq!(
            filled("{status} {code}: {message} ({id}, {type})", 503),
            "503 SlowDown: wait (murphy-1, Receiver)"
        );
        assert_eq!(filled("{type}", 400), "Sender");
    }

    #[test]
    fn braces_of_json_stand_for_themselves() {
        assert_eq!(
            filled(r#"{"error":{"code":{status},"errors":[{}]}}"#, 503),
            r#"{"error":{"code":503,"errors":[{}]}}"#
        );
        assert_eq!(filled("{ code } {", 503), "{ code } {");
    }

    #[test]
    fn unknown_placeholders_are_refused() {
        let refused = "{cod}".parse::<Template>().unwrap_err();
        assert_eq!(
            refused,
            "`{cod}` is not a placeholder; there are {status}, {code}, {message}, {type}, {id}"
        );
    }
}
