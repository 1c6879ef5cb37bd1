//! What else to try, where the traffic of a campaign suggests it.
//!
//! Owns which modes are worth another campaign: faults that this one could not
//! show because it never injected them. What a mode is about in general is
//! told by `murphy modes`; how a suggestion looks is for the formats.

use std::collections::BTreeSet;

use murphy_model::{EdgeProfile, Interface, Mode, Outcome, Phase, Place, Protocol, Target};

use crate::Summary;
use crate::number::counted;

/// Modes for another campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The modes, as a list.
    pub modes: String,
    /// What was seen, and what they would show.
    pub why: String,
    /// The command to type; `None` where a program, not a command, ran the
    /// campaign.
    pub command: Option<String>,
}

/// What else to try; nothing where the campaign did not get to inject.
pub fn suggestions(summary: &Summary) -> Vec<Suggestion> {
    if !summary.injected || summary.broken.is_some() {
        return Vec::new();
    }
    let modes: Vec<Mode> = summary.modes.iter().flat_map(|it| it.parse()).collect();
    let found = [lost_answers(summary, &modes), timeouts(summary, &modes)];
    let found = found.into_iter().flatten();
    let suggestion = |(modes, why): (String, String)| Suggestion {
        command: command(summary, &modes),
        modes,
        why,
    };
    found.map(suggestion).collect()
}

fn command(summary: &Summary, modes: &str) -> Option<String> {
    let run = Some(&summary.rerun_command).filter(|command| !command.is_empty())?;
    Some(format!("{run} --modes {modes}{}", summary.explain_ending))
}

/// A call that must not be made twice is made again after failing: whether its
/// work is then done twice shows only if the first attempt did it.
fn lost_answers(summary: &Summary, used: &[Mode]) -> Option<(String, String)> {
    let edges = edges_of_services(summary);
    let open = |edge: &&EdgeProfile| is_retried(edge, summary) && !is_shown(edge, summary);
    let retried: Vec<&EdgeProfile> = edges.filter(open).collect();
    let first = retried.first()?;
    let missing: BTreeSet<Mode> = retried
        .iter()
        .flat_map(|edge| missing_after(used, edge.edge.callee.interface.protocol()))
        .collect();
    if missing.is_empty() {
        return None;
    }
    let calls = match retried.len() {
        1 => format!("{} is retried", first.edge.callee),
        n => format!(
            "{} and {} are retried",
            first.edge.callee,
            counted(n - 1, "other call site")
        ),
    };
    let modes: Vec<String> = missing.iter().map(Mode::to_string).collect();
    let why = format!("{calls}: is the work done twice when only the answer is lost?");
    Some((modes.join(","), why))
}

fn is_retried(edge: &EdgeProfile, summary: &Summary) -> bool {
    let callee = &edge.edge.callee;
    let once = match &callee.interface {
        Interface::Http { method, .. } => ["POST", "PATCH"].contains(&&**method),
        Interface::Grpc { .. } => !only_reads(callee, summary),
    };
    once && edge.attempts > 1
}

/// Whether a finding has shown already what comes of an answer that is lost.
fn is_shown(edge: &EdgeProfile, summary: &Summary) -> bool {
    let mut faults = summary.findings.iter().flat_map(|it| it.faultload.iter());
    faults.any(|(target, mode)| match target {
        Target::Call(point) => mode.phase() == Phase::After && Place::of(point) == edge.edge.callee,
        Target::Every(_) | Target::Matching(_) => false,
    })
}

/// Whether a gRPC method is one of those that the oracles take for harmless,
/// by its name.
fn only_reads(callee: &Place, summary: &Summary) -> bool {
    let harmless = murphy_oracle::Settings::default().idempotent;
    let mut points = summary.points.iter().filter(|it| Place::of(it) == *callee);
    points.any(|point| harmless.iter().any(|pattern| pattern.matches(point)))
}

/// How a caller learns of a failure: clients often retry on one kind and not
/// on another, so each is worth a mode of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Status,
    Code,
    Connection,
}

fn kind(mode: &Mode) -> Option<Kind> {
    match mode.outcome() {
        Outcome::Status(_) => Some(Kind::Status),
        Outcome::Grpc(_) => Some(Kind::Code),
        Outcome::Reset | Outcome::Close => Some(Kind::Connection),
        _ => None,
    }
}

/// The modes in which calls failed before the work, to be had after it: one of
/// each kind of which none was used.
fn missing_after(used: &[Mode], protocol: Protocol) -> Vec<Mode> {
    let used: Vec<&Mode> = used
        .iter()
        .filter(|mode| concerns(mode, protocol))
        .collect();
    let of = |phase: Phase| used.iter().filter(move |mode| mode.phase() == phase);
    let present: BTreeSet<Kind> = of(Phase::After).filter_map(|mode| kind(mode)).collect();
    let kinds: BTreeSet<Kind> = of(Phase::Before).filter_map(|mode| kind(mode)).collect();
    let usual = |mode: &&&&Mode| ["503", "grpc:UNAVAILABLE"].contains(&&*mode.to_string());
    let missing = kinds.difference(&present).filter_map(|wanted| {
        let candidates: Vec<&&Mode> = of(Phase::Before)
            .filter(|mode| kind(mode) == Some(*wanted))
            .collect();
        let chosen = candidates.iter().find(usual).or(candidates.first())?;
        Mode::new(Phase::After, chosen.outcome())
    });
    missing.collect()
}

/// Whether calls over a protocol are injected in this mode: where both are
/// spoken, statuses are for HTTP and codes for gRPC.
fn concerns(mode: &Mode, protocol: Protocol) -> bool {
    let is_status = matches!(mode.outcome(), Outcome::Status(_));
    mode.fits(protocol) && !(protocol == Protocol::Grpc && is_status)
}

/// Nobody had to wait, so nobody's patience is known.
fn timeouts(summary: &Summary, used: &[Mode]) -> Option<(String, String)> {
    let takes_time = |mode: &Mode| {
        matches!(
            mode.outcome(),
            Outcome::Hang | Outcome::Delay(_) | Outcome::Slow(_)
        )
    };
    let open = edges_of_services(summary).filter(|edge| edge.timeout.is_none());
    let open = open.count();
    if open == 0 || used.iter().any(takes_time) {
        return None;
    }
    let sites = counted(open, "call site");
    let why =
        format!("no timeout was seen at {sites}; each case lasts as long as its caller waits");
    Some((Mode::HANG.to_string(), why))
}

/// The edges between services. What the scenario calls itself is not injected
/// into, and its patience is its own business.
fn edges_of_services(summary: &Summary) -> impl Iterator<Item = &EdgeProfile> {
    let profile = summary.profile.iter();
    profile.filter(|edge| edge.edge.caller.is_some() && edge.calls > 0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use murphy_model::{Edge, Span};

    use super::*;
    use crate::summary;

    fn edge(caller: Option<&str>, callee: &str, attempts: usize) -> EdgeProfile {
        EdgeProfile {
            edge: Edge {
                caller: caller.map(|it| it.parse().unwrap()),
                callee: callee.parse().unwrap(),
            },
            calls: 4,
            failed: 1,
            attempts,
            backoff: None,
            timeout: None,
            recovered: 0,
            fallbacks: 0,
            propagated: 0,
            hedged: 0,
        }
    }

    fn summary(modes: &str, profile: Vec<EdgeProfile>) -> Summary {
        Summary {
            modes: modes.split(',').map(str::to_owned).collect(),
            rerun_command: "murphy run buy".to_owned(),
            explain_ending: " -- pytest -q".to_owned(),
            injected: true,
            profile,
            ..summary::empty()
        }
    }

    fn modes(summary: &Summary) -> Vec<String> {
        let all = suggestions(summary).into_iter();
        all.map(|suggestion| suggestion.modes).collect()
    }

    #[test]
    fn what_a_finding_has_shown_is_not_suggested() {
        let edge = || vec![edge(Some("shop GET /"), "pay POST /pay", 2)];
        let with = |faultload: &str| {
            let mut summary = summary("503,reset,after:reset,hang", edge());
            summary.findings = vec![summary::finding(faultload)];
            modes(&summary)
        };
        assert_eq!(with("shop GET / > pay POST /pay = reset"), ["after:503"]);
        assert_eq!(with("shop GET / > pay POST /pay = after:reset"), [""; 0]);
        assert_eq!(
            with("shop GET / > tax POST /tax = after:reset"),
            ["after:503"]
        );
    }

    #[test]
    fn a_retried_call_that_must_not_be_made_twice_suggests_lost_answers() {
        const SHOP: Option<&str> = Some("shop GET /");
        let cases = [
            // The callee, its attempts, the modes used, those suggested.
            (
                "pay POST /pay",
                2,
                "503,reset",
                Some("after:503,after:reset"),
            ),
            ("pay POST /pay", 2, "500,502,503,504", Some("after:503")),
            ("pay POST /pay", 2, "500,502", Some("after:500")),
            (
                "pay POST /pay",
                3,
                "503,reset,after:reset",
                Some("after:503"),
            ),
            ("pay POST /pay", 2, "503,reset,after:reset,after:500", None),
            ("pay POST /pay", 1, "503", None),
            ("pay GET /pay", 2, "503", None),
            ("pay PUT /pay", 2, "503", None),
            ("pay PATCH /pay", 2, "close", Some("after:close")),
            (
                "pay shop.Pay/Pay",
                2,
                "503,grpc:INTERNAL,grpc:UNAVAILABLE",
                Some("after:grpc:UNAVAILABLE"),
            ),
            (
                "pay shop.Pay/Pay",
                2,
                "503,grpc:INTERNAL,after:grpc:UNAVAILABLE",
                None,
            ),
        ];
        for (callee, attempts, used, expected) in cases {
            let used = format!("{used},hang");
            let found = modes(&summary(&used, vec![edge(SHOP, callee, attempts)]));
            let expected: Vec<&str> = expected.into_iter().collect();
            assert_eq!(found, expected, "{callee}, {attempts} attempts, {used}");
            let by_scenario = summary(&used, vec![edge(None, callee, attempts)]);
            assert_eq!(suggestions(&by_scenario), []);
        }
    }

    #[test]
    fn methods_that_only_read_may_be_retried() {
        let found = |callee: &str| {
            let profile = vec![edge(Some("shop GET /"), callee, 2)];
            modes(&Summary {
                points: vec![format!("shop GET / > {callee}").parse().unwrap()],
                ..summary("grpc:INTERNAL,hang", profile)
            })
        };
        assert_eq!(found("pay shop.Pay/GetRate"), [""; 0]);
        assert_eq!(found("pay shop.Pay/Pay"), ["after:grpc:INTERNAL"]);
    }

    #[test]
    fn who_was_never_kept_waiting_suggests_hang() {
        let profile = || {
            vec![
                edge(None, "shop GET /", 1),
                edge(Some("shop GET /"), "a GET /", 1),
            ]
        };
        assert_eq!(modes(&summary("503", profile())), ["hang"]);
        for used in ["503,hang", "after:hang", "delay:2s", "slow:10"] {
            assert_eq!(suggestions(&summary(used, profile())), [], "{used}");
        }
        let mut seen = summary("503", profile());
        let second = Duration::from_secs(1);
        seen.profile[1].timeout = Some(Span {
            least: second,
            most: second,
        });
        assert_eq!(suggestions(&seen), [], "its timeout was seen");
        assert_eq!(suggestions(&summary("503", Vec::new())), [], "no calls");
    }

    #[test]
    fn a_suggestion_can_be_typed_as_it_is() {
        let mut one = summary("503", vec![edge(Some("shop GET /"), "pay POST /pay", 2)]);
        let commands = |summary: &Summary| -> Vec<Option<String>> {
            let all = suggestions(summary).into_iter();
            all.map(|suggestion| suggestion.command).collect()
        };
        let expected = [
            "murphy run buy --modes after:503 -- pytest -q",
            "murphy run buy --modes hang -- pytest -q",
        ];
        assert_eq!(commands(&one), expected.map(|it| Some(it.to_owned())));
        one.rerun_command.clear();
        assert_eq!(commands(&one), [None, None], "run by a program");
        one.injected = false;
        assert_eq!(suggestions(&one), [], "nothing was tried yet");
    }
}
