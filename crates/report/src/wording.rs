//! Sentences that several formats use, without any markup.
//!
//! Owns how a certificate, its doubts and the number of findings are put into
//! words, so that a terminal and a job summary claim the same.

use std::collections::BTreeSet;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use murphy_model::{
    Besides, BugClass, CallId, Certificate, Edge, Faultload, Finding, Flag, Found, Incomplete,
    LeftBehind, Mode, Point, Reply, Severity, Target, Trace,
};

use crate::Summary;
use crate::bugs::Bug;
use crate::label::Labels;
use crate::number::{counted, grouped};

/// How many bugs of one severity there are.
pub(crate) struct Count {
    /// All of them.
    pub(crate) all: usize,
    /// Those of them that the baseline excuses.
    pub(crate) known: usize,
    /// One of them.
    one: &'static str,
}

impl Count {
    pub(crate) fn of(severity: Severity, bugs: &[Bug<'_>]) -> Self {
        let shown = bugs.iter().map(Bug::shown);
        let all: Vec<_> = shown.filter(|(_, it)| it.severity == severity).collect();
        let known = all
            .iter()
            .filter(|(summary, it)| summary.excuse(&it.id).is_some());
        Count {
            all: all.len(),
            known: known.count(),
            one: match severity {
                Severity::Fail => "finding",
                Severity::Warn => "warning",
            },
        }
    }

    /// As in `2 findings`.
    pub(crate) fn text(&self) -> String {
        match self.all {
            0 => format!("No {}s", self.one),
            all => counted(all, self.one),
        }
    }

    /// As in ` (1 known)`; empty where none is.
    pub(crate) fn known_part(&self) -> String {
        match self.known {
            0 => String::new(),
            known => format!(" ({} known)", grouped(known)),
        }
    }
}

/// Something that was just found, in one line. Calls are named as far as a
/// reader needs to know where to look.
pub fn found(found: &Found) -> String {
    let what = match found.severity {
        Severity::Fail => "found",
        Severity::Warn => "warning",
    };
    let class = found.class.name();
    let number = found.execution;
    let fault = |(target, mode): (&Target, Mode)| match target {
        Target::Call(point) | Target::Every(point) => format!("{} = {mode}", Edge::of(point)),
        Target::Matching(_) => format!("{target} = {mode}"),
    };
    let faults: Vec<String> = found.faultload.iter().map(fault).collect();
    let number = match number {
        0 => String::new(),
        number => format!(" (execution {number})"),
    };
    match faults.is_empty() {
        true => format!("{what}: {class} without any fault{number}"),
        false => format!("{what}: {class} when {}{number}", faults.join(", ")),
    }
}

/// The finding that an execution left state behind. Its number in reports is
/// known only in the end.
pub fn state_left(left: &LeftBehind) -> Found {
    let numbers: Vec<String> = left.by.iter().map(|(it, _)| it.to_string()).collect();
    Found {
        execution: 0,
        severity: Severity::Fail,
        class: BugClass::StateDivergence,
        oracle: LeftBehind::ORACLE.into(),
        faultload: left.culprit(),
        summary: format!("state left behind by {}", numbers.join(", ")),
        edge: None,
        shown: Arc::default(),
    }
}

/// Executions that failed because of honest refusals only; none if there are
/// none.
pub(crate) fn refused(summary: &Summary) -> Option<String> {
    let refused = summary.refused();
    let executions = counted(refused, "execution");
    (refused > 0).then(|| format!("{executions} refused honestly, as `under_fault` allows"))
}

/// What a finding is about, in the words of the execution that shows it: values
/// that a group of executions has masked are those of this one.
pub(crate) fn complaint(finding: &Finding, summary: &Summary) -> String {
    let mut shown = summary.cases.iter();
    let shown = shown.find(|case| case.number == finding.execution);
    let output = shown.and_then(|case| case.output.as_deref());
    let lines = finding.summary.lines().map(|line| {
        let valued = output.and_then(|output| murphy_oracle::with_values(line, output));
        valued.unwrap_or_else(|| line.to_owned())
    });
    lines.collect::<Vec<String>>().join("\n")
}

/// What to write if a finding is meant to be so: every request above its faults
/// was answered by a status that says honestly what is the matter.
pub(crate) fn if_meant(finding: &Finding, summary: &Summary) -> Option<String> {
    if summary.declared_in.is_empty() || finding.oracle != "scenario" {
        return None;
    }
    let statuses = honest_statuses(&finding.shown.trace)?.join(", ");
    Some(format!(
        "if this is meant: under_fault = [{statuses}] in {}",
        summary.declared_in
    ))
}

/// The statuses of failed requests, as they are written in the file; none if
/// one is no honest refusal of a request with a fault below it.
fn honest_statuses(trace: &Trace) -> Option<Vec<String>> {
    let has_fault = |entry: CallId| {
        let mut faults = trace.ids().filter(|id| trace.call(*id).injected.is_some());
        faults.any(|id| trace.ancestors(id).any(|above| above == entry))
    };
    let mut statuses = BTreeSet::new();
    for entry in trace.entries() {
        match trace.call(entry).reply? {
            reply if reply.is_ok() => {}
            Reply::Status(status @ 502..=504) if has_fault(entry) => {
                statuses.insert(status.to_string());
            }
            Reply::Grpc(code) if has_fault(entry) && HONEST.contains(&code.name()) => {
                statuses.insert(format!("\"{}\"", code.name()));
            }
            Reply::Status(500..) => return None,
            Reply::Status(_) => {}
            _ => return None,
        }
    }
    (!statuses.is_empty()).then(|| statuses.into_iter().collect())
}

/// The gRPC statuses that say the same as 502, 503 and 504.
const HONEST: [&str; 2] = ["UNAVAILABLE", "DEADLINE_EXCEEDED"];

/// What a certificate claims.
pub(crate) struct Claim<'c> {
    /// Whether everything was covered.
    pub(crate) complete: bool,
    /// One or two words for it.
    pub(crate) title: &'static str,
    /// What is claimed, without a full stop.
    pub(crate) text: String,
    /// Under which assumptions.
    pub(crate) assumptions: &'c [String],
}

impl<'c> Claim<'c> {
    pub(crate) fn of(certificate: &'c Certificate) -> Self {
        if certificate.points == 0 {
            return Claim {
                complete: false,
                title: "Nothing to inject",
                text: "no call can be injected".to_owned(),
                assumptions: &[],
            };
        }
        match &certificate.incomplete {
            None => Claim {
                complete: true,
                title: "Complete",
                text: match &certificate.minimal {
                    Some(minimal) => all_minimal(minimal.len(), certificate.bound),
                    None => covered(certificate.bound),
                },
                assumptions: &certificate.assumptions,
            },
            Some(incomplete) => Claim {
                complete: false,
                title: "Not complete",
                text: why_not(incomplete, &certificate.flags),
                assumptions: &[],
            },
        }
    }
}

fn covered(bound: Option<usize>) -> String {
    let which = match bound {
        Some(most) => format!("every faultload of at most {}", counted(most, "fault")),
        None => "every faultload".to_owned(),
    };
    format!("{which} over these calls was run or shown to be redundant")
}

fn all_minimal(found: usize, bound: Option<usize>) -> String {
    let of_size = match bound {
        Some(most) => format!(" of at most {}", counted(most, "fault")),
        None => String::new(),
    };
    match found {
        0 => format!("no combination{of_size} fails"),
        1 => format!("exactly one combination{of_size} fails without any part of it failing"),
        _ => format!(
            "exactly {found} combinations{of_size} fail without any part of them failing; each was run"
        ),
    }
}

/// Whether all that differed came after faults in earlier requests.
fn is_after_faults(flags: &[Flag]) -> bool {
    let mut differing = flags.iter().filter_map(|flag| match flag {
        Flag::Nondeterminism { after_faults, .. } => Some(*after_faults),
        _ => None,
    });
    differing.all(|after_faults| after_faults)
}

fn why_not(incomplete: &Incomplete, flags: &[Flag]) -> String {
    match incomplete {
        Incomplete::Cases { waiting } => format!(
            "the allowed executions are used up; {} not looked at",
            waiting_text(*waiting)
        ),
        Incomplete::Stopped { waiting } => {
            format!("it was stopped; {} not looked at", waiting_text(*waiting))
        }
        Incomplete::Sampling => {
            "faultloads were drawn at random; nothing is claimed about the rest".to_owned()
        }
        Incomplete::Nondeterminism if is_after_faults(flags) => {
            "requests were handled otherwise after faults in earlier ones, so what was skipped may not be redundant; if they are of several tests, `--each` searches each test by itself".to_owned()
        }
        Incomplete::Nondeterminism => {
            "the system contradicted itself, so what was skipped may not be redundant".to_owned()
        }
        Incomplete::BoundDepthFirst => {
            "depth first, a call may first be reached with more faults than necessary, so the bound may have cut off cases; use --order bfs".to_owned()
        }
        Incomplete::Audit => {
            "skipped faultloads that were run after all did not go as predicted".to_owned()
        }
        Incomplete::NoSuccess => {
            "no execution ever succeeded, so nothing can be told from what fails".to_owned()
        }
        Incomplete::Contradicted => {
            "calls that had sufficed once did not suffice again although none of them failed, so combinations may be missing".to_owned()
        }
        Incomplete::GaveUp => {
            "proving that nothing is left took too long; bound the search with --max-faults".to_owned()
        }
        Incomplete::Orphans => {
            "the caller of some calls is unknown, so they were not injected; `murphy doctor` tells where context is lost, and `ignore` leaves out calls that are none of the test's".to_owned()
        }
        Incomplete::Late => {
            "calls arrived after their execution ended; increase `grace`".to_owned()
        }
        Incomplete::Twins => {
            "equal calls were made at the same time, so a fault may be injected into either; cases with such faults were repeated, but one may be missing. Let the calls differ, in a query parameter or a header that `[identity]` knows, or make them one after the other".to_owned()
        }
        Incomplete::Guessed => {
            "who made some calls is a guess; let services hand on trace context, or say with `calls` in `[services.NAME]` whom each of them calls".to_owned()
        }
        Incomplete::Background => {
            "nothing says for which request some calls are made, as with those of a worker thread, so these were not tested; let their callers hand on trace context, or leave the calls out with `[search] except`".to_owned()
        }
        Incomplete::Varies => {
            "some calls are not made, or not answered, alike every time without any fault, so these were left out; make the scenario start from the same state every time (a `reset` step), or let equal calls count as one with `[identity] count = \"off\"`".to_owned()
        }
        Incomplete::Unattributed => {
            "calls arrived without trace context, so it is not known which execution made them, and they were not tested; let services hand on context, set `[context] solo = \"on\"`, or list their paths in `[inject] ignore` if they are not the test's".to_owned()
        }
        Incomplete::Uncalled => {
            "no call to some declared services was seen, so nothing is known of them; let their callers call the proxies, or set `unused = true` or `proxied = false` there".to_owned()
        }
        Incomplete::FirstRun => {
            "a call is made only in the first run after a start, so it was not tested; `[system] restart = \"execution\"` tests it, and a `setup` request that makes it leaves it out on purpose".to_owned()
        }
        Incomplete::LeftBehind => {
            "executions ran on state that an earlier one had left behind, so their results may be wrong; add a `reset` step that removes it, or `[system] restart = \"execution\"`".to_owned()
        }
        Incomplete::Replies => {
            "a caller reacts to the body of an answer, and replies were compared by status alone; use `--replies classes`".to_owned()
        }
        Incomplete::Flaky => {
            "the scenario failed without faults and passed when repeated, so failures may be chance; make it pass every time".to_owned()
        }
    }
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}

fn waiting_text(waiting: usize) -> String {
    let verb = if waiting == 1 { "was" } else { "were" };
    format!("{} {verb}", counted(waiting, "faultload"))
}

/// More warnings of one kind than this tell nothing new; the rest is counted.
const MOST_OF_A_KIND: usize = 20;

/// Things of which only the first of every kind are told.
pub(crate) struct Told<T, K> {
    /// Those that are told, in their order.
    pub(crate) first: Vec<T>,
    /// How many more there are, by kind.
    pub(crate) more: Vec<(K, usize)>,
}

impl<T, K: PartialEq> Told<T, K> {
    /// Where `kind` has none, it is told however many there are.
    pub(crate) fn of(all: impl IntoIterator<Item = T>, kind: impl Fn(&T) -> Option<K>) -> Self {
        // There are few kinds.
        let mut counts: Vec<(K, usize)> = Vec::new();
        let is_told = |it: &T| {
            let Some(kind) = kind(it) else { return true };
            let known = counts.iter().position(|(other, _)| *other == kind);
            let at = known.unwrap_or_else(|| {
                counts.push((kind, 0));
                counts.len() - 1
            });
            counts[at].1 += 1;
            counts[at].1 <= MOST_OF_A_KIND
        };
        let first = all.into_iter().filter(is_told).collect();
        let more = counts
            .into_iter()
            .map(|(kind, count)| (kind, count.saturating_sub(MOST_OF_A_KIND)));
        let more = more.filter(|(_, count)| *count > 0).collect();
        Told { first, more }
    }

    /// How many are not told.
    pub(crate) fn rest(&self) -> usize {
        self.more.iter().map(|(_, count)| count).sum()
    }
}

/// The bugs to be told; of warnings, the first of every oracle.
pub(crate) fn bugs<'b, 's>(bugs: &'b [Bug<'s>]) -> Told<&'b Bug<'s>, &'s str> {
    let kind = |bug: &&'b Bug<'s>| {
        let (_, finding) = bug.shown();
        (finding.severity == Severity::Warn).then_some(&*finding.oracle)
    };
    Told::of(bugs, kind)
}

/// What is said of warnings that are not told, one line for each oracle.
pub(crate) fn more_warnings(told: &Told<&Bug<'_>, &str>) -> Vec<String> {
    let more = told.more.iter();
    more.map(|(oracle, count)| format!("… and {} of `{oracle}`", counted(count, "more warning")))
        .collect()
}

/// The doubts to be told: the first of every kind.
pub(crate) fn flags(certificate: &Certificate) -> Told<&Flag, Discriminant<Flag>> {
    Told::of(&certificate.flags, |flag: &&Flag| Some(discriminant(*flag)))
}

/// The runs that the search did not ask for, if there were any.
pub(crate) fn besides(besides: &Besides) -> Option<String> {
    let kinds = [
        (besides.references, "more reference run"),
        (besides.checks, "fault-free check"),
        (besides.repeated, "repeated execution"),
    ];
    let made = kinds.iter().filter(|(count, _)| *count > 0);
    let made: Vec<String> = made.map(|(count, what)| counted(*count, what)).collect();
    (!made.is_empty()).then(|| made.join(", "))
}

/// Rows of policy and number of faultloads, and whether they are of the whole
/// space (or, where that is not known, of those looked at).
pub(crate) fn skipped(certificate: &Certificate) -> (bool, Vec<(&str, String)>) {
    let mut rows: Vec<(&str, String)> = match &certificate.skips {
        Some(skips) => {
            let rows = skips.by_policy.iter();
            rows.map(|(policy, n)| (&**policy, grouped(n))).collect()
        }
        None => {
            let rows = certificate.pruned.iter();
            rows.map(|(policy, n)| (&**policy, grouped(n))).collect()
        }
    };
    rows.retain(|(_, number)| number != "0");
    (certificate.skips.is_some(), rows)
}

/// The same for who has no report to shorten names by.
pub fn doubt(of: &Flag) -> String {
    flag(of, &Labels::new(&[]))
}

/// What was seen that speaks against the assumptions.
pub(crate) fn flag(flag: &Flag, labels: &Labels) -> String {
    let at = flag.at().map(|at| format!("`{}`", labels.point(at)));
    let at = at.as_deref().unwrap_or("the scenario");
    match flag {
        Flag::Nondeterminism {
            first,
            second,
            after_faults: true,
            ..
        } => format!(
            "{at} made other calls, or answered otherwise, after faults in an earlier request (executions {first} and {second})"
        ),
        Flag::Nondeterminism { first, second, .. } => format!(
            "{at} did different things in the same circumstances (executions {first} and {second})"
        ),
        Flag::Unexplained { first, second, .. } => format!(
            "{at} did something else although none of its calls failed differently (executions {first} and {second})"
        ),
        Flag::BodyVaries { first, second, .. } => format!(
            "the answers of {at} differ by themselves (executions {first} and {second}), so they are compared by status alone"
        ),
        Flag::Ambiguous { execution, .. } => format!(
            "{at} stood for several calls of execution {execution}; a fault cannot be aimed at one of them"
        ),
        Flag::Twins { execution, .. } => format!(
            "{at} was made several times at once in execution {execution}; a fault may be injected into any of them"
        ),
        Flag::Guessed { execution, .. } => format!(
            "who made {at} in execution {execution} is a guess: several calls were under way that could have"
        ),
        Flag::Background { caller, .. } => {
            let who = match caller {
                Some(caller) => format!("`{caller}` calls"),
                None => "some service calls".to_owned(),
            };
            format!(
                "{who} {at} without trace context, in the background or beside other requests; it was passed on and never injected"
            )
        }
        Flag::Varies { how, .. } => format!(
            "{at} {how} without faults, so it was left out with what is called for it; the same state every time (a `reset` step) includes it, or, where only its number varies, `[identity] count = \"off\"`"
        ),
        Flag::Orphan { execution, .. } => {
            format!("the caller of {at} in execution {execution} is unknown; it was never injected")
        }
        Flag::Unfinished { execution, .. } => format!(
            "{at} was still under way when execution {execution} was waited for no longer, though no fault held it up"
        ),
        Flag::Unattributed {
            calls, execution, ..
        } => format!(
            "{at} arrived {} without trace context (first noticed after execution {execution}) and belongs to no execution; it was never injected",
            times(*calls)
        ),
        Flag::Uncalled { service } => {
            format!("no call to the declared service `{service}` was seen in any execution")
        }
        Flag::Late { calls } => format!(
            "{} arrived after the execution that made {} was over",
            counted(*calls, "call"),
            if *calls == 1 { "it" } else { "them" }
        ),
        Flag::Contradicted { first, second } => format!(
            "the calls that sufficed in execution {first} did not in execution {second}, although none of them failed"
        ),
        Flag::NotMonotone {
            faultload,
            execution,
        } => format!(
            "more faults helped: `{}` fails, but not with what else failed in execution {execution}",
            labels.faultload(faultload)
        ),
        Flag::FirstRun { .. } => format!(
            "{at} was made only in the first run after a start and was not tested: add `[system] restart = \"execution\"` to test it, or a `setup` request that makes it to leave it out on purpose"
        ),
        Flag::LeftBehind { first, last } if first == last => format!(
            "execution {first} left state behind that the next run without faults failed on"
        ),
        Flag::LeftBehind { first, last } => format!(
            "executions {first} to {last} may have run on state that one of them left behind; their results may be wrong"
        ),
        Flag::Flaky { execution } => format!(
            "after execution {execution} the scenario failed without faults, and passed when it was repeated"
        ),
        Flag::Parallel { differs, faultload } => parallel(differs.as_ref(), faultload, labels),
    }
}

/// How an execution went alone and in parallel.
fn parallel(
    differs: Option<&(Point, Reply, Reply)>,
    faultload: &Faultload,
    labels: &Labels,
) -> String {
    let how = match differs {
        Some((at, alone, parallel)) => format!(
            "`{}`: {alone} alone, own {parallel} in parallel, no fault injected",
            labels.point(at)
        ),
        None => "an execution passed alone and failed in parallel".to_owned(),
    };
    let under = match faultload.is_empty() {
        true => String::new(),
        false => format!(" (other faults: {})", labels.faultload(faultload)),
    };
    format!("{how}{under}; it was repeated alone, and the campaign went on with `--jobs 1`")
}
