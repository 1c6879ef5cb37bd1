//! One finding, explained: what was injected, what each caller did about it,
//! why that counts, and what to do next.
//!
//! Owns the sentences about single callers. They are read from the calls of the
//! execution that shows the finding, compared with those without faults.

use std::collections::BTreeSet;
use std::io::{self, Write};

use murphy_model::{
    Call, CallId, Fault, Finding, Outcome, Phase, Severity, Target, TlsFault, Trace,
};
use murphy_oracle::Oracle;

use super::label::{Labels, bare_frame};
use super::number::{counted, span};
use super::style::{BAD, CAREFUL, QUIET, TITLE};
use super::{calls, findings, heading, visible};
use crate::Summary;
use crate::shell::quoted;
use crate::wording;

pub(super) fn write(summary: &Summary, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let labels = Labels::new(&summary.points);
    title(summary, finding, out)?;
    heading("What was injected", out)?;
    injected(finding, &labels, out)?;
    heading("What each caller did", out)?;
    let remark = |id| findings::remark(finding, id);
    let matters = |id| findings::matters(finding, id);
    let most = calls::MOST_CALLS;
    calls::write_trace(&finding.shown.trace, &remark, &matters, most, "  ", out)?;
    writeln!(out)?;
    for line in callers(&finding.shown.trace, &summary.reference) {
        writeln!(out, "  {}", visible(&line))?;
    }
    heading("Why it counts", out)?;
    why(summary, finding, &labels, out)?;
    heading("What to do", out)?;
    next(summary, finding, out)
}

fn title(summary: &Summary, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let (id, class) = (&finding.id, finding.class.name());
    let (style, word) = match finding.severity {
        Severity::Fail => (BAD, ""),
        Severity::Warn => (CAREFUL, " warning"),
    };
    writeln!(
        out,
        "{style}{id}{word}{style:#} {TITLE}{class}{TITLE:#}: {}",
        findings::class_text(finding)
    )?;
    writeln!(
        out,
        "  {QUIET}scenario {}, execution {}{QUIET:#}",
        visible(&summary.scenario),
        finding.execution
    )
}

fn injected(finding: &Finding, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    if finding.faultload.is_empty() {
        return writeln!(out, "  nothing: it shows in an execution without faults");
    }
    for fault in finding.faultload.faults() {
        writeln!(out, "  {}", labels.fault(&fault))?;
        writeln!(out, "    {}", what_happens(&fault))?;
    }
    Ok(())
}

/// What a fault does to the two sides of a call.
fn what_happens(fault: &Fault) -> String {
    let callee = match &fault.target {
        Target::Call(point) | Target::Every(point) => format!("`{}`", point.frame().destination),
        Target::Matching(_) => "the callee".to_owned(),
    };
    let instead = match fault.mode.outcome() {
        Outcome::Status(status) => format!("got {status}"),
        Outcome::Grpc(code) => format!("got {}", code.name()),
        Outcome::Reset => "had its connection reset".to_owned(),
        Outcome::Close => "had its connection closed without an answer".to_owned(),
        Outcome::Hang => "got no answer until it gave up".to_owned(),
        Outcome::Delay(by) => format!("got the answer {} later", span(by)),
        Outcome::Truncate(bytes) => format!("got the answer cut after {}", counted(bytes, "byte")),
        Outcome::Slow(rate) => format!("got the answer at {} a second", counted(rate, "byte")),
        Outcome::Malformed => "got a body that is not what its content type says".to_owned(),
        Outcome::Duplicate => "got the first of two answers".to_owned(),
        Outcome::Tls(fault) => handshake(fault).to_owned(),
    };
    let did = match (fault.mode.phase(), fault.mode.outcome()) {
        (Phase::Before, _) => "did not get the request",
        (_, Outcome::Duplicate) => "got the request twice",
        (Phase::After | Phase::Delivery, _) => "got the request and did its work",
    };
    format!("{callee} {did}; its caller {instead}")
}

/// What a caller gets in the TLS handshake.
fn handshake(fault: TlsFault) -> &'static str {
    match fault {
        TlsFault::Handshake => "had its connection closed in the TLS handshake",
        TlsFault::Expired => "was shown a certificate that has expired",
        TlsFault::Untrusted => "was shown a certificate of an authority that nobody trusts",
        TlsFault::Name => "was shown a certificate for another host",
    }
}

/// A line for every caller of a call that failed or was made to, from the
/// faults up to the test.
fn callers(trace: &Trace, reference: &Trace) -> Vec<String> {
    let is_told =
        |call: &Call| call.injected.is_some() || call.reply.is_none_or(|reply| reply.is_failure());
    let told = trace.calls().iter().filter(|call| is_told(call));
    let parents: BTreeSet<Option<CallId>> = told.map(|call| call.parent).collect();
    let mut parents: Vec<Option<CallId>> = parents.into_iter().collect();
    let depth = |parent: &Option<CallId>| parent.map_or(0, |id| trace.call(id).point.depth());
    parents.sort_by_key(|parent| (std::cmp::Reverse(depth(parent)), *parent));
    let lines = parents.into_iter().flat_map(|parent| {
        let caller = Caller {
            trace,
            reference,
            parent,
        };
        caller.lines()
    });
    lines.collect()
}

/// Who makes calls: a service in one of its calls, or the test.
struct Caller<'t> {
    trace: &'t Trace,
    reference: &'t Trace,
    parent: Option<CallId>,
}

impl Caller<'_> {
    fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("{}:", self.name())];
        let (groups, usual) = (self.groups(), self.usual());
        for group in &groups {
            lines.extend(self.attempts(group, &usual).map(|text| format!("  {text}")));
        }
        lines.extend(self.missing(&usual).map(|text| format!("  {text}")));
        lines.extend(self.answer(&groups).map(|text| format!("  {text}")));
        lines
    }

    fn name(&self) -> String {
        match self.parent {
            Some(id) => bare_frame(self.trace.call(id).point.frame()).to_string(),
            None => "the test".to_owned(),
        }
    }

    /// Its calls, the attempts at one thing together.
    fn groups(&self) -> Vec<Vec<CallId>> {
        let mut groups: Vec<Vec<CallId>> = Vec::new();
        for id in self.trace.children(self.parent) {
            let frame = self.trace.call(id).point.frame();
            let same = |group: &&mut Vec<CallId>| {
                let other = self.trace.call(group[0]).point.frame();
                other.destination == frame.destination
                    && other.interface == frame.interface
                    && other.payload == frame.payload
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.push(id),
                None => groups.push(vec![id]),
            }
        }
        groups
    }

    /// What came of one thing that it asked for, if that failed or is asked for
    /// only under faults.
    fn attempts(&self, group: &[CallId], usual: &BTreeSet<String>) -> Option<String> {
        let calls: Vec<&Call> = group.iter().map(|id| self.trace.call(*id)).collect();
        let what = name(calls[0]);
        let is_new = !usual.contains(&what);
        let is_telling = |call: &&&Call| failed(call) || call.injected.is_some();
        if !is_new && calls.iter().find(is_telling).is_none() {
            return None;
        }
        let got: Vec<String> = calls.iter().map(|call| got(call)).collect();
        let times = match got.len() {
            1 => String::new(),
            attempts => format!(" {attempts} times"),
        };
        let only = match is_new {
            true => " (not called without faults)",
            false => "",
        };
        Some(format!(
            "called {what}{times}{only}: {}",
            got.join(", then ")
        ))
    }

    /// What it asks for without faults; all that it asks for, if that is not
    /// known.
    fn usual(&self) -> BTreeSet<String> {
        let point = self.parent.map(|id| &self.trace.call(id).point);
        let Some(point) = point else {
            return names(self.reference, None);
        };
        let mut ids = self.reference.ids();
        match ids.find(|id| self.reference.call(*id).point == *point) {
            Some(id) => names(self.reference, Some(id)),
            None => names(self.trace, self.parent),
        }
    }

    /// What it asks for without faults, and did not ask for now.
    fn missing(&self, usual: &BTreeSet<String>) -> Option<String> {
        let now = names(self.trace, self.parent);
        let gone: Vec<&str> = usual.difference(&now).map(String::as_str).collect();
        let gone = (!gone.is_empty()).then(|| gone.join(", "));
        gone.map(|gone| format!("did not call {gone}, as it does without faults"))
    }

    /// What it answered in the end, and what that makes of the failures.
    fn answer(&self, groups: &[Vec<CallId>]) -> Option<String> {
        let call = self.trace.call(self.parent?);
        let last = groups.iter().filter_map(|group| group.last());
        let is_left = last.into_iter().any(|id| failed(self.trace.call(*id)));
        let Some(reply) = call.reply else {
            return Some("had not answered when the execution ended".to_owned());
        };
        let meaning = match (is_left, reply.is_failure()) {
            (true, true) => "the failure was propagated",
            (true, false) => "a fallback",
            (false, true) => "though its calls succeeded in the end",
            (false, false) => "recovered",
        };
        Some(format!("answered {reply}: {meaning}"))
    }
}

/// What the caller saw of a call.
fn got(call: &Call) -> String {
    let reply = call
        .reply
        .map_or("no answer".to_owned(), |it| it.to_string());
    match call.mode() {
        Some(mode) if reply == mode.to_string() => format!("{reply} (injected)"),
        Some(mode) => format!("{reply} ({mode} injected)"),
        None => reply,
    }
}

/// A call by what it asks for, whichever attempt it is.
fn name(call: &Call) -> String {
    bare_frame(call.point.frame()).nth(1).to_string()
}

/// What is asked for from a call, or by the test.
fn names(trace: &Trace, parent: Option<CallId>) -> BTreeSet<String> {
    let calls = trace.children(parent).map(|id| name(trace.call(id)));
    calls.collect()
}

fn failed(call: &Call) -> bool {
    call.reply.is_none_or(|reply| reply.is_failure())
}

fn why(
    summary: &Summary,
    finding: &Finding,
    labels: &Labels,
    out: &mut dyn Write,
) -> io::Result<()> {
    let meaning = match finding.oracle.parse::<Oracle>() {
        Ok(oracle) => oracle.meaning(),
        // Not an oracle: the campaign itself looks for it.
        Err(_) => "after this execution the scenario fails without any fault",
    };
    writeln!(out, "  {} ({})", meaning, finding.oracle)?;
    // What the test said is quoted as it is.
    let complaint = match finding.oracle == Oracle::Scenario.name() {
        true => finding.summary.clone(),
        false => labels.sentence(&finding.summary),
    };
    for line in complaint.lines() {
        writeln!(out, "    {}", visible(line))?;
    }
    findings::others(finding, labels, findings::MOST_WAYS, out)?;
    writeln!(out, "    seen in {}", counted(finding.seen, "execution"))?;
    let excuse = summary.excuse(&finding.id);
    match (finding.severity, excuse) {
        (_, Some(reason)) => writeln!(
            out,
            "  the baseline excuses it: {} ({})",
            visible(reason),
            summary.known.as_ref().map_or("", |known| &known.file)
        ),
        (Severity::Fail, None) => writeln!(out, "  it fails the build (exit code 1)"),
        (Severity::Warn, None) => {
            writeln!(
                out,
                "  it is a warning: reported, and does not fail the build"
            )
        }
    }
}

fn next(summary: &Summary, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let id = &finding.id;
    let mut rows = Vec::new();
    rows.extend(summary.replay(finding).map(|it| ("see it again", it)));
    if !summary.explain_command.is_empty() {
        let ask = |what: &str| {
            let (command, ending) = (&summary.explain_command, &summary.explain_ending);
            format!("{command} {what}{ending}")
        };
        rows.push(("what was printed", ask(&finding.execution.to_string())));
    }
    if let Some(hint) = wording::if_meant(finding, summary) {
        let hint = hint.strip_prefix("if this is meant: ").unwrap_or(&hint);
        rows.push(("if it is meant", hint.to_owned()));
    }
    if summary.excuse(id).is_none() && finding.severity == Severity::Fail {
        let command = format!("murphy baseline add {} --reason TEXT", quoted(id));
        rows.push(("if it may stay", command));
    }
    let width = rows.iter().map(|(what, _)| what.len()).max().unwrap_or(0);
    rows.iter()
        .try_for_each(|(what, how)| writeln!(out, "  {what:width$}  {how}"))
}

#[cfg(test)]
mod tests {
    use murphy_model::{Point, Reply};

    use super::*;

    fn call(point: &str, parent: Option<u32>, status: u16, mode: Option<&str>) -> Call {
        let point: Point = point.parse().unwrap();
        Call {
            injected: mode.map(|mode| Fault::at(point.clone(), mode.parse().unwrap())),
            body: None,
            point,
            parent: parent.map(CallId),
            arrived: 0,
            finished: Some(1),
            reply: Some(Reply::Status(status)),
        }
    }

    /// `shop` asks `cart` twice and then `backup`, and leaves out `mail`.
    #[test]
    fn each_caller_is_told_by_what_it_did_from_the_fault_to_the_test() {
        let cart = "shop GET / > cart GET /";
        let reference = Trace::new(vec![
            call("shop GET /", None, 200, None),
            call(cart, Some(0), 200, None),
            call("shop GET / > mail GET /", Some(0), 200, None),
        ]);
        let trace = Trace::new(vec![
            call("shop GET /", None, 200, None),
            call(cart, Some(0), 503, Some("503")),
            call(&format!("{cart} #2"), Some(0), 502, Some("after:502")),
            call("shop GET / > backup GET /", Some(0), 200, None),
        ]);
        let expected = [
            "shop GET /:",
            "  called cart GET / 2 times: 503 (injected), then 502 (after:502 injected)",
            "  called backup GET / (not called without faults): 200",
            "  did not call mail GET /, as it does without faults",
            "  answered 200: a fallback",
        ];
        assert_eq!(callers(&trace, &reference), expected);
    }

    #[test]
    fn a_fault_is_told_by_what_it_does_to_both_sides() {
        let told = |mode: &str| {
            let point: Point = "a GET / > b GET /".parse().unwrap();
            what_happens(&Fault::at(point, mode.parse().unwrap()))
        };
        let cases = [
            ("503", "`b` did not get the request; its caller got 503"),
            (
                "after:503",
                "`b` got the request and did its work; its caller got 503",
            ),
            (
                "delay:2s",
                "`b` got the request and did its work; its caller got the answer 2.0 s later",
            ),
            (
                "hang",
                "`b` did not get the request; its caller got no answer until it gave up",
            ),
        ];
        for (mode, expected) in cases {
            assert_eq!(told(mode), expected);
        }
    }
}
