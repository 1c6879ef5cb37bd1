//! Faultloads at the services' pace.
//!
//! A delay of two seconds is meant in the time that services feel; a proxy
//! knows only real time. Owns the translation there and back, so that nobody
//! who plans faults or reads traces need know that time was scaled.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use murphy_model::{Call, Fault, Faultload, Mode, Outcome, Trace};

use super::clock::Clock;

/// Translates faultloads to real time, and what came of them back.
pub struct TimeScale {
    clock: Clock,
    /// What was planned, by what proxies were told.
    planned: Mutex<HashMap<Mode, Mode>>,
}

impl TimeScale {
    /// For services of which a second takes `pace` seconds.
    pub fn new(pace: f64) -> Self {
        TimeScale {
            clock: Clock::new(pace),
            planned: Mutex::default(),
        }
    }

    /// What proxies are to be told where this is planned.
    pub fn real(&self, planned: &Faultload) -> Faultload {
        let mut known = self.known();
        let faults = planned.faults().map(|fault| {
            let mode = in_real_time(fault.mode, self.clock);
            known.insert(mode, fault.mode);
            Fault { mode, ..fault }
        });
        Faultload::new(faults).expect("targets stay as they are")
    }

    /// The mode that was planned where proxies were told `real`.
    pub fn planned(&self, real: Mode) -> Mode {
        self.known().get(&real).copied().unwrap_or(real)
    }

    /// The same trace with the faults as they were planned.
    pub fn planned_trace(&self, trace: &Trace) -> Trace {
        let fault = |fault: &Fault| Fault {
            mode: self.planned(fault.mode),
            ..fault.clone()
        };
        let call = |call: &Call| Call {
            injected: call.injected.as_ref().map(fault),
            ..call.clone()
        };
        Trace::new(trace.calls().iter().map(call).collect())
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Mode, Mode>> {
        self.planned.lock().expect("no panic while modes are noted")
    }
}

fn in_real_time(mode: Mode, clock: Clock) -> Mode {
    let outcome = match mode.outcome() {
        Outcome::Delay(felt) => Outcome::Delay(clock.real(felt)),
        Outcome::Slow(rate) => {
            let second = clock.real(Duration::from_secs(1)).as_secs_f64();
            Outcome::Slow((rate as f64 / second) as u64)
        }
        other => other,
    };
    Mode::new(mode.phase(), outcome).expect("only the time is another")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_shrink_and_are_recognised_again() {
        let planned: Faultload = "a GET / > b GET / = delay:2s, a GET / > c GET / = 503"
            .parse()
            .unwrap();
        let time = TimeScale::new(0.01);
        let real: Faultload = "a GET / > b GET / = delay:20ms, a GET / > c GET / = 503"
            .parse()
            .unwrap();
        assert_eq!(time.real(&planned), real);
        let back = real.faults().map(|fault| Fault {
            mode: time.planned(fault.mode),
            ..fault
        });
        assert_eq!(Faultload::new(back).unwrap(), planned);
    }
}
