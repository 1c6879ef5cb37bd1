//! What services say of themselves: the endpoints that they offer.
//!
//! Owns where descriptions are looked for (OpenAPI at the usual paths, gRPC
//! reflection where there is none) and which of their endpoints a call is one of. A service without a description says
//! nothing, and nothing is said of it.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use murphy_model::Interface;
use serde_json::Value;

use super::running_system::RunningSystem;
use murphy_request::{Client, Place, grpc_methods};

/// Where frameworks serve their OpenAPI documents.
const PATHS: [&str; 4] = [
    "/openapi.json",
    "/swagger.json",
    "/v3/api-docs",
    "/swagger/v1/swagger.json",
];

/// How long a service may take to describe itself.
const WITHIN: Duration = Duration::from_secs(2);

/// An endpoint that a service describes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    /// The service.
    pub service: String,
    /// As in `GET /carts/{id}`, or `shop.Cart/GetCart`.
    pub interface: Interface,
}

impl Endpoint {
    /// Whether a call to its service is one to this endpoint.
    pub fn is_called_by(&self, interface: &Interface) -> bool {
        let (
            Interface::Http {
                method: our_method,
                path: our_path,
            },
            Interface::Http { method, path },
        ) = (&self.interface, interface)
        else {
            return self.interface == *interface;
        };
        let segments = |path: &str| -> Vec<String> {
            let path = path.split('?').next().unwrap_or_default();
            path.trim_matches('/')
                .split('/')
                .map(str::to_owned)
                .collect()
        };
        let (ours, theirs) = (segments(our_path), segments(path));
        let fits = |(ours, theirs): (&String, &String)| {
            ours == theirs || ours.contains('{') || theirs.contains("{}")
        };
        method == our_method && ours.len() == theirs.len() && ours.iter().zip(&theirs).all(fits)
    }
}

impl RunningSystem {
    /// The endpoints that services describe, asked past the proxies.
    pub async fn described(&self) -> Vec<Endpoint> {
        let mut all = Vec::new();
        for service in &self.spec.services {
            let Some(place) = self.wiring.direct().get(&service.name) else {
                continue;
            };
            all.extend(described(&service.name, place).await);
        }
        all
    }
}

async fn described(service: &str, place: &Place) -> Vec<Endpoint> {
    let address = place.address();
    for path in PATHS {
        if let Some(document) = document(&address, path).await {
            return endpoints(service, &document);
        }
    }
    let methods = tokio::time::timeout(WITHIN, grpc_methods(place)).await;
    let methods = methods.ok().flatten().into_iter().flatten();
    let endpoint = |(package, method): (String, String)| Endpoint {
        service: service.to_owned(),
        interface: Interface::grpc(&package, &method),
    };
    methods.map(endpoint).collect()
}

async fn document(address: &str, path: &str) -> Option<Value> {
    let mut client = Client::new(address);
    let request = Request::get(path).header("host", address);
    let request = request.body(Full::<Bytes>::default()).ok()?;
    let answer = tokio::time::timeout(WITHIN, client.exchange(request)).await;
    let answer = answer.ok()?.ok()?;
    match answer.status {
        200 => serde_json::from_slice(&answer.body).ok(),
        _ => None,
    }
}

const METHODS: [&str; 7] = ["get", "put", "post", "delete", "patch", "head", "options"];

fn endpoints(service: &str, document: &Value) -> Vec<Endpoint> {
    let base = document["basePath"].as_str().unwrap_or_default();
    let base = base.trim_end_matches('/');
    let mut all = Vec::new();
    for (path, operations) in document["paths"].as_object().into_iter().flatten() {
        for method in METHODS {
            if operations.get(method).is_some() {
                all.push(Endpoint {
                    service: service.to_owned(),
                    interface: Interface::http(&method.to_uppercase(), &format!("{base}{path}")),
                });
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn calls_are_known_as_those_of_described_endpoints() {
        let document = json!({"paths": {
            "/carts/{id}": {"get": {}, "delete": {}, "parameters": []},
            "/health": {"get": {}},
        }});
        let all = endpoints("cart", &document);
        let called = |method: &str, path: &str| {
            let interface = Interface::http(method, path);
            let called = all.iter().filter(|it| it.is_called_by(&interface));
            called
                .map(|it| it.interface.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(all.len(), 3);
        assert_eq!(called("GET", "/carts/42"), ["GET /carts/{id}"]);
        assert_eq!(called("GET", "/carts/{}"), ["GET /carts/{id}"]);
        assert_eq!(called("GET", "/carts/42/items"), Vec::<String>::new());
        assert_eq!(called("POST", "/health"), Vec::<String>::new());
    }
}
