//! The world outside a service, over sockets.
//!
//! Owns the way of one call: where its callee is seen from here, which headers
//! it takes along, how long its caller waits and what it makes of the answer.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ::http::{HeaderMap, HeaderName, HeaderValue};
use murphy_model::Mode;
use murphy_proxy::CALL_SITE;

use super::client::{Clients, Lost};
use super::clock::Clock;
use super::http;
use super::propagation::Propagation;
use crate::net::{BoxFuture, CallError, Net, Outgoing, Response};
use crate::wire::Wire;
use crate::wire::grpc::{Ask, failed, interface};

/// Where each service is reached.
pub type Routes = BTreeMap<&'static str, SocketAddr>;

/// What all services of a system share.
pub(super) struct Common {
    pub(super) clients: Clients,
    pub(super) clock: Clock,
    pub(super) wire: Wire,
    pub(super) propagation: Propagation,
}

/// Whose calls these are.
pub(super) enum Caller {
    /// A service's, while it serves a request with these headers.
    Service(HeaderMap),
    /// The scenario's, which can see the faults that were injected.
    Scenario(Box<dyn Fn() -> Vec<(String, Mode)> + Send + Sync>),
}

/// The world as whoever makes calls sees it.
pub(super) struct SocketNet {
    pub(super) common: Arc<Common>,
    pub(super) routes: Arc<Routes>,
    pub(super) caller: Caller,
}

impl Net for SocketNet {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<Result<Response, CallError>> {
        let Some(to) = self.routes.get(outgoing.to).copied() else {
            return Box::pin(async { Err(CallError::Connection) });
        };
        let common = self.common.clone();
        let headers = self.headers(outgoing.site);
        Box::pin(async move {
            let limit = outgoing.timeout.map(|felt| common.clock.real(felt));
            let answer = answer(&common, to, outgoing, headers);
            let Some(limit) = limit else {
                return answer.await;
            };
            match tokio::time::timeout(limit, answer).await {
                Ok(answer) => answer,
                Err(_) => {
                    see_it_off().await;
                    Err(CallError::Timeout)
                }
            }
        })
    }

    fn sleep(&self, time: Duration) -> BoxFuture<()> {
        Box::pin(self.common.clock.sleep(time))
    }

    fn now(&self) -> Duration {
        self.common.clock.now()
    }

    /// Services cannot know what a test does to them.
    fn injected(&self) -> Vec<(String, Mode)> {
        match &self.caller {
            Caller::Service(_) => Vec::new(),
            Caller::Scenario(injected) => injected(),
        }
    }
}

impl SocketNet {
    fn headers(&self, site: Option<&str>) -> HeaderMap {
        let mut headers = match &self.caller {
            Caller::Service(incoming) => self.common.propagation.onward(incoming),
            Caller::Scenario(_) => HeaderMap::new(),
        };
        if let Some(site) = site {
            let site = HeaderValue::from_str(site).expect("call sites are plain words");
            headers.insert(HeaderName::from_static(CALL_SITE), site);
        }
        headers
    }
}

async fn answer(
    common: &Common,
    to: SocketAddr,
    outgoing: Outgoing,
    headers: HeaderMap,
) -> Result<Response, CallError> {
    let lost = |_: Lost| CallError::Connection;
    let request = outgoing.request;
    match common.wire {
        Wire::Http => {
            let request = http::outgoing(outgoing.to, request, headers);
            let request = request.ok_or(CallError::Connection)?;
            let answer = common.clients.http.send(to, request).await;
            answer.map(http::incoming).map_err(lost)
        }
        Wire::Grpc => {
            let method = interface(outgoing.to, &request);
            let ask = Ask::of(&request);
            let outcome = common.clients.grpc.call(to, &method, headers, ask).await;
            Ok(match outcome.map_err(lost)? {
                Ok(told) => Response::from(told),
                Err((code, message)) => failed(code, message),
            })
        }
    }
}

/// Lets the task of a shared connection tell the other side that nobody waits
/// any more, before the caller does anything else: as with a client whose
/// cancelling is done when it returns.
async fn see_it_off() {
    for _ in 0..4 {
        tokio::task::yield_now().await;
    }
}
