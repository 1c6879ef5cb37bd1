//! What the other end of a connection is doing, as far as its socket tells.
//!
//! Whether a connection is silent, the socket at this end knows. Whether it is
//! still open at the other end takes more: a peer that only says that it sends no more (`shutdown`) and one that has
//! closed its socket send the same: a FIN. Where the peer is on this machine the
//! kernel knows more, and is asked about its socket (`sock_diag`). Owns that
//! question, too; whose process has it open is for others. Where there is no answer (another machine, a container, another
//! system than Linux) nothing is known.

use std::net::SocketAddr;

use rustix::io::Errno;
use rustix::net::RecvFlags;
use tokio::net::TcpStream;

/// Whether the peer has neither closed the connection nor sent anything
/// unasked. The socket itself is asked: what the runtime knows of it is from
/// when it looked last, and a close that came since would be met by the
/// request. One that comes from now on is: nobody can tell it from the callee's
/// answer to the request, and it is taken for that.
pub(crate) fn is_silent(stream: &TcpStream) -> bool {
    let peeked = rustix::net::recv(stream, &mut [0_u8], RecvFlags::PEEK | RecvFlags::DONTWAIT);
    matches!(peeked, Err(Errno::AGAIN))
}

/// A socket of this machine, as the kernel knows it.
struct Socket {
    /// By which processes have it open; 0 if none has any more.
    inode: u32,
    /// Whether it was shut down for reading.
    is_deaf: bool,
}

/// Whether the peer's socket is open in some process, so that an answer can
/// still be read there; `None` if that cannot be found out.
pub(crate) fn is_open(stream: &TcpStream) -> Option<bool> {
    let socket = of_peer(stream)?;
    Some(socket.inode != 0 && !socket.is_deaf)
}

/// The inode of the peer's socket, by which the process can be found that has
/// it open; `None` if there is none, or that cannot be found out.
pub(crate) fn inode(stream: &TcpStream) -> Option<u32> {
    let Socket { inode, .. } = of_peer(stream)?;
    (inode != 0).then_some(inode)
}

fn of_peer(stream: &TcpStream) -> Option<Socket> {
    let (peer, here) = (stream.peer_addr().ok()?, stream.local_addr().ok()?);
    ask_kernel(peer, here)
}

#[cfg(not(target_os = "linux"))]
fn ask_kernel(_: SocketAddr, _: SocketAddr) -> Option<Socket> {
    None
}

#[cfg(target_os = "linux")]
fn ask_kernel(of: SocketAddr, to: SocketAddr) -> Option<Socket> {
    use rustix::net::{
        AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send,
        socket_with,
    };

    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let protocol = Some(netlink::SOCK_DIAG);
    let kernel = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, protocol).ok()?;
    send(&kernel, &diag::question(of, to), SendFlags::empty()).ok()?;
    let mut answer = [0; 512];
    // It is there when `send` returns.
    let (length, _) = recv(&kernel, &mut answer[..], RecvFlags::empty()).ok()?;
    diag::socket(answer.get(..length)?)
}

/// The messages of `sock_diag` (linux/netlink.h, linux/inet_diag.h).
#[cfg(target_os = "linux")]
mod diag {
    use std::net::{IpAddr, SocketAddr};

    use super::Socket;

    /// How long `nlmsghdr` is, which is before every message.
    const HEADER: usize = 16;

    /// Where in `inet_diag_msg` the inode is: 0 for a socket that no process
    /// has open any more.
    const INODE: usize = 68;

    /// Where the attributes begin that follow `inet_diag_msg`.
    const ATTRIBUTES: usize = 72;

    /// The attribute that says which sides were shut down, and the bit in it
    /// for the one that is read from.
    const INET_DIAG_SHUTDOWN: u16 = 8;
    const RCV_SHUTDOWN: u8 = 1;

    const SOCK_DIAG_BY_FAMILY: u16 = 20;
    const NLM_F_REQUEST: u16 = 1;
    const AF_INET: u8 = 2;
    const AF_INET6: u8 = 10;
    const IPPROTO_TCP: u8 = 6;

    /// Asks for the one socket with this address that is connected to that.
    pub(super) fn question(of: SocketAddr, to: SocketAddr) -> Vec<u8> {
        let family = match of.ip().to_canonical() {
            IpAddr::V4(_) => AF_INET,
            IpAddr::V6(_) => AF_INET6,
        };
        let mut request = vec![family, IPPROTO_TCP, 0, 0];
        // In any state.
        request.extend(u32::MAX.to_ne_bytes());
        request.extend(of.port().to_be_bytes());
        request.extend(to.port().to_be_bytes());
        request.extend(address(of));
        request.extend(address(to));
        // On any interface, whatever its cookie.
        request.extend([0; 4]);
        request.extend([0xff; 8]);
        let length = u32::try_from(HEADER + request.len()).unwrap_or(u32::MAX);
        let mut message = Vec::with_capacity(HEADER + request.len());
        message.extend(length.to_ne_bytes());
        message.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        message.extend(NLM_F_REQUEST.to_ne_bytes());
        // No sequence number and no port: there is one question and one answer.
        message.extend([0; 8]);
        message.append(&mut request);
        message
    }

    fn address(address: SocketAddr) -> [u8; 16] {
        match address.ip().to_canonical() {
            IpAddr::V6(ip) => ip.octets(),
            IpAddr::V4(ip) => {
                let mut bytes = [0; 16];
                bytes[..4].copy_from_slice(&ip.octets());
                bytes
            }
        }
    }

    /// The socket that was asked for; `None` if there is none here.
    pub(super) fn socket(answer: &[u8]) -> Option<Socket> {
        let kind = u16_at(answer, 4)?;
        if kind != SOCK_DIAG_BY_FAMILY {
            return None;
        }
        let message = answer.get(HEADER..)?;
        let inode = message.get(INODE..)?.first_chunk::<4>()?;
        let shut = message.get(ATTRIBUTES..).and_then(shutdown).unwrap_or(0);
        Some(Socket {
            inode: u32::from_ne_bytes(*inode),
            is_deaf: shut & RCV_SHUTDOWN != 0,
        })
    }

    /// Which sides were shut down, if the attributes say so. Each is a length,
    /// a type and a value, and begins at a multiple of four.
    fn shutdown(mut attributes: &[u8]) -> Option<u8> {
        loop {
            let length = usize::from(u16_at(attributes, 0)?);
            if u16_at(attributes, 2)? == INET_DIAG_SHUTDOWN {
                return attributes.get(4).copied();
            }
            attributes = attributes.get(length.next_multiple_of(4).max(4)..)?;
        }
    }

    fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
        Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_half_closed_peer_is_open_and_a_closed_one_is_not() {
        for (host, to) in [
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]", "[::1]"),
            ("[::]", "127.0.0.1"),
        ] {
            // There may be no IPv6 here.
            let Ok(listener) = TcpListener::bind(format!("{host}:0")).await else {
                continue;
            };
            let port = listener.local_addr().unwrap().port();
            for closes in [true, false] {
                let peer = TcpStream::connect(format!("{to}:{port}"));
                let (peer, accepted) = tokio::join!(peer, listener.accept());
                let (mut peer, (stream, _)) = (peer.unwrap(), accepted.unwrap());
                assert_eq!(is_open(&stream), Some(true), "{host}");
                peer.shutdown().await.unwrap();
                assert_eq!(is_open(&stream), Some(true), "{host}");
                let peer = peer.into_std().unwrap();
                let not_closed = (!closes).then_some(peer);
                if let Some(peer) = &not_closed {
                    peer.shutdown(std::net::Shutdown::Read).unwrap();
                }
                assert_eq!(is_open(&stream), Some(false), "{host}, closes: {closes}");
            }
        }
    }
}
