//! A registry and the calls that proxies report to it, told as a story.

// Each test file uses a part of it.
#![allow(dead_code)]

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use murphy_model::{CallId, Identity, Interface, Reply};
use murphy_registry::{
    Arrival, CallKey, ContextHint, Control, Decision, Ending, ExecutionId, Origin, Owner, Parent,
    Plan, Recorded, Registry, Settings, SpanId, Spans, Unknown, WorkerId,
};

/// What an execution under these faults is to be.
pub(crate) fn plan(faults: &str) -> Plan {
    Plan {
        faultload: faults.parse().expect("a faultload"),
        identity: Arc::new(Identity::default()),
        worker: None,
        solo: false,
        entries: false,
        injector: None,
    }
}

pub(crate) fn plan_for(worker: u32) -> Plan {
    Plan {
        worker: Some(WorkerId(worker)),
        ..plan("none")
    }
}

pub(crate) fn solo_plan() -> Plan {
    Plan {
        solo: true,
        entries: false,
        ..plan("none")
    }
}

pub(crate) fn registry() -> Registry {
    Registry::new(Settings::default())
}

/// An ending as a proxy reports it: this status, fault and all in effect.
pub(crate) fn ending(status: u16) -> Ending {
    Ending {
        reply: Reply::Status(status),
        organic: None,
        landed: true,
        gave_up: false,
        took: Duration::ZERO,
        body: None,
        lost: None,
        code: None,
    }
}

/// A listener in front of a service, called by anybody.
pub(crate) fn service() -> Origin {
    Origin::Service { caller: None }
}

/// A listener in front of a service that only one other calls.
pub(crate) fn called_by(caller: &str) -> Origin {
    Origin::Service {
        caller: Some(caller.into()),
    }
}

pub(crate) fn worker(number: u32) -> Origin {
    Origin::Entry(WorkerId(number))
}

pub(crate) fn spans(own: u64, parent: u64) -> Spans {
    let span = |span: u64| (span != 0).then_some(SpanId(span));
    Spans {
        own: span(own),
        parent: span(parent),
    }
}

/// One request on its way to a service, `cart` or `cart /path`.
pub(crate) fn arrival(claim: Owner, to: &str, hints: Vec<ContextHint>) -> Arrival {
    let (service, path) = to.split_once(' ').unwrap_or((to, "/"));
    Arrival {
        claim,
        destination: service.into(),
        interface: Interface::http("GET", path),
        query: String::new(),
        body: Bytes::new(),
        body_cut: false,
        idempotency_key: None,
        site: None,
        hints,
        over_tls: None,
        noted: Vec::new(),
    }
}

/// One execution, and the reports of its calls.
pub(crate) struct Run<'r> {
    pub(crate) registry: &'r Registry,
    pub(crate) id: ExecutionId,
}

impl<'r> Run<'r> {
    pub(crate) fn begin(registry: &'r Registry, plan: Plan) -> Self {
        let id = registry.begin(plan).expect("it may begin");
        Run { registry, id }
    }

    /// What the scenario sends.
    pub(crate) fn enter(&self, to: &str) -> Decision {
        self.arrive(Parent::Entry, to, vec![])
    }

    /// What the callee of `from` sends, its stamp handed on.
    pub(crate) fn call(&self, from: Decision, to: &str) -> Decision {
        let parent = from.key.call.expect("a call");
        self.arrive(Parent::Known(parent), to, vec![])
    }

    /// What somebody sends with nothing but the trace id of `known`, and these
    /// spans.
    pub(crate) fn stray(
        &self,
        known: Decision,
        origin: &Origin,
        spans: Spans,
        to: &str,
    ) -> Decision {
        let hint = ContextHint::Trace(known.trace, spans);
        let claim = self.registry.recognise(&[hint], origin);
        let claim = claim.expect("the trace id is known");
        assert_eq!(claim.execution, self.id);
        self.arrive(claim.parent, to, vec![hint])
    }

    pub(crate) fn arrive(&self, parent: Parent, to: &str, hints: Vec<ContextHint>) -> Decision {
        let claim = Owner {
            execution: self.id,
            parent,
        };
        self.try_arrive(arrival(claim, to, hints)).expect("live")
    }

    pub(crate) fn try_arrive(&self, arrival: Arrival) -> Result<Decision, Unknown> {
        self.registry.arrive(arrival)
    }

    pub(crate) fn finish(&self, call: Decision, status: u16) {
        self.end(call.key, ending(status));
    }

    pub(crate) fn end(&self, key: CallKey, ending: Ending) {
        self.registry.finish(key, ending);
    }

    /// Answers these calls; what was seen then.
    pub(crate) async fn end_all<const N: usize>(&self, calls: [Decision; N]) -> Recorded {
        for call in calls {
            self.finish(call, 200);
        }
        self.collect().await
    }

    /// The same outside of any runtime.
    pub(crate) fn collect_blocking(&self) -> Recorded {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(self.collect())
    }

    /// What was seen, once it is quiet.
    pub(crate) async fn collect(&self) -> Recorded {
        self.registry.collect(self.id).await.expect("live")
    }
}

/// The place of a call in its trace.
pub(crate) fn place(call: Decision) -> CallId {
    call.key.call.expect("a call")
}
