//! Under which fault a service went down that Murphy cannot start again.
//!
//! Such a service ends the campaign, and the fault that brought it down is
//! what its user must know. Owns finding it: often the test under that fault
//! only sees a connection break, and the next one finds nobody listening.

use std::sync::Mutex;

use murphy_model::{Call, Detail, Faultload, Organic};
use murphy_registry::Recorded;

use murphy_campaign::SetupError;

/// What was injected last.
#[derive(Default)]
pub(super) struct CrashCause {
    latest: Mutex<Faultload>,
}

impl CrashCause {
    /// Takes in what was injected, for those who find a service down later.
    pub(super) fn take(&self, recorded: &Recorded) {
        let injected = recorded.trace.injected();
        if !injected.is_empty() {
            *self.latest.lock().expect("no panic while it is set") = injected;
        }
    }

    /// Adds to the news that a service is down under which faults it went so.
    /// What ran beside them cannot be ruled out unless they were `alone`.
    pub(super) fn tell(
        &self,
        mut broken: SetupError,
        recorded: &Recorded,
        alone: bool,
    ) -> SetupError {
        let faults = match was_up(recorded) {
            true => recorded.trace.injected(),
            false => {
                let latest = self.latest.lock().expect("no panic while it is set");
                latest.clone()
            }
        };
        if !faults.is_empty() {
            let beside = match alone {
                true => "",
                false => ", or by another execution",
            };
            broken.message += &format!("; it went down while `{faults}` was injected{beside}");
        }
        broken
    }
}

/// Whether a call found its callee down.
pub(super) fn is_down(detail: &Detail) -> bool {
    matches!(
        detail.organic,
        Some(
            Organic::Refused
                | Organic::NotStarted
                | Organic::Unreachable
                | Organic::ConnectTimedOut
                | Organic::NoTls
                | Organic::CertificateExpired
                | Organic::CertificateName
                | Organic::CertificateUntrusted
                | Organic::ClientCertificateWanted
        )
    )
}

/// Whether the service that was found down was still there before, in the same
/// execution.
fn was_up(recorded: &Recorded) -> bool {
    let calls = || recorded.trace.calls().iter().zip(&recorded.details);
    let callee = |call: &Call| call.point.frame().destination.clone();
    let Some((down, _)) = calls().find(|(_, detail)| is_down(detail)) else {
        return true;
    };
    let mut reached = calls().filter(|(call, it)| call.injected.is_none() && !is_down(it));
    reached.any(|(call, _)| callee(call) == callee(down))
}
