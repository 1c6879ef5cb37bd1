//! Policies: how the attempts of one cloud call fail.
//!
//! Owns what each policy does with attempt n; binding a policy to a call is
//! [`crate::shot`]'s. Losing an answer means that the service did the work and
//! the caller does not hear of it; the two halves of that question (before the
//! request is forwarded, and when the answer is there) are asked apart.

use murphy_model::{Mode, Outcome, Phase};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A state machine over the attempts of one cloud call.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// The first answer is lost.
    P1,
    /// Every answer is lost.
    P2,
    /// Every attempt is refused; the service sees none.
    P3,
    /// The first answer is lost, every other attempt is refused.
    P4,
    /// The first attempt is refused.
    P5,
    /// Every request is lost; the service sees none.
    P6,
}

impl Policy {
    /// All of them.
    pub const ALL: [Policy; 6] = [
        Policy::P1,
        Policy::P2,
        Policy::P3,
        Policy::P4,
        Policy::P5,
        Policy::P6,
    ];

    /// Those that are used unless others are asked for.
    pub const DEFAULT: [Policy; 4] = [Policy::P1, Policy::P2, Policy::P3, Policy::P4];

    /// The name in flags and reports.
    pub fn name(self) -> &'static str {
        match self {
            Policy::P1 => "p1",
            Policy::P2 => "p2",
            Policy::P3 => "p3",
            Policy::P4 => "p4",
            Policy::P5 => "p5",
            Policy::P6 => "p6",
        }
    }

    /// The policy with this name.
    pub fn named(name: &str) -> Option<Self> {
        let is_it = |policy: &Policy| policy.name().eq_ignore_ascii_case(name);
        Self::ALL.into_iter().find(is_it)
    }

    /// What it does, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Policy::P1 => "first answer lost",
            Policy::P2 => "all answers lost",
            Policy::P3 => "unavailable",
            Policy::P4 => "done but refused",
            Policy::P5 => "refused once",
            Policy::P6 => "all requests lost",
        }
    }

    /// Whether the service does the work of the first attempt, so that its
    /// answer decides whether there is anything to lose.
    pub fn loses_first_answer(self) -> bool {
        matches!(self, Policy::P1 | Policy::P2 | Policy::P4)
    }

    /// What is injected into attempt `number` (from 1); an answer that is to be
    /// lost is asked about again when it is there ([`Policy::loses`]).
    pub fn decide(self, number: u32, how: &Injection) -> Option<Mode> {
        let is_first = number == 1;
        match self {
            Policy::P1 => is_first.then(|| how.lost_answer()),
            Policy::P2 => Some(how.lost_answer()),
            Policy::P3 => Some(how.refusal()),
            Policy::P4 if is_first => Some(how.lost_answer()),
            Policy::P4 => Some(how.refusal()),
            Policy::P5 => is_first.then(|| how.refusal()),
            Policy::P6 => Some(how.lost_request()),
        }
    }

    /// Whether the answer of attempt `number` with this status is lost.
    ///
    /// One that is no success is not lost at the first attempt: nothing was done
    /// that the caller could miss. At later ones it is, unless P2 is to be that
    /// of the paper, which loses successes only.
    pub fn loses(self, number: u32, status: u16, how: &Injection) -> bool {
        match self {
            Policy::P1 | Policy::P4 => number == 1 && status < 300,
            Policy::P2 if number == 1 || how.p2_paper => status < 300,
            Policy::P2 => true,
            Policy::P3 | Policy::P5 | Policy::P6 => false,
        }
    }
}

/// How an answer is lost.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum LostAnswer {
    /// The library raises the client's own time-out at once; without a library
    /// that can, the caller waits.
    Raise,
    /// The connection is closed.
    #[default]
    Close,
    /// The caller waits until it gives up.
    Hang,
    /// The answer is replaced by a 408, as Rainmaker does.
    #[serde(rename = "408")]
    Status408,
}

/// How faults are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Injection {
    /// How answers and requests are lost.
    pub lost: LostAnswer,
    /// The status of a refusal.
    pub error: u16,
    /// Whether P2 loses successes only, as in the paper.
    pub p2_paper: bool,
}

impl Default for Injection {
    fn default() -> Self {
        Injection {
            lost: LostAnswer::default(),
            error: 503,
            p2_paper: false,
        }
    }
}

impl Injection {
    /// The service does the work; the caller does not hear of it.
    pub fn lost_answer(&self) -> Mode {
        self.loss(Phase::After)
    }

    /// The service sees nothing, and the caller hears nothing.
    pub fn lost_request(&self) -> Mode {
        self.loss(Phase::Before)
    }

    /// How an answer is lost to a caller; `raises`: its library can raise the
    /// client's own time-out. Others would wait for minutes.
    pub(crate) fn way(&self, mode: Mode, raises: bool) -> Mode {
        let is_raised = self.lost == LostAnswer::Raise && mode.outcome() == Outcome::Hang;
        match is_raised && !raises {
            true => Mode::new(mode.phase(), Outcome::Close).expect("as a hang, before or after"),
            false => mode,
        }
    }

    /// The service sees nothing, and the caller gets an error.
    pub fn refusal(&self) -> Mode {
        Mode::status(self.error)
    }

    fn loss(&self, phase: Phase) -> Mode {
        let outcome = match self.lost {
            LostAnswer::Raise | LostAnswer::Hang => Outcome::Hang,
            LostAnswer::Close => Outcome::Close,
            LostAnswer::Status408 => Outcome::Status(408),
        };
        Mode::new(phase, outcome).expect("what is lost can be lost before and after")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_lose_an_answer_has_its_modes() {
        let cases = [
            (LostAnswer::Raise, "after:hang", "hang"),
            (LostAnswer::Hang, "after:hang", "hang"),
            (LostAnswer::Close, "after:close", "close"),
            (LostAnswer::Status408, "after:408", "408"),
        ];
        for (lost, answer, request) in cases {
            let how = Injection {
                lost,
                ..Injection::default()
            };
            assert_eq!(how.lost_answer().to_string(), answer);
            assert_eq!(how.lost_request().to_string(), request);
        }
    }

    #[test]
    fn every_policy_does_what_its_row_says() {
        let how = Injection::default();
        let rows = [
            (Policy::P1, "after:close", "-"),
            (Policy::P2, "after:close", "after:close"),
            (Policy::P3, "503", "503"),
            (Policy::P4, "after:close", "503"),
            (Policy::P5, "503", "-"),
            (Policy::P6, "close", "close"),
        ];
        let text = |mode: Option<Mode>| mode.map_or("-".to_owned(), |mode| mode.to_string());
        for (policy, first, later) in rows {
            assert_eq!(text(policy.decide(1, &how)), first, "{policy:?}");
            assert_eq!(text(policy.decide(2, &how)), later, "{policy:?}");
            assert_eq!(text(policy.decide(9, &how)), later, "{policy:?}");
            assert_eq!(Policy::named(policy.name()), Some(policy));
        }
    }

    #[test]
    fn a_first_answer_that_is_an_error_is_never_lost_a_later_one_by_p2() {
        let how = Injection::default();
        let paper = Injection {
            p2_paper: true,
            ..how
        };
        let rows = [
            (Policy::P1, 1, 204, true, true),
            (Policy::P1, 1, 301, false, false),
            (Policy::P1, 2, 200, false, false),
            (Policy::P2, 1, 404, false, false),
            (Policy::P2, 2, 404, true, false),
            (Policy::P2, 2, 200, true, true),
            (Policy::P4, 1, 200, true, true),
            (Policy::P4, 1, 409, false, false),
        ];
        for (policy, number, status, ours, of_paper) in rows {
            assert_eq!(policy.loses(number, status, &how), ours);
            assert_eq!(policy.loses(number, status, &paper), of_paper);
        }
    }
}
