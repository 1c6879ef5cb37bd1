//! `[scenario]` and `[steps]`: what is run, with and without faults.
//!
//! Owns which keys go together. A request's own parts are `requests`'
//! business.

use murphy_system::spec::{
    CommandSpec, Expectations, ScenarioKind, ScenarioSpec, StepSpec, UnderFault,
};

use super::checker::{Checker, Filler};
use super::each::Keys;
use super::requests;
use crate::raw::{
    self, At, ExpectedAnswer, Named, OneOrMany, Request, Scenario, Step, StepTable, Steps, Text,
    Words,
};
use crate::{SCENARIO_TIMEOUT, Span};

/// A key that is there, and where its value stands.
type Present = (&'static str, Option<Span>);

/// What each form takes besides the key that makes it one.
const OF_COMMAND: &[&str] = &[
    "directory",
    "env",
    "each",
    "list_command",
    "one_command",
    "fresh",
    "fresh_fixtures",
    "phases",
];
const OF_REQUEST: &[&str] = &["service", "headers", "json", "body", "expect"];
const OF_GRPC: &[&str] = &["service", "headers", "json", "expect"];
const OF_STEPS: &[&str] = &["service"];

/// Lets requests look for these words in the bodies of their answers.
pub(super) fn look_for(keywords: &[String], scenarios: &mut [ScenarioSpec]) {
    for scenario in scenarios {
        if let ScenarioKind::Requests(requests) = &mut scenario.kind {
            let expectations = requests.iter_mut().map(|request| &mut request.expect);
            expectations.for_each(|expect| expect.keywords = keywords.to_owned());
        }
    }
}

/// The scenarios that make sense.
pub(super) fn scenarios(
    checker: &mut Checker<'_>,
    raw: Vec<(Text, Scenario)>,
) -> Vec<ScenarioSpec> {
    let one = |(name, scenario)| one(checker, &name, scenario);
    raw.into_iter().filter_map(one).collect()
}

/// What `entry` may say: whether the test's own requests fail, too.
const ENTRIES: [(&str, bool); 2] = [("observe", false), ("inject", true)];

fn one(checker: &mut Checker<'_>, name: &Text, mut raw: Scenario) -> Option<ScenarioSpec> {
    let plain = checker.name("scenario", name);
    let timeout = match &raw.timeout {
        Some(text) => checker.duration(text),
        None => Some(SCENARIO_TIMEOUT),
    };
    let entries = match &raw.entry {
        Some(text) => checker.named("treatment of entry calls", text, &ENTRIES),
        None => Some(false),
    };
    if raw.command.is_none() && raw.one_command.is_some() {
        // What lists its tests stands for all of them.
        raw.command = raw.list_command.clone();
    }
    let what = format!("scenario `{}`", name.value);
    let forms = [
        ("command", span(&raw.command)),
        ("request", span(&raw.request)),
        ("grpc", span(&raw.grpc)),
        ("steps", span(&raw.steps)),
    ];
    let form = form(checker, &what, &name.span, forms)?;
    let others = [
        ("directory", span(&raw.directory)),
        ("env", span(&raw.env)),
        ("service", span(&raw.service)),
        ("headers", span(&raw.headers)),
        ("json", span(&raw.json)),
        ("body", span(&raw.body)),
        ("expect", span(&raw.expect)),
    ];
    check_fit(checker, form, others);
    let each = Keys::take(&mut raw);
    check_fit(checker, form, each.present());
    let under_fault = under_fault(checker, raw.under_fault.take(), form);
    let mut kind = kind(checker, raw)?;
    if let ScenarioKind::Command(command) = &kind
        && let Some(each) = each.resolve(checker, &name.value, command)?
    {
        kind = ScenarioKind::Each(Box::new(each));
    }
    if let ScenarioKind::Requests(requests) = &mut kind {
        for expect in requests.iter_mut().map(|request| &mut request.expect) {
            let declared = under_fault.clone();
            expect.under_fault.statuses.extend(declared.statuses);
            expect.under_fault.answers.extend(declared.answers);
        }
    }
    Some(ScenarioSpec {
        name: plain?,
        kind,
        timeout: timeout?,
        entries: entries?,
        under_fault,
    })
}

/// The answers that are right under faults. Of those to a command's requests
/// only the status is known, and the body where they are a success.
fn under_fault(
    checker: &mut Checker<'_>,
    raw: Option<At<OneOrMany<raw::UnderFault<ExpectedAnswer>>>>,
    form: &str,
) -> UnderFault {
    let span = span(&raw);
    let declared = requests::under_fault(checker, raw, None);
    let is_success = |status: &String| status.starts_with('2') || status == "OK";
    let cannot_be_seen = |it: &Expectations| {
        let looks_at_body = !it.json.is_empty() || !it.contains.is_empty();
        !it.headers.is_empty() || (looks_at_body && !it.status.iter().all(is_success))
    };
    if let Some(span) = span
        && form == "command"
        && declared.answers.iter().any(cannot_be_seen)
    {
        let message =
            "of answers to a command only the status is seen, and the body of successful ones";
        let label = "asks for more than that";
        let hint = "write the statuses of failures alone: `under_fault = [503]`";
        checker.refuse(&span, message, label, hint);
    }
    declared
}

fn kind(checker: &mut Checker<'_>, raw: Scenario) -> Option<ScenarioKind> {
    if let Some(words) = raw.command {
        return command(checker, words, raw.directory, raw.env).map(ScenarioKind::Command);
    }
    if let Some(steps) = raw.steps {
        return steps_in_turn(checker, steps, raw.service.as_ref());
    }
    let request = Request {
        request: raw.request,
        grpc: raw.grpc,
        service: raw.service,
        headers: raw.headers,
        json: raw.json,
        body: raw.body,
        expect: raw.expect,
    };
    let request = requests::request(checker, request, None)?;
    Some(ScenarioKind::Requests(vec![request]))
}

/// The requests of a scenario that has several.
fn steps_in_turn(
    checker: &mut Checker<'_>,
    steps: At<Vec<At<Request>>>,
    service: Option<&Text>,
) -> Option<ScenarioKind> {
    if steps.value.is_empty() {
        let hint = "write for example [{ request = \"GET /cart\" }]";
        checker.refuse(&steps.span, "there is no step", "an empty list", hint);
        return None;
    }
    let mut all = Vec::new();
    for At { value: step, span } in steps.value {
        let form = request_form(checker, "a step", &span, &step);
        all.push(form.and_then(|()| requests::request(checker, step, service)));
    }
    all.into_iter()
        .collect::<Option<_>>()
        .map(ScenarioKind::Requests)
}

/// Checks that a table is one request, with keys that fit.
fn request_form(checker: &mut Checker<'_>, what: &str, place: &Span, raw: &Request) -> Option<()> {
    let forms = [("request", span(&raw.request)), ("grpc", span(&raw.grpc))];
    let form = form(checker, what, place, forms)?;
    check_fit(checker, form, [("body", span(&raw.body))]);
    Some(())
}

/// Whether a `reset` step says that it brings everything back to how it is
/// after a start.
pub(super) fn is_cold(checker: &mut Checker<'_>, raw: &Steps) -> bool {
    let cold = |step: &At<Step<StepTable>>| match &step.value {
        Step::Table(table) => table.cold.clone(),
        Step::Command(_) => None,
    };
    for said in raw.setup.iter().chain(&raw.teardown).filter_map(cold) {
        let message = "`cold` means nothing for a step that is not run before every execution";
        let hint = "move the step to `reset`, or leave it out";
        checker.refuse(&said.span, message, "only for `reset`", hint);
    }
    raw.reset.iter().filter_map(cold).any(|said| said.value)
}

/// Steps around executions.
pub(super) fn steps(checker: &mut Checker<'_>, raw: Vec<At<Step<StepTable>>>) -> Vec<StepSpec> {
    let one = |At { value, span }| match value {
        Step::Command(value) => {
            command(checker, At { value, span }, None, None).map(StepSpec::Command)
        }
        Step::Table(table) => step(checker, &span, *table),
    };
    raw.into_iter().filter_map(one).collect()
}

fn step(checker: &mut Checker<'_>, place: &Span, raw: StepTable) -> Option<StepSpec> {
    let forms = [
        ("command", span(&raw.command)),
        ("request", span(&raw.request)),
        ("grpc", span(&raw.grpc)),
    ];
    let form = form(checker, "this step", place, forms)?;
    let others = [
        ("directory", span(&raw.directory)),
        ("env", span(&raw.env)),
        ("service", span(&raw.service)),
        ("headers", span(&raw.headers)),
        ("json", span(&raw.json)),
        ("body", span(&raw.body)),
        ("expect", span(&raw.expect)),
    ];
    check_fit(checker, form, others);
    if let Some(words) = raw.command {
        return command(checker, words, raw.directory, raw.env).map(StepSpec::Command);
    }
    let request = Request {
        request: raw.request,
        grpc: raw.grpc,
        service: raw.service,
        headers: raw.headers,
        json: raw.json,
        body: raw.body,
        expect: raw.expect,
    };
    requests::request(checker, request, None).map(|request| StepSpec::Request(Box::new(request)))
}

fn command(
    checker: &mut Checker<'_>,
    words: Words,
    directory: Option<Text>,
    env: Option<At<Named<Text>>>,
) -> Option<CommandSpec> {
    let command = checker.command(words, Filler::Scenario);
    let directory = checker.folder(directory.as_ref());
    let environment = checker.environment(env, Filler::Scenario);
    Some(CommandSpec {
        command: command?,
        directory,
        environment,
    })
}

/// The one key that says what kind of thing this is.
fn form<const N: usize>(
    checker: &mut Checker<'_>,
    what: &str,
    place: &Span,
    forms: [Present; N],
) -> Option<&'static str> {
    let names = forms.iter().map(|(name, _)| format!("`{name}`"));
    let names = names.collect::<Vec<_>>().join(", ");
    let present: Vec<(&'static str, Span)> = forms
        .into_iter()
        .filter_map(|(name, span)| Some((name, span?)))
        .collect();
    match present.as_slice() {
        [(name, _)] => Some(name),
        [] => {
            let message = format!("{what} does nothing");
            let hint = format!("say what it does with one of {names}");
            checker.refuse(place, message, "nothing to run", hint);
            None
        }
        [(first, _), (second, span), ..] => {
            let message =
                format!("{what} has both `{first}` and `{second}`: it can only be one of them");
            let label = format!("`{first}` is there too");
            let hint = "leave out one of them, or write two";
            checker.refuse(span, message, label, hint);
            None
        }
    }
}

/// Keys that mean nothing to this form are mistakes.
fn check_fit<const N: usize>(checker: &mut Checker<'_>, form: &str, others: [Present; N]) {
    let fitting = match form {
        "command" => OF_COMMAND,
        "request" => OF_REQUEST,
        "grpc" => OF_GRPC,
        _ => OF_STEPS,
    };
    for (key, span) in others {
        let Some(span) = span.filter(|_| !fitting.contains(&key)) else {
            continue;
        };
        let message = format!("`{key}` means nothing beside `{form}`");
        let hint = format!("`{form}` goes with {}", fitting.join(", "));
        checker.refuse(&span, message, "does not belong here", hint);
    }
}

fn span<T>(value: &Option<At<T>>) -> Option<Span> {
    value.as_ref().map(|at| at.span.clone())
}
