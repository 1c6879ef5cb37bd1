//! Every service of a system on a loopback port of its own.
//!
//! Owns the servers. A request is handled in a task of its own, so that a
//! handler works on after its caller has gone, as in the simulator. Where the
//! handlers' own calls go is set from outside: to the services themselves at
//! first, to proxies once there are any.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use ::http::{HeaderMap, Request as HttpRequest, Response as HttpResponse, request};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use murphy_model::{Interface, Mode};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tonic::body::Body;
use tonic_prost::ProstCodec;

use super::client::Clients;
use super::clock::Clock;
use super::http;
use super::net::{Caller, Common, Routes, SocketNet};
use super::propagation::Propagation;
use crate::app::{App, Settings, System};
use crate::net::{Abort, BoxFuture, Ctx, Request, Response};
use crate::wire::Wire;
use crate::wire::grpc::{Ask, Told, answer, interface};

/// Sees each request as its service receives it: the service, the head and
/// the body.
pub type Witness = Arc<dyn Fn(&str, &request::Parts, &Bytes) + Send + Sync>;

/// A service that could not be put on a port.
#[derive(Debug, thiserror::Error)]
#[error("cannot serve `{service}` on a loopback port")]
pub struct ServeError {
    /// The service.
    pub service: &'static str,
    /// Why.
    pub source: io::Error,
}

/// What can be set about how a system is served.
#[derive(Clone)]
pub struct Options {
    /// How the services hand trace context on.
    pub propagation: Propagation,
    /// How many seconds a second of the services takes: their timeouts and
    /// their pauses are multiplied by it.
    pub pace: f64,
    /// How long each service works on each request before its handler begins,
    /// in real time.
    pub work: Duration,
    /// Sees each request as its service receives it.
    pub witness: Option<Witness>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            propagation: Propagation::default(),
            pace: 1.0,
            work: Duration::ZERO,
            witness: None,
        }
    }
}

/// A system being served, with nothing around it; stopped when dropped.
pub struct Served {
    host: Arc<Host>,
    addresses: Routes,
    /// Dropping it ends the accept loops and their connections.
    _listening: JoinSet<()>,
}

/// Where a fresh system comes from.
pub enum Source {
    /// An app builds it.
    App(App, Settings),
    /// It is given, and its handlers keep no state.
    Given(Box<System>),
}

impl Source {
    fn build(&self) -> Arc<System> {
        Arc::new(match self {
            Source::App(app, settings) => (app.build)(settings),
            Source::Given(system) => System::clone(system),
        })
    }
}

/// What the servers of all services share.
struct Host {
    source: Source,
    system: RwLock<Arc<System>>,
    routes: RwLock<Arc<Routes>>,
    common: Arc<Common>,
    options: Options,
    /// How many handlers are at work.
    at_work: watch::Sender<usize>,
}

impl Served {
    /// Puts the services of a system on free ports.
    pub async fn start(source: Source, options: Options) -> Result<Served, ServeError> {
        let system = source.build();
        let mut bound = Vec::new();
        for service in &system.services {
            bound.push((service.name, bind(service.name).await?));
        }
        let address = |(name, (_, address)): &(&'static str, (_, SocketAddr))| (*name, *address);
        let addresses: Routes = bound.iter().map(address).collect();
        let host = Arc::new(Host {
            source,
            routes: RwLock::new(Arc::new(addresses.clone())),
            common: Arc::new(Common {
                clients: Clients::default(),
                clock: Clock::new(options.pace),
                wire: system.wire,
                propagation: options.propagation,
            }),
            system: RwLock::new(system),
            options,
            at_work: watch::Sender::new(0),
        });
        let mut listening = JoinSet::new();
        for (name, (listener, _)) in bound {
            listening.spawn(accept(host.clone(), name, listener));
        }
        Ok(Served {
            host,
            addresses,
            _listening: listening,
        })
    }

    /// Where each service listens itself.
    pub fn addresses(&self) -> &Routes {
        &self.addresses
    }

    /// Makes the services call each other elsewhere, as their environment
    /// would tell them to; where `to` knows no other place, directly.
    pub fn reroute(&self, to: impl Fn(&str) -> Option<SocketAddr>) {
        let routes = Arc::new(self.routes(to));
        *self.host.routes.write().expect("no panic while rerouting") = routes;
    }

    fn routes(&self, to: impl Fn(&str) -> Option<SocketAddr>) -> Routes {
        let direct = self.addresses.iter();
        direct
            .map(|(name, at)| (*name, to(name).unwrap_or(*at)))
            .collect()
    }

    /// Makes all state fresh, as if every service had been restarted.
    /// Requests that are being served keep what they began with.
    pub fn reset(&self) {
        *self.host.system.write().expect("no panic while resetting") = self.host.source.build();
    }

    /// The system that is served now.
    pub fn system(&self) -> Arc<System> {
        self.host.system()
    }

    /// Waits until no handler is at work.
    pub async fn idle(&self) {
        let mut at_work = self.host.at_work.subscribe();
        let idle = at_work.wait_for(|handlers| *handlers == 0).await;
        idle.expect("the host is there as long as it is asked");
    }

    /// Runs the scenario, which enters each service where `entry` says, or
    /// directly; `injected` tells it the faults so far.
    pub fn scenario(
        &self,
        entry: impl Fn(&str) -> Option<SocketAddr>,
        injected: impl Fn() -> Vec<(String, Mode)> + Send + Sync + 'static,
    ) -> BoxFuture<Result<(), String>> {
        (self.system().scenario)(Ctx::new(Arc::new(SocketNet {
            common: self.host.common.clone(),
            routes: Arc::new(self.routes(entry)),
            caller: Caller::Scenario(Box::new(injected)),
        })))
    }

    /// What calls from outside need.
    #[cfg(test)]
    pub(super) fn common(&self) -> &Arc<Common> {
        &self.host.common
    }
}

async fn bind(service: &'static str) -> Result<(TcpListener, SocketAddr), ServeError> {
    let bound = async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        Ok((listener, address))
    };
    bound.await.map_err(|source| ServeError { service, source })
}

async fn accept(host: Arc<Host>, service: &'static str, listener: TcpListener) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(host.clone(), service, stream));
                }
                // The caller left already, or there are too many.
                Err(_) => tokio::task::yield_now().await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(host: Arc<Host>, service: &'static str, stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let respond = service_fn(move |request| {
        let host = host.clone();
        async move { Ok::<_, Infallible>(host.respond(service, request).await) }
    });
    let builder = auto::Builder::new(TokioExecutor::new());
    // A connection that breaks is its caller's to notice.
    let _ = builder
        .serve_connection(TokioIo::new(stream), respond)
        .await;
}

impl Host {
    fn system(&self) -> Arc<System> {
        self.system
            .read()
            .expect("no panic while resetting")
            .clone()
    }

    async fn respond(
        self: Arc<Self>,
        service: &'static str,
        request: HttpRequest<Incoming>,
    ) -> HttpResponse<Body> {
        let (head, body) = request.into_parts();
        let Ok(body) = body.collect().await else {
            // Half a request: its caller is gone, and so is whom to answer.
            return http::answer(Abort(400).into()).map(Body::new);
        };
        let body = body.to_bytes();
        if let Some(witness) = &self.options.witness {
            witness(service, &head, &body);
        }
        match self.common.wire {
            Wire::Http => {
                let asked = http::asked(&head, &body);
                let response = self.handle(service, head.headers, asked).await;
                http::answer(response).map(Body::new)
            }
            Wire::Grpc => {
                let method = Method {
                    path: head.uri.path().to_owned(),
                    headers: head.headers.clone(),
                    service,
                    host: self,
                };
                let request = HttpRequest::from_parts(head, http_body_util::Full::new(body));
                let codec = ProstCodec::<Told, Ask>::default();
                tonic::server::Grpc::new(codec).unary(method, request).await
            }
        }
    }

    /// What the service answers, if it takes as long as it may.
    async fn handle(
        self: Arc<Self>,
        service: &'static str,
        headers: HeaderMap,
        request: Request,
    ) -> Response {
        let at_work = AtWork::begin(self.clone());
        let handling = tokio::spawn(async move {
            if !self.options.work.is_zero() {
                tokio::time::sleep(self.options.work).await;
            }
            let answer = self.handler(service, headers, request).await;
            drop(at_work);
            answer.unwrap_or_else(Response::from)
        });
        // A handler that panics is one more exception that nobody caught.
        handling.await.unwrap_or(Abort::UNHANDLED.into())
    }

    fn handler(
        &self,
        service: &'static str,
        headers: HeaderMap,
        request: Request,
    ) -> BoxFuture<Result<Response, Abort>> {
        let net = SocketNet {
            common: self.common.clone(),
            routes: self
                .routes
                .read()
                .expect("no panic while rerouting")
                .clone(),
            caller: Caller::Service(headers),
        };
        let system = self.system();
        let service = system.service(service);
        let service = service.expect("fresh systems have the same services");
        (service.handler)(Ctx::new(Arc::new(net)), request)
    }
}

/// A handler at work, as long as this is kept.
struct AtWork(Arc<Host>);

impl AtWork {
    fn begin(host: Arc<Host>) -> Self {
        host.at_work.send_modify(|handlers| *handlers += 1);
        AtWork(host)
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.at_work.send_modify(|handlers| *handlers -= 1);
    }
}

/// The gRPC method that a request asks for.
struct Method {
    path: String,
    headers: HeaderMap,
    service: &'static str,
    host: Arc<Host>,
}

impl tonic::server::UnaryService<Ask> for Method {
    type Response = Told;
    type Future = BoxFuture<Result<tonic::Response<Told>, tonic::Status>>;

    fn call(&mut self, request: tonic::Request<Ask>) -> Self::Future {
        let asked = Request::from(request.into_inner());
        let Interface::Grpc { service, method } = interface(self.service, &asked) else {
            unreachable!("a gRPC method has a gRPC interface");
        };
        if self.path != format!("/{service}/{method}") {
            let unknown = tonic::Status::unimplemented(self.path.clone());
            return Box::pin(async { Err(unknown) });
        }
        let handling = self
            .host
            .clone()
            .handle(self.service, self.headers.clone(), asked);
        Box::pin(async {
            match answer(handling.await) {
                Ok(told) => Ok(tonic::Response::new(told)),
                Err((code, message)) => {
                    let code = tonic::Code::from(i32::from(code.number()));
                    Err(tonic::Status::new(code, message))
                }
            }
        })
    }
}
