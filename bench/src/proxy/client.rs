//! A client of our own, where every answer is looked at.
//!
//! Owns one connection over HTTP/1.1 or HTTP/2; load is [`super::load`]'s job.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use http::header::HOST;
use http::{Method, Request, Response, Version, request};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::body::Repeated;
use super::protocol::Protocol;
use super::tls::Certificate;

/// One connection.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    sender: Sender,
}

#[derive(Debug)]
enum Sender {
    Http1(http1::SendRequest<Repeated>),
    Http2(http2::SendRequest<Repeated>),
}

impl Client {
    /// Connects.
    pub async fn connect(protocol: Protocol, address: SocketAddr) -> Result<Self> {
        Self::connect_with(protocol, address, None).await
    }

    /// Connects, over TLS if there is a certificate.
    pub async fn connect_with(
        protocol: Protocol,
        address: SocketAddr,
        tls: Option<&Certificate>,
    ) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let Some(tls) = tls else {
            return Self::over(protocol, address, stream).await;
        };
        let name = ServerName::from(address.ip());
        let stream = tls.connector(protocol)?.connect(name, stream).await?;
        Self::over(protocol, address, stream).await
    }

    async fn over(
        protocol: Protocol,
        address: SocketAddr,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    ) -> Result<Self> {
        let stream = TokioIo::new(stream);
        let sender = match protocol {
            Protocol::Http1 => {
                let (sender, connection) = http1::handshake(stream).await?;
                tokio::spawn(connection);
                Sender::Http1(sender)
            }
            Protocol::Http2 | Protocol::Grpc => {
                let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
                tokio::spawn(connection);
                Sender::Http2(sender)
            }
        };
        Ok(Self { address, sender })
    }

    /// The beginning of a request, addressed as the protocol wants it.
    pub fn request(&self, method: Method, path: &str) -> request::Builder {
        let (address, builder) = (self.address, Request::builder().method(method));
        match self.sender {
            Sender::Http1(_) => builder.uri(path).header(HOST, address.to_string()),
            Sender::Http2(_) => builder
                .uri(format!("http://{address}{path}"))
                .version(Version::HTTP_2),
        }
    }

    /// Sends a request and waits for the head of the answer.
    pub async fn send(&mut self, request: Request<Repeated>) -> Result<Response<Incoming>> {
        match &mut self.sender {
            Sender::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
            Sender::Http2(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
        .context("no answer")
    }
}
