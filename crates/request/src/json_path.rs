//! Paths into JSON: `items.0.name`, `$.items[0]["name"]`.
//!
//! Owns the small part of JSONPath that points at one value.

use serde_json::Value;

/// A path that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` is no path into JSON: write `items.0.name` or `$.items[0].name`")]
pub struct BadPath {
    path: String,
}

/// The steps of a path, from the outside in.
pub fn steps(path: &str) -> Result<Vec<String>, BadPath> {
    let bad = || BadPath {
        path: path.to_owned(),
    };
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = match rest.strip_prefix('[') {
            Some(inside) => bracketed(inside),
            None => dotted(rest, steps.is_empty()),
        }
        .ok_or_else(bad)?;
        steps.push(step.to_owned());
        rest = after;
    }
    Ok(steps)
}

/// `0]…`, `"name"]…` or `'name']…`.
fn bracketed(inside: &str) -> Option<(&str, &str)> {
    for quote in ['"', '\''] {
        if let Some(quoted) = inside.strip_prefix(quote) {
            let (step, after) = quoted.split_once(quote)?;
            return Some((step, after.strip_prefix(']')?));
        }
    }
    let (step, after) = inside.split_once(']')?;
    let is_index = !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
    is_index.then_some((step, after))
}

/// `.name…`, at the beginning also `name…`.
fn dotted(rest: &str, first: bool) -> Option<(&str, &str)> {
    let name = match rest.strip_prefix('.') {
        Some(name) => name,
        None if first => rest,
        None => return None,
    };
    let end = name.find(['.', '[']).unwrap_or(name.len());
    (end > 0).then(|| name.split_at(end))
}

/// The value a path leads to.
pub fn find<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let steps = steps(path).ok()?;
    steps.iter().try_fold(value, |value, step| match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        other => other.get(step),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_lead_to_values() {
        let value = json!({"items": [{"name": "tea"}, {"0": {"a.b": true}}], "n": null});
        let cases = [
            ("items.0.name", Some(json!("tea"))),
            ("$.items[0].name", Some(json!("tea"))),
            ("$['items'][0][\"name\"]", Some(json!("tea"))),
            ("items[1].0['a.b']", Some(json!(true))),
            ("n", Some(json!(null))),
            ("$", Some(value.clone())),
            ("items.2", None),
            ("items.name", None),
            ("n.x", None),
        ];
        for (path, found) in cases {
            assert_eq!(find(&value, path), found.as_ref(), "{path}");
        }
    }

    #[test]
    fn other_texts_are_no_paths() {
        for path in ["a..b", "a.", "a[", "a[x]", "a[]", "a['b", "[0]x", "."] {
            assert!(steps(path).is_err(), "{path}");
        }
    }
}
