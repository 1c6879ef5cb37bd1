//! The loop of a campaign: references, then strategy, execution, oracles,
//! learning, until there is nothing left to try.
//!
//! Owns the state of a run; everyone else hears of it by [`Event`]s. What to
//! try is the strategy's decision, what a failure means the oracles'.
//! Executions that the strategy threw away are not judged, so that findings
//! do not depend on how many ran at once.

mod state_check;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, try_join_all};
use futures_util::stream::{FuturesUnordered, StreamExt};
use murphy_model::{
    Began, Besides, Certificate, Ended, Event, FORMAT, Faultload, Finding, Flag, Identity,
    Incomplete, LeftBehind, Observed, Point, Sink, Standing,
};
use murphy_report::redact;
use murphy_search::{Sample, Step, Ticket, mode_names_at};

pub use self::state_check::STATE_LEFT_BEHIND;

use self::state_check::StateChecks;
use crate::background;
use crate::equal_calls::{self, learnable};
use crate::first_run::Trials;
use crate::judge::{Judge, Judgement, Symptom};
use crate::left_out;
use crate::redacted;
use crate::reference::{self, Refused, ResolvedIdentity};
use crate::searcher::Searcher;
use crate::settings::Settings;
use crate::since;
use crate::stop::{Stop, Stopping};
use crate::volatile::{self, VaryingCall};
use crate::world::{SetupError, World};

/// What an earlier run of the same campaign left, so that it need not be done
/// again.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// The name of the campaign that goes on; none where what is remembered
    /// is another campaign's.
    pub campaign: Option<String>,
    /// How calls were identified, if that was settled.
    pub chosen: Option<ResolvedIdentity>,
    /// Executions by what was to fail. The one without faults is the
    /// reference, its calls named as it was settled; it counts only together
    /// with that.
    pub executions: HashMap<Faultload, Observed>,
    /// State that executions were seen to leave behind.
    pub left_behind: Vec<LeftBehind>,
}

/// What came of a campaign.
pub struct Outcome {
    /// What was covered.
    pub certificate: Certificate,
    /// The bugs.
    pub findings: Vec<Finding>,
    /// How calls were identified.
    pub chosen: ResolvedIdentity,
    /// Whether any fault was injected in any execution.
    pub injected: bool,
    /// How long it took.
    pub took: Duration,
    /// Runs that the search did not ask for.
    pub besides: Besides,
    /// For findings about state left behind, by id: the executions that bring
    /// it about from a fresh start; none where it cannot be replayed alone.
    pub prefixes: BTreeMap<String, Vec<Faultload>>,
    /// Why the search was interrupted, if it was: executions could not be
    /// carried out any more. All else is what had come out until then.
    pub broken: Option<SetupError>,
    /// The strategy, to be asked about what it did.
    pub searcher: Searcher,
}

/// A campaign that could not be finished.
#[derive(Debug)]
pub enum Failed {
    /// The scenario is not fit to be tested with faults.
    Refused(Refused),
    /// Executions could not be carried out from the beginning.
    Broken(SetupError),
    /// It was told to stop at once.
    Interrupted,
}

impl From<SetupError> for Failed {
    fn from(broken: SetupError) -> Self {
        Failed::Broken(broken)
    }
}

impl From<Refused> for Failed {
    fn from(refused: Refused) -> Self {
        Failed::Refused(refused)
    }
}

/// Runs a campaign to its end.
pub async fn run(
    world: &dyn World,
    settings: &Settings,
    memory: Memory,
    sink: &mut dyn Sink,
    mut stopping: Stopping,
) -> Result<Outcome, Failed> {
    let began = Instant::now();
    let mut run = Run::new(world, settings, memory, sink);
    run.begin();
    let gently = stopping.clone();
    let done = async {
        let identity = run.reference().await?;
        Ok::<_, Failed>(run.explore(&identity, began, gently).await)
    };
    let certificate = tokio::select! {
        biased;
        done = done => done?,
        () = stopping.more_than(Stop::Graceful) => return Err(Failed::Interrupted),
    };
    Ok(run.outcome(certificate, began.elapsed()))
}

/// A campaign while it runs.
struct Run<'r> {
    world: &'r dyn World,
    settings: &'r Settings,
    memory: Memory,
    sink: &'r mut dyn Sink,
    searcher: Searcher,
    /// The reference and who judges by it, once there is one.
    judged: Option<Judged>,
    executed: usize,
    remembered: usize,
    injected: bool,
    broken: Option<SetupError>,
    /// A call whose payload seems to vary after failures, to be looked into
    /// when nothing is under way.
    varying: Option<VaryingCall>,
    /// Calls that were looked into, and turned out not to vary.
    cleared: HashSet<Point>,
    /// How often the search has started over.
    restarts: usize,
    checks: StateChecks,
}

/// How often a search may start over because of what varies after failures.
/// Each time something more is left out; more often than that nobody waits.
const MOST_RESTARTS: usize = 8;

/// How many cases with faults at one of several equal calls are repeated, and
/// how often. Where either of two is met with the same chance, the five runs
/// of one case all miss the same one 1 time in 32.
const MOST_TWINS: usize = 16;
const TWIN_REPEATS: usize = 4;

/// How often an execution is repeated to see what varies.
const REPEATS: usize = 3;

/// What is known once the references have been run.
struct Judged {
    reference: Observed,
    /// Whether the reference was made by an earlier run of this campaign.
    is_kept: bool,
    chosen: ResolvedIdentity,
    judge: Judge,
}

/// An execution under way, which gives its worker back.
type Running<'r> = BoxFuture<'r, (u32, Ticket, Result<Observed, SetupError>)>;

impl<'r> Run<'r> {
    fn new(
        world: &'r dyn World,
        settings: &'r Settings,
        mut memory: Memory,
        sink: &'r mut dyn Sink,
    ) -> Self {
        let mut checks = StateChecks::new(world.keeps_state());
        checks.recall(std::mem::take(&mut memory.left_behind));
        Run {
            world,
            checks,
            searcher: Searcher::new(settings.strategy, settings.options.clone(), settings.seed),
            settings,
            memory,
            sink,
            judged: None,
            executed: 0,
            remembered: 0,
            injected: false,
            broken: None,
            varying: None,
            cleared: HashSet::new(),
            restarts: 0,
        }
    }

    fn begin(&mut self) {
        let settings = self.settings;
        let under_faults = self.memory.executions.keys().filter(|it| !it.is_empty());
        let heading = &settings.heading;
        self.sink.note(&Event::Began(Box::new(Began {
            format: FORMAT,
            scenario: settings.scenario.clone(),
            about: redact::owned(&heading.about),
            strategy: settings.strategy.name().to_owned(),
            modes: settings.modes.clone(),
            seed: settings.seed,
            jobs: settings.jobs,
            resumed: under_faults.count(),
            injected_only: settings.strategy.counts_injected_only(),
            solo: heading.solo.as_deref().map(redact::owned),
            explain_command: redact::owned(&heading.explain_command),
            explain_ending: redact::owned(&heading.explain_ending),
            rerun_command: redact::owned(&heading.rerun_command),
            declared_in: heading.declared_in.clone(),
        })));
    }

    /// Runs the references, or takes them from memory; settles how calls are
    /// identified.
    async fn reference(&mut self) -> Result<Arc<Identity>, Failed> {
        let reference = self.memory.executions.remove(&Faultload::none());
        let remembered = reference.zip(self.memory.chosen.take());
        let is_kept = remembered.is_some() && self.memory.campaign.is_some();
        let (observed, mut chosen) = match remembered {
            Some((observed, mut chosen)) => {
                let trials = Trials::of(self.world);
                chosen.first_run =
                    trials.first_run_calls(&observed, &chosen.identity, self.settings);
                (observed, chosen)
            }
            None => {
                let mut counted = Counted::new(self.sink);
                let ran = reference::run(self.world, self.settings, &mut counted).await?;
                self.checks.besides.references = counted.references.saturating_sub(1);
                (ran.observed, ran.chosen)
            }
        };
        chosen.masked = redacted::sentences(&chosen.masked);
        self.sink.note(&Event::IdentityChosen {
            identity: chosen.identity.clone(),
            masked: chosen.masked.clone(),
        });
        let identity = Arc::new(chosen.identity.clone());
        self.judged = Some(Judged {
            judge: Judge::new(self.settings, &observed),
            reference: observed,
            is_kept,
            chosen,
        });
        Ok(identity)
    }

    async fn explore(
        &mut self,
        identity: &Arc<Identity>,
        began: Instant,
        mut stopping: Stopping,
    ) -> Certificate {
        let world = self.world;
        let mut free: Vec<u32> = (0..workers(world, self.settings)).rev().collect();
        let mut running: FuturesUnordered<Running<'r>> = FuturesUnordered::new();
        let deadline = self.settings.max_time.map(|most| began + most);
        let mut stopped = false;
        let mut identity = identity.clone();
        loop {
            if self.varying.is_some() && running.is_empty() {
                match self.look_into_varying().await {
                    Ok(Some(loosened)) => identity = loosened,
                    Ok(None) => {}
                    Err(broken) => self.break_off(broken),
                }
            }
            while self.varying.is_none()
                && let Some(worker) = free.pop()
            {
                if self.checks.is_due() || (self.checks.is_alone && !running.is_empty()) {
                    free.push(worker);
                    break;
                }
                let until = Until {
                    deadline,
                    stopping: &stopping,
                };
                // The reference was made already: to take it in takes no time.
                if !stopped && self.executed > 0 && until.is_over() {
                    stopped = true;
                    self.searcher.strategy().stop();
                }
                match self.searcher.strategy().next() {
                    Step::Try(ticket, faultload) => match self.recall(&faultload) {
                        Some((observed, stored)) => {
                            free.push(worker);
                            self.take_in(ticket, observed, stored);
                        }
                        None => {
                            self.checks.began(ticket, &faultload);
                            running.push(start(world, worker, ticket, faultload, &identity));
                        }
                    },
                    Step::Done(certificate) => {
                        let until = Until {
                            deadline,
                            stopping: &stopping,
                        };
                        let checked = self.check_at_the_end(&identity, &until).await;
                        if let Err(broken) = checked {
                            self.broken.get_or_insert(broken);
                        }
                        let certificate = self.audited(*certificate, &identity, &until).await;
                        if let Err(broken) = self.repeat_twins(&identity, &until).await {
                            self.broken.get_or_insert(broken);
                        }
                        return certificate;
                    }
                    Step::Wait => {
                        free.push(worker);
                        break;
                    }
                }
            }
            if running.is_empty() && self.varying.is_some() {
                continue;
            }
            if running.is_empty() && self.checks.is_due() {
                let until = Until {
                    deadline,
                    stopping: &stopping,
                };
                if let Err(broken) = self.attend(&identity, &until).await {
                    self.break_off(broken);
                }
                continue;
            }
            tokio::select! {
                biased;
                Some((worker, ticket, observed)) = running.next() => {
                    free.push(worker);
                    match observed {
                        Ok(observed) => self.arrived(ticket, observed),
                        Err(broken) => {
                            running.clear();
                            self.break_off(broken);
                        }
                    }
                }
                () = stopping.more_than(Stop::No), if !stopped => {
                    stopped = true;
                    self.searcher.strategy().stop();
                }
            }
        }
    }

    /// Ends the search with what came out until now. What was under way is not
    /// waited for: what comes of it in a broken world says nothing.
    fn break_off(&mut self, broken: SetupError) {
        self.broken = Some(broken);
        self.checks.give_up();
        self.searcher.strategy().break_off();
    }

    /// Repeats what led to a call whose payload seems to vary, and if it does,
    /// starts over with the differing fields left out. Returns how calls are
    /// identified then.
    async fn look_into_varying(&mut self) -> Result<Option<Arc<Identity>>, SetupError> {
        let Some(varying) = self.varying.take() else {
            return Ok(None);
        };
        let mut chosen = self.judged().chosen.clone();
        let known = chosen.masked.len();
        let identity = Arc::new(chosen.identity.clone());
        let mut seen = Vec::new();
        for _ in 0..REPEATS {
            let (_, recorded) = self.world.record(&varying.faultload, &identity).await?;
            seen.extend(recorded);
        }
        if !volatile::loosen(&mut chosen, self.settings, &seen) {
            self.cleared.insert(varying.made);
            return Ok(None);
        }
        self.restarts += 1;
        chosen.masked = redacted::sentences(&chosen.masked);
        let masked = chosen.masked[known..].to_vec();
        let identity = self.start_over(chosen, masked).await?;
        Ok(Some(identity))
    }

    /// Forgets everything that was seen under faults.
    async fn start_over(
        &mut self,
        chosen: ResolvedIdentity,
        masked: Vec<String>,
    ) -> Result<Arc<Identity>, SetupError> {
        let identity = Arc::new(chosen.identity.clone());
        let (reference, _) = self.world.record(&Faultload::none(), &identity).await?;
        let settings = self.settings;
        self.sink.note(&Event::Restarted {
            executions: self.executed.saturating_sub(1),
            masked,
        });
        self.sink.note(&Event::IdentityChosen {
            identity: chosen.identity.clone(),
            masked: chosen.masked.clone(),
        });
        self.searcher = Searcher::new(settings.strategy, settings.options.clone(), settings.seed);
        self.checks.start_over();
        self.memory.executions.clear();
        (self.executed, self.remembered) = (0, 0);
        self.judged = Some(Judged {
            judge: Judge::new(settings, &reference),
            reference,
            is_kept: false,
            chosen,
        });
        Ok(identity)
    }

    /// Takes in an execution that was just made, unless it would be a new
    /// finding: then it is looked first whether it was the faults.
    fn arrived(&mut self, ticket: Ticket, observed: Observed) {
        self.checks.ended(&observed.execution.faultload);
        match self.checks.is_on() && self.is_suspect(&observed) {
            true => {
                let in_parallel = self.runs_in_parallel();
                self.checks.suspect(ticket, observed, in_parallel);
            }
            false => self.take_in(ticket, observed, false),
        }
    }

    /// Whether an execution would be a new finding.
    fn is_suspect(&self, observed: &Observed) -> bool {
        let symptoms = self.symptoms(observed);
        symptoms.iter().any(|symptom| self.checks.is_new(symptom))
    }

    fn symptoms(&self, observed: &Observed) -> Vec<Symptom> {
        let judged = self.judged.as_ref().expect("after the reference");
        judged.judge.symptoms(observed)
    }

    /// Answers the strategy with an execution that is not judged, because the
    /// system was not as it was at the start.
    fn learn_only(&mut self, ticket: Ticket, observed: Observed) {
        let strategy = self.searcher.strategy();
        let learnt = learnable(observed.execution, self.settings);
        strategy.learn(ticket, learnt);
    }

    /// The execution under this faultload, if it was made already, and whether
    /// an earlier run of this campaign made it.
    fn recall(&mut self, faultload: &Faultload) -> Option<(Observed, bool)> {
        if faultload.is_empty() {
            let judged = self.judged();
            return Some((judged.reference.clone(), judged.is_kept));
        }
        let observed = self.memory.executions.remove(faultload)?;
        self.remembered += 1;
        Some((observed, self.memory.campaign.is_some()))
    }

    fn judged(&mut self) -> &mut Judged {
        let judged = self.judged.as_mut();
        judged.expect("nothing is explored before the reference")
    }

    fn take_in(&mut self, ticket: Ticket, observed: Observed, stored: bool) {
        let observed = Arc::new(observed);
        self.executed += 1;
        if self.varying.is_none() && self.restarts < MOST_RESTARTS {
            let varying = VaryingCall::of(&observed);
            self.varying = varying.filter(|varying| !self.cleared.contains(&varying.made));
        }
        let execution = &observed.execution;
        let mut calls = execution.trace.calls().iter();
        self.injected |= calls.any(|call| call.injected.is_some());
        let learnt = learnable(observed.execution.clone(), self.settings);
        self.searcher.strategy().learn(ticket, learnt);
        self.sink.note(&Event::ExecutionEnded {
            ticket: ticket.0,
            observed: observed.clone(),
            stored,
        });
        let judge = &mut self.judged.as_mut().expect("after the reference").judge;
        for (number, faultload) in judge.take(ticket, observed, &self.searcher) {
            self.sink.note(&Event::Counted { number, faultload });
        }
        judge.were_missed(self.executed, self.world.unattributed());
        tell_news(judge, self.sink);
        let (failed, findings) = judge.failed();
        self.sink.note(&Event::Learned(Standing {
            failed,
            findings,
            ..self.searcher.standing(self.executed)
        }));
    }

    /// Runs a sample of what was skipped and compares it with what was
    /// predicted, if that was asked for. What went otherwise is judged: it may
    /// be a bug that the search has missed.
    async fn audited(
        &mut self,
        mut certificate: Certificate,
        identity: &Arc<Identity>,
        until: &Until<'_>,
    ) -> Certificate {
        let most = self.settings.audit.filter(|_| self.broken.is_none());
        let (Some(most), Searcher::Tree(tree)) = (most, &self.searcher) else {
            return certificate;
        };
        let judge = &mut self.judged.as_mut().expect("after the reference").judge;
        let mut sample = Sample::draw(tree, most, self.settings.seed);
        let (mut made, mut surprises) = (0, certificate.explored);
        while !until.is_over() {
            let batch = sample.upcoming(workers(self.world, self.settings) as usize);
            if batch.is_empty() {
                break;
            }
            let batch = match run_all(self.world, &batch, identity, &mut self.memory).await {
                Ok(batch) => batch,
                Err(broken) => {
                    self.broken = Some(broken);
                    break;
                }
            };
            for (observed, stored) in batch {
                let observed = Arc::new(observed);
                let learnt = learnable(observed.execution.clone(), self.settings);
                let agreed = sample.compare(&learnt);
                made += 1;
                self.sink.note(&Event::Audited {
                    number: made,
                    observed: observed.clone(),
                    agreed,
                    stored,
                });
                // A failure that was to be expected is a known one.
                if !agreed {
                    surprises += 1;
                    self.sink.note(&Event::Counted {
                        number: surprises,
                        faultload: observed.execution.faultload.clone(),
                    });
                    judge.judge(surprises, observed);
                    tell_news(judge, self.sink);
                }
            }
        }
        let result = sample.result();
        if result.agreed < result.sampled {
            certificate.incomplete.get_or_insert(Incomplete::Audit);
        }
        // Nothing is said of an audit for which there was no time, or nothing
        // that had been skipped.
        if result.sampled > 0 {
            certificate.audit = Some(result);
        }
        certificate
    }

    /// Repeats cases whose faults may have been injected into another of
    /// several equal calls, so that each of them is met, if luck allows it.
    async fn repeat_twins(
        &mut self,
        identity: &Arc<Identity>,
        until: &Until<'_>,
    ) -> Result<(), SetupError> {
        if self.broken.is_some() {
            return Ok(());
        }
        for faultload in self.judged().judge.aimed_at_twins(MOST_TWINS) {
            for _ in 0..TWIN_REPEATS {
                if until.is_over() {
                    return Ok(());
                }
                let observed = self.world.run(0, &faultload, identity).await?;
                let observed = Arc::new(observed);
                self.checks.besides.repeated += 1;
                let failed = observed.execution.verdict.is_failure();
                let counts_as = failed.then(|| self.judged().judge.next_number());
                self.sink.note(&Event::Repeated {
                    number: self.checks.besides.repeated,
                    observed: observed.clone(),
                    counts_as,
                });
                if let Some(number) = counts_as {
                    let judged = self.judged.as_mut().expect("after the reference");
                    judged.judge.judge(number, observed);
                    tell_news(&mut judged.judge, self.sink);
                    break;
                }
            }
        }
        Ok(())
    }

    fn outcome(self, mut certificate: Certificate, took: Duration) -> Outcome {
        if self.remembered > 0 && self.memory.campaign.is_none() {
            certificate.assumptions.push(since::ASSUMPTION.to_owned());
        }
        let Judged { chosen, judge, .. } = self.judged.expect("nothing ends before the reference");
        let Judgement {
            mut findings,
            profile,
            failed,
            mut doubts,
        } = judge.verdict();
        note_first_run(&chosen.first_run, &mut certificate);
        background::note_in(
            &mut certificate,
            &chosen.identity,
            &self.settings.options.filter,
        );
        left_out::note_in(&mut certificate, &chosen.identity);
        doubts.were_called(&left_out::points(&chosen.identity));
        doubts.were_called(&chosen.first_run);
        doubts.were_called(&background::points(&chosen.identity));
        doubts.note_in(&mut certificate, self.world);
        let settings = self.settings;
        if equal_calls::count_as_one(settings) {
            let assumption = equal_calls::ASSUMPTION.to_owned();
            certificate.assumptions.push(assumption);
        }
        let besides = self.checks.besides;
        let left = self.checks.into_findings(
            &settings.scenario,
            &self.searcher,
            &mut certificate,
            &findings,
        );
        let prefixes = left
            .iter()
            .map(|(it, prefix)| (it.id.clone(), prefix.clone()));
        let prefixes: BTreeMap<_, _> = prefixes.collect();
        findings.splice(0..0, left.into_iter().map(|(finding, _)| finding));
        let findings = redacted::findings(findings);
        let points = self.searcher.points();
        self.sink.note(&Event::Ended(Box::new(Ended {
            certificate: certificate.clone(),
            findings: findings.clone(),
            took,
            failed,
            injected: self.injected,
            modes: mode_names_at(&settings.options.modes, &settings.modes, &points),
            points,
            profile: profile.rows(),
            besides,
            prefixes: prefixes.clone(),
            broken: self
                .broken
                .as_ref()
                .map(|it| redact::owned(&it.to_string())),
        })));
        Outcome {
            certificate,
            findings,
            chosen,
            injected: self.injected,
            took,
            besides,
            prefixes,
            broken: self.broken,
            searcher: self.searcher,
        }
    }
}

/// Says which calls were not tested, because the system makes them only once.
fn note_first_run(calls: &[Point], certificate: &mut Certificate) {
    if !calls.is_empty() {
        certificate.incomplete.get_or_insert(Incomplete::FirstRun);
    }
    let flags = calls.iter().map(|at| Flag::FirstRun { at: at.clone() });
    certificate.flags.extend(flags);
}

/// Hands on events and counts the references among them.
struct Counted<'s> {
    sink: &'s mut dyn Sink,
    references: usize,
}

impl<'s> Counted<'s> {
    fn new(sink: &'s mut dyn Sink) -> Self {
        let references = 0;
        Counted { sink, references }
    }
}

impl Sink for Counted<'_> {
    fn note(&mut self, event: &Event) {
        self.references += usize::from(matches!(event, Event::ReferenceRan { .. }));
        self.sink.note(event);
    }
}

/// Says what showed for the first time.
fn tell_news(judge: &mut Judge, sink: &mut dyn Sink) {
    for found in judge.take_news() {
        sink.note(&Event::Found(found));
    }
}

/// How many executions are under way at once.
fn workers(world: &dyn World, settings: &Settings) -> u32 {
    settings.jobs.min(world.workers()).max(1)
}

/// When nothing more is to be begun.
struct Until<'u> {
    deadline: Option<Instant>,
    stopping: &'u Stopping,
}

impl Until<'_> {
    fn is_over(&self) -> bool {
        self.stopping.requested() > Stop::No || self.deadline.is_some_and(|at| at <= Instant::now())
    }
}

/// Runs these at once, each by a worker of its own, but for those that an
/// earlier run of the campaign made; says which those are.
async fn run_all(
    world: &dyn World,
    faultloads: &[Faultload],
    identity: &Arc<Identity>,
    memory: &mut Memory,
) -> Result<Vec<(Observed, bool)>, SetupError> {
    let mut recall = |faultload| {
        let known = memory.executions.remove(faultload);
        known.filter(|_| memory.campaign.is_some())
    };
    let runs = (0..).zip(faultloads).map(|(worker, faultload)| {
        let known = recall(faultload);
        async move {
            match known {
                Some(observed) => Ok((observed, true)),
                None => Ok((world.run(worker, faultload, identity).await?, false)),
            }
        }
    });
    let runs: Vec<_> = runs.collect();
    try_join_all(runs).await
}

fn start<'r>(
    world: &'r dyn World,
    worker: u32,
    ticket: Ticket,
    faultload: Faultload,
    identity: &Arc<Identity>,
) -> Running<'r> {
    let identity = identity.clone();
    async move {
        let observed = world.run(worker, &faultload, &identity).await;
        (worker, ticket, observed)
    }
    .boxed()
}
