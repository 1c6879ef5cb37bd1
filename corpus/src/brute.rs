//! Brute force: every faultload of a system that can be injected in full.
//!
//! Owns the truth that searches are checked against, so it shares nothing with
//! them: it assumes no order, learns nothing and skips nothing. A faultload
//! is injected in full only if it still is without the fault that is injected last,
//! so growing what was injected by one fault at a time reaches all of them.

use std::collections::{HashSet, VecDeque};

use murphy_model::{Execution, Fault, Faultload, Mode, Point};

use crate::Simulator;

/// Runs every faultload of at most `most` faults that is injected in full, the
/// empty one first; `modes` says how a point can fail.
///
/// Every execution found is handed to `each`, which says whether to go on. What
/// it costs grows with (1 + modes) to the power of the points: for small
/// systems only.
pub fn every_case(
    simulator: &mut Simulator,
    modes: &dyn Fn(&Point) -> Vec<Mode>,
    most: usize,
    each: &mut dyn FnMut(Execution) -> bool,
) {
    let mut waiting = VecDeque::from([Faultload::none()]);
    let mut seen: HashSet<Faultload> = HashSet::from([Faultload::none()]);
    while let Some(faultload) = waiting.pop_front() {
        let execution = simulator.run(&faultload);
        if execution.trace.injected() != faultload {
            continue;
        }
        if faultload.len() < most {
            for larger in one_more(&execution, modes, simulator.injects_entries()) {
                if seen.insert(larger.clone()) {
                    waiting.push_back(larger);
                }
            }
        }
        if !each(execution) {
            return;
        }
    }
}

/// The faultload of an execution plus one fault at a call that it left alone.
fn one_more(
    execution: &Execution,
    modes: &dyn Fn(&Point) -> Vec<Mode>,
    entries: bool,
) -> Vec<Faultload> {
    let left_alone = execution
        .trace
        .calls()
        .iter()
        .filter(|call| (entries || call.parent.is_some()) && call.injected.is_none());
    let mut larger = Vec::new();
    for call in left_alone {
        for mode in modes(&call.point) {
            let fault = Fault::at(call.point.clone(), mode);
            larger.extend(Faultload::new(execution.faultload.faults().chain([fault])).ok());
        }
    }
    larger
}

/// The four HTTP errors of the published experiments, for every point.
pub fn http_modes(_: &Point) -> Vec<Mode> {
    [500, 502, 503, 504].map(Mode::status).into()
}
