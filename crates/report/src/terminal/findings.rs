//! The findings, and the last line.
//!
//! Owns how a bug is told: what is wrong, when, and the calls of the execution
//! that shows it, with the one to blame marked. Colour only repeats what the
//! words say.

use std::collections::HashMap;
use std::io::{self, Write};

use murphy_model::{BugClass, CallId, Faultload, Finding, Mode, Reply, Severity, Target};

use super::label::Labels;
use super::number::{counted, grouped, span};
use super::prose::prose;
use super::style::{BAD, CAREFUL, GOOD, QUIET, TITLE};
use super::{calls, coverage, heading, printed, suggestions, visible};
use crate::Summary;
use crate::bugs::{self, Bug};
use crate::call_of;
use crate::shell::quoted;
use crate::wording::{self, Count};

/// More names of findings than this are only counted.
const MOST_SAME: usize = 6;

/// More ways to fail the same calls than this are only counted.
pub(super) const MOST_WAYS: usize = 8;

/// The oracle whose complaints are the user's own words.
const SCENARIO: &str = "scenario";

/// How much of a finding is shown.
#[derive(Clone, Copy)]
struct Room {
    /// Lines of what the test said.
    complaint: usize,
    /// Faults of its faultload.
    faults: usize,
    /// Calls of the execution.
    calls: usize,
    /// Lines of what was printed.
    printed: usize,
    /// Other ways to make it show.
    ways: usize,
    /// Other complaints about it.
    also: usize,
}

/// In a report that was asked for.
const ALL: Room = Room {
    complaint: usize::MAX,
    faults: usize::MAX,
    calls: calls::MOST_CALLS,
    printed: printed::MOST,
    ways: MOST_WAYS,
    also: usize::MAX,
};

/// At the end of a run; what does not fit is cut again.
const ON_SCREEN: [Room; 2] = [
    Room {
        complaint: 5,
        faults: 4,
        calls: 12,
        printed: 6,
        ways: 2,
        also: 3,
    },
    Room {
        complaint: 3,
        faults: 3,
        calls: 6,
        printed: 0,
        ways: 1,
        also: 1,
    },
];

/// Lines of one finding at the end of a run.
const MOST_LINES: usize = 30;

/// All findings of a scenario, in full.
pub(super) fn write(summary: &Summary, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    let bugs = bugs::of([summary]);
    if !bugs.is_empty() {
        heading("Findings", out)?;
    }
    let mut first_of: HashMap<usize, &Finding> = HashMap::new();
    let told = wording::bugs(&bugs);
    for (i, bug) in told.first.iter().copied().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        let (_, finding) = bug.shown();
        let first = *first_of.entry(finding.execution).or_insert(finding);
        write_bug(bug, first, labels, ALL, usize::MAX, out)?;
    }
    for more in wording::more_warnings(&told) {
        writeln!(out, "\n  {QUIET}{more}{QUIET:#}")?;
    }
    stale(summary, out)?;
    suggestions::write(&[summary], out)?;
    writeln!(out)?;
    coverage::took(summary, out)?;
    let executions = counted(summary.certificate.explored, "execution");
    writeln!(out, "{} in {executions}", tally(&bugs))
}

/// One bug, in as many lines as a screen has for it: the only one there is may
/// have most of it.
pub(super) fn write_on_screen(
    bug: &Bug<'_>,
    labels: &Labels,
    is_only: bool,
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (_, finding) = bug.shown();
    let mut text = Vec::new();
    let rooms = match is_only {
        true => &ON_SCREEN[..],
        false => &ON_SCREEN[1..],
    };
    for room in rooms.iter().copied() {
        text.clear();
        write_bug(bug, finding, labels, room, width, &mut text)?;
        if text.iter().filter(|byte| **byte == b'\n').count() <= MOST_LINES {
            break;
        }
    }
    out.write_all(&text)
}

/// One bug in one line.
pub(super) fn write_in_a_line(
    bug: &Bug<'_>,
    labels: &Labels,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (summary, finding) = bug.shown();
    name(finding, out)?;
    // What an oracle says names the call; a test says only that it failed.
    let text = match finding.oracle == SCENARIO {
        true if finding.faultload.is_empty() => "without any fault".to_owned(),
        true => labels.faultload(&finding.faultload),
        false => visible(&labels.sentence(&finding.summary)),
    };
    write!(out, ": {text}")?;
    let is_known = summary.excuse(&finding.id).is_some();
    writeln!(out, "{}", if is_known { " (known)" } else { "" })
}

/// One bug in two lines.
pub(super) fn write_shortly(bug: &Bug<'_>, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    let (_, finding) = bug.shown();
    let text = match finding.oracle == SCENARIO {
        true => class_text(finding).to_owned(),
        false => visible(&labels.sentence(&finding.summary)),
    };
    name(finding, out)?;
    writeln!(out, ": {text}")?;
    match finding.faultload.is_empty() {
        true => writeln!(out, "    without any fault")?,
        false => writeln!(out, "    when {}", labels.faultload(&finding.faultload))?,
    }
    let also = bug.also().iter().map(|(_, other)| {
        let what = match other.oracle == finding.oracle {
            true => call_of(other),
            false => other.oracle.to_string(),
        };
        format!("{} ({})", other.id, visible(&what))
    });
    named(also.collect(), "also", out)
}

/// Some names in one line, if there are any.
fn named(mut names: Vec<String>, what: &str, out: &mut dyn Write) -> io::Result<()> {
    let more = names.len().saturating_sub(MOST_SAME);
    names.truncate(MOST_SAME);
    names.extend((more > 0).then(|| format!("{} more", grouped(more))));
    match names.is_empty() {
        true => Ok(()),
        false => writeln!(out, "    {what}: {}", names.join(", ")),
    }
}

/// How many there are, as in `2 findings (1 known), 1 warning`.
pub(super) fn tally(bugs: &[Bug<'_>]) -> String {
    let painted =
        |count: &Count, style| format!("{style}{}{style:#}{}", count.text(), count.known_part());
    let failures = Count::of(Severity::Fail, bugs);
    let style = match failures.all {
        0 => GOOD,
        // What may stay is no alarm.
        all if all == failures.known => CAREFUL,
        _ => BAD,
    };
    let warnings = Count::of(Severity::Warn, bugs);
    match warnings.all {
        0 => painted(&failures, style),
        _ => format!(
            "{}, {}",
            painted(&failures, style),
            painted(&warnings, CAREFUL)
        ),
    }
}

/// What the baseline says of a finding.
fn known(finding: &Finding, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let Some(known) = &summary.known else {
        return Ok(());
    };
    let file = &known.file;
    let through = known.through.get(&finding.id);
    let through = through.map_or_else(String::new, |it| format!(", as {it}"));
    match summary.excuse(&finding.id) {
        Some(reason) => writeln!(out, "    known{through}: {reason} ({file})"),
        None if known.expired.contains(&finding.id) => {
            writeln!(
                out,
                "    {CAREFUL}known{through}, but no longer excused: its entry in {file} has expired{CAREFUL:#}"
            )
        }
        None => match known.other_modes.get(&finding.id) {
            Some(modes) => writeln!(
                out,
                "    {CAREFUL}known, but not with {}: see {file}{CAREFUL:#}",
                modes.join(", ")
            ),
            None => Ok(()),
        },
    }
}

/// Entries of the baseline that can go.
pub(super) fn stale(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let known = summary.known.as_ref();
    let Some(known) = known.filter(|known| !known.stale.is_empty()) else {
        return Ok(());
    };
    let ids = known.stale.join(" ");
    writeln!(
        out,
        "\nNot found any more, and to be taken out of {}: murphy baseline remove {ids}",
        known.file
    )
}

fn write_bug(
    bug: &Bug<'_>,
    first_of_execution: &Finding,
    labels: &Labels,
    room: Room,
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (summary, finding) = bug.shown();
    body(bug, labels, room, width, out)?;
    printed::write(finding, first_of_execution, summary, room.printed, out)?;
    if let Some(hint) = wording::if_meant(finding, summary) {
        writeln!(out, "    {QUIET}{hint}{QUIET:#}")?;
    }
    known(finding, summary, out)?;
    if let Some(command) = &summary.replay_command {
        writeln!(out, "    {QUIET}replay: {command} {}{QUIET:#}", finding.id)?;
    }
    if summary.explain_command.is_empty() {
        return Ok(());
    }
    let faultload = quoted(&labels.faultload(&finding.faultload));
    writeln!(
        out,
        "    {QUIET}explain: {} {faultload}{}{QUIET:#}",
        summary.explain_command, summary.explain_ending
    )
}

/// All that does not depend on how the campaign was started.
fn body(
    bug: &Bug<'_>,
    labels: &Labels,
    room: Room,
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (_, finding) = bug.shown();
    title(finding, out)?;
    complaint(bug, labels, room, width, out)?;
    also(bug, labels, room.also, width, out)?;
    circumstances(finding, labels, room, out)?;
    writeln!(out, "    calls:")?;
    let trace = &finding.shown.trace;
    let remark = |id| remark(finding, id);
    let matters = |id| matters(finding, id);
    calls::write_trace(trace, &remark, &matters, room.calls, "      ", out)?;
    others(finding, labels, room.ways, out)?;
    seen(bug, out)
}

/// Whether a finding is about this call: it was injected, or is to blame.
pub(super) fn matters(finding: &Finding, id: CallId) -> bool {
    let call = finding.shown.trace.call(id);
    call.injected.is_some() || finding.edge.as_ref() == Some(&call.point)
}

/// How often it was seen, and under which other names.
fn seen(bug: &Bug<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut places = vec![counted(bug.seen(), "execution")];
    let several = [(bug.requests(), "request"), (bug.scenarios(), "scenario")];
    let several = several.iter().filter(|(number, _)| *number > 1);
    places.extend(several.map(|(number, what)| counted(number, what)));
    writeln!(out, "    seen in {}", places.join(", "))?;
    let (shown, _) = bug.shown();
    let name = |(summary, finding): &(&Summary, &Finding)| match summary.scenario == shown.scenario
    {
        true => finding.id.clone(),
        false => format!("{} ({})", finding.id, summary.scenario),
    };
    named(bug.others().iter().map(name).collect(), "same bug", out)
}

/// What else is said of the same executions, or of the same caller.
fn also(
    bug: &Bug<'_>,
    labels: &Labels,
    most: usize,
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (_, finding) in bug.also().iter().take(most) {
        let warning = match finding.severity {
            Severity::Fail => "",
            Severity::Warn => "warning ",
        };
        let (id, class, oracle) = (&finding.id, finding.class.name(), &finding.oracle);
        let first = labels.sentence(finding.summary.lines().next().unwrap_or_default());
        let text = format!("also: {id} {warning}{class} ({oracle}): {first}");
        prose(&visible(&text), "    ", width, out)?;
    }
    match bug.also().len().saturating_sub(most) {
        0 => Ok(()),
        more => writeln!(
            out,
            "    {QUIET}… and {}{QUIET:#}",
            counted(more, "more complaint")
        ),
    }
}

fn title(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    name(finding, out)?;
    writeln!(out, ": {}", class_text(finding))
}

/// Its id, whether it is a warning, and of which kind it is.
fn name(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let (id, class) = (&finding.id, finding.class.name());
    match finding.severity {
        Severity::Fail => write!(out, "  {BAD}{id}{BAD:#} ")?,
        Severity::Warn => write!(out, "  {CAREFUL}{id} warning{CAREFUL:#} ")?,
    }
    write!(out, "{TITLE}{class}{TITLE:#}")?;
    if finding.oracle != SCENARIO {
        write!(out, " ({})", finding.oracle)?;
    }
    Ok(())
}

pub(super) fn class_text(finding: &Finding) -> &'static str {
    match finding.class {
        BugClass::NoHandling => "the failure reached the scenario unhandled",
        BugClass::UnrelatedException => "something other than the injected failure broke",
        BugClass::SilentViolation => "the answer looked fine but was wrong",
        BugClass::StateDivergence => "what is stored is not what it is without faults",
        BugClass::Timeout => "someone waits too long, or not long enough",
        BugClass::Retry => "a retry causes harm",
        BugClass::Waste => "more calls are made than are needed",
        BugClass::Untested => "a planned fault was not injected",
        BugClass::Unclassified if finding.oracle == SCENARIO => "the scenario failed",
        BugClass::Unclassified => "of no known kind",
    }
}

/// What the scenario said is quoted; what we say ourselves is said shortly.
fn complaint(
    bug: &Bug<'_>,
    labels: &Labels,
    room: Room,
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (summary, finding) = bug.shown();
    let text = match finding.oracle == SCENARIO {
        true => wording::complaint(finding, summary),
        false => labels.sentence(&finding.summary),
    };
    for line in text.lines().take(room.complaint) {
        prose(&visible(line), "    ", width, out)?;
    }
    match text.lines().count().saturating_sub(room.complaint) {
        0 => Ok(()),
        more => writeln!(out, "    {QUIET}… {} more{QUIET:#}", counted(more, "line")),
    }
}

fn circumstances(
    finding: &Finding,
    labels: &Labels,
    room: Room,
    out: &mut dyn Write,
) -> io::Result<()> {
    let number = finding.execution;
    match finding.faultload.is_empty() {
        true => writeln!(out, "    without any fault, in execution {number}")?,
        false => writeln!(out, "    when (execution {number}):")?,
    }
    for fault in finding.faultload.faults().take(room.faults) {
        writeln!(out, "      {}", labels.fault(&fault))?;
    }
    match finding.faultload.len().saturating_sub(room.faults) {
        0 => Ok(()),
        more => writeln!(
            out,
            "      {QUIET}… and {}{QUIET:#}",
            counted(more, "more fault")
        ),
    }
}

/// What is to be said about one of the calls: what was injected, how
/// long its caller waited, whether it is to blame.
pub(super) fn remark(finding: &Finding, id: CallId) -> String {
    let call = finding.shown.trace.call(id);
    let mut remarks = Vec::new();
    remarks.extend(call.mode().map(|mode| cause(mode, call.reply)));
    let detail = finding.shown.details.get(id.0 as usize);
    let gave_up = detail.and_then(|detail| detail.gave_up);
    remarks.extend(gave_up.map(|after| match call.reply {
        Some(Reply::TimedOut) | None => format!("caller gave up after {}", span(after)),
        Some(_) => "caller did not read the whole answer".to_owned(),
    }));
    let mut text: String = remarks.iter().map(|remark| format!("  {remark}")).collect();
    if finding.edge.as_ref() == Some(&call.point) {
        text += &format!("  {BAD}✗ {}{BAD:#}", blame(finding.class));
    }
    text
}

/// A mode that is already told by the reply is not told twice.
fn cause(mode: Mode, reply: Option<Reply>) -> String {
    match reply.is_some_and(|reply| reply.to_string() == mode.to_string()) {
        true => "injected".to_owned(),
        false => format!("injected {mode}"),
    }
}

fn blame(class: BugClass) -> &'static str {
    match class {
        BugClass::NoHandling | BugClass::UnrelatedException | BugClass::Unclassified => {
            "not handled"
        }
        BugClass::SilentViolation | BugClass::StateDivergence => "handled wrongly",
        BugClass::Timeout => "given up too early",
        BugClass::Retry => "made again",
        BugClass::Waste | BugClass::Untested => "here",
    }
}

/// Other faultloads that show the same: those over the same calls are told by
/// their modes alone.
pub(super) fn others(
    finding: &Finding,
    labels: &Labels,
    most: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let targets = |faultload: &Faultload| -> Vec<Target> {
        faultload.iter().map(|(target, _)| target.clone()).collect()
    };
    let shown = targets(&finding.faultload);
    let (same, elsewhere): (Vec<&Faultload>, Vec<&Faultload>) = finding
        .also
        .iter()
        .partition(|faultload| targets(faultload) == shown);
    if !same.is_empty() {
        writeln!(out, "    also with {}", ways(&same, ALL.ways))?;
    }
    for faultload in elsewhere.iter().take(most) {
        writeln!(out, "    also when {}", labels.faultload(faultload))?;
    }
    match elsewhere.len().saturating_sub(most) {
        0 => Ok(()),
        more => writeln!(out, "    and in {} ways more", grouped(more)),
    }
}

/// Faultloads over the same calls, told by their modes alone.
fn ways(also: &[&Faultload], most: usize) -> String {
    let way = |faultload: &&Faultload| {
        let modes: Vec<String> = faultload
            .iter()
            .map(|(_, m): (_, Mode)| m.to_string())
            .collect();
        modes.join(" + ")
    };
    let mut ways: Vec<String> = also.iter().take(most).map(way).collect();
    if also.len() > most {
        ways.push(format!("{} more", grouped(also.len() - most)));
    }
    match ways.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => ways.concat(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use murphy_model::{Call, Detail, Fault, Link, Point, Shown, Trace};

    use super::super::style;
    use super::*;
    use crate::{Known, summary};

    const CART: &str = "shop GET / > cart GET /";
    const STOCK: &str = "shop GET / > cart GET / > stock GET /";

    fn call(point: &str, parent: Option<u32>, reply: Reply, fault: Option<&str>) -> Call {
        let point: Point = point.parse().unwrap();
        Call {
            injected: fault.map(|mode| Fault::at(point.clone(), mode.parse().unwrap())),
            body: None,
            point,
            parent: parent.map(CallId),
            arrived: 0,
            finished: Some(1),
            reply: Some(reply),
        }
    }

    fn detail(gave_up: Option<u64>) -> Detail {
        Detail {
            arrived: Duration::ZERO,
            finished: None,
            gave_up: gave_up.map(Duration::from_millis),
            organic: None,
            landed: None,
            body_cut: false,
            idempotency_key: None,
            link: Link::Certain,
        }
    }

    /// `shop` gives up on `cart` while that waits for a slow `stock`.
    fn inversion(severity: Severity) -> Finding {
        let calls = vec![
            call("shop GET /", None, Reply::Status(503), None),
            call(CART, Some(0), Reply::TimedOut, None),
            call(STOCK, Some(1), Reply::Status(200), Some("delay:2s")),
            call(
                "shop GET / > mail GET /",
                Some(0),
                Reply::Status(500),
                Some("500"),
            ),
        ];
        let faultload = |text: &str| text.parse::<Faultload>().unwrap();
        Finding {
            id: "M-123456".to_owned(),
            severity,
            class: BugClass::Timeout,
            oracle: "timeout-inversion".into(),
            faultload: faultload(&format!("{STOCK} = delay:2s")),
            summary: "`shop` gives up on `cart GET /`".to_owned(),
            edge: Some(CART.parse().unwrap()),
            execution: 7,
            shown: Arc::new(Shown {
                trace: Trace::new(calls),
                details: [None, Some(1000), None, None].map(detail).into(),
            }),
            seen: 3,
            also: vec![
                faultload(&format!("{STOCK} = hang")),
                faultload("shop GET / > cart GET / > price GET / = hang"),
            ],
        }
    }

    #[test]
    fn a_finding_tells_what_when_and_where_without_colours() {
        let mut out = Vec::new();
        let summary = summary(&[Severity::Warn], None);
        let bugs = bugs::of([&summary]);
        body(&bugs[0], &Labels::new(&[]), ALL, usize::MAX, &mut out).unwrap();
        let expected = "\
\x20 M-000001 warning timeout (timeout-inversion): someone waits too long, or not long enough
    `shop` gives up on `cart GET /`
    when (execution 7):
      shop GET / > cart GET / > stock GET / = delay:2s
    calls:
      shop GET /  503
      ├─ cart GET /  timed out  caller gave up after 1.0 s  ✗ given up too early
      │  └─ stock GET /  200  injected delay:2s
      └─ mail GET /  500  injected
    also with hang
    also when shop GET / > cart GET / > price GET / = hang
    seen in 3 executions
";
        assert_eq!(style::plain(&out), expected);
    }

    fn summary(severities: &[Severity], known: Option<Known>) -> Summary {
        let ids = ["M-000001", "M-000002", "M-000003"];
        let finding = |(severity, id): (&Severity, &str)| Finding {
            id: id.to_owned(),
            ..inversion(*severity)
        };
        Summary {
            findings: severities.iter().zip(ids).map(finding).collect(),
            known,
            ..summary::empty()
        }
    }

    fn knowing(ids: &[&str]) -> Option<Known> {
        let reasons = ids
            .iter()
            .map(|id| ((*id).to_owned(), "until v2".to_owned()));
        Some(Known {
            file: "base.toml".to_owned(),
            reasons: reasons.collect(),
            through: [(
                "M-000001".to_owned(),
                "M-000004 in scenario `pay`".to_owned(),
            )]
            .into(),
            expired: vec!["M-000002".to_owned()],
            other_modes: [("M-000003".to_owned(), vec!["503".to_owned()])].into(),
            stale: vec!["M-000009".to_owned()],
        })
    }

    #[test]
    fn the_last_line_tells_failures_from_warnings_and_what_is_known() {
        let of = |severities: &[Severity], known: &[&str]| {
            let mut summary = summary(severities, knowing(known));
            for (finding, service) in summary.findings.iter_mut().zip(["a", "b", "c"]) {
                let edge = format!("{service} GET / > cart GET /");
                finding.edge = Some(edge.parse().unwrap());
            }
            let text = tally(&bugs::of([&summary]));
            style::plain(text.as_bytes())
        };
        use Severity::{Fail, Warn};
        assert_eq!(of(&[], &[]), "No findings");
        assert_eq!(of(&[Fail], &[]), "1 finding");
        assert_eq!(of(&[Fail, Fail, Warn], &[]), "2 findings, 1 warning");
        assert_eq!(of(&[Warn, Warn], &[]), "No findings, 2 warnings");
        assert_eq!(of(&[Fail], &["M-000001"]), "1 finding (1 known)");
        assert_eq!(
            of(&[Fail, Fail, Warn], &["M-000002", "M-000003"]),
            "2 findings (1 known), 1 warning (1 known)"
        );
    }

    #[test]
    fn a_finding_tells_what_the_baseline_says_of_it() {
        use Severity::Fail;
        let mut out = Vec::new();
        let summary = summary(&[Fail, Fail, Fail], knowing(&["M-000001"]));
        for finding in &summary.findings {
            known(finding, &summary, &mut out).unwrap();
        }
        stale(&summary, &mut out).unwrap();
        let expected = "    known, as M-000004 in scenario `pay`: until v2 (base.toml)
    known, but no longer excused: its entry in base.toml has expired
    known, but not with 503: see base.toml

Not found any more, and to be taken out of base.toml: murphy baseline remove M-000009
";
        assert_eq!(style::plain(&out), expected);
    }

    #[test]
    fn what_a_test_said_gives_the_terminal_no_orders() {
        let mut said = summary(&[Severity::Fail], None);
        said.findings[0].oracle = SCENARIO.into();
        said.findings[0].summary =
            "\u{1b}[2Jgot \u{1b}]0;title\u{7} 500\r\nand\u{8} more".to_owned();
        let mut out = Vec::new();
        complaint(
            &bugs::of([&said])[0],
            &Labels::new(&[]),
            ALL,
            usize::MAX,
            &mut out,
        )
        .unwrap();
        let out = String::from_utf8(out).unwrap();
        assert_eq!(out, "    got ]0;title 500\n    and more\n");
    }
}
