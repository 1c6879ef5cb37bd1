//! The JSON form of a trace: a list of calls.
//!
//! Owns what makes it short. A call whose point is its parent's point and one
//! frame more, as nearly all are, is written with that frame alone
//! (`"call": "cart GET /cart #2", "parent": 0`), any other with its whole
//! `"point"`; a fault that was aimed at this very call as its mode alone.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Call, CallId, Reply, Trace};
use crate::{Fault, Frame, Mode, PayloadHash, Point, Target};

impl Serialize for Trace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let forms = self.calls().iter().map(|call| Written::of(call, self));
        serializer.collect_seq(forms)
    }
}

impl<'de> Deserialize<'de> for Trace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let forms: Vec<Read> = Vec::deserialize(deserializer)?;
        let mut calls = Vec::with_capacity(forms.len());
        for form in forms {
            let call = form.call(&calls).map_err(D::Error::custom)?;
            calls.push(call);
        }
        Ok(Trace { calls })
    }
}

#[derive(Serialize)]
struct Written<'t> {
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<&'t Frame>,
    #[serde(skip_serializing_if = "Option::is_none")]
    point: Option<&'t Point>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<u32>,
    arrived: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<Reply>,
    #[serde(skip_serializing_if = "Option::is_none")]
    injected: Option<Injected<'t>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<PayloadHash>,
}

/// What was injected into a call.
#[derive(Serialize)]
#[serde(untagged)]
enum Injected<'t> {
    /// Into this very call.
    Here(Mode),
    /// By a fault with a wider target.
    By(&'t Fault),
}

impl<'t> Written<'t> {
    fn of(call: &'t Call, trace: &'t Trace) -> Self {
        let parent = call.parent.map(|parent| &trace.call(parent).point);
        let is_below = call.point.parent() == parent;
        let here = |fault: &Fault| matches!(&fault.target, Target::Call(at) if *at == call.point);
        Written {
            call: is_below.then(|| call.point.frame()),
            point: (!is_below).then_some(&call.point),
            parent: call.parent.map(|parent| parent.0),
            arrived: call.arrived,
            finished: call.finished,
            reply: call.reply,
            injected: call.injected.as_ref().map(|fault| match here(fault) {
                true => Injected::Here(fault.mode),
                false => Injected::By(fault),
            }),
            body: call.body,
        }
    }
}

#[derive(Deserialize)]
struct Read {
    call: Option<Frame>,
    point: Option<Point>,
    parent: Option<u32>,
    arrived: u32,
    finished: Option<u32>,
    reply: Option<Reply>,
    injected: Option<String>,
    body: Option<PayloadHash>,
}

impl Read {
    /// The call, given those that arrived before it.
    fn call(self, before: &[Call]) -> Result<Call, String> {
        let parent = match self.parent {
            None => None,
            Some(at) => Some(
                before
                    .get(at as usize)
                    .ok_or_else(|| "a call arrives before the call it was made from".to_owned())?,
            ),
        };
        let point = match (self.call, self.point) {
            (Some(frame), None) => match parent {
                Some(parent) => parent.point.child(frame),
                None => Point::entry(frame),
            },
            (None, Some(point)) => point,
            _ => return Err("a call has either `call` or `point`".to_owned()),
        };
        let injected = self.injected.as_deref().map(|text| injected(text, &point));
        Ok(Call {
            parent: self.parent.map(CallId),
            arrived: self.arrived,
            finished: self.finished,
            reply: self.reply,
            injected: injected.transpose()?,
            body: self.body,
            point,
        })
    }
}

/// No mode reads as a fault, which has ` = ` in it.
fn injected(text: &str, point: &Point) -> Result<Fault, String> {
    if let Ok(mode) = text.parse() {
        return Ok(Fault::at(point.clone(), mode));
    }
    text.parse()
        .map_err(|_| format!("`{text}` is neither a mode nor a fault"))
}
