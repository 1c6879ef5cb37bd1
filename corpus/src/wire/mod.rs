//! How the calls of a system travel: as plain HTTP or as gRPC.
//!
//! Handlers speak of methods, paths and statuses either way. Owns what these
//! look like on the wire and what a client makes of what comes back, once for
//! the simulator and for sockets, so that the two cannot disagree.

pub(crate) mod grpc;
mod status;

use std::borrow::Cow;

use murphy_model::{GrpcCode, Interface, Protocol, Reply};

use crate::app::{Settings, Switch, Values};
use crate::net::{Body, Request, Response};

pub(crate) use status::{code_of_http, code_of_status, status_of_code};

/// The protocol that all services of a system speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wire {
    /// HTTP/1.1 with JSON bodies.
    #[default]
    Http,
    /// gRPC over HTTP/2 without TLS, unary calls.
    Grpc,
}

/// A request as whoever watches the wire sees it.
pub(crate) struct Asked<'a> {
    pub(crate) interface: Interface,
    pub(crate) query: &'a str,
    pub(crate) body: Cow<'a, [u8]>,
}

/// The text of injected answers: plain, never JSON, since a caller that takes
/// any body for its data would otherwise be told that all is well.
const INJECTED: &str = "Injected fault";

impl Wire {
    /// The switch of apps that have a gRPC variant.
    pub(crate) const SWITCH: Switch = Switch {
        name: "wire",
        about: "how services call each other",
        values: Values::Words(&["http", "grpc"]),
        default: "http",
    };

    /// What [`Wire::SWITCH`] is set to.
    ///
    /// # Panics
    /// If the app does not declare the switch.
    pub(crate) fn of(settings: &Settings) -> Self {
        match settings.word(Wire::SWITCH.name) {
            "grpc" => Wire::Grpc,
            _ => Wire::Http,
        }
    }

    /// What decides which modes a call can fail in.
    pub fn protocol(self) -> Protocol {
        match self {
            Wire::Http => Protocol::Http,
            Wire::Grpc => Protocol::Grpc,
        }
    }

    /// A request to the service `to`.
    pub(crate) fn asked<'a>(self, to: &str, request: &'a Request) -> Asked<'a> {
        match self {
            Wire::Http => Asked {
                interface: request.interface.clone(),
                query: &request.query,
                body: Cow::Borrowed(&request.body),
            },
            Wire::Grpc => Asked {
                interface: grpc::interface(to, request),
                query: "",
                body: Cow::Owned(grpc::Ask::of(request).encoded()),
            },
        }
    }

    /// What a client makes of a callee's answer, and how that reads in a trace.
    pub(crate) fn answered(self, response: Response) -> (Response, Reply) {
        match self {
            Wire::Http => {
                let reply = Reply::Status(response.status);
                (response, reply)
            }
            Wire::Grpc => match grpc::answer(response) {
                Ok(told) => (Response::from(told), Reply::GrpcOk),
                Err((code, message)) => (grpc::failed(code, message), Reply::Grpc(code)),
            },
        }
    }

    /// What a client makes of an HTTP status in the callee's stead.
    pub(crate) fn injected_status(self, status: u16) -> Response {
        match self {
            Wire::Http => injected_page(status),
            Wire::Grpc => grpc::failed(code_of_http(status), INJECTED.to_owned()),
        }
    }

    /// What a client makes of a gRPC status in the callee's stead.
    pub(crate) fn injected_code(code: GrpcCode) -> Response {
        grpc::failed(code, INJECTED.to_owned())
    }

    /// What a client makes of an answer whose body is not what it should be.
    pub(crate) fn malformed(self, answer: &Response) -> Response {
        match self {
            Wire::Http => injected_page(answer.status),
            // Clients tell of a message they cannot read with INTERNAL.
            Wire::Grpc => grpc::failed(grpc::unreadable(), INJECTED.to_owned()),
        }
    }

    /// The bytes of a successful answer's body on the wire.
    pub(crate) fn body(self, response: &Response) -> Vec<u8> {
        match self {
            Wire::Http => match &response.body {
                Body::Empty => Vec::new(),
                Body::Text(text) => text.clone().into_bytes(),
                Body::Json(json) => json.to_string().into_bytes(),
            },
            Wire::Grpc => grpc::message(response),
        }
    }

    /// Whether an answer has any bytes that could be spoiled or cut off.
    pub(crate) fn has_body(self, response: &Response) -> bool {
        match self {
            Wire::Http => size(response) > 0,
            // An error of gRPC is a status and nothing else.
            Wire::Grpc => is_success(response.status),
        }
    }
}

fn injected_page(status: u16) -> Response {
    Response {
        status,
        body: Body::Text(INJECTED.to_owned()),
    }
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

/// The length of a body on the wire.
pub(crate) fn size(response: &Response) -> usize {
    match &response.body {
        Body::Empty => 0,
        Body::Text(text) => text.len(),
        Body::Json(json) => json.to_string().len(),
    }
}
