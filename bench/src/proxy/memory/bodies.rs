//! A body much larger than memory should get, in both directions.
//!
//! Owns the transfers: up and down, over HTTP/1.1 and HTTP/2, for calls of no
//! execution and of one.

use std::fmt;
use std::time::Duration;

use anyhow::{Result, ensure};
use http::Method;
use http_body_util::BodyExt;
use tokio::time::timeout;

use super::super::args::Options;
use super::super::body::Repeated;
use super::super::client::Client;
use super::super::murphy::{self, Duty};
use super::super::protocol::{Doors, Protocol};
use super::super::resident::{Resident, forget_peak};
use super::super::role::Role;
use super::super::upstream::{BYTES, DRAIN, length};
use super::judge;

/// 1 GiB.
const LENGTH: u64 = 1 << 30;

/// Buffers of sockets and of HTTP/2 windows, and what the allocator keeps of
/// them; a hundredth of the body.
const ALLOWED_MIB: f64 = 10.0;

/// Many times what a transfer takes.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy)]
enum Direction {
    Up,
    Down,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Up => "upload",
            Direction::Down => "download",
        })
    }
}

/// Sends the body through all ways; whether the size stayed flat in each.
pub async fn check(options: &Options, upstream: &Doors) -> Result<bool> {
    let mut passed = true;
    for duty in [Duty::PassThrough, Duty::NoMatch] {
        println!("\nA body of 1 GiB through the proxy, {duty}");
        for protocol in [Protocol::Http1, Protocol::Http2] {
            for direction in [Direction::Up, Direction::Down] {
                // A process each, so that none hides in what another left.
                let mut role = murphy::start(None, options.threads, upstream, duty, None).await?;
                let what = format!("{direction} over {protocol}");
                let transfer = transfer(&mut role, duty, protocol, direction);
                let transfer = timeout(PATIENCE, transfer).await;
                passed &= report(&what, transfer.unwrap_or_else(|late| Err(late.into())));
            }
        }
    }
    Ok(passed)
}

/// Sizes before and after.
type Sizes = (Resident, Resident);

async fn transfer(
    role: &mut Role,
    duty: Duty,
    protocol: Protocol,
    direction: Direction,
) -> Result<Sizes> {
    let process = role.process.group();
    let headers = duty.prepare(role).await?;
    let mut client = Client::connect(protocol, role.doors.of(protocol)).await?;
    // What a first request needs is not what a body leaves behind.
    send(&mut client, direction, &headers, 1 << 20).await?;
    forget_peak(process)?;
    let before = Resident::of(process)?;
    send(&mut client, direction, &headers, LENGTH).await?;
    let after = Resident::of(process)?;
    duty.settle(role).await?;
    Ok((before, after))
}

/// One that fails is reported, and the others go on.
fn report(what: &str, sizes: Result<Sizes>) -> bool {
    match sizes {
        Ok((before, after)) => {
            let (now, peak, left) = (before.now, after.peak, after.now);
            let sizes = format!("{now:.1} MiB before, {peak:.1} at its peak, {left:.1} after");
            judge(&format!("{what:<23} {sizes}"), peak - now, ALLOWED_MIB)
        }
        Err(error) => {
            println!("  MISS  {what}: {error:#}");
            false
        }
    }
}

async fn send(
    client: &mut Client,
    direction: Direction,
    headers: &[String],
    bytes: u64,
) -> Result<()> {
    let mut request = match direction {
        Direction::Up => client.request(Method::POST, DRAIN),
        Direction::Down => client.request(Method::GET, &format!("{BYTES}{bytes}")),
    };
    for (name, value) in headers.iter().filter_map(|header| header.split_once(": ")) {
        request = request.header(name, value);
    }
    let body = match direction {
        Direction::Up => Repeated::zeros(bytes),
        Direction::Down => Repeated::empty(),
    };
    let response = client.send(request.body(body)?).await?;
    ensure!(response.status().is_success(), "{}", response.status());
    let arrived = match direction {
        Direction::Up => {
            let answer = response.into_body().collect().await?.to_bytes();
            String::from_utf8_lossy(&answer).parse()?
        }
        Direction::Down => length(response.into_body()).await?,
    };
    ensure!(arrived == bytes, "{arrived} bytes of {bytes} arrived");
    Ok(())
}
