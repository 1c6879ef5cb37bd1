//! A gigabyte through a tunnel, in a process of its own: memory stays flat.

use std::sync::Arc;

use murphy_proxy::{Forward, Listener, Proxy, Settings};
use murphy_registry::{Origin, Registry};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const GIBIBYTE: usize = 1 << 30;

/// The most memory that this process has had, in KiB.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let digits = line.unwrap().trim().trim_end_matches(" kB");
    digits.parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
#[cfg(target_os = "linux")]
async fn a_gigabyte_passes_through_a_tunnel() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let callee = listener.local_addr().unwrap();
    let read = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let (mut count, mut piece) = (0, vec![0; 64 * 1024]);
        loop {
            match stream.read(&mut piece).await.unwrap() {
                0 => return count,
                some => count += some,
            }
        }
    });
    let registry = Arc::new(Registry::new(murphy_registry::Settings::default()));
    let listen = "127.0.0.1:0".parse().unwrap();
    let listener = Listener::forward(Forward::default(), listen, Origin::Murphy);
    let proxy = Proxy::start(vec![listener], registry, Settings::default()).unwrap();
    let mut stream = TcpStream::connect(proxy.addresses()[0]).await.unwrap();
    let head = format!("CONNECT {callee} HTTP/1.1\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 256];
    let length = stream.read(&mut answer).await.unwrap();
    assert!(answer[..length].starts_with(b"HTTP/1.1 200"));
    let piece = vec![7; 256 * 1024];
    let before = peak();
    for _ in 0..GIBIBYTE / piece.len() {
        stream.write_all(&piece).await.unwrap();
    }
    stream.shutdown().await.unwrap();
    assert_eq!(read.await.unwrap(), GIBIBYTE);
    let grown = peak() - before;
    assert!(grown < 8 * 1024, "{grown} KiB");
}
