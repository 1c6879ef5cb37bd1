//! What the runs without faults show nothing of, for commands that only look:
//! declared services without a call, and calls that belong to no execution.
//!
//! Owns saying so and what to do about it. A campaign says the same in its
//! certificate, where calls that are made only after failures count as well.

use std::io::{self, Write};

use murphy_campaign::{World as _, uncalled};
use murphy_model::{BackgroundCall, Identity, Observed};
use murphy_registry::Unattributed;
use murphy_report::point_text;
use murphy_system::LiveWorld;
use serde_json::{Value, json};

/// What the runs without faults show nothing of.
pub struct Unseen {
    /// The services to which no call was seen, although one is expected.
    pub services: Vec<String>,
    /// The calls that belong to no execution.
    pub calls: Vec<Unattributed>,
    /// The calls that services make in the background.
    pub background: Vec<BackgroundCall>,
}

impl Unseen {
    /// What a world saw beside an execution.
    pub fn of(world: &LiveWorld, observed: &Observed, identity: Option<&Identity>) -> Self {
        let background = identity.map_or(&[][..], |it| &it.background);
        let is_called = |service: &String| {
            let left_out = identity.map_or(&[][..], |it| &it.left_out);
            let left_out = left_out.iter().flat_map(|it| it.at.frames());
            let left_out = left_out.map(|it| &*it.destination);
            let mut called = background
                .iter()
                .map(|it| &*it.callee.service)
                .chain(left_out);
            called.any(|it| it == service)
        };
        let mut services = uncalled(observed, world.services());
        services.retain(|it| !is_called(it));
        Unseen {
            services,
            calls: world.unattributed(),
            background: background.to_vec(),
        }
    }

    /// A section of a report; nothing if all was seen.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.services.is_empty() && self.calls.is_empty() && self.background.is_empty() {
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
        for BackgroundCall { caller, callee, .. } in &self.background {
            let by = caller.as_deref().unwrap_or("some service");
            writeln!(
                out,
                "  {callee}: called by {by} without trace context, in the background or beside\n    other requests; let it hand on trace context, or leave the call out with\n    `[search] except`"
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
    pub fn object(&self) -> Value {
        let calls = self.calls.iter();
        let calls = calls.map(|it| json!({ "at": it.at.to_string(), "calls": it.calls }));
        let background = self.background.iter();
        let background = background
            .map(|it| json!({ "caller": it.caller.as_deref(), "at": it.callee.to_string() }));
        json!({
            "services": self.services,
            "calls": calls.collect::<Vec<_>>(),
            "background": background.collect::<Vec<_>>(),
        })
    }
}
