//! What is spoken, how many speak at once, and what is asked.
//!
//! Owns the shapes of load that every subject gets alike.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use anyhow::{Context, Result};
use clap::ValueEnum;

/// A protocol to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// HTTP/1.1 with keep-alive, without pipelining.
    #[value(name = "h1")]
    Http1,
    /// HTTP/2 in clear text with prior knowledge.
    #[value(name = "h2")]
    Http2,
    /// A unary gRPC call over HTTP/2.
    #[value(name = "grpc")]
    Grpc,
}

impl Protocol {
    /// All of them, in the order of the tables.
    pub const ALL: [Protocol; 3] = [Protocol::Http1, Protocol::Http2, Protocol::Grpc];

    /// Its name on the command line and in the raw numbers.
    pub fn key(self) -> &'static str {
        match self {
            Protocol::Http1 => "h1",
            Protocol::Http2 => "h2",
            Protocol::Grpc => "grpc",
        }
    }

    /// The path of the small request.
    pub fn path(self) -> &'static str {
        match self {
            Protocol::Http1 | Protocol::Http2 => SMALL,
            Protocol::Grpc => GRPC,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Protocol::Http1 => "HTTP/1.1",
            Protocol::Http2 => "HTTP/2",
            Protocol::Grpc => "gRPC",
        })
    }
}

/// The path answered with a small JSON document.
pub const SMALL: &str = "/small";

/// The gRPC method, as a path.
pub const GRPC: &str = "/bench.Echo/Say";

/// A gRPC request or answer: uncompressed, 16 bytes of payload.
pub const GRPC_MESSAGE: &[u8] = b"\x00\x00\x00\x00\x10\x0a\x0ehello upstream";

/// Who speaks how, how many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What is spoken.
    pub protocol: Protocol,
    /// Connections kept open by the load generator.
    pub connections: usize,
}

impl Shape {
    /// Requests in flight on each connection: one on HTTP/1.1; where streams
    /// share a connection, ten on up to four connections and four on more, so
    /// that a few connections are busy and many do not only queue.
    pub fn streams(self) -> usize {
        match self.protocol {
            Protocol::Http1 => 1,
            Protocol::Http2 | Protocol::Grpc if self.connections <= 4 => 10,
            Protocol::Http2 | Protocol::Grpc => 4,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = |n: usize| if n == 1 { "" } else { "s" };
        let (connections, streams) = (self.connections, self.streams());
        write!(
            f,
            "{}, {connections} connection{}, {streams} request{} at once on each",
            self.protocol,
            s(connections),
            s(streams),
        )
    }
}

/// Where a program listens: HTTP/1.1 on one port, HTTP/2 and gRPC on another.
/// They are apart because not every subject tells them apart on one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doors {
    /// Where HTTP/1.1 is spoken.
    pub h1: SocketAddr,
    /// Where HTTP/2 is spoken.
    pub h2: SocketAddr,
}

impl Doors {
    /// Where the protocol is spoken.
    pub fn of(&self, protocol: Protocol) -> SocketAddr {
        match protocol {
            Protocol::Http1 => self.h1,
            Protocol::Http2 | Protocol::Grpc => self.h2,
        }
    }
}

impl fmt::Display for Doors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.h1, self.h2)
    }
}

impl FromStr for Doors {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (h1, h2) = text.trim().split_once(',').context("two addresses")?;
        Ok(Doors {
            h1: h1.parse()?,
            h2: h2.parse()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grpc_message_has_the_length_it_claims() {
        let claimed = u32::from_be_bytes(GRPC_MESSAGE[1..5].try_into().unwrap());
        assert_eq!(claimed as usize, GRPC_MESSAGE.len() - 5);
    }

    #[test]
    fn doors_survive_their_text() {
        let doors: Doors = "127.0.0.1:1,127.0.0.1:2".parse().unwrap();
        assert_eq!(doors.to_string().parse::<Doors>().unwrap(), doors);
        assert_eq!(doors.of(Protocol::Grpc).port(), 2);
    }
}
