//! The bars that Murphy is held to.
//!
//! Owns them as data: whose processor time per request, against whose, at most
//! how many times as much. Both sides are of the same run.

use std::fmt;

use super::murphy::Duty;
use super::protocol::{Protocol, Shape};
use super::rounds::Results;
use super::subject::Kind;

/// At most so many times the cost of another subject.
#[derive(Clone, Copy, Debug)]
pub struct Bar {
    /// Where it holds; everywhere if none.
    protocol: Option<Protocol>,
    duty: Duty,
    against: Kind,
    at_most: f64,
}

const fn bar(protocol: Option<Protocol>, duty: Duty, against: Kind, at_most: f64) -> Bar {
    Bar {
        protocol,
        duty,
        against,
        at_most,
    }
}

const OUR_OWN: Kind = Kind::Murphy(Duty::PassThrough);

/// All of them without TLS.
pub const BARS: [Bar; 8] = [
    bar(Some(Protocol::Http1), Duty::PassThrough, Kind::Nginx, 1.4),
    bar(Some(Protocol::Http1), Duty::PassThrough, Kind::Envoy, 0.5),
    bar(Some(Protocol::Http2), Duty::PassThrough, Kind::Envoy, 0.6),
    bar(Some(Protocol::Grpc), Duty::PassThrough, Kind::Envoy, 0.75),
    bar(None, Duty::NoMatch, OUR_OWN, 1.3),
    bar(None, Duty::ManyFaults, OUR_OWN, 1.3),
    bar(None, Duty::ManyExecutions, OUR_OWN, 1.3),
    bar(None, Duty::Match, OUR_OWN, 1.0),
];

/// Those over TLS, where nginx speaks HTTP/1.1 to the upstream also for HTTP/2.
pub const OVER_TLS: [Bar; 2] = [
    bar(Some(Protocol::Http1), Duty::PassThrough, Kind::Nginx, 1.3),
    bar(Some(Protocol::Http2), Duty::PassThrough, Kind::Nginx, 1.3),
];

/// What a change may cost: each duty against the same of the other build.
pub fn against_the_other() -> impl Iterator<Item = Bar> {
    Duty::ALL
        .map(|duty| bar(None, duty, Kind::Other(duty), 1.03))
        .into_iter()
}

impl Bar {
    fn holds_for(&self, shape: Shape) -> bool {
        self.protocol
            .is_none_or(|protocol| protocol == shape.protocol)
    }

    /// How many times as much it was, if both sides were measured.
    fn measured(&self, results: &Results) -> Option<f64> {
        results.times(Kind::Murphy(self.duty), self.against)
    }
}

/// What came of a bar under one shape of load.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    bar: Bar,
    shape: Shape,
    measured: f64,
}

impl Judged {
    /// Whether the bar was missed.
    pub fn missed(&self) -> bool {
        // No number, no proof.
        self.measured.is_nan() || self.measured > self.bar.at_most
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bar {
            duty,
            against,
            at_most,
            ..
        } = self.bar;
        let verdict = if self.missed() { "MISS" } else { "PASS" };
        let measured = self.measured;
        let Shape {
            protocol,
            connections,
        } = self.shape;
        let shape = format!("{protocol}, {connections} connections");
        write!(f, "{verdict}  {measured:>5.2}  at most {at_most:<4}  ")?;
        let other = match against {
            OUR_OWN => "our own pass-through".to_owned(),
            other => other.to_string(),
        };
        write!(f, "{shape:<24}  {duty}, against {other}")
    }
}

/// Judges one shape of load; bars of which a side was not measured are left
/// out.
pub fn judge<'r>(bars: &'r [Bar], results: &'r Results) -> impl Iterator<Item = Judged> + 'r {
    let shape = results.shape;
    let here = bars.iter().copied();
    let here = here.filter(move |bar| bar.holds_for(shape));
    here.filter_map(move |bar| {
        let measured = bar.measured(results)?;
        Some(Judged {
            bar,
            shape,
            measured,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::rounds::{Row, Sample};

    fn results(protocol: Protocol, costs: &[(Kind, &[f64])]) -> Results {
        let sample = |cost: &f64| Sample {
            requests: 1,
            per_second: 1.0,
            p50_us: 1.0,
            p99_us: 1.0,
            cpu_us: Some(*cost),
        };
        let row = |(kind, costs): &(Kind, &[f64])| Row {
            kind: *kind,
            samples: costs.iter().map(sample).collect(),
        };
        Results {
            shape: Shape {
                protocol,
                connections: 4,
            },
            rows: costs.iter().map(row).collect(),
        }
    }

    fn missed(protocol: Protocol, costs: &[(Kind, &[f64])]) -> Vec<bool> {
        let results = results(protocol, costs);
        judge(&BARS, &results)
            .map(|judged| judged.missed())
            .collect()
    }

    #[test]
    fn a_bar_is_met_at_its_limit_and_missed_above() {
        let missed = |ours| missed(Protocol::Http1, &[(OUR_OWN, ours), (Kind::Nginx, &[10.0])]);
        assert_eq!(missed(&[14.0]), [false]);
        assert_eq!(missed(&[14.1]), [true]);
    }

    #[test]
    fn each_round_is_compared_with_itself() {
        let slower_and_slower: &[f64] = &[10.0, 20.0, 40.0];
        let costs = [
            (OUR_OWN, slower_and_slower),
            (Kind::Nginx, slower_and_slower),
        ];
        assert_eq!(missed(Protocol::Http1, &costs), [false]);
        let never_alike: &[f64] = &[20.0, 40.0, 10.0];
        let costs = [(OUR_OWN, never_alike), (Kind::Nginx, slower_and_slower)];
        assert_eq!(missed(Protocol::Http1, &costs), [true]);
    }

    #[test]
    fn bars_of_other_protocols_and_of_absent_subjects_are_left_out() {
        let costs: [(Kind, &[f64]); 2] = [(OUR_OWN, &[50.0]), (Kind::Nginx, &[10.0])];
        assert_eq!(missed(Protocol::Http2, &costs), [] as [bool; 0]);
    }
}
