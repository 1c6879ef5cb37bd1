//! How calls fail: for all, for a service, for particular calls.
//!
//! Owns what the file says of it. Which of these rules counts for a call is
//! decided in `search`, and so is what a service fails with when no rule says
//! so: the defaults for its protocol.

use std::collections::BTreeMap;

use murphy_model::{Mode, Pattern};

/// How calls fail.
#[derive(Debug, Default)]
pub struct ModeRules {
    /// Where nothing more particular is said; `None`: the defaults for the
    /// callee's protocol.
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
