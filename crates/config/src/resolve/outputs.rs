//! `[oracles]` and what they go by, `[report]` and `[store]`: what is told, and
//! where it is kept.

use std::path::PathBuf;

use murphy_oracle::{ResponseRules, Settings};

use super::checker::Checker;
use crate::raw::{At, Named, Report, Response, Retries, Store, Text, Words};
use crate::{KEEP, Level, OracleRule, ReportRule, STORE, StoreRules};

/// How serious what is; names may be written with `-` or `_`.
pub(super) fn oracles(checker: &mut Checker<'_>, raw: Named<Text>) -> Vec<OracleRule> {
    let mut all: Vec<OracleRule> = Vec::new();
    for (name, level) in raw.0 {
        let plain = name.value.replace('_', "-");
        if all.iter().any(|rule| rule.name == plain) {
            let message = format!("oracle `{plain}` is set twice");
            let hint = "leave out one of them; `-` and `_` are the same here";
            checker.refuse(&name.span, message, "the second time", hint);
        }
        if let Some(level) = checker.named("level", &level, &Level::NAMES) {
            all.push(OracleRule {
                name: plain,
                place: name.span,
                level,
            });
        }
    }
    all
}

/// What some of the oracles go by.
pub(super) fn rules(checker: &mut Checker<'_>, response: Response, retries: Retries) -> Settings {
    let mut rules = Settings::default();
    rules
        .idempotent
        .extend(checker.patterns(retries.idempotent));
    if let Some(most) = retries.most_attempts {
        rules.most_attempts = most.0 as usize;
    }
    rules.response = ResponseRules {
        status_classes: classes(checker, response.status),
        keywords: texts(response.keywords).map(|text| text.value).collect(),
        longest: response.within.and_then(|text| checker.duration(&text)),
        longest_factor: response.within_times.map(|times| times.0 as f64),
    };
    rules
}

fn texts(words: Option<Words>) -> impl Iterator<Item = Text> {
    words.map(At::items).unwrap_or_default().into_iter()
}

/// The first digits of classes such as `2xx`.
fn classes(checker: &mut Checker<'_>, words: Option<Words>) -> Vec<u8> {
    let mut classes = Vec::new();
    for word in texts(words) {
        match word.value.as_bytes() {
            [digit @ b'1'..=b'5', b'x', b'x'] => classes.push(digit - b'0'),
            _ => {
                let message = format!("`{}` is no class of statuses", word.value);
                let hint = "write for example `status = [\"2xx\", \"4xx\"]`";
                checker.refuse(&word.span, message, "1xx to 5xx are expected", hint);
            }
        }
    }
    classes
}

/// The files to be written, each to a place of its own.
pub(super) fn reports(checker: &mut Checker<'_>, raw: Report) -> Vec<ReportRule> {
    let written = [
        ("junit", raw.junit),
        ("json", raw.json),
        ("markdown", raw.markdown),
        ("events", raw.events),
    ];
    let mut all: Vec<ReportRule> = Vec::new();
    for (format, text) in written {
        let Some(text) = text else {
            continue;
        };
        let path = checker.path(&text);
        if text.value.is_empty() {
            let hint = format!("write for example `{format} = \"target/murphy.{format}\"`");
            checker.refuse(
                &text.span,
                "a report needs a path",
                "nowhere to write",
                hint,
            );
        } else if let Some(other) = all.iter().find(|rule| rule.path == path) {
            let message = format!("two reports cannot be written to `{}`", text.value);
            let label = format!("the {} report goes there", other.format);
            checker.refuse(&text.span, message, label, "choose another path");
        }
        all.push(ReportRule { format, path });
    }
    all
}

/// Where runs are kept.
pub(super) fn store(checker: &Checker<'_>, raw: Store) -> StoreRules {
    let usual = || checker.directory().join(STORE);
    let directory: Option<PathBuf> = raw.directory.map(|text| checker.path(&text));
    StoreRules {
        directory: directory.unwrap_or_else(usual),
        keep: raw.keep.map_or(KEEP, |keep| keep.0 as usize),
    }
}
