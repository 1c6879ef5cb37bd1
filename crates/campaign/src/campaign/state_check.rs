//! Whether the system is still as it was at the start, while a campaign runs.
//!
//! An execution may leave state behind on which later ones fail; the fault
//! that happens to be injected then must not be blamed. Owns the runs without
//! faults that find this out (before a new finding is believed, every
//! [`EVERY`] executions, and once at the end) and the search for the execution
//! that left the state. The same moment tells a failure that shows only in
//! parallel: the execution is repeated alone first. What a failure means is
//! the oracles' business.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use murphy_model::{
    Besides, BugClass, Certificate, Event, Faultload, Finding, Flag, Identity, Incomplete,
    LeftBehind, Observed, Severity, Shown, Target, Verdict,
};
use murphy_oracle::Oracle;
use murphy_search::Ticket;

use super::{Run, Until};
use crate::judge::Symptom;
use crate::searcher::Searcher;
use crate::world::SetupError;

/// Executions between two runs without faults: they cost a twenty-fifth, and
/// with the one at the end at most a twentieth of any campaign of a hundred.
const EVERY: usize = 25;

/// How often an execution is repeated on a restarted system until it is told
/// apart from what others left behind.
const MOST_REPEATS: usize = 3;

/// Beyond so many faults not all parts of a faultload are looked up.
const MOST_FAULTS: usize = 8;

/// The name that stands in findings in place of an oracle's.
pub const STATE_LEFT_BEHIND: &str = LeftBehind::ORACLE;

/// What is known of the system's state.
#[derive(Default)]
pub(super) struct StateChecks {
    /// Whether there is any state to look at.
    is_on: bool,
    /// Executions since the last run without faults that passed, in the order
    /// they began.
    since: Vec<(Ticket, Faultload)>,
    /// Executions that would be new findings, to be looked into.
    suspects: VecDeque<Suspect>,
    confirmed: Confirmed,
    /// What is known to leave state behind.
    leaky: Vec<Faultload>,
    /// Whether such an execution ran since the last restart.
    is_dirty: bool,
    /// Whether executions run one at a time from now on.
    pub(super) is_alone: bool,
    pub(super) besides: Besides,
    /// How often state was found that had been left behind.
    found: usize,
    left: Vec<LeftBehind>,
    flags: Vec<Flag>,
}

/// An execution that would be a new finding.
struct Suspect {
    ticket: Ticket,
    observed: Observed,
    in_parallel: bool,
}

/// Symptoms that showed while the system was as it was at the start.
#[derive(Default)]
struct Confirmed {
    alike: HashSet<(Oracle, String, Vec<Target>)>,
    faultloads: HashSet<(Oracle, Faultload)>,
}

impl Confirmed {
    /// Whether a symptom is a finding that is known already: the same calls
    /// with the same words, or more faults than are needed.
    fn explains(&self, symptom: &Symptom) -> bool {
        let Symptom {
            oracle, injected, ..
        } = symptom;
        self.alike.contains(&alike(symptom))
            || parts(injected)
                .into_iter()
                .any(|part| self.faultloads.contains(&(*oracle, part)))
    }

    fn add(&mut self, symptom: Symptom) {
        self.alike.insert(alike(&symptom));
        if !symptom.injected.is_empty() {
            self.faultloads.insert((symptom.oracle, symptom.injected));
        }
    }
}

fn alike(symptom: &Symptom) -> (Oracle, String, Vec<Target>) {
    let targets = targets(&symptom.injected);
    (symptom.oracle, symptom.summary.clone(), targets)
}

fn targets(faultload: &Faultload) -> Vec<Target> {
    faultload.iter().map(|(target, _)| target.clone()).collect()
}

/// All parts of a faultload but the empty one; of a large one only single
/// faults, so that the work does not grow with what was found before.
fn parts(faultload: &Faultload) -> Vec<Faultload> {
    let faults: Vec<_> = faultload.faults().collect();
    let of = |chosen: &mut dyn Iterator<Item = usize>| {
        let chosen = chosen.map(|at| faults[at].clone());
        Faultload::new(chosen).expect("a part of a faultload is one")
    };
    if faults.len() > MOST_FAULTS {
        return (0..faults.len())
            .map(|at| of(&mut std::iter::once(at)))
            .collect();
    }
    let masks = 1_u32..1 << faults.len();
    masks
        .map(|mask| of(&mut (0..faults.len()).filter(|at| mask & (1 << at) != 0)))
        .collect()
}

/// What came of looking for whoever left state behind.
enum Cause {
    /// The scenario passes when it is repeated.
    Flaky,
    /// The execution that is looked into did.
    Itself,
    /// Another one did, or it is not known which; the system is as it was
    /// at the start.
    Earlier,
    /// The system cannot be brought back to how it was at the start.
    Stays,
}

impl StateChecks {
    pub(super) fn new(is_on: bool) -> Self {
        StateChecks {
            is_on,
            ..StateChecks::default()
        }
    }

    /// What an earlier run of the campaign found out.
    pub(super) fn recall(&mut self, left: Vec<LeftBehind>) {
        for one in left {
            if let [(_, faultload)] = &one.by[..] {
                self.leaky.push(faultload.clone());
            }
            self.left.push(one);
        }
    }

    /// Whether nothing is to be begun until the state has been looked at.
    pub(super) fn is_due(&self) -> bool {
        !self.suspects.is_empty() || self.is_dirty || self.since.len() >= EVERY
    }

    pub(super) fn began(&mut self, ticket: Ticket, faultload: &Faultload) {
        if self.is_on {
            self.since.push((ticket, faultload.clone()));
        }
    }

    pub(super) fn suspect(&mut self, ticket: Ticket, observed: Observed, in_parallel: bool) {
        self.suspects.push_back(Suspect {
            ticket,
            observed,
            in_parallel,
        });
    }

    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Whether a symptom would be a new finding.
    pub(super) fn is_new(&self, symptom: &Symptom) -> bool {
        !self.confirmed.explains(symptom)
    }

    /// Calls have other names from now on: what was known by the old ones is
    /// forgotten.
    pub(super) fn start_over(&mut self) {
        self.since.clear();
        self.suspects.clear();
        self.leaky.clear();
        self.confirmed = Confirmed::default();
    }

    /// Nothing is looked at any more.
    pub(super) fn give_up(&mut self) {
        self.is_on = false;
        self.is_dirty = false;
        self.suspects.clear();
        self.since.clear();
    }

    pub(super) fn ended(&mut self, faultload: &Faultload) {
        self.is_dirty |= self.is_leaky(faultload);
    }

    fn is_leaky(&self, faultload: &Faultload) -> bool {
        self.is_on && self.leaky.iter().any(|part| part.is_subset(faultload))
    }

    /// Takes note that one of these left state behind.
    fn note(&mut self, left: LeftBehind) {
        // What runs in parallel would be disturbed by it.
        self.is_alone = true;
        if let [(_, faultload)] = &left.by[..] {
            if self.is_leaky(faultload) {
                return;
            }
            self.leaky.push(faultload.clone());
        }
        self.left.push(left);
    }

    /// The findings, each with the executions that replay it, and what all of
    /// it means for the certificate.
    pub(super) fn into_findings(
        self,
        scenario: &str,
        searcher: &Searcher,
        certificate: &mut Certificate,
        taken: &[Finding],
    ) -> Vec<(Finding, Vec<Faultload>)> {
        let is_flaky = |flag: &Flag| matches!(flag, Flag::Flaky { .. });
        if !self.left.is_empty() {
            certificate.incomplete = Some(Incomplete::LeftBehind);
        } else if self.flags.iter().any(is_flaky) {
            certificate.incomplete.get_or_insert(Incomplete::Flaky);
        }
        certificate.flags.extend(self.flags);
        let mut ids: BTreeSet<String> = taken.iter().map(|it| it.id.clone()).collect();
        let mut findings: Vec<(Finding, Vec<Faultload>)> = Vec::new();
        for left in self.left {
            let numbers = numbers(&left.by, searcher);
            let (first, last) = (numbers[0], numbers[numbers.len() - 1]);
            certificate.flags.push(Flag::LeftBehind { first, last });
            let faultload = left.culprit();
            let same = |(known, _): &&mut (Finding, _)| {
                !faultload.is_empty() && targets(&known.faultload) == targets(&faultload)
            };
            if let Some((known, _)) = findings.iter_mut().find(same) {
                known.also.push(faultload);
                known.seen += 1;
                continue;
            }
            let finding = finding(&left, scenario, (first, last), &mut ids);
            findings.push((finding, left.prefix));
        }
        findings
    }
}

/// The numbers of executions; of those that the search threw away none.
fn numbers(by: &[(u64, Faultload)], searcher: &Searcher) -> Vec<usize> {
    let number =
        |(ticket, faultload): &(u64, Faultload)| searcher.number(Ticket(*ticket), faultload);
    let mut numbers: Vec<usize> = by.iter().filter_map(number).collect();
    numbers.sort_unstable();
    if numbers.is_empty() {
        numbers.push(1);
    }
    numbers
}

/// Complaints about the execution that left state behind, or against one
/// of those between the first and the last.
fn finding(
    left: &LeftBehind,
    scenario: &str,
    (first, last): (usize, usize),
    taken: &mut BTreeSet<String>,
) -> Finding {
    let who = match first == last {
        true => format!("execution {first}"),
        false => format!("one of executions {first} to {last}"),
    };
    let why = match &left.observed.execution.verdict {
        Verdict::Failed { why } => why.as_str(),
        _ => "an oracle complained",
    };
    let faultload = left.culprit();
    Finding {
        id: id(scenario, &faultload, taken),
        severity: Severity::Fail,
        class: BugClass::StateDivergence,
        oracle: STATE_LEFT_BEHIND.into(),
        summary: format!(
            "state left behind by {who}: after it the scenario fails without any fault: {why}"
        ),
        faultload,
        edge: None,
        execution: first,
        shown: Arc::new(Shown {
            trace: left.observed.execution.trace.clone(),
            details: left.observed.details.clone(),
        }),
        seen: 1,
        also: Vec::new(),
    }
}

/// The same calls get the same name in every campaign.
fn id(scenario: &str, faultload: &Faultload, taken: &mut BTreeSet<String>) -> String {
    let mut hasher = blake3::Hasher::new();
    let targets = targets(faultload);
    let targets = targets.iter().map(Target::to_string);
    let parts = [scenario, STATE_LEFT_BEHIND].map(str::to_owned);
    for part in parts.into_iter().chain(targets) {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let digits = hasher.finalize().to_hex();
    let mut names = (6..=digits.len()).map(|length| format!("M-{}", &digits[..length]));
    let free = names.find(|name| taken.insert(name.clone()));
    free.unwrap_or_else(|| format!("M-{digits}"))
}

impl Run<'_> {
    /// Looks at the state, now that nothing is under way.
    pub(super) async fn attend(
        &mut self,
        identity: &Arc<Identity>,
        until: &Until<'_>,
    ) -> Result<(), SetupError> {
        if self.checks.is_dirty {
            self.checks.is_dirty = false;
            self.checks.since.clear();
            if !self.restored(identity).await? {
                self.stop_for_state();
            }
        }
        let left = self.checks.found;
        while let Some(mut suspect) = self.checks.suspects.pop_front() {
            if self.checks.is_on && self.checks.found > left {
                // It ran on what another left behind.
                suspect.observed = self.again(&suspect, identity).await?;
                suspect.in_parallel = false;
            }
            let vetted = self.vetted(&mut suspect, identity, until).await?;
            match vetted {
                true => self.take_in(suspect.ticket, suspect.observed, false),
                false => self.learn_only(suspect.ticket, suspect.observed),
            }
        }
        if self.checks.since.len() >= EVERY {
            self.check(identity, until).await?;
        }
        Ok(())
    }

    /// The run without faults at the end of a campaign.
    pub(super) async fn check_at_the_end(
        &mut self,
        identity: &Arc<Identity>,
        until: &Until<'_>,
    ) -> Result<(), SetupError> {
        match self.checks.since.is_empty() || !self.checks.is_on || until.is_over() {
            true => Ok(()),
            false => self.check(identity, until).await,
        }
    }

    async fn check(
        &mut self,
        identity: &Arc<Identity>,
        until: &Until<'_>,
    ) -> Result<(), SetupError> {
        let Some(failed) = self.failing_check(identity).await? else {
            return Ok(());
        };
        if let Cause::Stays = self.cause(failed, None, identity, until).await? {
            self.stop_for_state();
        }
        Ok(())
    }

    /// Looks into an execution that would be a new finding, and repeats it
    /// where it was not the faults. Whether it counts: not where the system
    /// cannot be brought back to a state in which it would tell something.
    async fn vetted(
        &mut self,
        suspect: &mut Suspect,
        identity: &Arc<Identity>,
        until: &Until<'_>,
    ) -> Result<bool, SetupError> {
        if !self.checks.is_on {
            return Ok(false);
        }
        if suspect.in_parallel && self.is_suspect(&suspect.observed) {
            let alone = self.again(suspect, identity).await?;
            if self.symptoms(&alone).is_empty() {
                self.note_parallel(&alone, &suspect.observed);
            }
            suspect.observed = alone;
        }
        for _ in 0..MOST_REPEATS {
            if !self.is_suspect(&suspect.observed) {
                return Ok(true);
            }
            let Some(failed) = self.failing_check(identity).await? else {
                break;
            };
            let cause = self.cause(failed, Some(suspect.ticket), identity, until);
            match cause.await? {
                Cause::Itself => break,
                Cause::Stays => {
                    self.stop_for_state();
                    return Ok(false);
                }
                Cause::Earlier | Cause::Flaky => {
                    suspect.observed = self.again(suspect, identity).await?;
                }
            }
        }
        for symptom in self.symptoms(&suspect.observed) {
            self.checks.confirmed.add(symptom);
        }
        Ok(true)
    }

    /// The same execution once more, alone.
    async fn again(
        &mut self,
        suspect: &Suspect,
        identity: &Arc<Identity>,
    ) -> Result<Observed, SetupError> {
        let faultload = &suspect.observed.execution.faultload;
        self.checks.besides.repeated += 1;
        self.checks.began(suspect.ticket, faultload);
        self.world.run(0, faultload, identity).await
    }

    /// The scenario without faults, if it fails.
    async fn failing_check(
        &mut self,
        identity: &Arc<Identity>,
    ) -> Result<Option<Observed>, SetupError> {
        let observed = self.world.run(0, &Faultload::none(), identity).await?;
        let has_failed = !self.symptoms(&observed).is_empty();
        self.checks.besides.checks += 1;
        self.sink.note(&Event::Checked {
            number: self.checks.besides.checks,
            observed: Arc::new(observed.clone()),
            passed: !has_failed,
        });
        if !has_failed {
            self.checks.since.clear();
        }
        Ok(has_failed.then_some(observed))
    }

    /// Restarts the system; whether it is then as it was at the start.
    async fn restored(&mut self, identity: &Arc<Identity>) -> Result<bool, SetupError> {
        Ok(self.world.restart().await? && self.failing_check(identity).await?.is_none())
    }

    /// Why the scenario fails without faults, where an execution is looked
    /// into or none.
    async fn cause(
        &mut self,
        failed: Observed,
        looked_into: Option<Ticket>,
        identity: &Arc<Identity>,
        until: &Until<'_>,
    ) -> Result<Cause, SetupError> {
        let suspects = self.checks.since.clone();
        let Some((last, faultload)) = suspects.last().cloned() else {
            return Ok(Cause::Stays);
        };
        if self.failing_check(identity).await?.is_none() {
            let number = self.searcher.number(last, &faultload);
            let execution = number.unwrap_or(self.executed);
            self.checks.flags.push(Flag::Flaky { execution });
            return Ok(Cause::Flaky);
        }
        if !self.restored(identity).await? {
            let left = left_behind(&suspects, Vec::new(), failed);
            self.note_left(left);
            return Ok(Cause::Stays);
        }
        self.checks.found += 1;
        let by = |ticket: Ticket| match looked_into == Some(ticket) {
            true => Cause::Itself,
            false => Cause::Earlier,
        };
        let mut leaky = suspects.iter().filter(|it| self.checks.is_leaky(&it.1));
        if let Some((ticket, _)) = leaky.next() {
            return Ok(by(*ticket));
        }
        let found = self.first_to_leave(&suspects, identity, until).await?;
        let Some((at, prefix)) = found else {
            let left = left_behind(&suspects, Vec::new(), failed);
            self.note_left(left);
            return self.cleaned(identity, Cause::Earlier).await;
        };
        self.note_left(left_behind(&suspects[at..=at], prefix, failed));
        self.cleaned(identity, by(suspects[at].0)).await
    }

    async fn cleaned(
        &mut self,
        identity: &Arc<Identity>,
        cause: Cause,
    ) -> Result<Cause, SetupError> {
        self.checks.since.clear();
        Ok(match self.restored(identity).await? {
            true => cause,
            false => Cause::Stays,
        })
    }

    /// Runs executions again, each with a run without faults after it, until
    /// that fails: the place of the one before it, and what has to be run from
    /// a fresh start to see that again.
    async fn first_to_leave(
        &mut self,
        suspects: &[(Ticket, Faultload)],
        identity: &Arc<Identity>,
        until: &Until<'_>,
    ) -> Result<Option<(usize, Vec<Faultload>)>, SetupError> {
        let prefix = |suspects: &[(Ticket, Faultload)]| {
            let faultloads = suspects.iter().map(|(_, faultload)| faultload.clone());
            faultloads.collect::<Vec<_>>()
        };
        for (at, (_, faultload)) in suspects.iter().enumerate() {
            if until.is_over() {
                return Ok(None);
            }
            if !self.leaves_state(faultload, identity).await? {
                continue;
            }
            let is_first = at == 0;
            let suffices = is_first
                || (self.restored(identity).await?
                    && self.leaves_state(faultload, identity).await?);
            let from = if suffices { at } else { 0 };
            return Ok(Some((at, prefix(&suspects[from..=at]))));
        }
        Ok(None)
    }

    /// Whether the scenario fails without faults after this execution.
    async fn leaves_state(
        &mut self,
        faultload: &Faultload,
        identity: &Arc<Identity>,
    ) -> Result<bool, SetupError> {
        self.checks.besides.repeated += 1;
        self.world.run(0, faultload, identity).await?;
        Ok(self.failing_check(identity).await?.is_some())
    }

    fn note_left(&mut self, left: LeftBehind) {
        self.sink.note(&Event::StateLeft(Arc::new(left.clone())));
        self.checks.note(left);
    }

    /// Begins nothing more: whatever is injected now would be blamed for what
    /// an earlier execution left.
    fn stop_for_state(&mut self) {
        self.checks.is_on = false;
        self.checks.is_dirty = false;
        self.checks.since.clear();
        self.searcher.strategy().stop();
    }

    fn note_parallel(&mut self, alone: &Observed, parallel: &Observed) {
        self.checks.is_alone = true;
        let flag = Flag::Parallel {
            differs: differs(alone, parallel),
            faultload: alone.execution.faultload.clone(),
        };
        let is_told = |flag: &Flag| matches!(flag, Flag::Parallel { .. });
        if !self.checks.flags.iter().any(is_told) {
            self.sink.note(&Event::FailedInParallel(flag.clone()));
            self.checks.flags.push(flag);
        }
    }

    pub(super) fn runs_in_parallel(&self) -> bool {
        let jobs = self.settings.jobs.min(self.world.workers());
        jobs > 1 && !self.checks.is_alone
    }
}

fn left_behind(
    by: &[(Ticket, Faultload)],
    prefix: Vec<Faultload>,
    observed: Observed,
) -> LeftBehind {
    let by = by
        .iter()
        .map(|(ticket, faultload)| (ticket.0, faultload.clone()));
    LeftBehind {
        by: by.collect(),
        prefix,
        observed,
    }
}

/// The innermost call into which no fault was injected and that was answered
/// differently.
fn differs(
    alone: &Observed,
    parallel: &Observed,
) -> Option<(
    murphy_model::Point,
    murphy_model::Reply,
    murphy_model::Reply,
)> {
    let calls = parallel.execution.trace.calls().iter();
    let mut own = calls
        .filter(|call| call.injected.is_none())
        .collect::<Vec<_>>();
    own.sort_by_key(|call| std::cmp::Reverse(call.point.depth()));
    own.into_iter().find_map(|call| {
        let mut others = alone.execution.trace.calls().iter();
        let other = others.find(|other| other.point == call.point)?;
        let (alone, parallel) = (other.reply?, call.reply?);
        (alone != parallel).then(|| (call.point.clone(), alone, parallel))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symptom(faults: &str, summary: &str) -> Symptom {
        Symptom {
            oracle: Oracle::Scenario,
            summary: summary.to_owned(),
            injected: faults.parse().unwrap(),
        }
    }

    #[test]
    fn more_faults_or_other_modes_are_no_new_finding() {
        let (cart, stock) = ("a GET / > cart GET / = 500", "a GET / > stock GET / = 500");
        let both = format!("{cart}, {stock}");
        let mut confirmed = Confirmed::default();
        confirmed.add(symptom(cart, "no"));
        let reset = "a GET / > cart GET / = reset";
        assert!(confirmed.explains(&symptom(cart, "no")));
        assert!(confirmed.explains(&symptom(reset, "no")));
        assert!(confirmed.explains(&symptom(&both, "other words")));
        assert!(!confirmed.explains(&symptom(reset, "other words")));
        assert!(!confirmed.explains(&symptom(stock, "no")));
    }

    #[test]
    fn every_part_of_a_faultload_is_looked_up() {
        let faults = |count: usize| {
            let faults: Vec<String> = (0..count)
                .map(|n| format!("a GET / > s{n} GET / = 500"))
                .collect();
            faults.join(", ").parse::<Faultload>().unwrap()
        };
        assert_eq!(parts(&faults(3)).len(), 7);
        assert_eq!(parts(&faults(MOST_FAULTS + 1)).len(), MOST_FAULTS + 1);
        assert!(parts(&Faultload::none()).is_empty());
    }
}
