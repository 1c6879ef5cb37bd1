//! A proxy between a caller and a callee, both in the hands of the test.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use murphy_model::{Identity, Reply};
use murphy_proxy::{Listener, Proxy, Settings};
use murphy_registry::{Control, Detail, ExecutionId, Origin, Plan, Recorded, Registry, WorkerId};

/// Longer than anything here takes, short enough to fail before a human does.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

const WORKER: WorkerId = WorkerId(1);

/// A proxy and what is around it.
pub(crate) struct Wire {
    proxy: Proxy,
    /// Where the callee listens, or should.
    pub(crate) upstream: SocketAddr,
    callee: Option<TcpListener>,
    registry: Arc<Registry>,
}

impl Wire {
    pub(crate) fn new() -> Wire {
        Wire::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Wire {
        Wire::controlled(settings, |registry| registry)
    }

    /// With a control plane that reaches the registry in some other way, and
    /// one thread, so that there is one pool of connections.
    pub(crate) fn controlled(
        settings: Settings,
        control: impl FnOnce(Arc<Registry>) -> Arc<dyn Control>,
    ) -> Wire {
        let callee = TcpListener::bind("127.0.0.1:0").unwrap();
        callee.set_nonblocking(true).unwrap();
        let upstream = callee.local_addr().unwrap();
        let registry = Arc::new(Registry::new(Default::default()));
        let anywhere = "127.0.0.1:0".parse().unwrap();
        let listener =
            |service: &str, origin| Listener::of(service, upstream.to_string(), anywhere, origin);
        let listeners = vec![
            listener("back", Origin::Service { caller: None }),
            listener("front", Origin::Entry(WORKER)),
        ];
        let settings = Settings {
            threads: 1,
            ..settings
        };
        let proxy = Proxy::start(listeners, control(registry.clone()), settings).unwrap();
        Wire {
            proxy,
            upstream,
            callee: Some(callee),
            registry,
        }
    }

    /// A connection to the proxy.
    pub(crate) fn caller(&self) -> End {
        End::new(TcpStream::connect(self.proxy.addresses()[0]).unwrap())
    }

    /// The next connection that the proxy makes.
    pub(crate) fn callee(&self) -> End {
        self.callee_within(PATIENCE).expect("the proxy connects")
    }

    /// The next connection that the proxy makes, if it does.
    pub(crate) fn callee_within(&self, time: Duration) -> Option<End> {
        let give_up = Instant::now() + time;
        let listener = self.callee.as_ref().expect("it is up");
        loop {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false).unwrap();
                    return Some(End::new(stream));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => panic!("{error}"),
            }
            if Instant::now() > give_up {
                return None;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// A call of this execution that has reached the callee: its caller, and
    /// the callee that has read its head.
    pub(crate) fn call(&self, execution: &Execution) -> (End, End) {
        let mut caller = self.caller();
        caller.send(format!("GET / HTTP/1.1\r\n{}\r\n", execution.context()));
        let mut callee = self.callee();
        callee.read_head();
        (caller, callee)
    }

    /// The callee stops listening.
    pub(crate) fn take_down(&mut self) {
        self.callee = None;
    }

    /// The callee listens again.
    pub(crate) fn bring_up(&mut self) {
        let callee = TcpListener::bind(self.upstream).unwrap();
        callee.set_nonblocking(true).unwrap();
        self.callee = Some(callee);
    }

    /// Begins an execution, with an entry call that is answered; what is sent
    /// with the context returned is a call from it.
    pub(crate) fn begin(&self, faults: &str) -> Execution {
        let plan = Plan {
            faultload: faults.parse().unwrap(),
            identity: Arc::new(Identity::default()),
            worker: Some(WORKER),
            solo: false,
            entries: false,
            injector: None,
        };
        let id = self.registry.begin(plan).unwrap();
        let mut entry = End::new(TcpStream::connect(self.proxy.addresses()[1]).unwrap());
        entry.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
        let mut callee = self.callee();
        callee.read_head();
        callee.send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
        entry.read_head();
        Execution {
            id,
            registry: self.registry.clone(),
        }
    }
}

/// An execution that has begun.
pub(crate) struct Execution {
    id: ExecutionId,
    registry: Arc<Registry>,
}

impl Execution {
    /// The header line that makes a request one of its calls.
    pub(crate) fn context(&self) -> String {
        format!("tracestate: murphy={}-0\r\n", self.id)
    }

    /// What was recorded so far.
    pub(crate) fn recorded(&self) -> Recorded {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(self.registry.collect(self.id)).unwrap()
    }

    /// How the last call ended: what the caller saw, and the rest.
    pub(crate) fn last(&self) -> (Option<Reply>, Detail) {
        let recorded = self.recorded();
        assert!(recorded.quiet, "{recorded:?}");
        let call = recorded.trace.calls().last().unwrap();
        assert_eq!(&*call.point.frame().destination, "back");
        (call.reply, *recorded.details.last().unwrap())
    }
}

/// One end of a connection with the proxy.
pub(crate) struct End(pub(crate) TcpStream);

impl End {
    fn new(stream: TcpStream) -> End {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        End(stream)
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).expect("the proxy reads");
    }

    /// Reads exactly these bytes.
    #[track_caller]
    pub(crate) fn expect(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        let mut read = vec![0; bytes.len()];
        let mut count = 0;
        while count < bytes.len() {
            match self.0.read(&mut read[count..]) {
                Ok(more) if more > 0 => count += more,
                end => panic!(
                    "{end:?} after {:?}, but {:?} was to come",
                    String::from_utf8_lossy(&read[..count]),
                    String::from_utf8_lossy(bytes),
                ),
            }
        }
        assert_eq!(
            String::from_utf8_lossy(&read),
            String::from_utf8_lossy(bytes)
        );
    }

    /// Reads a head, to its empty line.
    #[track_caller]
    pub(crate) fn read_head(&mut self) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            let read = self.0.read(&mut byte);
            assert_eq!(
                read.ok(),
                Some(1),
                "after {:?}",
                String::from_utf8_lossy(&head)
            );
            head.push(byte[0]);
        }
        String::from_utf8(head).unwrap()
    }

    /// The connection is closed properly, and nothing came before.
    #[track_caller]
    pub(crate) fn expect_close(&mut self) {
        let read = self.0.read(&mut [0; 100]);
        assert_eq!(read.expect("a close, not a reset"), 0);
    }

    /// The connection is reset.
    #[track_caller]
    pub(crate) fn expect_reset(&mut self) {
        let read = self.0.read(&mut [0; 100]);
        let error = read.expect_err("a reset");
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }

    /// The connection is closed or reset, and nothing came before.
    #[track_caller]
    pub(crate) fn expect_end(&mut self) {
        let read = self.0.read(&mut [0; 100]);
        match read {
            Ok(0) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
            other => panic!("{other:?}"),
        }
    }

    /// Nothing comes for a while.
    #[track_caller]
    pub(crate) fn expect_silence(&mut self) {
        let a_while = Duration::from_millis(60);
        self.0.set_read_timeout(Some(a_while)).unwrap();
        let read = self.0.read(&mut [0; 100]);
        self.0.set_read_timeout(Some(PATIENCE)).unwrap();
        let error = read.expect_err("silence");
        assert!(matches!(
            error.kind(),
            ErrorKind::WouldBlock | ErrorKind::TimedOut
        ));
    }

    /// Says that nothing more will come, unless the proxy has ended it already.
    pub(crate) fn finish(&mut self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }

    /// Goes away, with a reset or properly.
    pub(crate) fn leave(self, reset: bool) {
        match reset {
            true => self.kill(),
            false => drop(self),
        }
    }

    /// Sees its peer's connection end in the same way as that of the callee,
    /// which leaves now; what came of the call then.
    #[track_caller]
    pub(crate) fn expect_end_of(&mut self, callee: End, reset: bool) -> Reply {
        callee.leave(reset);
        match reset {
            true => {
                self.expect_reset();
                Reply::Reset
            }
            false => {
                self.expect_close();
                Reply::Closed
            }
        }
    }

    /// Goes away with a reset.
    pub(crate) fn kill(self) {
        // Unread bytes turn a close into a reset; there may be none, so it is
        // asked for.
        let stream = tokio_stream(self.0);
        stream.set_zero_linger().unwrap();
    }
}

/// tokio can ask for resets; std cannot yet.
fn tokio_stream(stream: TcpStream) -> tokio::net::TcpStream {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
    }
    stream.set_nonblocking(true).unwrap();
    RUNTIME.with(|runtime| {
        let _inside = runtime.enter();
        tokio::net::TcpStream::from_std(stream).unwrap()
    })
}
