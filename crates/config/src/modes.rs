//! How calls fail: for all, for a service, for particular calls.
//!
//! Owns what the file says of it. Which of these rules counts for a call is
//! decided in `search`; what a service fails with when no rule says so is what
//! its protocol can return.

use std::collections::BTreeMap;

use murphy_model::{Mode, Pattern};

/// How calls fail.
#[derive(Debug, Default)]
pub struct ModeRules {
    /// Where nothing more particular is said; `None`: what the callee's
    /// protocol can return.
    pub usual: Option<Vec<Mode>>,
    /// By the service that is called.
    pub services: BTreeMap<String, Vec<Mode>>,
    /// By the call; the first that matches counts.
    pub calls: Vec<(Pattern, Vec<Mode>)>,
}

impl ModeRules {
    /// The same, with nothing left open.
    pub fn for_search(&self) -> murphy_search::ModeRules {
        murphy_search::ModeRules {
            calls: self.calls.clone(),
            services: self.services.clone(),
            ..murphy_search::mode_rules(self.usual.clone())
        }
    }
}
