//! An HTTP/1.1 client with connections kept open for the next request.
//!
//! A connection is driven by the request that uses it and by nobody else: a
//! caller that gives up drops both, and the connection is closed before it
//! does anything more. Whoever watches the wire therefore sees things happen
//! in the order in which the caller did them.

use std::collections::HashMap;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Waker};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::Lost;

/// Sends requests, each on a connection that no other uses meanwhile.
#[derive(Default)]
pub(in crate::sockets) struct HttpClient {
    idle: Mutex<HashMap<SocketAddr, Vec<Line>>>,
}

impl HttpClient {
    /// The complete answer to a request.
    pub(in crate::sockets) async fn send(
        &self,
        to: SocketAddr,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Bytes>, Lost> {
        while let Some(mut line) = self.take(to) {
            match line.exchange(request).await {
                Ok(answer) => return Ok(self.keep(to, line, answer)),
                // The other side had closed it while nobody looked.
                Err(Failure::NotSent(unsent)) => request = *unsent,
                Err(Failure::Lost) => return Err(Lost),
            }
        }
        let mut line = Line::connect(to).await?;
        let answer = line.exchange(request).await.map_err(|_| Lost)?;
        Ok(self.keep(to, line, answer))
    }

    fn take(&self, to: SocketAddr) -> Option<Line> {
        self.idle().get_mut(&to)?.pop()
    }

    fn keep<T>(&self, to: SocketAddr, mut line: Line, answer: T) -> T {
        if line.is_reusable() {
            self.idle().entry(to).or_default().push(line);
        }
        answer
    }

    fn idle(&self) -> MutexGuard<'_, HashMap<SocketAddr, Vec<Line>>> {
        self.idle.lock().expect("no panic while lines are held")
    }
}

/// Why there is no answer.
enum Failure {
    NotSent(Box<Request<Full<Bytes>>>),
    Lost,
}

/// One connection.
struct Line {
    sender: SendRequest<Full<Bytes>>,
    driver: Driver,
}

/// What moves the bytes of a connection; `None` once it has ended.
type Driver = Option<Pin<Box<Connection<TokioIo<TcpStream>, Full<Bytes>>>>>;

impl Line {
    async fn connect(to: SocketAddr) -> Result<Line, Lost> {
        let stream = TcpStream::connect(to).await.map_err(|_| Lost)?;
        // Requests are written whole; waiting for more only costs time.
        stream.set_nodelay(true).map_err(|_| Lost)?;
        let shaken = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = shaken.map_err(|_| Lost)?;
        Ok(Line {
            sender,
            driver: Some(Box::pin(connection)),
        })
    }

    async fn exchange(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Bytes>, Failure> {
        let sending = self.sender.try_send_request(request);
        let answering = async {
            let answer = sending.await.map_err(|mut error| {
                let unsent = error.take_message();
                unsent.map_or(Failure::Lost, |unsent| Failure::NotSent(Box::new(unsent)))
            })?;
            let (head, body) = answer.into_parts();
            let body = body.collect().await.map_err(|_| Failure::Lost)?;
            Ok(Response::from_parts(head, body.to_bytes()))
        };
        drive(&mut self.driver, answering).await
    }

    /// Whether another request can be sent, after a look at the connection.
    fn is_reusable(&mut self) -> bool {
        let mut nobody = Context::from_waker(Waker::noop());
        poll(&mut self.driver, &mut nobody);
        self.driver.is_some() && self.sender.is_ready()
    }
}

/// Waits for `work` while the connection does its part.
async fn drive<T>(driver: &mut Driver, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|cx| {
        poll(driver, cx);
        // Also after its end: what was read before is still there.
        work.as_mut().poll(cx)
    })
    .await
}

fn poll(driver: &mut Driver, cx: &mut Context<'_>) {
    if let Some(connection) = driver
        && connection.as_mut().poll(cx).is_ready()
    {
        *driver = None;
    }
}
