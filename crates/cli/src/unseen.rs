//! What the runs without faults show nothing of, for commands that only look:
//! declared services without a call, and calls that belong to no execution.
//!
//! Owns saying so and what to do about it. A campaign says the same in its
//! certificate, where calls that are made only after failures count as well.

use std::io::{self, Write};

use murphy_campaign::{World as _, uncalled};
use murphy_model::Observed;
use murphy_registry::Unattributed;
use murphy_report::point_text;
use murphy_system::LiveWorld;
use serde_json::{Value, json};

/// What the runs without faults show nothing of.
pub(crate) struct Unseen {
    /// The services to which no call was seen, although one is expected.
    pub(crate) services: Vec<String>,
    /// The calls that belong to no execution.
    pub(crate) calls: Vec<Unattributed>,
}

impl Unseen {
    /// What a world saw beside an execution.
    pub(crate) fn of(world: &LiveWorld, observed: &Observed) -> Self {
        Unseen {
            services: uncalled(observed, world.services()),
            calls: world.unattributed(),
        }
    }

    /// A section of a report; nothing if all was seen.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.services.is_empty() && self.calls.is_empty() {
            return Ok(());
        }
        writeln!(out, "\nNOT seen, so a run will not be complete")?;
        for Unattributed { at, calls } in &self.calls {
            writeln!(
                out,
                "  {}: arrived without trace context ({calls}x),\n    so no execution is known to have made it",
                point_text(at)
            )?;
        }
        if !self.calls.is_empty() {
            writeln!(
                out,
                "    let services hand on context, set `[context] solo = \"on\"`, or list the path in\n    `[inject] ignore` if it is not the test's"
            )?;
        }
        for service in &self.services {
            writeln!(
                out,
                "  {service}: no call to it was seen (a fallback is called only when others fail)\n    let its callers call `{{{service}.url}}` or its `listen` address;\n    or set `unused = true` or `proxied = false` in `[services.{service}]`"
            )?;
        }
        Ok(())
    }

    /// The same for programs.
    pub(crate) fn object(&self) -> Value {
        let calls = self.calls.iter();
        let calls = calls.map(|it| json!({ "at": it.at.to_string(), "calls": it.calls }));
        json!({ "services": self.services, "calls": calls.collect::<Vec<_>>() })
    }
}
