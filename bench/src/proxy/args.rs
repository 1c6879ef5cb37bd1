//! What was typed.
//!
//! Owns names, help and defaults, for people and for the processes that the
//! bench starts of itself.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};

use super::murphy::Duty;
use super::protocol::{Doors, Protocol, Shape};
use super::subject::{Family, Kind};

/// Measure what a request costs through Murphy's proxy and through others.
///
/// All proxies stand in front of the same upstream, get the same requests from h2load (as an
/// instrumented service sends them, with traceparent and tracestate) and the same number of threads,
/// in rounds that visit each in turn. What is missing (nginx, HAProxy, h2load,
/// Envoy) is installed, and the bench says so. The number to look at is CPU us: processor time of
/// the proxy's processes per request, in microseconds; it holds on a busy machine, where requests
/// per second do not.
#[derive(Parser, Debug)]
#[command(
    name = "bench/proxy",
    bin_name = "bench/proxy",
    max_term_width = 100,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = AFTER_HELP
)]
pub struct Cli {
    #[command(subcommand)]
    pub(super) role: Option<RoleArgs>,

    #[command(flatten)]
    pub(super) options: Options,
}

const AFTER_HELP: &str = "\
Start here:
  bench/proxy                                     everything, in about 12 minutes
  bench/proxy --only h1 --connections 32          one table, in about 2 minutes
  bench/proxy --only h1 --subjects nginx,murphy   those two only
  bench/proxy --tls --only h1,h2                  the same over TLS, against nginx
  bench/proxy --against ../before/target/dist/proxy   what a change costs: two builds of Murphy, in turn
  bench/proxy --memory                            what 1 GiB bodies and many executions leave behind
  bench/proxy --profile --only h1                 where Murphy's time goes (needs perf)

Subjects:
  direct        the load generator at the upstream, no proxy
  nginx         kept upstream connections; HTTP/1.1 to the upstream also for HTTP/2
  haproxy       HTTP/2 on both sides for HTTP/2 and gRPC
  envoy         HTTP/2 on both sides for HTTP/2 and gRPC
  plain-hyper   a plain reverse proxy on the library that Murphy builds on
  murphy        six times: calls of no execution (pass-through), and the same while 1,000 executions
                are live; calls of an execution (of interest) without a fault, the same with
                1,000 faults in the faultload, the same with 1,000 executions live; calls that all
                fail before they reach the upstream

Requests at once on each connection: HTTP/1.1 1; HTTP/2 and gRPC 10 on up to 4 connections, else 4.

Exit codes: 0 all bars are met, 1 a bar is missed, 2 usage, 70 the bench itself failed";

/// What a person can ask for.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    /// How often each subject is measured; the median counts, of ratios the median of the rounds'.
    /// On a shared machine the same work takes a third more or less time from one moment to the
    /// next, so many short rounds tell more than a few long ones.
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = positive)]
    pub rounds: usize,

    /// How long each measurement takes.
    #[arg(long, value_name = "S", default_value_t = 0.3, value_parser = seconds)]
    pub seconds: f64,

    /// The protocols to measure.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values = ["h1", "h2", "grpc"])]
    pub only: Vec<Protocol>,

    /// How many connections the load generator opens.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values = ["4", "32"], value_parser = positive)]
    pub connections: Vec<usize>,

    /// The subjects to measure; all if not given. They are explained below.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        hide_possible_values = true
    )]
    pub subjects: Vec<Family>,

    /// Worker threads of every proxy.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = positive)]
    pub threads: usize,

    /// Write the numbers of every round to a file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Exit with 0 even if a bar is missed.
    #[arg(long)]
    pub report_only: bool,

    /// Speak TLS on both sides: to the subject, and from it to the upstream. Only nginx and Murphy
    /// are measured then.
    #[arg(long, conflicts_with_all = ["memory", "profile"])]
    pub tls: bool,

    /// Compare with another build of Murphy: the bench binary (target/dist/proxy) of another
    /// checkout, which runs its own proxy. Without --subjects only the two are measured. A ratio
    /// above 1.03 is a bar that is missed.
    #[arg(long, value_name = "BINARY", conflicts_with_all = ["tls", "memory", "profile"])]
    pub against: Option<PathBuf>,

    /// Check memory instead: 1 GiB bodies, 1,000,000 calls over 10,000 executions.
    #[arg(long, conflicts_with = "profile")]
    pub memory: bool,

    /// Show where Murphy's processor time goes instead, by symbol.
    #[arg(long)]
    pub profile: bool,
}

impl Options {
    /// How long each measurement takes.
    pub fn time(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }

    /// The shapes of load, one table each.
    pub fn shapes(&self) -> Vec<Shape> {
        let protocols = Protocol::ALL.into_iter();
        let wanted = protocols.filter(|protocol| self.only.contains(protocol));
        let shapes = wanted.flat_map(|protocol| {
            let shape = move |connections: &usize| Shape {
                protocol,
                connections: *connections,
            };
            self.connections.iter().map(shape)
        });
        shapes.collect()
    }

    /// The subjects to measure.
    pub fn kinds(&self) -> Vec<Kind> {
        let is_asked_for = |kind: &Kind| match (self.subjects.as_slice(), &self.against) {
            ([], None) => true,
            ([], Some(_)) => kind.family() == Family::Murphy,
            (subjects, _) => subjects.contains(&kind.family()),
        };
        let wanted = |kind: &Kind| is_asked_for(kind) && (!self.tls || kind.speaks_tls());
        let wanted = Kind::all().into_iter().filter(wanted);
        // Each beside what it is compared with: the machine changes with time.
        let with_other = wanted.flat_map(|kind| match (kind, &self.against) {
            (Kind::Murphy(duty), Some(_)) => vec![kind, Kind::Other(duty)],
            _ => vec![kind],
        });
        with_other.collect()
    }
}

/// What the bench starts of itself.
#[derive(Subcommand, Clone, Debug)]
pub(super) enum RoleArgs {
    /// The server behind all subjects.
    #[command(hide = true)]
    Upstream {
        #[arg(long)]
        threads: usize,
        #[arg(long)]
        tls: Option<PathBuf>,
    },
    /// The yardstick.
    #[command(hide = true)]
    PlainHyper {
        #[arg(long)]
        threads: usize,
        #[arg(long)]
        upstream: Doors,
    },
    /// Our own proxy.
    #[command(hide = true)]
    Murphy {
        #[arg(long)]
        threads: usize,
        #[arg(long)]
        upstream: Doors,
        #[arg(long)]
        duty: Duty,
        #[arg(long)]
        tls: Option<PathBuf>,
    },
    /// Many executions in a registry, without a proxy.
    #[command(hide = true)]
    Registry {
        #[arg(long)]
        executions: usize,
        #[arg(long)]
        calls: usize,
    },
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("a number above 0 is needed".to_owned()),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.1..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number of seconds from 0.1 to 3600 is needed".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn another_build_is_measured_beside_ours_and_nothing_else_unless_asked_for() {
        let kinds = |arguments: &[&str]| {
            let all = ["proxy", "--against", "other"].iter().chain(arguments);
            Cli::parse_from(all).options.kinds()
        };
        let ours = |duty| [Kind::Murphy(duty), Kind::Other(duty)];
        assert_eq!(kinds(&[]), Duty::ALL.map(ours).concat());
        assert_eq!(kinds(&["--subjects", "nginx"]), [Kind::Nginx]);
    }

    #[test]
    fn shapes_are_protocols_times_connections_in_the_order_of_the_tables() {
        let cli = Cli::parse_from(["proxy", "--only", "grpc,h1", "--connections", "8"]);
        let shapes = cli.options.shapes();
        let protocols: Vec<Protocol> = shapes.iter().map(|shape| shape.protocol).collect();
        assert_eq!(protocols, [Protocol::Http1, Protocol::Grpc]);
        assert!(shapes.iter().all(|shape| shape.connections == 8));
    }
}
