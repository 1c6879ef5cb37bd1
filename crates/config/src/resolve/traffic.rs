//! `[identity]`, `[context]` and `[inject]`: what the proxies and the registry
//! are told.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use http::HeaderName;
use murphy_dialect::{DialectTable, Dialects};
use murphy_model::nearest;
use murphy_proxy::carriers::Carriers;
use murphy_proxy::{HEALTH_CHECKS, InjectedAnswer, Settings};

use super::checker::Checker;
use crate::raw::{Answer, At, Context, Identity, Inject, Named, Text, Words};
use crate::{ContextRules, IdentityRules, Switch};

/// What identifies a call.
pub(super) fn identity(checker: &mut Checker<'_>, raw: Identity) -> IdentityRules {
    let paths = paths(checker, raw.paths);
    let masked = raw.mask.map(At::items).unwrap_or_default();
    let mut switch = |text: Option<Text>| switch(checker, text.as_ref());
    IdentityRules {
        path: switch(raw.path),
        payload: switch(raw.payload),
        predecessors: switch(raw.predecessors),
        call_site: switch(raw.call_site),
        count: switch(raw.count),
        paths,
        masked: masked.into_iter().map(|text| text.value).collect(),
    }
}

fn switch(checker: &mut Checker<'_>, text: Option<&Text>) -> Switch {
    let named = text.and_then(|text| checker.named("setting", text, &Switch::NAMES));
    named.unwrap_or_default()
}

fn paths(checker: &mut Checker<'_>, words: Option<Words>) -> Vec<String> {
    let texts = words.map(At::items).unwrap_or_default();
    for text in &texts {
        if !text.value.starts_with('/') {
            let message = format!("`{}` is no path", text.value);
            let hint = "write for example \"/users/{}\"";
            checker.refuse(&text.span, message, "a path begins with `/`", hint);
        }
    }
    texts.into_iter().map(|text| text.value).collect()
}

/// Names of headers, in lower case.
pub(super) fn header_names(checker: &mut Checker<'_>, words: Option<Words>) -> Vec<String> {
    let texts = words.map(At::items).unwrap_or_default();
    let mut names = Vec::new();
    for text in texts {
        match HeaderName::from_str(&text.value) {
            Ok(name) => names.push(name.as_str().to_owned()),
            Err(_) => {
                let message = format!("`{}` is not the name of a header", text.value);
                let hint = "write for example \"X-Request-Id\"";
                checker.refuse(&text.span, message, "not a header name", hint);
            }
        }
    }
    names
}

/// How executions are distinguished.
pub(super) fn context(checker: &mut Checker<'_>, raw: &Context) -> ContextRules {
    let grace = raw.grace.as_ref().filter(|text| text.value != "auto");
    ContextRules {
        solo: switch(checker, raw.solo.as_ref()),
        grace: grace.and_then(|text| checker.duration(text)),
    }
}

/// What the proxies are told.
pub(super) fn proxy(checker: &mut Checker<'_>, carriers: Option<Words>, raw: Inject) -> Settings {
    let mut settings = Settings::default();
    if let Some(carriers) = carriers.and_then(|words| self::carriers(checker, words)) {
        settings.carriers = Arc::new(carriers);
    }
    settings.ignored = paths(checker, raw.ignore);
    if raw.ignore_health_checks.unwrap_or(true) {
        settings.ignored.extend(HEALTH_CHECKS.map(str::to_owned));
    }
    settings.marker = raw.marker.unwrap_or(settings.marker);
    settings.answers = answers(checker, raw.answers.unwrap_or_default());
    settings
}

/// The dialects that are shipped with the user's own, if there are any.
pub(super) fn dialects(checker: &mut Checker<'_>, raw: Named<DialectTable>) -> Option<Dialects> {
    if raw.0.is_empty() {
        return None;
    }
    let names: Vec<Text> = raw.0.iter().map(|(name, _)| name.clone()).collect();
    let tables = raw.0.into_iter().map(|(name, table)| (name.value, table));
    let refused = match Dialects::with_own(tables) {
        Ok(dialects) => return Some(dialects),
        Err(refused) => refused,
    };
    for name in names.iter().filter(|name| refused.contains(&name.value)) {
        recognises_nothing(checker, name);
    }
    None
}

fn recognises_nothing(checker: &mut Checker<'_>, name: &Text) {
    let message = format!("dialect `{}` recognises no request", name.value);
    let known = Dialects::shipped();
    let hint = match nearest(&name.value, known.names()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "write for example `request_headers = { x-amz-target = \"Kinesis_*\" }`".to_owned(),
    };
    let label = "`aws_services` or `request_headers` is expected here";
    checker.refuse(&name.span, message, label, hint);
}

fn carriers(checker: &mut Checker<'_>, words: Words) -> Option<Carriers> {
    let span = words.span.clone();
    let texts: Vec<String> = words.items().into_iter().map(|text| text.value).collect();
    let hint = format!("there are {}, or \"none\"", Carriers::NAMES.join(", "));
    let refused = |error: murphy_proxy::carriers::CarriersError| {
        let message = error.to_string();
        // The way out is shown once, as the hint.
        let message = message.split(';').next().unwrap_or_default().to_owned();
        checker.refuse(&span, message, "cannot be carriers", hint);
    };
    texts.join(",").parse().map_err(refused).ok()
}

fn answers(checker: &mut Checker<'_>, raw: Named<Answer>) -> BTreeMap<u16, InjectedAnswer> {
    let mut all = BTreeMap::new();
    for (status, answer) in raw.0 {
        let number = status.value.parse().ok();
        let Some(number) = number.filter(|number| (100..600).contains(number)) else {
            let message = format!("`{}` is no status of HTTP", status.value);
            let label = "a number from 100 to 599 is expected";
            let hint = "write for example `answers.503 = { body = \"try again\" }`";
            checker.refuse(&status.span, message, label, hint);
            continue;
        };
        let answer = InjectedAnswer {
            headers: checker.headers(answer.headers),
            body: answer.body.map(|body| body.value).unwrap_or_default(),
        };
        all.insert(number, answer);
    }
    all
}
