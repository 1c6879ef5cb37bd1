//! Collects what is wrong, and reads the kinds of words that many keys share.
//!
//! Reading methods return `None` after they have noted why; the caller goes
//! on, so that one run shows several mistakes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use murphy_model::{Mode, Pattern, SyntaxError, nearest};
use murphy_system::template::{self, Part};

use crate::Span;
use crate::file::File;
use crate::raw::{At, Modes, Named, OneOrMany, Text, Words};
use crate::time_span;
use crate::usage::Usage;
use crate::words;

/// What is known while checking, and what was found to be wrong.
pub(super) struct Checker<'f> {
    file: &'f File,
    /// The names of all services.
    services: Vec<String>,
    /// Those that are reached by their hosts alone.
    without_address: Vec<String>,
    problems: Vec<(usize, Usage)>,
}

/// Who fills in a template.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Filler {
    /// A service that Murphy starts, which has a port of its own.
    Managed,
    /// A scenario or a step.
    Scenario,
}

impl<'f> Checker<'f> {
    pub(super) fn new(file: &'f File, services: Vec<String>, without_address: Vec<String>) -> Self {
        Checker {
            file,
            services,
            without_address,
            problems: Vec::new(),
        }
    }

    /// All that is wrong, from top to bottom.
    pub(super) fn into_problems(mut self) -> Vec<Usage> {
        self.problems.sort_by_key(|(at, _)| *at);
        self.problems.into_iter().map(|(_, usage)| usage).collect()
    }

    /// Where something stands, in a few characters.
    pub(super) fn place(&self, span: &Span) -> String {
        self.file.place(span)
    }

    pub(super) fn services(&self) -> &[String] {
        &self.services
    }

    /// Notes that something is wrong.
    pub(super) fn refuse(
        &mut self,
        span: &Span,
        message: impl Into<String>,
        label: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let usage = self.file.refusal(span, message, label).hint(hint);
        self.problems.push((span.start, usage));
    }

    /// Notes that a part of a text is wrong.
    fn refuse_part(
        &mut self,
        text: &Text,
        part: Span,
        message: impl Into<String>,
        label: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let span = self.file.inside(&text.span, &text.value, part);
        self.refuse(&span, message, label, hint);
    }

    /// Notes that a text in Murphy's own syntax cannot be read.
    fn refuse_syntax(&mut self, text: &Text, label: &str, error: &SyntaxError, hint: &str) {
        let hint = error.hint().unwrap_or(hint).to_owned();
        self.refuse_part(text, error.span(), error.message(), label, hint);
    }

    /// Notes that a name is none of those known.
    pub(super) fn refuse_unknown<'k>(
        &mut self,
        span: &Span,
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = &'k str>,
    ) {
        let known: Vec<&str> = known.into_iter().collect();
        let all = known.join(", ");
        let hint = match nearest(name, known) {
            Some(meant) => format!("did you mean `{meant}`? there are {all}"),
            None => format!("there are {all}"),
        };
        let message = format!("there is no {what} `{name}`");
        self.refuse(span, message, format!("not a {what}"), hint);
    }

    /// A name that may stand in points, templates and files.
    pub(super) fn name(&mut self, what: &str, name: &Text) -> Option<String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !name.value.is_empty() && name.value.chars().all(plain) {
            return Some(name.value.clone());
        }
        let message = format!("`{}` cannot be the name of a {what}", name.value);
        let label = "letters, digits, `-` and `_` are expected";
        self.refuse(&name.span, message, label, "choose a plain word");
        None
    }

    /// A service by its name.
    pub(super) fn service(&mut self, name: &Text) -> Option<String> {
        if self.services.contains(&name.value) {
            return Some(name.value.clone());
        }
        let services = self.services.clone();
        let known = services.iter().map(String::as_str);
        self.refuse_unknown(&name.span, "service", &name.value, known);
        None
    }

    /// A time span that is longer than nothing.
    pub(super) fn duration(&mut self, text: &Text) -> Option<Duration> {
        let why = match time_span::read(&text.value) {
            Ok(Duration::ZERO) => "no time at all".to_owned(),
            Ok(time) => return Some(time),
            Err(why) => why,
        };
        self.refuse(
            &text.span,
            format!("`{}` is no time span: {why}", text.value),
            "a number and a unit are expected",
            "write for example \"500ms\", \"30s\" or \"1m30s\"",
        );
        None
    }

    /// The value with this name.
    pub(super) fn named<T: Copy>(
        &mut self,
        what: &str,
        text: &Text,
        all: &[(&str, T)],
    ) -> Option<T> {
        let found = all.iter().find(|(name, _)| *name == text.value);
        if found.is_none() {
            self.refuse_unknown(
                &text.span,
                what,
                &text.value,
                all.iter().map(|(name, _)| *name),
            );
        }
        found.map(|(_, value)| *value)
    }

    /// Modes, each once.
    pub(super) fn modes(&mut self, modes: Modes) -> Vec<Mode> {
        let texts = modes.items().into_iter().map(|At { value, span }| Text {
            value: value.0,
            span,
        });
        let mut modes = Vec::new();
        for text in texts {
            match Mode::parse_list(&text.value) {
                Ok(more) => modes.extend(more),
                Err(error) => {
                    let hint = "modes are for example 500, 503, grpc:UNAVAILABLE, reset, close, hang, delay:2s";
                    self.refuse_syntax(&text, "not a mode", &error, hint);
                }
            }
        }
        let mut once: Vec<Mode> = Vec::new();
        for mode in modes {
            if !once.contains(&mode) {
                once.push(mode);
            }
        }
        once
    }

    /// A pattern of points.
    pub(super) fn pattern(&mut self, text: &Text) -> Option<Pattern> {
        Pattern::from_str(&text.value)
            .map_err(|error| {
                let hint = "a pattern is for example \"** > cart GET /cart\"";
                self.refuse_syntax(text, "cannot be read", &error, hint);
            })
            .ok()
    }

    /// Patterns of points.
    pub(super) fn patterns(&mut self, words: Option<Words>) -> Vec<Pattern> {
        let texts = words.map(At::items).unwrap_or_default();
        texts.iter().filter_map(|text| self.pattern(text)).collect()
    }

    /// A program with its arguments, all of them templates.
    pub(super) fn command(&mut self, command: Words, filler: Filler) -> Option<Vec<String>> {
        let whole = command.span.clone();
        let is_list = matches!(command.value, OneOrMany::Many(_));
        let texts = command.items();
        let mut words = Vec::new();
        let before = self.problems.len();
        for text in &texts {
            self.template(text, filler);
            match is_list {
                true => words.push(text.value.clone()),
                false => words = self.split(text)?,
            }
        }
        if words
            .first()
            .is_none_or(|program| program.trim().is_empty())
        {
            let hint = "write the program and its arguments: \"pytest -q\" or [\"pytest\", \"-q\"]";
            self.refuse(&whole, "the command is empty", "nothing to run", hint);
        }
        (self.problems.len() == before).then_some(words)
    }

    fn split(&mut self, text: &Text) -> Option<Vec<String>> {
        words::split(&text.value)
            .map_err(|bad| self.refuse_part(text, bad.part, bad.message, bad.label, bad.hint))
            .ok()
    }

    /// Checks that a template can be filled in.
    pub(super) fn template(&mut self, text: &Text, filler: Filler) {
        let example = self.services.first().map_or("shop", String::as_str);
        let ways =
            format!("write for example `{{{example}.url}}`, or `{{{{` and `}}}}` for braces");
        match template::parts(&text.value) {
            Err(bad) => {
                let message = match &bad.inside {
                    None => "unmatched brace".to_owned(),
                    Some(inside) => format!("`{{{inside}}}` is not a placeholder"),
                };
                let hint = bad.inside.and_then(|inside| self.meant(&inside));
                let hint = hint.unwrap_or(ways);
                self.refuse_part(text, bad.part, message, "not a placeholder", hint);
            }
            Ok(found) => {
                for (place, part) in found {
                    self.part(text, place, &part, filler);
                }
            }
        }
    }

    /// What may have been meant by a placeholder that is none.
    fn meant(&self, inside: &str) -> Option<String> {
        let (service, property) = inside.split_once('.').unwrap_or((inside, "url"));
        let services = self.services.iter().map(String::as_str);
        let service = nearest(service, services)?;
        let property = nearest(property, template::FIELDS).unwrap_or("url");
        Some(format!("did you mean `{{{service}.{property}}}`?"))
    }

    fn part(&mut self, text: &Text, place: Span, part: &Part<'_>, filler: Filler) {
        match part {
            Part::Text(_) => {}
            Part::OwnPort if filler == Filler::Managed => {}
            Part::OwnPort => self.refuse_part(
                text,
                place,
                "only a service that Murphy starts has a port of its own",
                "whose port?",
                format!(
                    "name the service: `{{{}.port}}`",
                    self.services.first().map_or("shop", String::as_str)
                ),
            ),
            Part::Of(service, _) => {
                let name = Text {
                    value: (*service).to_owned(),
                    span: self.file.inside(&text.span, &text.value, place),
                };
                if self.without_address.contains(&name.value) {
                    let message = format!("service `{}` has no address of its own", name.value);
                    let hint = "its callers name its hosts, as they do without Murphy, and find the forward proxy in HTTPS_PROXY; or add an `upstream`";
                    self.refuse(&name.span, message, "reached by its `hosts`", hint);
                    return;
                }
                self.service(&name);
            }
        }
    }

    /// Variables for the environment of a program; values are templates.
    pub(super) fn environment(
        &mut self,
        env: Option<At<Named<Text>>>,
        filler: Filler,
    ) -> BTreeMap<String, String> {
        let entries = env.map(|env| env.value.0).unwrap_or_default();
        for (name, value) in &entries {
            if name.value.is_empty() || name.value.contains(['=', '\0', ' ']) {
                let message = format!("`{}` cannot be the name of a variable", name.value);
                self.refuse(
                    &name.span,
                    message,
                    "not a name",
                    "write for example SHOP_URL",
                );
            }
            self.template(value, filler);
        }
        let pair = |(name, value): (Text, Text)| (name.value, value.value);
        entries.into_iter().map(pair).collect()
    }

    /// Headers, as they are written.
    pub(super) fn headers(
        &mut self,
        headers: Option<At<Named<Text>>>,
    ) -> Vec<(HeaderName, HeaderValue)> {
        let entries = headers.map(|headers| headers.value.0).unwrap_or_default();
        let mut all = Vec::new();
        for (name, value) in entries {
            let header = HeaderName::from_str(&name.value);
            let content = HeaderValue::from_str(&value.value);
            if header.is_err() {
                let message = format!("`{}` cannot be the name of a header", name.value);
                self.refuse(
                    &name.span,
                    message,
                    "not a name",
                    "write for example x-request-id",
                );
            }
            if content.is_err() {
                let message = "this cannot be the value of a header".to_owned();
                self.refuse(
                    &value.span,
                    message,
                    "not on one line",
                    "leave out control characters",
                );
            }
            all.extend(header.ok().zip(content.ok()));
        }
        all
    }

    /// A path, relative to the file.
    pub(super) fn path(&self, text: &Text) -> PathBuf {
        self.directory().join(&text.value)
    }

    /// Where relative paths start from.
    pub(super) fn directory(&self) -> &Path {
        self.file.directory()
    }

    /// A folder, relative to the file, that exists.
    pub(super) fn folder(&mut self, text: Option<&Text>) -> PathBuf {
        let Some(text) = text else {
            return self.directory().to_owned();
        };
        let path = self.path(text);
        if !path.is_dir() {
            let message = format!("there is no folder `{}`", text.value);
            let hint = "it is looked for next to this file";
            self.refuse(&text.span, message, "not a folder", hint);
        }
        path
    }
}
