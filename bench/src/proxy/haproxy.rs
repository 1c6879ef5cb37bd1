//! HAProxy in front of the upstream.
//!
//! Owns its configuration: HTTP/1.1 to HTTP/1.1, HTTP/2 to HTTP/2, kept
//! connections shared between clients.

use std::path::Path;

use anyhow::Result;

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
    let file = scratch.write("haproxy.cfg", configuration(threads, &doors, upstream))?;
    let arguments = ["-db", "-q", "-f", &file.display().to_string()];
    let process =
        Process::start_foreign("haproxy", program, &arguments, scratch.path(), &[h1, h2]).await?;
    Ok((process, doors))
}

fn configuration(threads: usize, doors: &Doors, upstream: &Doors) -> String {
    let Doors { h1, h2 } = doors;
    let Doors {
        h1: upstream_h1,
        h2: upstream_h2,
    } = upstream;
    format!(
        "\
global
  nbthread {threads}
  maxconn 4096
defaults
  mode http
  http-reuse always
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend h1
  bind {h1}
  default_backend upstream-h1
frontend h2
  bind {h2} proto h2
  default_backend upstream-h2
backend upstream-h1
  server upstream {upstream_h1}
backend upstream-h2
  server upstream {upstream_h2} proto h2
"
    )
}
