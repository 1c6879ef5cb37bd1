//! What the fuzz tests need to reach and nobody else does: readers of bytes
//! from the wire. No part of the interface.

use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use murphy_registry::{Origin, Registry};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Runtime;

use crate::forward::{Forward, ForwardProxy, NamedHosts};
use crate::listener_context::ListenerContext;
use crate::server;
use crate::settings::Settings;
use crate::tls::{Authority, Door, TlsFiles};

pub use crate::grpc::{encode_message, first_message, interface, is_grpc, reply};

/// Longer than anything takes that is not stuck.
const PATIENCE: Duration = Duration::from_secs(5);

/// A forward proxy with a door, whose callers are in memory. It calls nobody.
pub struct FuzzedListener {
    runtime: Runtime,
    listener: Arc<ListenerContext>,
}

impl Default for FuzzedListener {
    fn default() -> Self {
        let settings = Arc::new(Settings::default());
        let named = NamedHosts {
            service: "store".to_owned(),
            hosts: vec!["a.test".to_owned(), "*.a.test".to_owned()],
            // Nobody listens there.
            upstream: Some(("127.0.0.1:1".to_owned(), None)),
            tls: TlsFiles::default(),
        };
        let rules = Forward {
            named: vec![named],
            only_named: true,
            others: Arc::default(),
        };
        let registry = Arc::new(Registry::new(Default::default()));
        let forward = ForwardProxy::new(rules, Origin::Murphy, registry, settings.clone());
        let authority = Authority::generate("fuzzed").expect("an authority can be made");
        let door = Door {
            authority: Arc::new(authority),
            refusals: Arc::default(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime can be made");
        FuzzedListener {
            runtime,
            listener: Arc::new(ListenerContext {
                destinations: Vec::new(),
                settings,
                door: Some(door),
                forward: Some(forward),
                late: None,
                anybody: None,
            }),
        }
    }
}

impl FuzzedListener {
    /// What a caller reads that sends this and then nothing more; `None` if it
    /// waits for ever.
    pub fn answer(&self, input: &[u8]) -> Option<Vec<u8>> {
        let serving = async {
            let (mut caller, ours) = tokio::io::duplex(64 * 1024);
            let served = tokio::spawn(server::serve(self.listener.clone(), Box::new(ours)));
            let _ = caller.write_all(input).await;
            let _ = caller.shutdown().await;
            let mut read = BytesMut::new();
            while caller
                .read_buf(&mut read)
                .await
                .is_ok_and(|count| count > 0)
            {}
            let ended = served.await;
            ended.expect("no input makes it panic");
            read.to_vec()
        };
        let served = async { tokio::time::timeout(PATIENCE, serving).await.ok() };
        self.runtime.block_on(served)
    }
}
