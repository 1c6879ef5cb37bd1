//! Envoy in front of the upstream.
//!
//! Owns its configuration: the HTTP connection manager and the router, nothing
//! else; HTTP/1.1 to HTTP/1.1, HTTP/2 to HTTP/2.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::process::{Process, free_addresses};
use super::protocol::Doors;
use super::scratch::Scratch;

/// Starts it.
pub async fn start(
    program: &Path,
    threads: usize,
    upstream: &Doors,
    scratch: &Scratch,
) -> Result<(Process, Doors)> {
    let [h1, h2] = free_addresses().await?;
    let doors = Doors { h1, h2 };
    let file = scratch.write("envoy.json", configuration(&doors, upstream).to_string())?;
    let arguments = [
        "--config-path",
        &file.display().to_string(),
        "--concurrency",
        &threads.to_string(),
        "--disable-hot-restart",
        "--log-level",
        "error",
    ];
    let process =
        Process::start_foreign("envoy", program, &arguments, scratch.path(), &[h1, h2]).await?;
    Ok((process, doors))
}

fn configuration(doors: &Doors, upstream: &Doors) -> Value {
    json!({"static_resources": {
        "listeners": [
            listener("h1", "HTTP1", doors.h1),
            listener("h2", "HTTP2", doors.h2),
        ],
        "clusters": [
            cluster("h1", "http_protocol_options", upstream.h1),
            cluster("h2", "http2_protocol_options", upstream.h2),
        ],
    }})
}

fn listener(name: &str, codec: &str, address: SocketAddr) -> Value {
    let route = json!({"match": {"prefix": "/"}, "route": {"cluster": name, "timeout": "0s"}});
    let router = json!({
        "name": "envoy.filters.http.router",
        "typed_config": typed("envoy.extensions.filters.http.router.v3.Router", json!({})),
    });
    let manager = json!({
        "stat_prefix": name,
        "codec_type": codec,
        "route_config": {"virtual_hosts": [{"name": name, "domains": ["*"], "routes": [route]}]},
        "http_filters": [router],
    });
    json!({
        "name": name,
        "address": socket(address),
        "filter_chains": [{"filters": [{
            "name": "envoy.filters.network.http_connection_manager",
            "typed_config": typed(
                "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
                manager,
            ),
        }]}],
    })
}

fn cluster(name: &str, options: &str, address: SocketAddr) -> Value {
    let endpoint = json!({"endpoint": {"address": socket(address)}});
    json!({
        "name": name,
        "type": "STATIC",
        "connect_timeout": "5s",
        "load_assignment": {
            "cluster_name": name,
            "endpoints": [{"lb_endpoints": [endpoint]}],
        },
        "typed_extension_protocol_options": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": typed(
                "envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
                json!({"explicit_http_config": {options: {}}}),
            ),
        },
    })
}

fn socket(address: SocketAddr) -> Value {
    json!({"socket_address": {"address": address.ip().to_string(), "port_value": address.port()}})
}

fn typed(name: &str, mut value: Value) -> Value {
    value["@type"] = format!("type.googleapis.com/{name}").into();
    value
}
