//! A shot: what is injected in one execution, and the record of its attempts.
//!
//! Owns the binding of aims to cloud calls. An aim waits for its call, binds
//! it, and from then on acts on the attempts of that call alone: a second
//! operation that the application's own retry loop starts is another call, and
//! passes. Whether a mode reached the caller is the proxy's word.

use std::collections::BTreeMap;

use murphy_model::{Mode, Outcome, Phase, Reply};
use serde::{Deserialize, Serialize};

use crate::attempt::{Attempt, AttemptId, End, Request};
use crate::case::Aim;
use crate::cloud_call::{CallOutcome, CloudCall, Grouping};
use crate::policy::Injection;
use crate::site::{SiteKey, TestPhase};

/// Injection in one execution.
#[derive(Debug)]
pub struct Shot {
    test: Option<String>,
    how: Injection,
    aims: Vec<AimState>,
    grouping: Grouping,
    calls: Vec<CloudCall>,
    attempts: Vec<Attempt>,
    counts: BTreeMap<(TestPhase, SiteKey), Counts>,
}

/// The calls of one phase and site so far.
#[derive(Debug, Default)]
struct Counts {
    calls: u32,
    by_line: BTreeMap<Option<String>, u32>,
}

/// An aim on its way: idle until it has a call.
#[derive(Debug)]
struct AimState {
    aim: Aim,
    /// Calls that matched.
    seen: u32,
    /// The call that it acts on.
    bound: Option<usize>,
    /// How often a call was let go, because there was nothing to lose.
    released: u32,
    landed: bool,
    misaimed: bool,
}

/// What came of an aim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AimEnd {
    /// Its fault was injected into the call at this place of the record.
    Landed {
        /// The place.
        call: usize,
    },
    /// It was bound to a call that turned out to be another.
    Misaimed {
        /// The place.
        call: usize,
    },
    /// No call was left to inject it into.
    NotExercised {
        /// How many calls matched, whose answers left nothing to lose.
        released: u32,
    },
}

/// An aim, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AimRecord {
    /// The aim.
    pub aim: Aim,
    /// What came of it.
    pub end: AimEnd,
}

/// Everything that was seen of one execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its cloud calls, by their first attempts.
    pub calls: Vec<CloudCall>,
    /// All attempts, in order of arrival.
    pub attempts: Vec<Attempt>,
    /// What came of each aim.
    pub aims: Vec<AimRecord>,
}

impl Record {
    /// The attempts of a call, in order.
    pub fn attempts_of(&self, call: usize) -> impl DoubleEndedIterator<Item = &Attempt> {
        let ids = self.calls[call].attempts.iter();
        ids.map(|id| &self.attempts[id.0 as usize])
    }

    /// How a call went in the end.
    pub fn outcome(&self, call: usize) -> CallOutcome {
        let last = self.attempts_of(call).next_back();
        let Some((attempt, end)) = last.and_then(|last| Some((last, last.end.as_ref()?))) else {
            return CallOutcome::Abandoned;
        };
        match end.reply {
            _ if attempt.is_injected() => CallOutcome::Failed,
            _ if end.gave_up => CallOutcome::Abandoned,
            reply if reply.is_failure() => CallOutcome::Transformed,
            _ => CallOutcome::Masked,
        }
    }

    /// Whether a fault was injected at all.
    pub fn has_landed(&self) -> bool {
        self.landed().next().is_some()
    }

    /// The aims whose faults were injected, each with its call.
    pub fn landed(&self) -> impl Iterator<Item = (&Aim, usize)> {
        self.aims.iter().filter_map(|record| match record.end {
            AimEnd::Landed { call } => Some((&record.aim, call)),
            _ => None,
        })
    }
}

impl Shot {
    /// Injects these aims in this way.
    pub fn new(aims: Vec<Aim>, how: Injection) -> Self {
        let idle = |aim| AimState {
            aim,
            seen: 0,
            bound: None,
            released: 0,
            landed: false,
            misaimed: false,
        };
        Shot {
            test: None,
            how,
            aims: aims.into_iter().map(idle).collect(),
            grouping: Grouping::default(),
            calls: Vec::new(),
            attempts: Vec::new(),
            counts: BTreeMap::new(),
        }
    }

    /// The same, into calls of this test alone: a thread that outlives its test
    /// may call while the next one runs.
    pub fn of_test(self, test: impl Into<String>) -> Self {
        Shot {
            test: Some(test.into()),
            ..self
        }
    }

    /// A request has arrived: what is injected into it, if anything.
    ///
    /// If that comes after the service's answer, [`Shot::answered`] is to be
    /// asked when the answer is there.
    pub fn arrive(&mut self, request: Request) -> (AttemptId, Option<Mode>) {
        let id = AttemptId(self.attempts.len() as u32);
        let (call, grouped_by) = self.grouping.place(&request);
        let site = request.site();
        if call == self.calls.len() {
            let new = self.new_call(&request, &site, grouped_by);
            self.calls.push(new);
            self.bind(call);
        }
        self.calls[call].attempts.push(id);
        let number = self.calls[call].attempts.len() as u32;
        let raises = request.caller.raises;
        let mode = self.decide(call, number, &site);
        let mode = mode.map(|mode| self.how.way(mode, raises));
        self.attempts.push(Attempt {
            call,
            number,
            at: request.at,
            method: request.method,
            path: request.path,
            query: request.query,
            body_hash: request.body_hash,
            mode,
            end: None,
        });
        (id, mode)
    }

    fn new_call(
        &mut self,
        request: &Request,
        site: &SiteKey,
        grouped_by: crate::GroupedBy,
    ) -> CloudCall {
        let caller = &request.caller;
        let phase = caller.phase.unwrap_or_default();
        let counts = self.counts.entry((phase, site.clone())).or_default();
        counts.calls += 1;
        let of_line = counts.by_line.entry(caller.line.clone()).or_default();
        *of_line += 1;
        CloudCall {
            site: site.clone(),
            frame: caller.site.clone(),
            line: caller.line.clone(),
            phase,
            test: caller.test.clone(),
            id: caller.call.clone(),
            grouped_by,
            ordinal: counts.calls,
            line_ordinal: *of_line,
            token: request.token,
            attempts: Vec::new(),
        }
    }

    /// Shows a new call to all idle aims; the first that was waiting for it has it.
    fn bind(&mut self, place: usize) {
        let call = &self.calls[place];
        if self.test.is_some() && call.test.is_some() && self.test != call.test {
            return;
        }
        let mut is_free = true;
        for state in self.aims.iter_mut().filter(|state| state.matches(call)) {
            state.seen += 1;
            if is_free && state.is_idle() && state.seen >= state.aim.ordinal {
                state.bound = Some(place);
                is_free = false;
            }
        }
    }

    /// What is injected into attempt `number` of a call, whose site the attempt
    /// itself gives as `site`.
    fn decide(&mut self, call: usize, number: u32, site: &SiteKey) -> Option<Mode> {
        let bound = |state: &&mut AimState| state.bound == Some(call);
        let state = self.aims.iter_mut().find(bound)?;
        if !state.aim.fits(site) {
            state.misaimed = true;
        }
        let acts = !state.misaimed;
        let mode = acts.then(|| state.aim.policy.decide(number, &self.how))?;
        // Its end may come only when the test was killed, or not any more.
        let never_ends =
            |mode: Mode| mode.phase() == Phase::Before && mode.outcome() == Outcome::Hang;
        state.landed |= mode.is_some_and(never_ends);
        mode
    }

    /// The service has answered an attempt whose answer is to be lost: is it
    /// still? Not if there is nothing to lose; the aim then takes the next call.
    pub fn answered(&mut self, id: AttemptId, status: u16) -> bool {
        let attempt = &mut self.attempts[id.0 as usize];
        let is_after = attempt
            .mode
            .is_some_and(|mode| mode.phase() == Phase::After);
        let bound = |state: &&mut AimState| state.bound == Some(attempt.call);
        let Some(state) = self.aims.iter_mut().find(bound).filter(|_| is_after) else {
            return false;
        };
        let loses = state.aim.policy.loses(attempt.number, status, &self.how);
        if !loses {
            attempt.mode = None;
            state.release_before_landing();
        } else if attempt
            .mode
            .is_some_and(|mode| mode.outcome() == Outcome::Hang)
        {
            state.landed = true;
        }
        loses
    }

    /// An attempt has ended.
    pub fn finish(&mut self, id: AttemptId, end: End) {
        let attempt = &mut self.attempts[id.0 as usize];
        if attempt.end.is_some() {
            return;
        }
        let is_injected = attempt.mode.is_some() && end.landed;
        let reply = if end.gave_up {
            Reply::TimedOut
        } else {
            end.reply
        };
        self.grouping.finish(id, reply, is_injected);
        let bound = |state: &&mut AimState| state.bound == Some(attempt.call);
        if let Some(state) = self.aims.iter_mut().find(bound) {
            state.landed |= is_injected;
            if attempt.mode.is_some() && !is_injected {
                attempt.mode = None;
                state.release_before_landing();
            }
        }
        attempt.end = Some(end);
    }

    /// What was seen.
    pub fn record(self) -> Record {
        Record {
            calls: self.calls,
            attempts: self.attempts,
            aims: self.aims.into_iter().map(AimState::record).collect(),
        }
    }
}

impl AimState {
    fn is_idle(&self) -> bool {
        self.bound.is_none()
    }

    fn matches(&self, call: &CloudCall) -> bool {
        let of_line = self.aim.line.is_none() || self.aim.line == call.line;
        of_line && self.aim.phase == call.phase && self.aim.site == call.site
    }

    /// Back to waiting, unless something was injected already.
    fn release_before_landing(&mut self) {
        if !self.landed {
            self.bound = None;
            self.released += 1;
        }
    }

    fn record(self) -> AimRecord {
        let end = match self.bound {
            Some(call) if self.misaimed => AimEnd::Misaimed { call },
            Some(call) if self.landed => AimEnd::Landed { call },
            _ => AimEnd::NotExercised {
                released: self.released,
            },
        };
        AimRecord { aim: self.aim, end }
    }
}

impl Aim {
    /// Whether an attempt from this site may be one of the call that is meant.
    /// Without a stack only the operation can be compared.
    fn fits(&self, site: &SiteKey) -> bool {
        let is_same = self.site.service == site.service && self.site.operation == site.operation;
        is_same && (site.stack.is_empty() || self.site.stack == site.stack)
    }
}
