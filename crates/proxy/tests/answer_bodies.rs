//! The body of a callee's own successful answer is reported with the end of
//! its call, over HTTP/1.1, HTTP/2 and gRPC: decoded, bounded, and only where
//! no fault had a hand in it. Without it two answers with the same status
//! would be the same to whoever reads the record.

mod support;
mod tap;

use std::convert::Infallible;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use futures_util::stream;
use http::{HeaderMap, Request, Response};
use http_body_util::StreamBody;
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use murphy_model::Reply;
use murphy_proxy::Settings;
use murphy_registry::{AnswerBody, Control, Ending};
use support::{PATIENCE, World, http2};
use tap::Tap;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How much of a body is reported.
const LIMIT: usize = 64 * 1024;

const TEXT: &str = r#"{"items": [1, 2, 3], "fallback": false}"#;

struct Recorded {
    world: World,
    endings: Arc<Mutex<Vec<Ending>>>,
}

async fn recorded(faults: &str) -> Recorded {
    let endings: Arc<Mutex<Vec<Ending>>> = Arc::default();
    let control = |registry| -> Arc<dyn Control> {
        let endings = endings.clone();
        let see = move |ending: &Ending| endings.lock().unwrap().push(ending.clone());
        Arc::new(Tap { registry, see })
    };
    let callee = callee().await;
    let settings = Settings::default();
    let world = World::controlled(callee, Arc::default(), faults, settings, control).await;
    Recorded { world, endings }
}

impl Recorded {
    fn context(&self) -> [(&'static str, String); 1] {
        [("tracestate", format!("murphy={}-0", self.world.execution))]
    }

    /// How a call ended that asks for this over HTTP/1.1.
    async fn http1(&self, method: &str, path: &str) -> Ending {
        let mut stream = TcpStream::connect(self.world.back()).await.unwrap();
        let [(name, value)] = self.context();
        let head = format!("{method} {path} HTTP/1.1\r\nhost: x\r\n{name}: {value}\r\n");
        let head = format!("{head}connection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 "), "{path}");
        self.last()
    }

    /// The same over HTTP/2.
    async fn http2(&self, path: &str) -> Ending {
        let seen = http2(self.world.back(), path, &self.context(), None, PATIENCE).await;
        assert!(seen.status.is_some(), "{path}: {seen:?}");
        self.last()
    }

    async fn grpc(&self, path: &str) -> Ending {
        let message = Some(Bytes::from_static(b"\0\0\0\0\x02hi"));
        let seen = http2(self.world.back(), path, &self.context(), message, PATIENCE).await;
        assert!(seen.grpc_status().is_some(), "{path}: {seen:?}");
        self.last()
    }

    fn last(&self) -> Ending {
        let last = self.endings.lock().unwrap().pop();
        last.expect("the end is reported before the caller sees it")
    }
}

/// A callee whose answer is named by the path.
async fn callee() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                let stream = TokioIo::new(stream);
                let _ = builder.serve_connection(stream, service_fn(answer)).await;
            });
        }
    });
    address
}

type Frames = stream::Iter<std::vec::IntoIter<Result<Frame<Bytes>, Infallible>>>;

async fn answer(request: Request<Incoming>) -> Result<Response<StreamBody<Frames>>, Infallible> {
    let (response, body) = (Response::builder(), TEXT.as_bytes().to_vec());
    let (response, pieces) = match request.uri().path() {
        "/plain" => (response.header("content-length", body.len()), vec![body]),
        "/chunked" => (response, body.chunks(7).map(<[u8]>::to_vec).collect()),
        "/gzip" => (
            response.header("content-encoding", "gzip"),
            vec![gzip(&body)],
        ),
        "/deflate" => (
            response.header("content-encoding", "deflate"),
            vec![zlib(&body)],
        ),
        "/bare" => (
            response.header("content-encoding", "deflate"),
            vec![bare(&body)],
        ),
        "/br" => (response.header("content-encoding", "br"), vec![body]),
        "/not-gzip" => (response.header("content-encoding", "gzip"), vec![body]),
        "/bomb" => {
            let bomb = gzip(&vec![b'x'; 20_000_000]);
            (response.header("content-encoding", "gzip"), vec![bomb])
        }
        "/long" => (response, vec![vec![b'x'; 10_000]; 10]),
        "/empty" => (response.header("content-length", 0), vec![]),
        "/204" => (response.status(204), vec![]),
        "/404" => (response.status(404), vec![body]),
        "/500" => (response.status(500), vec![body]),
        path => return Ok(grpc_answer(path)),
    };
    let frames = pieces
        .into_iter()
        .map(|piece| Ok(Frame::data(piece.into())));
    let frames: Vec<_> = frames.collect();
    Ok(response
        .body(StreamBody::new(stream::iter(frames)))
        .unwrap())
}

fn grpc_answer(path: &str) -> Response<StreamBody<Frames>> {
    let message = |flag: u8, content: &[u8]| {
        let length = u32::try_from(content.len()).unwrap().to_be_bytes();
        [&[flag], &length[..], content].concat()
    };
    let (messages, status) = match path {
        "/shop.Back/Unary" => (vec![message(0, TEXT.as_bytes())], "0"),
        "/shop.Back/Gzip" => (vec![message(1, &gzip(TEXT.as_bytes()))], "0"),
        "/shop.Back/Stream" => (vec![message(0, TEXT.as_bytes()); 3], "0"),
        "/shop.Back/Long" => (vec![message(0, &[b'x'; 2 * LIMIT])], "0"),
        "/shop.Back/Nothing" => (vec![], "0"),
        "/shop.Back/Fails" => (vec![message(0, TEXT.as_bytes())], "13"),
        other => panic!("no such path: {other}"),
    };
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", status.parse().unwrap());
    let data = messages
        .into_iter()
        .map(|message| Ok(Frame::data(message.into())));
    let frames: Vec<_> = data.chain([Ok(Frame::trailers(trailers))]).collect();
    Response::builder()
        .header("content-type", "application/grpc")
        .header("grpc-encoding", "gzip")
        .body(StreamBody::new(stream::iter(frames)))
        .unwrap()
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn zlib(body: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn bare(body: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn body(bytes: impl Into<Bytes>, cut: bool) -> Option<AnswerBody> {
    let bytes = bytes.into();
    Some(AnswerBody { bytes, cut })
}

fn long() -> Option<AnswerBody> {
    body(vec![b'x'; LIMIT], true)
}

#[tokio::test]
async fn the_body_of_a_successful_answer_is_reported() {
    let recorded = recorded("none").await;
    let cases = [
        ("/plain", 200, body(TEXT, false)),
        ("/chunked", 200, body(TEXT, false)),
        ("/gzip", 200, body(TEXT, false)),
        ("/deflate", 200, body(TEXT, false)),
        ("/bare", 200, body(TEXT, false)),
        ("/br", 200, body(TEXT, false)),
        ("/not-gzip", 200, body(TEXT, false)),
        ("/bomb", 200, long()),
        ("/long", 200, long()),
        ("/empty", 200, body("", false)),
        ("/204", 204, None),
        ("/404", 404, None),
        ("/500", 500, None),
    ];
    for (path, status, body) in cases {
        for ending in [
            recorded.http1("GET", path).await,
            recorded.http2(path).await,
        ] {
            assert_eq!(ending.reply, Reply::Status(status), "{path}");
            assert_eq!(ending.body, body, "{path}");
        }
    }
    assert_eq!(recorded.http1("HEAD", "/plain").await.body, None);
}

#[tokio::test]
async fn of_a_grpc_answer_the_first_message_is_reported() {
    let recorded = recorded("none").await;
    let cases = [
        ("/shop.Back/Unary", body(TEXT, false)),
        ("/shop.Back/Gzip", body(TEXT, false)),
        ("/shop.Back/Stream", body(TEXT, true)),
        ("/shop.Back/Long", long()),
        ("/shop.Back/Nothing", body("", false)),
        ("/shop.Back/Fails", None),
    ];
    for (path, body) in cases {
        let ending = recorded.grpc(path).await;
        assert_eq!(ending.reply.is_ok(), body.is_some(), "{path}");
        assert_eq!(ending.body, body, "{path}");
    }
}

/// Where the fault leaves the answer as it is, the body is the callee's own.
#[tokio::test]
async fn an_injected_or_spoiled_answer_has_none() {
    for (mode, reported) in [
        ("503", false),
        ("200", false),
        ("after:200", false),
        ("malformed", false),
        ("truncate:3", false),
        ("delay:1ms", true),
    ] {
        let recorded = recorded(&format!("** > back * #* = {mode}")).await;
        let expected = reported.then(|| body(TEXT, false)).flatten();
        let http1 = recorded.http1("GET", "/plain").await;
        let http2 = recorded.http2("/plain").await;
        assert!(http1.landed && http2.landed, "{mode}");
        assert_eq!((&http1.body, &http2.body), (&expected, &expected), "{mode}");
    }
}
