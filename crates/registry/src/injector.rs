//! What decides which calls fail where no faultload of points can say it.
//!
//! Owns the border: whoever follows calls by other means than their points,
//! such as the attempts of one call of a cloud SDK, implements [`Injector`]
//! and arms an execution with it. It sees every call of that execution.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use murphy_model::{CallId, Mode};

use crate::control::{Arrival, Ending};

/// Decides for one execution, call by call. Asked under the lock of the
/// execution: it answers from memory, at once.
pub trait Injector: Send {
    /// A call has arrived: how it is to fail, if it is.
    fn arrive(&mut self, call: CallId, arrival: &Arrival) -> Option<Mode>;

    /// The callee of a call whose answer is to be lost has answered: whether
    /// that is still to be.
    fn is_still_to_fail(&mut self, call: CallId, status: u16) -> bool;

    /// A call has ended.
    fn finish(&mut self, call: CallId, ending: &Ending);
}

/// An injector that is armed, and that whoever armed it keeps a hand on.
#[derive(Clone)]
pub struct SharedInjector(Arc<Mutex<dyn Injector>>);

impl SharedInjector {
    /// Shares what is in `injector`.
    pub fn new(injector: Arc<Mutex<dyn Injector>>) -> Self {
        SharedInjector(injector)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, dyn Injector + 'static> {
        self.0.lock().expect("no panic in an injector")
    }
}

impl fmt::Debug for SharedInjector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedInjector")
    }
}
