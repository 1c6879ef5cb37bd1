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
use super::style::{BAD, CAREFUL, GOOD, QUIET, TITLE};
use super::{calls, coverage, heading, printed, visible};
use crate::Summary;
use crate::shell::quoted;
use crate::wording::{self, Count};

/// More ways to fail the same calls than this are only counted.
const MOST_WAYS: usize = 8;

/// The oracle whose complaints are the user's own words.
const SCENARIO: &str = "scenario";

pub(super) fn write(summary: &Summary, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    if !summary.findings.is_empty() {
        heading("Findings", out)?;
    }
    let mut first_of: HashMap<usize, &Finding> = HashMap::new();
    let told = wording::findings(summary);
    for (i, finding) in told.first.iter().copied().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        let first = *first_of.entry(finding.execution).or_insert(finding);
        write_finding(finding, first, summary, labels, out)?;
    }
    for more in wording::more_warnings(&told) {
        writeln!(out, "\n  {QUIET}{more}{QUIET:#}")?;
    }
    stale(summary, out)?;
    writeln!(out)?;
    coverage::took(summary, out)?;
    let executions = counted(summary.certificate.explored, "execution");
    writeln!(out, "{} in {executions}", tally(summary))
}

/// How many there are, as in `2 findings (1 known), 1 warning`.
fn tally(summary: &Summary) -> String {
    let painted =
        |count: &Count, style| format!("{style}{}{style:#}{}", count.text(), count.known_part());
    let failures = Count::of(Severity::Fail, summary);
    let style = match failures.all {
        0 => GOOD,
        // What may stay is no alarm.
        all if all == failures.known => CAREFUL,
        _ => BAD,
    };
    let warnings = Count::of(Severity::Warn, summary);
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
    match summary.excuse(&finding.id) {
        Some(reason) => writeln!(out, "    known: {reason} ({file})"),
        None if known.expired.contains(&finding.id) => {
            writeln!(
                out,
                "    {CAREFUL}known, but no longer excused: its entry in {file} has expired{CAREFUL:#}"
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
fn stale(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
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

fn write_finding(
    finding: &Finding,
    first_of_execution: &Finding,
    summary: &Summary,
    labels: &Labels,
    out: &mut dyn Write,
) -> io::Result<()> {
    bug(finding, labels, out)?;
    printed::write(finding, first_of_execution, summary, out)?;
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
fn bug(finding: &Finding, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    title(finding, out)?;
    complaint(finding, labels, out)?;
    circumstances(finding, labels, out)?;
    writeln!(out, "    calls:")?;
    let remark = |id| remark(finding, id);
    calls::write_trace(&finding.shown.trace, &remark, "      ", out)?;
    others(finding, labels, out)?;
    writeln!(out, "    seen in {}", counted(finding.seen, "execution"))
}

fn title(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let (id, class) = (&finding.id, finding.class.name());
    match finding.severity {
        Severity::Fail => write!(out, "  {BAD}{id}{BAD:#} ")?,
        Severity::Warn => write!(out, "  {CAREFUL}{id} warning{CAREFUL:#} ")?,
    }
    write!(out, "{TITLE}{class}{TITLE:#}")?;
    if finding.oracle != SCENARIO {
        write!(out, " ({})", finding.oracle)?;
    }
    writeln!(out, ": {}", class_text(finding))
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
fn complaint(finding: &Finding, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    let text = match finding.oracle == SCENARIO {
        true => finding.summary.clone(),
        false => labels.sentence(&finding.summary),
    };
    for line in text.lines() {
        writeln!(out, "    {}", visible(line))?;
    }
    Ok(())
}

fn circumstances(finding: &Finding, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    let number = finding.execution;
    match finding.faultload.is_empty() {
        true => writeln!(out, "    without any fault, in execution {number}")?,
        false => writeln!(out, "    when (execution {number}):")?,
    }
    for fault in finding.faultload.faults() {
        writeln!(out, "      {}", labels.fault(&fault))?;
    }
    Ok(())
}

/// What is to be said about one of the calls: how it was made to fail, how
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
pub(super) fn others(finding: &Finding, labels: &Labels, out: &mut dyn Write) -> io::Result<()> {
    let targets = |faultload: &Faultload| -> Vec<Target> {
        faultload.iter().map(|(target, _)| target.clone()).collect()
    };
    let shown = targets(&finding.faultload);
    let (same, elsewhere): (Vec<&Faultload>, Vec<&Faultload>) = finding
        .also
        .iter()
        .partition(|faultload| targets(faultload) == shown);
    if !same.is_empty() {
        writeln!(out, "    also with {}", ways(&same))?;
    }
    for faultload in elsewhere.iter().take(MOST_WAYS) {
        writeln!(out, "    also when {}", labels.faultload(faultload))?;
    }
    match elsewhere.len().saturating_sub(MOST_WAYS) {
        0 => Ok(()),
        more => writeln!(out, "    and in {} ways more", grouped(more)),
    }
}

/// Faultloads over the same calls, told by their modes alone.
fn ways(also: &[&Faultload]) -> String {
    let way = |faultload: &&Faultload| {
        let modes: Vec<String> = faultload
            .iter()
            .map(|(_, m): (_, Mode)| m.to_string())
            .collect();
        modes.join(" + ")
    };
    let mut ways: Vec<String> = also.iter().take(MOST_WAYS).map(way).collect();
    if also.len() > MOST_WAYS {
        ways.push(format!("{} more", grouped(also.len() - MOST_WAYS)));
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
        bug(&inversion(Severity::Warn), &Labels::new(&[]), &mut out).unwrap();
        let expected = "\
\x20 M-123456 warning timeout (timeout-inversion): someone waits too long, or not long enough
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
            expired: vec!["M-000002".to_owned()],
            other_modes: [("M-000003".to_owned(), vec!["503".to_owned()])].into(),
            stale: vec!["M-000009".to_owned()],
        })
    }

    #[test]
    fn the_last_line_tells_failures_from_warnings_and_what_is_known() {
        let of = |severities: &[Severity], known: &[&str]| {
            let text = tally(&summary(severities, knowing(known)));
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
        let expected = "    known: until v2 (base.toml)
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
        complaint(&said.findings[0], &Labels::new(&[]), &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert_eq!(out, "    got ]0;title 500\n    and more\n");
    }
}
