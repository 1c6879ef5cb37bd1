//! Executions for tests, told call by call.

use std::collections::HashMap;
use std::time::Duration;

use murphy_model::{
    Call, CallId, Detail, Execution, Fault, Faultload, GrpcCode, Link, Mode, Observed, PayloadHash,
    Point, Reply, Trace, Verdict,
};

use crate::case::Case;
use crate::complaint::Complaint;
use crate::reference::Reference;
use crate::settings::Settings;

/// A call in the making.
#[derive(Clone)]
pub(crate) struct Told {
    point: Point,
    during: Option<(u32, u32)>,
    reply: Option<Reply>,
    injected: Option<Fault>,
    gave_up: Option<Duration>,
    key: Option<PayloadHash>,
}

/// A call at this point, answered with 200.
pub(crate) fn call(point: &str) -> Told {
    Told {
        point: point.parse().unwrap(),
        during: None,
        reply: Some(Reply::Status(200)),
        injected: None,
        gave_up: None,
        key: None,
    }
}

/// `200`, `reset`, `timeout`, `OK`, `UNAVAILABLE`.
fn reply(text: &str) -> Reply {
    match text {
        "reset" => Reply::Reset,
        "timeout" => Reply::TimedOut,
        "OK" => Reply::GrpcOk,
        _ => match text.parse() {
            Ok(status) => Reply::Status(status),
            Err(_) => Reply::Grpc(GrpcCode::named(text).unwrap()),
        },
    }
}

impl Told {
    pub(crate) fn answers(self, text: &str) -> Self {
        Told {
            reply: Some(reply(text)),
            ..self
        }
    }

    /// A fault was injected into it in this mode, with the answer that comes with it.
    pub(crate) fn injected(self, mode: &str) -> Self {
        let mode: Mode = mode.parse().unwrap();
        Told {
            reply: mode.reply().or(self.reply),
            injected: Some(Fault::at(self.point.clone(), mode)),
            ..self
        }
    }

    /// Its arrival and its end, in events of the trace.
    pub(crate) fn during(self, arrived: u32, finished: u32) -> Self {
        Told {
            during: Some((arrived, finished)),
            ..self
        }
    }

    /// Its caller went away after this many milliseconds.
    pub(crate) fn gave_up(self, after: u64) -> Self {
        Told {
            gave_up: Some(Duration::from_millis(after)),
            ..self.answers("timeout")
        }
    }

    /// Carries this idempotency key; only seen in a detailed story.
    pub(crate) fn keyed(self, key: &str) -> Self {
        Told {
            key: Some(PayloadHash::of_key(key.as_bytes())),
            ..self
        }
    }

    /// Its caller went away after this many milliseconds, having seen the
    /// status.
    pub(crate) fn left_unread(self, after: u64) -> Self {
        Told {
            gave_up: Some(Duration::from_millis(after)),
            ..self
        }
    }
}

/// An execution in the making.
pub(crate) struct Story {
    told: Vec<Told>,
    word: Result<(), String>,
    planned: Vec<Fault>,
    pub(crate) output: Option<String>,
    /// What services logged.
    pub(crate) logged: Option<String>,
    pub(crate) took: Duration,
    /// How many milliseconds an event of the trace takes, if there are times.
    tick: Option<u64>,
}

impl Story {
    /// These calls, parents before children and each made by the last call at
    /// its parent's point. Unless told otherwise, siblings follow each other.
    pub(crate) fn new(told: Vec<Told>) -> Self {
        Story {
            told,
            word: Ok(()),
            planned: Vec::new(),
            output: None,
            logged: None,
            took: Duration::from_millis(10),
            tick: None,
        }
    }

    pub(crate) fn fails(self, why: &str) -> Self {
        Story {
            word: Err(why.to_owned()),
            ..self
        }
    }

    /// A fault that was planned beside those that were injected.
    pub(crate) fn planned(mut self, fault: &str) -> Self {
        self.planned.push(fault.parse().unwrap());
        self
    }

    /// With times: one event of the trace takes 100 ms.
    pub(crate) fn detailed(self) -> Self {
        self.ticking(100)
    }

    /// With times: one event of the trace takes so many milliseconds.
    pub(crate) fn ticking(self, milliseconds: u64) -> Self {
        Story {
            tick: Some(milliseconds),
            ..self
        }
    }

    pub(crate) fn observed(&self) -> Observed {
        let calls = self.calls();
        let details = self.tick.map(|tick| {
            let told = calls.iter().zip(&self.told);
            told.map(|(call, told)| detail(call, told, tick)).collect()
        });
        let details = details.unwrap_or_default();
        let trace = Trace::new(calls);
        let faults = trace
            .injected()
            .faults()
            .chain(self.planned.clone())
            .collect::<Vec<_>>();
        let faultload = Faultload::new(faults).unwrap();
        let verdict = Verdict::of(self.word.clone(), &faultload, &trace);
        Observed {
            execution: Execution {
                faultload,
                trace,
                verdict,
            },
            details,
            quiet: true,
            took: self.took,
            output: self.output.clone(),
            logged: self.logged.clone(),
        }
    }

    fn calls(&self) -> Vec<Call> {
        let mut at: HashMap<Point, CallId> = HashMap::new();
        let mut calls: Vec<Call> = Vec::new();
        for (i, told) in self.told.iter().enumerate() {
            let parent = told.point.parent().map(|parent| at[parent]);
            at.insert(told.point.clone(), CallId(i as u32));
            // A call that is told without times ends before the next one of
            // its caller begins and after all it leads to.
            let leads_to = self.told[i + 1..].iter();
            let last = leads_to
                .take_while(|other| other.point.ancestors().any(|above| *above == told.point))
                .count();
            let usual = (2 * i as u32, 2 * (i + last) as u32 + 1);
            let (arrived, finished) = told.during.unwrap_or(usual);
            calls.push(Call {
                point: told.point.clone(),
                parent,
                arrived,
                finished: Some(finished),
                reply: told.reply,
                injected: told.injected.clone(),
                body: None,
            });
        }
        calls
    }
}

fn detail(call: &Call, told: &Told, tick: u64) -> Detail {
    let time = |events: u32| Duration::from_millis(tick * u64::from(events));
    Detail {
        arrived: time(call.arrived),
        finished: call.finished.map(time),
        gave_up: told.gave_up,
        organic: None,
        landed: call.injected.as_ref().map(|_| true),
        body_cut: false,
        idempotency_key: told.key,
        link: Link::Certain,
    }
}

/// What an oracle says of a story, compared with the executions before it.
pub(crate) fn judged<R>(
    judge: fn(&Case<'_>) -> R,
    settings: &Settings,
    references: &[Story],
    story: &Story,
) -> Vec<Complaint>
where
    R: IntoIterator<Item = Complaint>,
{
    let references: Vec<Observed> = references.iter().map(Story::observed).collect();
    let complaints = judge(&Case {
        observed: &story.observed(),
        reference: &Reference::of(&references),
        settings,
    });
    complaints.into_iter().collect()
}
