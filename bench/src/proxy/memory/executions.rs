//! Many executions, begun and ended.
//!
//! Owns two ways of putting calls to a registry: directly, in a process that
//! does nothing else, and through the proxy.

use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt;
use murphy_model::{Faultload, Interface};
use murphy_registry::{Parent, Registry};

use super::super::args::Options;
use super::super::body::Repeated;
use super::super::client::Client;
use super::super::murphy::campaign::{Campaign, SERVICE, headers};
use super::super::murphy::{self, Duty};
use super::super::protocol::{Doors, Protocol, SMALL};
use super::super::resident::Resident;
use super::super::role::{self, Role};
use super::judge;

/// What an allocator may keep back; a leak of 5 bytes per call or of 500 per
/// execution shows in process.
const ALLOWED_MIB: f64 = 4.0;

/// Calls of each execution.
const CALLS: usize = 100;

/// Executions in process, and through the proxy, which takes longer.
const DIRECT: usize = 10_000;
const PROXIED: usize = 1_000;

/// Whether the size is read after the execution of that number: after 10, 50
/// and 100 % of all.
fn is_milestone(done: usize, of: usize) -> bool {
    [of / 10, of / 2, of].contains(&done)
}

/// Whether a registry grows by executions that have ended.
pub async fn check_in_process() -> Result<bool> {
    introduce(DIRECT, "told to the registry directly");
    let (executions, calls) = (DIRECT.to_string(), CALLS.to_string());
    let arguments = ["registry", "--executions", &executions, "--calls", &calls];
    let mut sizes = Vec::new();
    role::run("registry", &arguments, |line| {
        sizes.extend(line.parse::<f64>());
    })
    .await?;
    conclude(&sizes)
}

/// Puts that many calls to each of that many executions, one execution after
/// the other, and prints the resident size at the milestones.
pub async fn in_process(executions: usize, calls: usize) -> Result<()> {
    let settings = murphy_registry::Settings {
        grace: std::time::Duration::ZERO,
        ..murphy_registry::Settings::default()
    };
    let registry = Arc::new(Registry::new(settings));
    let mut campaign = Campaign::new(registry, Faultload::none());
    for number in 1..=executions {
        execute(&mut campaign, number, calls).await?;
        if is_milestone(number, executions) {
            println!("{}", Resident::of(std::process::id())?.now);
        }
    }
    Ok(())
}

/// The entry call and the calls made from it; their bodies differ from
/// execution to execution, as identifiers in real ones do.
async fn execute(campaign: &mut Campaign, number: usize, calls: usize) -> Result<()> {
    let entry = campaign.begin()?;
    let parent = Parent::Known(entry.call.context("an entry call")?);
    for call in 1..calls {
        let interface = Interface::http("POST", &format!("/items/kind-{}", call % 10));
        let body = Bytes::from(format!("{{\"order\":{number},\"item\":{}}}", call % 20));
        let (execution, parent) = (entry.execution, parent.clone());
        let decision = campaign.arrive(execution, parent, SERVICE, interface, body)?;
        campaign.finish(decision.key);
    }
    let seen = campaign.collect().await?;
    ensure!(seen == calls, "{seen} calls of {calls} were recorded");
    campaign.end()
}

/// Whether a proxy grows by executions that have ended.
pub async fn check_on_sockets(options: &Options, upstream: &Doors) -> Result<bool> {
    introduce(
        PROXIED,
        "through the proxy, each over a connection of its own",
    );
    let mut role = murphy::start(None, options.threads, upstream, Duty::NoMatch, None).await?;
    let mut sizes = Vec::new();
    for number in 1..=PROXIED {
        let protocol = match number % 2 {
            0 => Protocol::Http1,
            _ => Protocol::Http2,
        };
        execute_on_sockets(&mut role, protocol).await?;
        if is_milestone(number, PROXIED) {
            sizes.push(Resident::of(role.process.group())?.now);
        }
    }
    conclude(&sizes)
}

async fn execute_on_sockets(role: &mut Role, protocol: Protocol) -> Result<()> {
    let key = role.ask("begin").await?;
    let mut client = Client::connect(protocol, role.doors.of(protocol)).await?;
    for _ in 1..CALLS {
        let mut request = client.request(Method::GET, SMALL);
        for header in headers(&key) {
            let (name, value) = header.split_once(": ").context("`name: value`")?;
            request = request.header(name, value);
        }
        let response = client.send(request.body(Repeated::empty())?).await?;
        ensure!(response.status().is_success(), "{}", response.status());
        response.into_body().collect().await?;
    }
    let seen = role.ask("collect").await?;
    ensure!(
        seen == CALLS.to_string(),
        "{seen} calls of {CALLS} were recorded"
    );
    role.ask("end").await?;
    Ok(())
}

fn introduce(executions: usize, how: &str) {
    let (calls, executions) = (grouped(executions * CALLS), grouped(executions));
    println!("\n{calls} calls over {executions} executions, {how}");
}

/// `1000000` as `1,000,000`.
fn grouped(number: usize) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1000), number % 1000),
    }
}

fn conclude(sizes: &[f64]) -> Result<bool> {
    let [tenth, half, all] = sizes else {
        bail!("{} sizes were read instead of 3", sizes.len());
    };
    let what = format!("{tenth:.1} MiB after 10 %, {half:.1} after 50 %, {all:.1} after 100 %");
    Ok(judge(&what, all - tenth, ALLOWED_MIB))
}
