//! Faultloads at the services' pace.
//!
//! A delay of two seconds is meant in the time that services feel; a proxy
//! knows only real time. Owns the translation there and back, so that nobody
//! who plans faults or reads traces need know that time was scaled.

use std::collections::HashMap;
use std::time::Duration;

use murphy_model::{Call, Fault, Faultload, Mode, Outcome, Trace};

use super::clock::Clock;

/// A faultload as it is planned and as proxies are told it.
pub(super) struct Paced {
    armed: Faultload,
    /// What was planned, by what proxies were told, where the two differ.
    planned: HashMap<Mode, Mode>,
}

impl Paced {
    pub(super) fn new(planned: &Faultload, clock: Clock) -> Self {
        let mut paced = Paced {
            armed: Faultload::none(),
            planned: HashMap::new(),
        };
        let faults: Vec<Fault> = planned
            .faults()
            .map(|fault| {
                let mode = in_real_time(fault.mode, clock);
                paced.planned.insert(mode, fault.mode);
                Fault { mode, ..fault }
            })
            .collect();
        paced.armed = Faultload::new(faults).expect("targets stay as they are");
        paced
    }

    /// What proxies are told.
    pub(super) fn armed(&self) -> &Faultload {
        &self.armed
    }

    /// The mode that was planned where proxies were told `armed`.
    pub(super) fn planned(&self, armed: Mode) -> Mode {
        self.planned.get(&armed).copied().unwrap_or(armed)
    }

    /// The fault that was planned where proxies were told `armed`.
    pub(super) fn planned_fault(&self, armed: Fault) -> Fault {
        Fault {
            mode: self.planned(armed.mode),
            ..armed
        }
    }

    /// The same trace with the faults as they were planned.
    pub(super) fn planned_trace(&self, trace: &Trace) -> Trace {
        let call = |call: &Call| Call {
            injected: call.injected.clone().map(|fault| self.planned_fault(fault)),
            ..call.clone()
        };
        Trace::new(trace.calls().iter().map(call).collect())
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
        let paced = Paced::new(&planned, Clock::new(0.01));
        let armed: Faultload = "a GET / > b GET / = delay:20ms, a GET / > c GET / = 503"
            .parse()
            .unwrap();
        assert_eq!(*paced.armed(), armed);
        let back = armed.faults().map(|fault| paced.planned_fault(fault));
        assert_eq!(Faultload::new(back).unwrap(), planned);
    }
}
