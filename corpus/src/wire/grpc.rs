//! Requests and answers of handlers as gRPC methods and messages.
//!
//! Owns the names of methods and the two message types, written by hand in
//! place of a `.proto` file. One message type for all methods: what tells
//! operations apart is the method, what tells their arguments apart is in the
//! message.

use murphy_model::{GrpcCode, Interface};
use prost::Message;

use super::{code_of_status, is_success, status_of_code};
use crate::net::{Body, Request, Response};

/// What is sent to a service.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Ask {
    /// The method a handler is to see.
    #[prost(string, tag = "1")]
    method: String,
    /// The concrete path a handler is to see, with its parameters.
    #[prost(string, tag = "2")]
    path: String,
    #[prost(string, tag = "3")]
    query: String,
    #[prost(bytes = "vec", tag = "4")]
    body: Vec<u8>,
}

/// What a service answers if all is well.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Told {
    #[prost(oneof = "Content", tags = "1, 2, 3")]
    content: Option<Content>,
}

/// The body of an answer. Nothing is a case of its own, so that no message is
/// without bytes.
#[derive(Clone, PartialEq, prost::Oneof)]
enum Content {
    #[prost(string, tag = "1")]
    Json(String),
    #[prost(string, tag = "2")]
    Text(String),
    #[prost(bool, tag = "3")]
    Nothing(bool),
}

impl Ask {
    pub(crate) fn of(request: &Request) -> Self {
        Ask {
            method: request.method().to_owned(),
            path: request.path().to_owned(),
            query: request.query.clone(),
            body: request.body.clone(),
        }
    }

    pub(crate) fn encoded(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
}

impl From<Ask> for Request {
    fn from(ask: Ask) -> Self {
        Request {
            interface: Interface::http(&ask.method, &ask.path),
            query: ask.query,
            body: ask.body,
        }
    }
}

impl From<Body> for Told {
    fn from(body: Body) -> Self {
        let content = match body {
            Body::Empty => Content::Nothing(true),
            Body::Text(text) => Content::Text(text),
            Body::Json(json) => Content::Json(json.to_string()),
        };
        Told {
            content: Some(content),
        }
    }
}

impl From<Told> for Response {
    fn from(told: Told) -> Self {
        let body = match told.content {
            None | Some(Content::Nothing(_)) => Body::Empty,
            Some(Content::Text(text)) => Body::Text(text),
            Some(Content::Json(json)) => match serde_json::from_str(&json) {
                Ok(json) => Body::Json(json),
                Err(_) => Body::Text(json),
            },
        };
        Response { status: 200, body }
    }
}

/// A handler's answer as a service sends it: a message, or a code and text.
pub(crate) fn answer(response: Response) -> Result<Told, (GrpcCode, String)> {
    if is_success(response.status) {
        return Ok(Told::from(response.body));
    }
    let message = match response.body {
        Body::Empty => String::new(),
        Body::Text(text) => text,
        Body::Json(json) => json.to_string(),
    };
    Err((code_of_status(response.status), message))
}

/// The message of a successful answer, as it is sent.
pub(crate) fn message(response: &Response) -> Vec<u8> {
    Told::from(response.body.clone()).encode_to_vec()
}

/// What a handler sees of a call that failed with a code.
pub(crate) fn failed(code: GrpcCode, message: String) -> Response {
    let body = match message.is_empty() {
        true => Body::Empty,
        false => Body::Text(message),
    };
    Response {
        status: status_of_code(code),
        body,
    }
}

/// The code of a client that cannot read a message.
pub(crate) fn unreadable() -> GrpcCode {
    GrpcCode::named("INTERNAL").expect("a gRPC code")
}

/// The gRPC method that stands for an HTTP operation of a service.
///
/// A path `/search/Nearby` of the service `search` names a method already:
/// `corpus.Search/Nearby`. Otherwise it is made of the HTTP method and the
/// first segment of the path, the rest being parameters: `PUT
/// /carts/first-cart` is `corpus.Cart/PutCarts`.
pub(crate) fn interface(service: &str, request: &Request) -> Interface {
    let method = match request.segments()[..] {
        [own, method] if own == service => camel_case(method),
        ref segments => {
            let first = segments.first().copied().unwrap_or_default();
            let verb = request.method().to_ascii_lowercase();
            format!("{}{}", camel_case(&verb), camel_case(first))
        }
    };
    Interface::grpc(&format!("corpus.{}", camel_case(service)), &method)
}

/// `api-gateway` as `ApiGateway`; what is capital already stays so.
fn camel_case(words: &str) -> String {
    let words = words.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .map(|word| {
            let (first, rest) = word.split_at(usize::from(!word.is_empty()));
            first.to_ascii_uppercase() + rest
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn operations_become_methods_and_parameters_do_not() {
        let cases = [
            ("search", "POST", "/search/Nearby", "corpus.Search/Nearby"),
            ("cart", "GET", "/carts/first-visit", "corpus.Cart/GetCarts"),
            ("cart", "PUT", "/carts/first-cart", "corpus.Cart/PutCarts"),
            (
                "api-gateway",
                "POST",
                "/purchases",
                "corpus.ApiGateway/PostPurchases",
            ),
            ("b", "GET", "/", "corpus.B/Get"),
        ];
        for (service, method, path, name) in cases {
            let Interface::Grpc { service, method } =
                interface(service, &Request::new(method, path))
            else {
                panic!("{path} became no gRPC method");
            };
            assert_eq!(format!("{service}/{method}"), name);
        }
    }

    #[test]
    fn a_request_arrives_as_it_was_sent() {
        let mut request = Request::new("PUT", "/carts/7");
        request.body = b"{}".to_vec();
        let ask = Ask::decode(&Ask::of(&request).encoded()[..]).unwrap();
        let arrived = Request::from(ask);
        assert_eq!(arrived.interface, request.interface);
        assert_eq!(arrived.body, request.body);
    }

    #[test]
    fn an_answer_arrives_as_it_was_sent_and_is_never_empty() {
        for body in [
            Body::Empty,
            Body::Text("up".into()),
            Body::Json(json!({"a": 1})),
        ] {
            let told = answer(Response {
                status: 200,
                body: body.clone(),
            });
            let bytes = told.unwrap().encode_to_vec();
            assert!(!bytes.is_empty());
            let arrived = Response::from(Told::decode(&bytes[..]).unwrap());
            assert_eq!((arrived.status, arrived.body), (200, body));
        }
    }

    #[test]
    fn an_error_page_becomes_the_status_message() {
        let (code, message) = answer(crate::net::Abort(404).into()).unwrap_err();
        let seen = failed(code, message);
        assert_eq!(seen, crate::net::Abort(404).into());
    }
}
