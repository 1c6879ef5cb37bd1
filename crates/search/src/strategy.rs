//! The contract between a strategy and whoever runs executions for it.
//!
//! A strategy proposes faultloads and learns from executions. It is pure and
//! synchronous; how many executions run at once is the runner's business and
//! must not change the result.

use murphy_model::{Certificate, Execution, Faultload};

/// Names a proposal, so that its execution can be distinguished from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// What a strategy wants next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Run the scenario under this faultload and bring back the execution.
    Try(Ticket, Faultload),
    /// Nothing to run before an execution under way has been learnt.
    Wait,
    /// All is done; nothing is under way.
    Done(Box<Certificate>),
}

/// Decides the next faultload; learns from executions.
pub trait Strategy {
    /// What to do next. Asking while executions are under way asks for
    /// something to run beside them: the answer may turn out to have been
    /// needless, which costs time but changes no result.
    fn next(&mut self) -> Step;

    /// Takes in the execution of a proposal. Every proposal must be answered
    /// once, in any order.
    fn learn(&mut self, ticket: Ticket, execution: Execution);

    /// Proposes nothing more: what is under way is still to be answered, then
    /// all is done. The certificate says that the search was stopped.
    fn stop(&mut self);

    /// Stops at once: what is under way will never be answered, and counts as
    /// not run.
    fn break_off(&mut self);
}

/// Runs a strategy to its end, `in_flight` executions at a time.
///
/// With more than one in flight the executions are answered youngest first,
/// the worst order for a strategy that needs the oldest; the result must be
/// the same.
pub fn explore(
    strategy: &mut dyn Strategy,
    in_flight: usize,
    mut execute: impl FnMut(&Faultload) -> Execution,
) -> Certificate {
    let mut under_way: Vec<(Ticket, Faultload)> = Vec::new();
    loop {
        let room = under_way.len() < in_flight.max(1);
        match room.then(|| strategy.next()) {
            Some(Step::Try(ticket, faultload)) => under_way.push((ticket, faultload)),
            Some(Step::Done(certificate)) => return *certificate,
            Some(Step::Wait) | None => {
                let (ticket, faultload) = under_way
                    .pop()
                    .expect("a strategy waits only for executions under way");
                strategy.learn(ticket, execute(&faultload));
            }
        }
    }
}
