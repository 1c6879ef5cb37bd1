//! What a campaign does with a registry, as far as the bench needs it.
//!
//! Owns beginning, collecting and ending executions, the faultloads they run
//! under, and the one entry call from which all measured calls are made:
//! entry calls themselves are never failed.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use murphy_model::{Faultload, Identity, Interface, Reply};
use murphy_registry::{
    Arrival, CallKey, ContextHint, Control, Decision, Ending, ExecutionId, Owner, Parent, Plan,
    Registry, Spans, TraceKey,
};
use tokio::runtime::Handle;

/// The service behind the proxy, as points name it.
pub const SERVICE: &str = "upstream";

/// Executions of one faultload on one registry.
pub struct Campaign {
    registry: Arc<Registry>,
    faultload: Faultload,
    identity: Arc<Identity>,
    /// The entry calls of live executions, the latest last.
    live: Vec<CallKey>,
}

impl Campaign {
    /// One without any execution yet.
    pub fn new(registry: Arc<Registry>, faultload: Faultload) -> Self {
        Self {
            registry,
            faultload,
            identity: Arc::default(),
            live: Vec::new(),
        }
    }

    /// Begins an execution and makes its entry call; its name is what further
    /// calls carry.
    pub fn begin(&mut self) -> Result<CallKey> {
        let execution = self.registry.begin(Plan {
            faultload: self.faultload.clone(),
            identity: self.identity.clone(),
            worker: None,
            solo: false,
            entries: false,
            injector: None,
        })?;
        let call = Interface::http("POST", "/checkout");
        let entry = self.arrive(execution, Parent::Entry, "checkout", call, Bytes::new())?;
        self.live.push(entry.key);
        Ok(entry.key)
    }

    /// Tells the registry of a call.
    pub fn arrive(
        &mut self,
        execution: ExecutionId,
        parent: Parent,
        destination: &str,
        interface: Interface,
        body: Bytes,
    ) -> Result<Decision> {
        let trace = TraceKey(u128::from(execution.0) << 64 | 1);
        let arrival = Arrival {
            claim: Owner { execution, parent },
            destination: destination.into(),
            interface,
            query: String::new(),
            body,
            body_cut: false,
            idempotency_key: None,
            site: None,
            hints: vec![ContextHint::Trace(trace, Spans::default())],
            over_tls: None,
            noted: Vec::new(),
        };
        let decision = self.registry.arrive(arrival);
        decision.context("the execution is live")
    }

    /// Tells the registry that a call was answered well.
    pub fn finish(&self, key: CallKey) {
        let ending = Ending {
            reply: Reply::Status(200),
            organic: None,
            landed: true,
            gave_up: false,
            took: Duration::from_micros(100),
            body: None,
            lost: None,
            code: None,
        };
        self.registry.finish(key, ending);
    }

    /// Answers the entry call of the execution begun last, and collects what
    /// was seen of the execution; the number of its calls.
    pub async fn collect(&self) -> Result<usize> {
        let entry = *self.live.last().context("no execution is live")?;
        self.finish(entry);
        let recorded = self.registry.collect(entry.execution).await?;
        ensure!(recorded.quiet, "some calls have not ended");
        Ok(recorded.trace.calls().len())
    }

    /// Ends the execution begun last.
    pub fn end(&mut self) -> Result<()> {
        let entry = self.live.pop().context("no execution is live")?;
        self.registry.end(entry.execution);
        Ok(())
    }

    /// Does what a line says and answers it.
    pub fn obey(&mut self, line: &str, runtime: &Handle) -> Result<String> {
        match line {
            "begin" => self.begin().map(|key| key.to_string()),
            "collect" => runtime
                .block_on(self.collect())
                .map(|calls| calls.to_string()),
            "end" => self.end().map(|()| "ended".to_owned()),
            _ => bail!("`{line}` is no command"),
        }
    }
}

/// The context of a call made while the named call is served.
pub fn headers(key: &str) -> Vec<String> {
    vec![
        "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".to_owned(),
        format!("tracestate: murphy={key}"),
    ]
}

/// A faultload that is injected into every measured call.
pub fn matching() -> Result<Faultload> {
    let text = format!(
        "** > {SERVICE} GET /small #* = 503, ** > {SERVICE} bench.Echo/Say #* = grpc:UNAVAILABLE"
    );
    Ok(text.parse()?)
}

/// 1,000 faults that are injected into none of the measured calls, though they are for
/// the same service: at single calls, at all attempts of calls, and at
/// patterns for other services.
pub fn many_faults() -> Result<Faultload> {
    let fault = |i: usize| {
        let call = format!("checkout POST /checkout > {SERVICE} GET /other-{i}");
        match i {
            0..500 => format!("{call} = 503"),
            500..900 => format!("{call} #* = 503"),
            _ => format!("** > service-{i} * #* = 503"),
        }
    };
    let faults: Vec<String> = (0..1000).map(fault).collect();
    Ok(faults.join(", ").parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn campaign(faultload: Faultload) -> Campaign {
        let registry = Registry::new(murphy_registry::Settings::default());
        Campaign::new(Arc::new(registry), faultload)
    }

    fn is_injected(faultload: Faultload, interface: Interface) -> bool {
        let mut campaign = campaign(faultload);
        let key = campaign.begin().unwrap();
        let parent = Parent::Known(key.call.unwrap());
        let decision = campaign.arrive(key.execution, parent, SERVICE, interface, "x".into());
        decision.unwrap().fault.is_some()
    }

    #[test]
    fn the_measured_calls_are_injected_when_they_should() {
        for call in [
            Interface::http("GET", "/small"),
            Interface::grpc("bench.Echo", "Say"),
        ] {
            assert!(is_injected(matching().unwrap(), call.clone()));
            assert!(!is_injected(many_faults().unwrap(), call));
        }
    }

    #[test]
    fn there_are_as_many_faults_as_said() {
        assert_eq!(many_faults().unwrap().len(), 1000);
    }
}
