//! From text to [`Root`], with every error at its place.
//!
//! Owns how the parser's and serde's complaints are put into words. Serde
//! stops at the first wrong key, so what it stops at is taken out and the rest
//! is read again: several mistakes are told at once.

use murphy_model::nearest;
use serde::Deserialize;
use toml::de::{DeTable, DeValue, Deserializer};

use super::Span;
use super::file::File;
use super::raw::Root;
use super::variables::{self, BadVariable, Variables};
use crate::usage::Usage;

/// Tables of which no key is needed: without one of them that is wrong, the
/// rest of the file still means what it says.
const OPTIONAL: [&str; 10] = [
    "search", "identity", "context", "inject", "dialects", "oracles", "response", "retries",
    "report", "store",
];

/// Reads the file, with variables of the environment filled in. What comes
/// with it is wrong and was left out; the rest is worth checking all the same.
pub(super) fn read(
    file: &File,
    variables: Variables<'_>,
) -> Result<(Root, Vec<Usage>), Vec<Usage>> {
    let (mut table, errors) = DeTable::parse_recoverable(file.text());
    if !errors.is_empty() {
        return Err(errors.iter().map(|error| broken(file, error)).collect());
    }
    let unset = variables::expand(table.get_mut(), variables);
    let mut problems: Vec<Usage> = unset.into_iter().map(|bad| unset_at(file, bad)).collect();
    let mut is_whole = problems.is_empty();
    loop {
        let error = match Root::deserialize(Deserializer::from(table.clone())) {
            Ok(root) if is_whole => return Ok((root, problems)),
            Ok(_) => return Err(problems),
            Err(error) => error,
        };
        let path = path_to(table.get_ref(), &error.span().unwrap_or(0..0));
        problems.push(misshapen(file, &path, &error));
        is_whole &= path.len() > 1 && OPTIONAL.contains(&path[0].as_str());
        let is_missing = error.message().starts_with(MISSING);
        if is_missing || !take_out(table.get_mut(), &path) {
            return Err(problems);
        }
    }
}

/// Takes out what these keys lead to, or the list that it is in.
fn take_out(table: &mut DeTable<'_>, path: &[String]) -> bool {
    let Some((first, rest)) = path.split_first() else {
        return false;
    };
    match table.get_mut(first.as_str()).map(|value| value.get_mut()) {
        Some(DeValue::Table(inner)) if !rest.is_empty() => take_out(inner, rest),
        _ => table.remove(first.as_str()).is_some(),
    }
}

/// How serde begins to say that a key is needed.
const MISSING: &str = "missing field ";

/// Not TOML at all.
fn broken(file: &File, error: &toml::de::Error) -> Usage {
    let span = error.span().unwrap_or(0..0);
    let message = error.message();
    let (message, label) = match message.split_once(", expected ") {
        Some((message, "nothing")) => (message, "not expected here".to_owned()),
        Some((message, expected)) => (message, format!("{expected} is expected")),
        None => (message, "here".to_owned()),
    };
    file.refusal(&span, format!("this is not TOML: {message}"), label)
        .hint("texts stand in quotes, tables in [brackets], `#` begins a comment")
}

fn unset_at(file: &File, bad: BadVariable) -> Usage {
    let span = file.inside(&bad.value, &bad.text, bad.part);
    file.refusal(&span, bad.message, bad.label).hint(bad.hint)
}

/// TOML, but not what belongs into this file.
fn misshapen(file: &File, path: &[String], error: &toml::de::Error) -> Usage {
    let span = error.span().unwrap_or(0..0);
    let message = error.message();
    if let Some(rest) = message.strip_prefix("unknown field ") {
        return unknown_key(file, &span, path, rest);
    }
    if let Some(rest) = message.strip_prefix(MISSING) {
        return file
            .refusal(
                &span,
                format!("{} needs a key {rest}", table(path)),
                "it is missing",
            )
            .hint("`murphy init --full` shows and explains all keys");
    }
    let what = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "));
    if let Some((fact, expected)) = what.and_then(|what| what.split_once(", expected ")) {
        let message = format!("{} must be {}", key(path), plain(expected));
        return file
            .refusal(&span, message, format!("this is {}", article(fact)))
            .hint("`murphy init --full` shows and explains all keys");
    }
    file.refusal(&span, message, "here")
        .hint("`murphy init --full` shows and explains all keys")
}

/// `rest` is serde's: a word in backticks and the list of those expected.
fn unknown_key(file: &File, span: &Span, path: &[String], rest: &str) -> Usage {
    let mut words = rest.split('`').skip(1).step_by(2);
    let word = words.next().unwrap_or("");
    let known: Vec<&str> = words.collect();
    let parent = &path[..path.len().saturating_sub(1)];
    let hint = match nearest(word, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("there are {}", known.join(", ")),
    };
    let message = format!("{} has no key `{word}`", table(parent));
    file.refusal(span, message, "not a key here").hint(hint)
}

/// The keys that lead to the value, or to the key, at `span`.
fn path_to(table: &DeTable<'_>, span: &Span) -> Vec<String> {
    for (key, value) in table.iter() {
        let name = || key.get_ref().to_string();
        if key.span() == *span {
            return vec![name()];
        }
        let inner = inside(value.get_ref(), span);
        if !inner.is_empty() || value.span() == *span {
            return [vec![name()], inner].concat();
        }
    }
    Vec::new()
}

fn inside(value: &DeValue<'_>, span: &Span) -> Vec<String> {
    match value {
        DeValue::Table(table) => path_to(table, span),
        DeValue::Array(items) => {
            let paths = items.iter().enumerate().map(|(i, item)| {
                let inner = inside(item.get_ref(), span);
                match inner.is_empty() && item.span() != *span {
                    true => Vec::new(),
                    false => [vec![i.to_string()], inner].concat(),
                }
            });
            paths
                .into_iter()
                .find(|path| !path.is_empty())
                .unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

fn table(path: &[String]) -> String {
    match path.is_empty() {
        true => "the file".to_owned(),
        false => format!("`[{}]`", path.join(".")),
    }
}

fn key(path: &[String]) -> String {
    match path.is_empty() {
        true => "this".to_owned(),
        false => format!("`{}`", path.join(".")),
    }
}

/// Serde's words for kinds of values, in those of TOML.
fn plain(expected: &str) -> &str {
    match expected {
        "a string" => "a text in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        other => other,
    }
}

fn article(fact: &str) -> String {
    match fact {
        "map" => "a table".to_owned(),
        "sequence" => "a list".to_owned(),
        fact if fact.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {fact}"),
        fact => format!("a {}", fact.replace("string", "text")),
    }
}
