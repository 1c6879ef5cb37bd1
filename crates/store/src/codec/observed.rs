//! The form of an execution and all that was seen of it.

use murphy_model::{
    Call, CallId, Detail, Execution, Link, Observed, Organic, PayloadHash, Point, Reply, Trace,
    Verdict,
};
use murphy_report::redact;
use serde::{Deserialize, Serialize};

use super::names::{FaultForm, faultload, parsed};
use super::{CodecError, Name, Naming, Nanos};

#[derive(Serialize, Deserialize)]
pub(super) struct ObservedForm {
    faultload: Vec<FaultForm>,
    verdict: VerdictForm,
    took_ns: Nanos,
    quiet: bool,
    calls: Vec<CallForm>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    details: Vec<DetailForm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    logged: Option<String>,
}

impl ObservedForm {
    pub(super) fn new(observed: &Observed, naming: &mut impl Naming) -> Self {
        let execution = &observed.execution;
        let calls = execution.trace.calls().iter();
        ObservedForm {
            faultload: FaultForm::all(&execution.faultload, naming),
            verdict: VerdictForm::new(&execution.verdict, naming),
            took_ns: Nanos::of(observed.took),
            quiet: observed.quiet,
            calls: calls.map(|call| CallForm::new(call, naming)).collect(),
            details: observed.details.iter().map(DetailForm::new).collect(),
            output: observed.output.as_deref().map(redact::owned),
            logged: observed.logged.as_deref().map(redact::owned),
        }
    }

    pub(super) fn read(self, points: &[Point]) -> Result<Observed, CodecError> {
        let details = self.details.iter().map(DetailForm::read);
        Ok(Observed {
            execution: Execution {
                faultload: faultload(&self.faultload, points)?,
                trace: trace(&self.calls, points)?,
                verdict: self.verdict.read(points)?,
            },
            details: details.collect::<Result<_, _>>()?,
            quiet: self.quiet,
            took: self.took_ns.span(),
            output: self.output,
            logged: self.logged,
        })
    }
}

fn trace(forms: &[CallForm], points: &[Point]) -> Result<Trace, CodecError> {
    let calls: Result<Vec<Call>, _> = forms.iter().map(|form| form.read(points)).collect();
    let calls = calls?;
    let in_order = |(i, call): (usize, &Call)| call.parent.is_none_or(|p| (p.0 as usize) < i);
    match calls.iter().enumerate().all(in_order) {
        true => Ok(Trace::new(calls)),
        false => Err(CodecError::Contradiction(
            "a call arrives before the call it was made from",
        )),
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum VerdictForm {
    Passed,
    Failed { why: String },
    NotExercised { missing: Vec<FaultForm> },
}

impl VerdictForm {
    fn new(verdict: &Verdict, naming: &mut impl Naming) -> Self {
        match verdict {
            Verdict::Passed => VerdictForm::Passed,
            Verdict::Failed { why } => VerdictForm::Failed {
                why: redact::owned(why),
            },
            Verdict::NotExercised { missing } => {
                let missing = missing.iter();
                VerdictForm::NotExercised {
                    missing: missing.map(|f| FaultForm::new(f, naming)).collect(),
                }
            }
        }
    }

    fn read(self, points: &[Point]) -> Result<Verdict, CodecError> {
        Ok(match self {
            VerdictForm::Passed => Verdict::Passed,
            VerdictForm::Failed { why } => Verdict::Failed { why },
            VerdictForm::NotExercised { missing } => {
                let missing: Result<_, _> = missing.iter().map(|form| form.read(points)).collect();
                Verdict::NotExercised { missing: missing? }
            }
        })
    }
}

#[derive(Serialize, Deserialize)]
struct CallForm {
    point: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<u32>,
    arrived: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finished: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reply: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    injected: Option<FaultForm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
}

impl CallForm {
    fn new(call: &Call, naming: &mut impl Naming) -> Self {
        let injected = call.injected.as_ref();
        CallForm {
            point: naming.name(&call.point),
            parent: call.parent.map(|parent| parent.0),
            arrived: call.arrived,
            finished: call.finished,
            reply: call.reply.map(|reply| reply.to_string()),
            injected: injected.map(|fault| FaultForm::new(fault, naming)),
            body: call.body.map(|body| body.to_string()),
        }
    }

    fn read(&self, points: &[Point]) -> Result<Call, CodecError> {
        let reply = |text: &String| parsed::<Reply>("reply", text);
        let body = |text: &String| parsed::<PayloadHash>("body", text);
        let injected = self.injected.as_ref();
        Ok(Call {
            point: self.point.point(points)?,
            parent: self.parent.map(CallId),
            arrived: self.arrived,
            finished: self.finished,
            reply: self.reply.as_ref().map(reply).transpose()?,
            injected: injected.map(|fault| fault.read(points)).transpose()?,
            body: self.body.as_ref().map(body).transpose()?,
        })
    }
}

/// What is usual is left out: there is one of these for every call.
#[derive(Serialize, Deserialize)]
struct DetailForm {
    arrived_ns: Nanos,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    finished_ns: Option<Nanos>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gave_up_ns: Option<Nanos>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    organic: Option<OrganicForm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    landed: Option<bool>,
    #[serde(default, skip_serializing_if = "is_false")]
    body_cut: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<String>,
    #[serde(default, skip_serializing_if = "LinkForm::is_certain")]
    link: LinkForm,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl DetailForm {
    fn new(detail: &Detail) -> Self {
        DetailForm {
            arrived_ns: Nanos::of(detail.arrived),
            finished_ns: detail.finished.map(Nanos::of),
            gave_up_ns: detail.gave_up.map(Nanos::of),
            organic: detail.organic.map(OrganicForm::new),
            landed: detail.landed,
            body_cut: detail.body_cut,
            idempotency_key: detail.idempotency_key.map(|key| key.to_string()),
            link: LinkForm::new(detail.link),
        }
    }

    fn read(&self) -> Result<Detail, CodecError> {
        let key = |text: &String| parsed::<PayloadHash>("idempotency key", text);
        Ok(Detail {
            arrived: self.arrived_ns.span(),
            finished: self.finished_ns.map(Nanos::span),
            gave_up: self.gave_up_ns.map(Nanos::span),
            organic: self.organic.map(OrganicForm::read),
            landed: self.landed,
            body_cut: self.body_cut,
            idempotency_key: self.idempotency_key.as_ref().map(key).transpose()?,
            link: self.link.read(),
        })
    }
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OrganicForm {
    Refused,
    Unreachable,
    ConnectTimedOut,
    Reset,
    BrokenAnswer,
    NotHttp,
}

impl OrganicForm {
    fn new(organic: Organic) -> Self {
        match organic {
            Organic::Refused => OrganicForm::Refused,
            Organic::Unreachable => OrganicForm::Unreachable,
            Organic::ConnectTimedOut => OrganicForm::ConnectTimedOut,
            Organic::Reset => OrganicForm::Reset,
            Organic::BrokenAnswer => OrganicForm::BrokenAnswer,
            Organic::NotHttp => OrganicForm::NotHttp,
        }
    }

    fn read(self) -> Organic {
        match self {
            OrganicForm::Refused => Organic::Refused,
            OrganicForm::Unreachable => Organic::Unreachable,
            OrganicForm::ConnectTimedOut => Organic::ConnectTimedOut,
            OrganicForm::Reset => Organic::Reset,
            OrganicForm::BrokenAnswer => Organic::BrokenAnswer,
            OrganicForm::NotHttp => Organic::NotHttp,
        }
    }
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LinkForm {
    #[default]
    Certain,
    Spans,
    Inferred,
    Ambiguous,
    Orphan,
}

impl LinkForm {
    fn new(link: Link) -> Self {
        match link {
            Link::Certain => LinkForm::Certain,
            Link::Spans => LinkForm::Spans,
            Link::Inferred => LinkForm::Inferred,
            Link::Ambiguous => LinkForm::Ambiguous,
            Link::Orphan => LinkForm::Orphan,
        }
    }

    fn read(self) -> Link {
        match self {
            LinkForm::Certain => Link::Certain,
            LinkForm::Spans => Link::Spans,
            LinkForm::Inferred => Link::Inferred,
            LinkForm::Ambiguous => Link::Ambiguous,
            LinkForm::Orphan => Link::Orphan,
        }
    }

    fn is_certain(&self) -> bool {
        matches!(self, LinkForm::Certain)
    }
}
