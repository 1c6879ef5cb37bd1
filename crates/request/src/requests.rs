//! Requests that are sent in turn until one is not answered as expected.
//!
//! Owns what is sent; the bytes of it are the client's. Connections are kept
//! per worker and service, so that an execution costs little more than its
//! request.

use std::fmt::Write as _;
use std::time::Instant;

use bytes::Bytes;
use http::header::{ACCEPT, HOST, USER_AGENT};
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Method, Request};
use http_body_util::Full;

use murphy_campaign::SetupError;

use crate::client::{Answer, Client};
use crate::expect::{self, Seen};
use crate::grpc;
use crate::place::{Place, Places};
use crate::reflection::Schemas;
use crate::spec::{Expectations, RequestCall, RequestSpec};

/// How much of an answer's body is shown when it is wrong.
const EXCERPT: usize = 4 * 1024;

/// Requests with the connections they are sent on; one at a time.
pub struct Requests {
    clients: Vec<(String, Client)>,
    asks: Vec<Ask>,
}

/// One request, ready to be sent.
struct Ask {
    /// `GET /checkout`, `shop.Shop/Buy`.
    label: String,
    how: How,
    expect: Expectations,
}

enum How {
    Http {
        /// Which of the clients.
        client: usize,
        /// All but the headers that name the execution.
        request: Box<Request<Full<Bytes>>>,
    },
    Grpc(Box<grpc::Call>),
}

/// Where what is to be seen of answers goes.
type Print<'p> = &'p (dyn Fn(&str) + Send + Sync);

/// What else a request says and whether its execution was injected.
pub struct Around<'a> {
    /// Headers that name the execution.
    pub headers: &'a [(String, String)],
    /// Whether any fault was injected so far.
    pub injected: &'a (dyn Fn() -> bool + Send + Sync),
}

impl Requests {
    /// Makes requests ready to be sent to these places; `what` is their name
    /// in messages. What gRPC servers tell of themselves is asked of `direct`.
    pub async fn new(
        what: &str,
        specs: &[RequestSpec],
        places: &Places,
        direct: &Places,
        schemas: &mut Schemas,
    ) -> Result<Self, SetupError> {
        let mut requests = Requests {
            clients: Vec::new(),
            asks: Vec::new(),
        };
        for spec in specs {
            let unknown = || {
                let known: Vec<&str> = places.keys().map(String::as_str).collect();
                SetupError::new(format!("{what}: there is no service `{}`", spec.service))
                    .hint(format!("the services are {}", known.join(", ")))
            };
            let place = places.get(&spec.service).ok_or_else(unknown)?;
            let ask = match &spec.call {
                RequestCall::Http { .. } => {
                    let client = requests.client(&spec.service, place);
                    Ask::http(spec, place, client)
                        .map_err(|why| SetupError::new(format!("{what}: {why}")))?
                }
                RequestCall::Grpc { method, message } => {
                    let direct = &direct[&spec.service];
                    let call =
                        grpc::Call::new(method, message, &spec.headers, place, direct, schemas);
                    let call = call.await.map_err(|error| {
                        let error = SetupError::new(format!("{what}: {method}: {error}"));
                        error.hint(reflection_hint(&spec.service))
                    })?;
                    Ask {
                        label: method.clone(),
                        how: How::Grpc(Box::new(call)),
                        expect: spec.expect.clone(),
                    }
                }
            };
            requests.asks.push(ask);
        }
        Ok(requests)
    }

    fn client(&mut self, service: &str, place: &Place) -> usize {
        let known = self.clients.iter().position(|(name, _)| name == service);
        known.unwrap_or_else(|| {
            let client = Client::new(place.address());
            self.clients.push((service.to_owned(), client));
            self.clients.len() - 1
        })
    }

    /// Sends them in turn; says what is wrong with the first wrong answer, and
    /// shows the answer itself with `print`.
    ///
    /// A failure that is shown honestly is right, and the next request is
    /// sent all the same: it says for itself what is right under a fault.
    pub async fn send(&mut self, around: &Around<'_>, print: Print<'_>) -> Result<(), String> {
        for ask in &mut self.asks {
            ask.send(&mut self.clients, around, print).await?;
        }
        Ok(())
    }
}

fn reflection_hint(service: &str) -> String {
    format!(
        "messages are made from what service `{service}` tells of itself: does it serve gRPC reflection (v1 or v1alpha)?"
    )
}

impl Ask {
    fn http(spec: &RequestSpec, place: &Place, client: usize) -> Result<Self, String> {
        let RequestCall::Http {
            method,
            target,
            body,
        } = &spec.call
        else {
            unreachable!("the caller has looked");
        };
        let label = format!("{method} {target}");
        Ok(Ask {
            how: How::Http {
                client,
                request: Box::new(request(spec, method, target, body, place)?),
            },
            label,
            expect: spec.expect.clone(),
        })
    }

    async fn send(
        &mut self,
        clients: &mut [(String, Client)],
        around: &Around<'_>,
        print: Print<'_>,
    ) -> Result<(), String> {
        let Ask { label, how, expect } = self;
        match how {
            How::Http { client, request } => {
                let request = named(Request::clone(request), around.headers);
                let began = Instant::now();
                let answer = clients[*client].1.exchange(request).await;
                let took = began.elapsed();
                let answer = answer.map_err(|lost| format!("{label} got no answer: {lost}"))?;
                let status = answer.status.to_string();
                let seen = Seen {
                    status: &status,
                    headers: &answer.headers,
                    body: &answer.body,
                    took,
                };
                note_keywords(expect, label, &seen, print);
                let result = expect::check(expect, label, "2xx", &seen, around.injected);
                result.inspect_err(|_| show(label, &answer, print))
            }
            How::Grpc(call) => {
                let began = Instant::now();
                let told = call.send(around.headers).await;
                let told = told.map_err(|lost| format!("{label} got no answer: {lost}"))?;
                let seen = Seen {
                    status: told.code,
                    headers: &told.metadata,
                    body: told.body.as_bytes(),
                    took: began.elapsed(),
                };
                note_keywords(expect, label, &seen, print);
                let result = expect::check(expect, label, "OK", &seen, around.injected);
                result.inspect_err(|_| {
                    let text = format!(
                        "{label} answered {} {}\n{}\n",
                        told.code, told.message, told.body
                    );
                    print(&text);
                })
            }
        }
    }
}

/// All of a request but for the headers that name the execution.
fn request(
    spec: &RequestSpec,
    method: &str,
    target: &str,
    body: &[u8],
    place: &Place,
) -> Result<Request<Full<Bytes>>, String> {
    let known = Method::from_bytes(method.as_bytes());
    let path: Option<PathAndQuery> = target.parse().ok().filter(|_| target.starts_with('/'));
    let mut request = Request::new(Full::from(body.to_vec()));
    *request.method_mut() = known.map_err(|_| format!("`{method}` is no method"))?;
    let path =
        path.ok_or_else(|| format!("`{target}` is no path: it begins with `/` and has no spaces"))?;
    *request.uri_mut() = path.into();
    for (name, value) in &spec.headers {
        let known = HeaderName::try_from(name.as_str());
        let known = known.map_err(|_| format!("`{name}` is no header"))?;
        let value = HeaderValue::try_from(value.as_str())
            .map_err(|_| format!("header `{name}`: `{value}` is no value"))?;
        request.headers_mut().append(known, value);
    }
    let address = HeaderValue::try_from(place.address()).expect("an address is a value");
    let usual = [
        (HOST, address),
        (ACCEPT, HeaderValue::from_static("*/*")),
        (USER_AGENT, HeaderValue::from_static("murphy")),
    ];
    for (name, value) in usual {
        request.headers_mut().entry(name).or_insert(value);
    }
    Ok(request)
}

/// The request with the headers that name the execution.
fn named(mut request: Request<Full<Bytes>>, headers: &[(String, String)]) -> Request<Full<Bytes>> {
    for (name, value) in headers {
        let name = HeaderName::try_from(name.as_str()).expect("carriers have names");
        let value = HeaderValue::try_from(value.as_str()).expect("carriers have values");
        request.headers_mut().append(name, value);
    }
    request
}

/// Writes down which keywords are in an answer.
fn note_keywords(expect: &Expectations, label: &str, seen: &Seen<'_>, print: Print<'_>) {
    for word in expect::keywords_in(expect, seen.body) {
        let text = format!(
            "{label} answered {} with `{word}` in its body\n",
            seen.status
        );
        print(&text);
    }
}

/// Shows an answer for people.
fn show(label: &str, answer: &Answer, print: Print<'_>) {
    let mut text = format!("{label} answered {}\n", answer.status);
    for (name, value) in &answer.headers {
        let _ = writeln!(text, "{name}: {value}");
    }
    let excerpt = &answer.body[..answer.body.len().min(EXCERPT)];
    let _ = writeln!(text, "\n{}", String::from_utf8_lossy(excerpt));
    if excerpt.len() < answer.body.len() {
        let _ = writeln!(text, "[… {} bytes in all]", answer.body.len());
    }
    print(&text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> RequestSpec {
        let line = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        RequestSpec {
            service: "shop".to_owned(),
            call: RequestCall::Http {
                method: method.to_owned(),
                target: target.to_owned(),
                body: body.into(),
            },
            headers: headers.iter().map(line).collect(),
            expect: Expectations::default(),
        }
    }

    fn written(spec: &RequestSpec) -> Result<Vec<String>, String> {
        let RequestCall::Http {
            method,
            target,
            body,
        } = &spec.call
        else {
            unreachable!()
        };
        let place = Place::parse("127.0.0.1:80").unwrap();
        let request = request(spec, method, target, body, &place)?;
        let context = [("tracestate".to_owned(), "murphy=1".to_owned())];
        let request = named(request, &context);
        let asked = format!("{} {}", request.method(), request.uri());
        let headers = request.headers().iter();
        let headers = headers.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
        Ok([asked].into_iter().chain(headers).collect())
    }

    #[test]
    fn what_is_not_said_is_added() {
        let get = spec("GET", "/a?b=c", &[("Host", "shop.example")], "");
        let expected = [
            "GET /a?b=c",
            "host: shop.example",
            "accept: */*",
            "user-agent: murphy",
            "tracestate: murphy=1",
        ];
        assert_eq!(written(&get).unwrap(), expected);
        let post = spec("POST", "/a", &[("accept", "x"), ("user-agent", "y")], "{}");
        let expected = [
            "POST /a",
            "accept: x",
            "user-agent: y",
            "host: 127.0.0.1:80",
            "tracestate: murphy=1",
        ];
        assert_eq!(written(&post).unwrap(), expected);
    }

    #[test]
    fn what_would_not_be_one_request_is_refused() {
        let cases = [
            spec("G T", "/", &[], ""),
            spec("GET", "a", &[], ""),
            spec("GET", "/ HTTP/1.1\r\nx: y", &[], ""),
            spec("GET", "/", &[("a b", "c")], ""),
            spec("GET", "/", &[("a", "c\r\nd: e")], ""),
        ];
        for case in cases {
            assert!(written(&case).is_err(), "{case:?}");
        }
    }
}
