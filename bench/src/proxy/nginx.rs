//! nginx in front of the upstream.
//!
//! Owns its configuration: a pool of kept connections to the upstream, no
//! access log. nginx speaks HTTP/1.1 to the upstream also for HTTP/2, because
//! that is all it can; gRPC goes through its own module.

use std::path::Path;

use anyhow::Result;

use super::process::{Process, free_addresses};
use super::protocol::Doors;
use super::scratch::Scratch;
use super::tls::Certificate;

/// Starts it.
pub async fn start(
    program: &Path,
    threads: usize,
    upstream: &Doors,
    scratch: &Scratch,
    tls: Option<&Certificate>,
) -> Result<(Process, Doors)> {
    let [h1, h2] = free_addresses().await?;
    let doors = Doors { h1, h2 };
    let directory = scratch.path().display().to_string();
    let file = scratch.write(
        "nginx.conf",
        configuration(threads, &doors, upstream, &directory, tls),
    )?;
    let arguments = ["-p", &directory, "-c", &file.display().to_string()];
    let process =
        Process::start_foreign("nginx", program, &arguments, scratch.path(), &[h1, h2]).await?;
    Ok((process, doors))
}

fn configuration(
    threads: usize,
    doors: &Doors,
    upstream: &Doors,
    directory: &str,
    tls: Option<&Certificate>,
) -> String {
    let Doors { h1, h2 } = doors;
    let Doors {
        h1: upstream_h1,
        h2: upstream_h2,
    } = upstream;
    let (secure, s) = match tls {
        Some(_) => (" ssl", "s"),
        None => ("", ""),
    };
    let certificate = tls.map_or_else(String::new, |tls| {
        let (file, key) = (tls.file(), tls.key());
        format!(
            "ssl_certificate {}; ssl_certificate_key {}; ssl_protocols TLSv1.3; proxy_ssl_protocols TLSv1.3; grpc_ssl_protocols TLSv1.3;",
            file.display(),
            key.display()
        )
    });
    format!(
        "\
daemon off;
worker_processes {threads};
pid {directory}/nginx.pid;
error_log stderr error;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  {certificate}
  tcp_nodelay on;
  keepalive_requests 1000000000;
  client_body_temp_path {directory}/nginx-body;
  proxy_temp_path {directory}/nginx-proxy;
  fastcgi_temp_path {directory}/nginx-fastcgi;
  uwsgi_temp_path {directory}/nginx-uwsgi;
  scgi_temp_path {directory}/nginx-scgi;
  upstream plain {{ server {upstream_h1}; keepalive 512; keepalive_requests 1000000000; }}
  upstream grpc {{ server {upstream_h2}; keepalive 512; keepalive_requests 1000000000; }}
  server {{
    listen {h1}{secure};
    location / {{ proxy_pass http{s}://plain; proxy_http_version 1.1; proxy_set_header Connection \"\"; }}
  }}
  server {{
    listen {h2}{secure} http2;
    location / {{ proxy_pass http{s}://plain; proxy_http_version 1.1; proxy_set_header Connection \"\"; }}
    location /bench.Echo/ {{ grpc_pass grpc{s}://grpc; }}
  }}
}}
"
    )
}
