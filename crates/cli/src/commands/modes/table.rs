//! Every mode, with what happens, what it shows and what it costs.
//!
//! Owns the texts; `murphy modes` and the guide's page are both made from
//! them, so that they cannot differ. What a mode does is the proxy's job.

use std::mem::discriminant;

use murphy_model::{Mode, ModeSet, Phase};

/// One way to fail: an outcome in a phase.
pub(super) struct Entry {
    /// A mode of this kind, as it is written.
    pub(super) mode: &'static str,
    /// What else can be written in its place; empty if nothing.
    pub(super) others: &'static str,
    /// What happens to the call.
    pub(super) happens: &'static str,
    /// An example of what it shows.
    pub(super) shows: &'static str,
    /// What it costs.
    pub(super) costs: &'static str,
    /// The command that finds that example, or would.
    pub(super) demo: &'static str,
}

impl Entry {
    /// The entry of a mode.
    pub(super) fn of(mode: Mode) -> &'static Entry {
        let is_alike = |entry: &&Entry| {
            let example = entry.parsed();
            let same_outcome = discriminant(&example.outcome()) == discriminant(&mode.outcome());
            same_outcome && example.phase() == mode.phase() && example.tls() == mode.tls()
        };
        let found = ENTRIES.iter().find(is_alike);
        found.expect("every outcome has an entry in each phase that it fits")
    }

    /// The example as a mode.
    pub(super) fn parsed(&self) -> Mode {
        self.mode.parse().expect("examples are modes")
    }
}

/// The phases in the order they are told, with what they are.
pub(super) const PHASES: [(Phase, &str, &str); 3] = [
    (
        Phase::Before,
        "Before",
        "the callee is not reached, and nothing below it is called",
    ),
    (
        Phase::After,
        "After",
        "the callee does its work; its answer is lost or spoiled",
    ),
    (
        Phase::Delivery,
        "Delivery",
        "the callee answers; how the messages travel changes",
    ),
];

/// What a word for several modes is for.
pub(super) fn about_set(set: ModeSet) -> &'static str {
    match set {
        ModeSet::HTTP => "the four errors of published experiments",
        ModeSet::TLS => "what goes wrong with certificates, for calls that come over TLS",
        _ => "what a gRPC callee answers when it is down, broken, late or overloaded",
    }
}

const AT_ONCE: &str = "one execution, no waiting";
const WORK: &str = "one execution, no waiting; the work is done, so its state may have to be reset";
const PATIENCE: &str = "as long as the caller waits, at most the scenario's `timeout`";

/// All of them: by phase, in each from statuses to time.
pub(super) const ENTRIES: [Entry; 19] = [
    Entry {
        mode: "503",
        others: "any status from 100 to 599",
        happens: "the caller gets this HTTP status",
        shows: "a caller that turns the 503 of its callee into a 500 of its own",
        costs: AT_ONCE,
        demo: "murphy demo mailchimp --modes 503",
    },
    Entry {
        mode: "grpc:UNAVAILABLE",
        others: "any gRPC status but OK",
        happens: "the caller gets this gRPC status; for gRPC calls only",
        shows: "a discount that is given although the cart could not be adjusted",
        costs: AT_ONCE,
        demo: "murphy demo purchase --set wire=grpc,bugs=on --modes grpc:UNAVAILABLE",
    },
    Entry {
        mode: "reset",
        others: "",
        happens: "the connection is reset",
        shows: "a caller that handles statuses but waits out a lost connection, longer than its own caller waits",
        costs: AT_ONCE,
        demo: "murphy demo cinema-12 --modes reset",
    },
    Entry {
        mode: "close",
        others: "",
        happens: "the connection is closed without an answer",
        shows: "a caller that waits out a connection that was closed, longer than its own caller waits",
        costs: AT_ONCE,
        demo: "murphy demo cinema-12 --modes close",
    },
    Entry {
        mode: "hang",
        others: "",
        happens: "no answer comes until the caller gives up",
        shows: "a caller that gives up before its callee, whose fallback then reaches nobody; a missing timeout",
        costs: PATIENCE,
        demo: "murphy demo mailchimp --modes hang",
    },
    Entry {
        mode: "tls:handshake",
        others: "",
        happens: "the connection is closed in the TLS handshake; for callers that speak TLS with Murphy only",
        shows: "a caller that retries for ever, or without a pause, where no connection can be made",
        costs: AT_ONCE,
        demo: "murphy run --modes tls:handshake",
    },
    Entry {
        mode: "tls:expired",
        others: "",
        happens: "the certificate has expired, by a day; for callers that speak TLS with Murphy only",
        shows: "a caller that takes an expired certificate for an outage and retries what cannot get better",
        costs: AT_ONCE,
        demo: "murphy run --modes tls:expired",
    },
    Entry {
        mode: "tls:untrusted",
        others: "",
        happens: "the certificate is signed by an authority that nobody trusts; for callers that speak TLS with Murphy only",
        shows: "a caller that does not check certificates: the fault is not injected then, and the report says so",
        costs: AT_ONCE,
        demo: "murphy run --modes tls:untrusted",
    },
    Entry {
        mode: "tls:name",
        others: "",
        happens: "the certificate is for another host; for callers that speak TLS with Murphy only",
        shows: "an exception of the TLS library that nobody handles and that ends as a 500",
        costs: AT_ONCE,
        demo: "murphy run --modes tls:name",
    },
    Entry {
        mode: "after:503",
        others: "any status from 100 to 599",
        happens: "the answer is replaced by this HTTP status",
        shows: "a purchase that is refused although the money has moved",
        costs: WORK,
        demo: "murphy demo purchase --modes after:503",
    },
    Entry {
        mode: "after:grpc:UNAVAILABLE",
        others: "any gRPC status but OK",
        happens: "the answer is replaced by this gRPC status; for gRPC calls only",
        shows: "a purchase that is refused although the money has moved, over gRPC",
        costs: WORK,
        demo: "murphy demo purchase --set wire=grpc --modes after:grpc:UNAVAILABLE",
    },
    Entry {
        mode: "after:reset",
        others: "",
        happens: "the connection is reset in place of the answer",
        shows: "an order at the full price beside a cart that was reduced: the caller takes lost for not done",
        costs: WORK,
        demo: "murphy demo purchase --modes after:reset",
    },
    Entry {
        mode: "after:close",
        others: "",
        happens: "the connection is closed in place of the answer",
        shows: "an order at the full price beside a cart that was reduced, as with `after:reset`",
        costs: WORK,
        demo: "murphy demo purchase --modes after:close",
    },
    Entry {
        mode: "after:hang",
        others: "",
        happens: "the answer never comes; the caller waits until it gives up",
        shows: "a purchase that the caller gives up on although the money has moved",
        costs: "as long as the caller waits, at most the scenario's `timeout`; the work is done, so its state may have to be reset",
        demo: "murphy demo purchase --modes after:hang",
    },
    Entry {
        mode: "truncate:100",
        others: "any number of bytes",
        happens: "the body ends after this many bytes, and the connection with it",
        shows: "an order at the full price beside a cart that was reduced: an answer read halfway is taken for not done",
        costs: WORK,
        demo: "murphy demo purchase --modes truncate:100",
    },
    Entry {
        mode: "slow:10",
        others: "any number of bytes a second",
        happens: "the body trickles at this many bytes a second",
        shows: "a caller that gives up before its callee has read a slow answer",
        costs: "the length of the body by the rate, or as long as the caller waits",
        demo: "murphy demo cinema-3 --modes slow:10",
    },
    Entry {
        mode: "malformed",
        others: "",
        happens: "the body is not what its content type says: same length, no JSON",
        shows: "a 200 that cannot be read and ends as a 500 that nobody handles",
        costs: WORK,
        demo: "murphy demo mailchimp --modes malformed",
    },
    Entry {
        mode: "delay:2s",
        others: "any time, such as `300ms` or `1m30s`",
        happens: "the answer comes, later by this much",
        shows: "a timeout that is too short for a callee that is slow but well",
        costs: "this much time",
        demo: "murphy demo netflix --set bugs=on --modes delay:2s",
    },
    Entry {
        mode: "duplicate",
        others: "",
        happens: "the callee gets the request twice; the caller sees the first answer",
        shows: "a purchase that is paid for twice",
        costs: "one execution, no waiting; the callee works twice, so its state may have to be reset",
        demo: "murphy demo purchase --modes duplicate",
    },
];

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use murphy_model::{GrpcCode, Outcome, TlsFault};

    use super::*;

    /// One of each outcome. The match has no other use than to fail to
    /// compile when there is one more.
    fn outcomes() -> Vec<Outcome> {
        let code = GrpcCode::named("ABORTED").unwrap();
        let all = vec![
            Outcome::Status(418),
            Outcome::Grpc(code),
            Outcome::Reset,
            Outcome::Close,
            Outcome::Hang,
            Outcome::Delay(Duration::from_millis(7)),
            Outcome::Truncate(7),
            Outcome::Slow(7),
            Outcome::Malformed,
            Outcome::Duplicate,
        ];
        let tls = TlsFault::ALL.map(Outcome::Tls);
        let all = [all, tls.into()].concat();
        for outcome in &all {
            match outcome {
                Outcome::Status(_) | Outcome::Grpc(_) | Outcome::Reset | Outcome::Close => {}
                Outcome::Hang | Outcome::Delay(_) | Outcome::Truncate(_) | Outcome::Slow(_) => {}
                Outcome::Malformed | Outcome::Duplicate | Outcome::Tls(_) => {}
            }
        }
        all
    }

    #[test]
    fn every_mode_has_one_entry_and_every_entry_a_mode() {
        let phases = PHASES.map(|(phase, _, _)| phase);
        let modes = outcomes()
            .into_iter()
            .flat_map(|outcome| phases.map(|phase| Mode::new(phase, outcome)))
            .flatten();
        let mut entries: Vec<&str> = modes.map(|mode| Entry::of(mode).mode).collect();
        let mut all: Vec<&str> = ENTRIES.iter().map(|entry| entry.mode).collect();
        entries.sort_unstable();
        all.sort_unstable();
        assert_eq!(entries, all);
    }

    #[test]
    fn every_entry_names_the_command_that_shows_its_mode() {
        for entry in &ENTRIES {
            let ending = format!(" --modes {}", entry.mode);
            assert!(entry.demo.ends_with(&ending), "{}", entry.demo);
        }
    }
}
