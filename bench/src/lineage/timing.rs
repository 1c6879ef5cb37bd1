//! How long a solver took, and for what.
//!
//! Owns the clock and how often something short is repeated.

use std::fmt;
use std::time::{Duration, Instant};

use crate::proxy::statistics::median;

/// What a solver did within its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// Wall time, in seconds.
    pub seconds: f64,
    /// How many sets it found.
    pub found: usize,
    /// Whether it came to its end, and was not stopped.
    pub ended: bool,
}

impl Timed {
    /// Not run.
    pub const NOTHING: Timed = Timed {
        seconds: f64::NAN,
        found: 0,
        ended: false,
    };
}

/// Runs are repeated until they took this long together, so that what takes
/// microseconds is not measured once.
const TOGETHER: Duration = Duration::from_millis(100);

/// Enough for a median; more only cost time.
const MOST_RUNS: usize = 101;

/// The median of a few runs. `work` says how many sets it found and whether
/// it came to its end.
pub fn timed(mut work: impl FnMut() -> (usize, bool)) -> Timed {
    let (mut runs, mut outcome) = (Vec::new(), (0, false));
    let begin = Instant::now();
    while runs.is_empty() || (begin.elapsed() < TOGETHER && runs.len() < MOST_RUNS) {
        let start = Instant::now();
        outcome = work();
        runs.push(start.elapsed().as_secs_f64());
    }
    Timed {
        seconds: median(runs),
        found: outcome.0,
        ended: outcome.1,
    }
}

impl fmt::Display for Timed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match (self.seconds.is_nan(), self.ended) {
            (true, _) => "-".to_owned(),
            (_, true) => seconds(self.seconds),
            (_, false) => format!("> {} ({})", seconds(self.seconds), self.found),
        };
        f.pad(&text)
    }
}

/// With three digits and a unit that fits.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        ..1e-3 => format!("{:.0} us", seconds * 1e6),
        ..1.0 => format!("{:.2} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_a_unit_that_fits() {
        assert_eq!(seconds(0.000_012_3), "12 us");
        assert_eq!(seconds(0.0123), "12.30 ms");
        assert_eq!(seconds(12.3), "12.30 s");
    }

    #[test]
    fn a_solver_that_was_stopped_says_how_far_it_came() {
        let stopped = Timed {
            seconds: 2.0,
            found: 7,
            ended: false,
        };
        assert_eq!(stopped.to_string(), "> 2.00 s (7)");
        assert_eq!(Timed::NOTHING.to_string(), "-");
    }
}
