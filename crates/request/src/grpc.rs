//! Unary gRPC calls, made from JSON by what the server tells of itself.
//!
//! Owns one call: its method looked up once by reflection, its message made
//! once, its connection kept. Plain HTTP/2 underneath: a call is a handful of
//! frames, and what the wire brought must not be mistaken for what a client
//! library makes of it.

use bytes::{Buf, Bytes, BytesMut};
use h2::client::SendRequest;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use murphy_model::GrpcCode;
use percent_encoding::percent_decode_str;
use prost::Message;
use prost_reflect::{DynamicMessage, MessageDescriptor, SerializeOptions};
use serde_json::Value;
use tokio::net::TcpStream;

use crate::place::Place;
use crate::reflection::{Schemas, Undescribed};

/// A call, ready to be sent.
pub(crate) struct Call {
    line: Line,
    path: String,
    metadata: Vec<(HeaderName, HeaderValue)>,
    message: Bytes,
    output: MessageDescriptor,
}

/// What came back.
pub(crate) struct Told {
    /// The code's name.
    pub(crate) code: &'static str,
    /// What the server says of an error.
    pub(crate) message: String,
    pub(crate) metadata: Vec<(String, String)>,
    /// The message as JSON; empty where none came.
    pub(crate) body: String,
}

/// A call that cannot be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadCall {
    #[error(transparent)]
    Undescribed(#[from] Undescribed),
    #[error("it is a streaming method; only unary ones can be declared")]
    Streaming,
    #[error("the message does not fit `{input}`: {why}")]
    Message { input: String, why: String },
    #[error("`{0}` is no metadata")]
    Metadata(String),
}

/// Why there is no complete answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Lost {
    #[error("the connection was refused")]
    Refused,
    #[error("the connection or the call was interrupted")]
    Broken,
    #[error("what came back is no message of this method")]
    Unreadable,
}

impl Call {
    /// Makes a call ready that will be sent to `place`.
    pub(crate) async fn new(
        method: &str,
        message: &Value,
        metadata: &[(String, String)],
        place: &Place,
        direct: &Place,
        schemas: &mut Schemas,
    ) -> Result<Self, BadCall> {
        let described = schemas.method(direct, method).await?;
        if described.is_client_streaming() || described.is_server_streaming() {
            return Err(BadCall::Streaming);
        }
        let input = described.input();
        let filled = DynamicMessage::deserialize(input.clone(), message);
        let filled = filled.map_err(|why| BadCall::Message {
            input: input.full_name().to_owned(),
            why: why.to_string(),
        })?;
        let line = |(name, value): &(String, String)| {
            let bad = || BadCall::Metadata(format!("{name}: {value}"));
            let header = HeaderName::try_from(name.as_str()).map_err(|_| bad())?;
            let value = HeaderValue::try_from(value.as_str()).map_err(|_| bad())?;
            Ok((header, value))
        };
        let metadata: Result<Vec<_>, BadCall> = metadata.iter().map(line).collect();
        Ok(Call {
            line: Line::new(place.address()),
            path: format!("/{}", method.trim_start_matches('/')),
            metadata: metadata?,
            message: framed(&filled.encode_to_vec()),
            output: described.output(),
        })
    }

    /// Sends it, with headers that name the execution.
    pub(crate) async fn send(&mut self, context: &[(String, String)]) -> Result<Told, Lost> {
        let mut headers: HeaderMap = self.metadata.iter().cloned().collect();
        let context = context.iter().filter_map(|(name, value)| {
            let name = HeaderName::try_from(name.as_str()).ok()?;
            Some((name, HeaderValue::try_from(value.as_str()).ok()?))
        });
        headers.extend(context);
        let raw = self.line.call(&self.path, headers, self.message.clone());
        raw.await?.told(&self.output)
    }
}

/// One HTTP/2 connection, made when needed.
pub(crate) struct Line {
    address: String,
    sender: Option<SendRequest<Bytes>>,
}

/// An answer as it came.
pub(crate) struct Raw {
    status: u16,
    headers: HeaderMap,
    trailers: HeaderMap,
    body: Bytes,
}

impl Line {
    pub(crate) fn new(address: String) -> Self {
        Line {
            address,
            sender: None,
        }
    }

    /// Sends one message and reads everything that comes back.
    pub(crate) async fn call(
        &mut self,
        path: &str,
        headers: HeaderMap,
        message: Bytes,
    ) -> Result<Raw, Lost> {
        let mut sender = self.sender().await?;
        let uri = format!("http://{}{path}", self.address);
        let mut request = Request::post(uri).body(()).map_err(|_| Lost::Unreadable)?;
        *request.headers_mut() = headers;
        let own = [
            ("content-type", "application/grpc"),
            ("te", "trailers"),
            ("user-agent", "murphy"),
        ];
        for (name, value) in own {
            request
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
        let broken = |_| Lost::Broken;
        let (answer, mut stream) = sender.send_request(request, false).map_err(broken)?;
        // A server may answer before it has read the message, and then need
        // not take it; what it answers says more than that.
        let _ = stream.send_data(message, true);
        let (head, mut body) = answer.await.map_err(broken)?.into_parts();
        let mut read = BytesMut::new();
        while let Some(piece) = body.data().await {
            let piece = match piece {
                Ok(piece) => piece,
                Err(error) if is_farewell(&error) => break,
                Err(_) => return Err(Lost::Broken),
            };
            let _ = body.flow_control().release_capacity(piece.len());
            read.extend_from_slice(&piece);
        }
        let trailers = match body.trailers().await {
            Err(error) if !is_farewell(&error) => return Err(Lost::Broken),
            trailers => trailers.ok().flatten(),
        };
        Ok(Raw {
            status: head.status.as_u16(),
            headers: head.headers,
            trailers: trailers.unwrap_or_default(),
            body: read.freeze(),
        })
    }

    /// The connection, made anew where it has ended.
    async fn sender(&mut self) -> Result<SendRequest<Bytes>, Lost> {
        if let Some(kept) = self.sender.take()
            && let Ok(ready) = kept.ready().await
        {
            self.sender = Some(ready.clone());
            return Ok(ready);
        }
        let stream = TcpStream::connect(&self.address).await;
        let stream = stream.map_err(|_| Lost::Refused)?;
        let _ = stream.set_nodelay(true);
        let (sender, connection) = h2::client::handshake(stream)
            .await
            .map_err(|_| Lost::Broken)?;
        // Ends when the last sender is dropped.
        tokio::spawn(connection);
        let ready = sender.ready().await.map_err(|_| Lost::Broken)?;
        self.sender = Some(ready.clone());
        Ok(ready)
    }
}

/// Whether a call was reset only because its answer is complete before its
/// request is. An answer without a status is still found out.
fn is_farewell(error: &h2::Error) -> bool {
    error.is_reset() && error.reason() == Some(h2::Reason::NO_ERROR)
}

impl Raw {
    /// The name of the code and what is said of it.
    pub(crate) fn code(&self) -> Result<(&'static str, String), Lost> {
        let value = |name: &str| {
            let value = self.trailers.get(name).or_else(|| self.headers.get(name));
            value.and_then(|value| value.to_str().ok())
        };
        if let Some(number) = value("grpc-status") {
            let code = match number.parse::<u8>() {
                Ok(0) => "OK",
                Ok(number) => GrpcCode::new(number).map_or("UNKNOWN", GrpcCode::name),
                Err(_) => "UNKNOWN",
            };
            return Ok((code, decoded(value("grpc-message").unwrap_or_default())));
        }
        match self.status {
            // Answered by gRPC, but its status never came.
            200 => Err(Lost::Broken),
            status => Ok((code_of_http(status), format!("HTTP status {status}"))),
        }
    }

    /// The messages in the body.
    pub(crate) fn messages(&self) -> Result<Vec<Bytes>, Lost> {
        let mut rest = self.body.clone();
        let mut messages = Vec::new();
        while !rest.is_empty() {
            if rest.len() < 5 || rest[0] != 0 {
                return Err(Lost::Unreadable);
            }
            rest.advance(1);
            let length = rest.get_u32() as usize;
            if rest.len() < length {
                return Err(Lost::Unreadable);
            }
            messages.push(rest.split_to(length));
        }
        Ok(messages)
    }

    fn told(self, output: &MessageDescriptor) -> Result<Told, Lost> {
        let (code, message) = self.code()?;
        let body = match code {
            "OK" => {
                let messages = self.messages()?;
                let [only] = messages.as_slice() else {
                    return Err(Lost::Unreadable);
                };
                json(output, only.clone())?
            }
            _ => String::new(),
        };
        let line = |(name, value): (&HeaderName, &HeaderValue)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.as_str().to_owned(), value)
        };
        let all = self.headers.iter().chain(self.trailers.iter());
        Ok(Told {
            code,
            message,
            metadata: all.map(line).collect(),
            body,
        })
    }
}

fn json(output: &MessageDescriptor, bytes: Bytes) -> Result<String, Lost> {
    let message = DynamicMessage::decode(output.clone(), bytes);
    let message = message.map_err(|_| Lost::Unreadable)?;
    let mut text = Vec::new();
    // What has its default value is there too: an expectation may name it.
    let options = SerializeOptions::new().skip_default_fields(false);
    let mut serializer = serde_json::Serializer::new(&mut text);
    let written = message.serialize_with_options(&mut serializer, &options);
    written.map_err(|_| Lost::Unreadable)?;
    String::from_utf8(text).map_err(|_| Lost::Unreadable)
}

/// A message with its length, as it is sent.
pub(crate) fn framed(message: &[u8]) -> Bytes {
    let mut frame = Vec::with_capacity(5 + message.len());
    frame.push(0);
    frame.extend_from_slice(&(message.len() as u32).to_be_bytes());
    frame.extend_from_slice(message);
    frame.into()
}

/// A message of a status, in which all but plain characters are `%20`.
fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// What gRPC makes of an answer that is none of its own.
fn code_of_http(status: u16) -> &'static str {
    match status {
        400 => "INTERNAL",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "UNIMPLEMENTED",
        429 | 502 | 503 | 504 => "UNAVAILABLE",
        _ => "UNKNOWN",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_statuses_are_decoded() {
        let cases = [
            ("nothing%20ordered", "nothing ordered"),
            ("50%", "50%"),
            ("%zz%2%+1", "%zz%2%+1"),
            ("%C3%A9", "é"),
            ("", ""),
        ];
        for (text, plain) in cases {
            assert_eq!(decoded(text), plain);
        }
    }
}
