//! Listens, and hands connections to the protocol they speak.
//!
//! Owns the listeners and the worker threads. Each thread has a runtime, an
//! accept loop per listener and connections to the services of its own, so
//! that nothing is shared between threads while traffic flows.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::BytesMut;
use murphy_registry::{Control, Origin};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::anybody::Anybody;
use crate::connect::{Tcp, Upstream};
use crate::destination::Destination;
use crate::forward::{Forward, ForwardProxy};
use crate::late::{LateAddress, LateDestination};
use crate::listener_context::ListenerContext;
use crate::settings::Settings;
use crate::stream::Stream;
use crate::tls::{Door, Offered, Tls, TlsUpstream};
use crate::{h1, h2, tls};

/// How long connections get to end by themselves when the proxy is stopped.
const FAREWELL: Duration = Duration::from_millis(100);

/// One listener and what is behind it.
#[derive(Clone, Debug)]
pub struct Listener {
    /// Where to listen; port 0 for any that is free.
    pub listen: SocketAddr,
    /// Whose traffic comes in here.
    pub origin: Origin,
    /// Where requests go: the first route that a request's host fits.
    pub routes: Vec<Route>,
    /// How TLS is spoken with callers that begin with it; they may as well
    /// begin without.
    pub door: Option<Door>,
    /// Whether it is a forward proxy, which needs no routes.
    pub forward: Option<Forward>,
    /// Where its one service is, if that is said later; its upstream counts
    /// for nothing then.
    pub late: Option<Arc<LateAddress>>,
}

/// Where requests for some hosts go.
#[derive(Clone, Debug)]
pub struct Route {
    /// The hosts, without ports; none for any.
    pub hosts: Vec<String>,
    /// The name of the service, as it appears in points.
    pub service: String,
    /// Where the service listens, `host:port`. It need not be up yet.
    pub upstream: String,
    /// How TLS is spoken there, if it is.
    pub tls: Option<Arc<TlsUpstream>>,
}

impl Listener {
    /// A listener in front of one service.
    pub fn of(service: &str, upstream: String, listen: SocketAddr, origin: Origin) -> Self {
        Listener {
            listen,
            origin,
            routes: vec![Route {
                hosts: Vec::new(),
                service: service.to_owned(),
                upstream,
                tls: None,
            }],
            door: None,
            forward: None,
            late: None,
        }
    }

    /// A listener in front of a service that is not there yet.
    pub fn late(
        service: &str,
        address: &Arc<LateAddress>,
        listen: SocketAddr,
        origin: Origin,
    ) -> Self {
        Listener {
            late: Some(address.clone()),
            ..Listener::of(service, String::new(), listen, origin)
        }
    }

    /// The same for services that speak TLS.
    pub fn over(mut self, tls: Option<&Arc<TlsUpstream>>) -> Self {
        for route in &mut self.routes {
            route.tls = tls.cloned();
        }
        self
    }

    /// A forward proxy.
    pub fn forward(forward: Forward, listen: SocketAddr, origin: Origin) -> Self {
        Listener {
            listen,
            origin,
            routes: Vec::new(),
            door: None,
            forward: Some(forward),
            late: None,
        }
    }

    /// The same for callers that may speak TLS.
    pub fn with_door(mut self, door: Option<&Door>) -> Self {
        self.door = door.cloned();
        self
    }

    /// The services behind it, for messages.
    fn services(&self) -> String {
        let named = self.forward.iter().flat_map(|forward| &forward.named);
        let named = named.map(|named| named.service.as_str());
        let services = self.routes.iter().map(|route| route.service.as_str());
        services.chain(named).collect::<Vec<_>>().join(", ")
    }
}

/// A listener that could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {listen} for service `{service}`{}", hint(.source))]
pub struct StartError {
    /// The service it was for.
    pub service: String,
    /// The address.
    pub listen: SocketAddr,
    /// Why.
    pub source: io::Error,
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            ": the port is taken, perhaps by the service itself or by another campaign; use port 0 for any free one"
        }
        io::ErrorKind::PermissionDenied => ": ports below 1024 need privileges",
        io::ErrorKind::AddrNotAvailable => ": this machine has no such address",
        _ => "",
    }
}

/// Running proxies; stopped when dropped.
pub struct Proxy {
    addresses: Vec<SocketAddr>,
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

impl Proxy {
    /// Binds all listeners and starts to serve them. Either all are bound, or
    /// none stays bound.
    pub fn start(
        listeners: Vec<Listener>,
        control: Arc<dyn Control>,
        settings: Settings,
    ) -> Result<Proxy, StartError> {
        let bound = bind_all(&listeners)?;
        let addresses = bound.iter().map(|(address, _)| *address).collect();
        let settings = Arc::new(settings);
        let (stop, stopped) = watch::channel(false);
        let threads = (0..settings.threads.max(1)).map(|number| {
            let contexts = listeners.iter().zip(&bound).map(|(listener, (_, socket))| {
                let socket = socket
                    .try_clone()
                    .expect("a listening socket can be shared");
                (context_of(listener, &control, &settings), socket)
            });
            let contexts = contexts.collect();
            let stopped = stopped.clone();
            std::thread::Builder::new()
                .name(format!("murphy-proxy-{number}"))
                .spawn(move || run_worker(contexts, stopped))
                .expect("threads can be started")
        });
        Ok(Proxy {
            addresses,
            threads: threads.collect(),
            stop,
        })
    }

    /// Where each listener listens, in the order they were given.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn bind_all(
    listeners: &[Listener],
) -> Result<Vec<(SocketAddr, std::net::TcpListener)>, StartError> {
    let bind = |listener: &Listener| {
        bind(listener.listen).map_err(|source| StartError {
            service: listener.services(),
            listen: listener.listen,
            source,
        })
    };
    listeners.iter().map(bind).collect()
}

fn bind(address: SocketAddr) -> io::Result<(SocketAddr, std::net::TcpListener)> {
    let socket = std::net::TcpListener::bind(address)?;
    socket.set_nonblocking(true)?;
    Ok((socket.local_addr()?, socket))
}

fn context_of(
    listener: &Listener,
    control: &Arc<dyn Control>,
    settings: &Arc<Settings>,
) -> Arc<ListenerContext> {
    let destination = |route: &Route| {
        let address = route.upstream.clone();
        let upstream: Box<dyn Upstream> = match &route.tls {
            None => Box::new(Tcp(address)),
            Some(tls) => Box::new(Tls::new(address, tls)),
        };
        let origin = listener.origin.clone();
        let (control, settings) = (control.clone(), settings.clone());
        let mut destination = Destination::new(&route.service, upstream, origin, control, settings);
        destination.authority = route.tls.as_ref().map(|tls| tls.authority().into());
        destination
    };
    // What is not there yet is made when it is.
    let routes = listener.routes.iter().filter(|_| listener.late.is_none());
    let destinations = routes.map(|route| (route.hosts.clone(), Arc::new(destination(route))));
    let forward = listener.forward.as_ref().map(|rules| {
        let origin = listener.origin.clone();
        ForwardProxy::new(rules.clone(), origin, control.clone(), settings.clone())
    });
    Arc::new(ListenerContext {
        destinations: destinations.collect(),
        settings: settings.clone(),
        door: listener.door.clone(),
        forward,
        late: late(listener, control, settings),
        anybody: anybody(listener, control, settings),
    })
}

/// The service behind a listener whose address is said later.
fn late(
    listener: &Listener,
    control: &Arc<dyn Control>,
    settings: &Arc<Settings>,
) -> Option<LateDestination> {
    let address = listener.late.clone()?;
    let service = listener.routes.first()?.service.clone();
    let origin = listener.origin.clone();
    let (control, settings) = (control.clone(), settings.clone());
    let make = move |upstream| {
        let (origin, control, settings) = (origin.clone(), control.clone(), settings.clone());
        Destination::new(&service, upstream, origin, control, settings)
    };
    Some(LateDestination::new(address, Box::new(make)))
}

/// What finds out who calls, at an address that anybody may have been given.
fn anybody(
    listener: &Listener,
    control: &Arc<dyn Control>,
    settings: &Arc<Settings>,
) -> Option<Anybody> {
    let callers = settings.callers.clone()?;
    let Origin::Fixed { .. } = listener.origin else {
        return None;
    };
    let (listener, control, settings) = (listener.clone(), control.clone(), settings.clone());
    let of_caller = move |caller| {
        let origin = Origin::Service {
            caller: Some(caller),
        };
        let listener = Listener {
            origin,
            ..listener.clone()
        };
        context_of(&listener, &control, &settings)
    };
    Some(Anybody::new(callers, Box::new(of_caller)))
}

fn run_worker(
    contexts: Vec<(Arc<ListenerContext>, std::net::TcpListener)>,
    mut stopped: watch::Receiver<bool>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        for (listener, socket) in contexts {
            let socket = TcpListener::from_std(socket).expect("a listening, non-blocking socket");
            tokio::spawn(accept(listener, socket));
        }
        let _ = stopped.wait_for(|stopped| *stopped).await;
    });
    runtime.shutdown_timeout(FAREWELL);
}

async fn accept(listener: Arc<ListenerContext>, socket: TcpListener) {
    loop {
        match socket.accept().await {
            Ok((caller, _)) => {
                let _ = caller.set_nodelay(true);
                tokio::spawn(admit(listener.clone(), caller));
            }
            // Out of file descriptors, or the caller left already: neither
            // must end the listener.
            Err(error) => {
                tracing::warn!(address = ?socket.local_addr(), %error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
}

/// Serves a connection just accepted, as one of whoever calls.
async fn admit(listener: Arc<ListenerContext>, caller: TcpStream) {
    let of_caller = match &listener.anybody {
        Some(anybody) => anybody.listener(&caller).await,
        None => None,
    };
    serve(of_caller.unwrap_or(listener), Box::new(caller)).await;
}

/// Who callers take us for that name no host.
const LOCALHOST: &str = "localhost";

/// What a connection of HTTP/2 with prior knowledge begins with.
const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// What a connection begins with, as much as it takes to know the protocol;
/// `None` if it has ended before.
pub(crate) async fn first_bytes(caller: &mut Box<dyn Stream>) -> Option<BytesMut> {
    let mut read = BytesMut::with_capacity(8 * 1024);
    // As long as it could still become either.
    while read.len() < HTTP2.len() && HTTP2.starts_with(&read) {
        match caller.read_buf(&mut read).await {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
    }
    Some(read)
}

/// Serves one connection of a caller until it ends.
pub(crate) async fn serve(listener: Arc<ListenerContext>, mut caller: Box<dyn Stream>) {
    let Some(read) = first_bytes(&mut caller).await else {
        return;
    };
    let Some(door) = listener.door.as_ref().filter(|_| tls::is_tls(&read)) else {
        return serve_http(listener, caller, read).await;
    };
    let offered = match listener.destinations.as_slice() {
        [(_, only)] => only.upstream.offered().await,
        _ => Offered::RatherHttp1,
    };
    let caller = (caller, read);
    if let Some((caller, read)) = door.accept(caller, LOCALHOST, offered, &listener).await {
        serve_http(listener, caller, read).await;
    }
}

/// Serves a connection that begins with this.
pub(crate) async fn serve_http(
    listener: Arc<ListenerContext>,
    caller: Box<dyn Stream>,
    read: BytesMut,
) {
    match read.starts_with(HTTP2) {
        true => h2::serve(listener, caller, read).await,
        false => h1::serve(listener, caller, read).await,
    }
}
