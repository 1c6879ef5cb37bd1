//! What is measured.
//!
//! Owns the list of subjects, starting each, and what it needs around a round;
//! each subject's own set-up is in the file of its name.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;

use super::check::{self, Expected};
use super::murphy::{self, Duty};
use super::process::Process;
use super::protocol::{Doors, Protocol};
use super::role::Role;
use super::scratch::Scratch;
use super::tls::Certificate;
use super::tools::Tool;
use super::{envoy, haproxy, nginx, plain_hyper};

/// Subjects as they are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Family {
    /// No proxy.
    Direct,
    /// nginx.
    Nginx,
    /// HAProxy.
    Haproxy,
    /// Envoy.
    Envoy,
    /// The yardstick.
    PlainHyper,
    /// Our own proxy, on all its duties.
    Murphy,
}

/// One way to the upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No proxy.
    Direct,
    /// nginx.
    Nginx,
    /// HAProxy.
    Haproxy,
    /// Envoy.
    Envoy,
    /// The yardstick.
    PlainHyper,
    /// Our own proxy, on this duty.
    Murphy(Duty),
    /// The same of the build to compare with.
    Other(Duty),
}

impl Kind {
    /// All of them, in the order of the tables.
    pub fn all() -> Vec<Kind> {
        let others = [
            Kind::Direct,
            Kind::Nginx,
            Kind::Haproxy,
            Kind::Envoy,
            Kind::PlainHyper,
        ];
        let ours = Duty::ALL.map(Kind::Murphy);
        others.into_iter().chain(ours).collect()
    }

    /// What it is asked for by.
    pub fn family(self) -> Family {
        match self {
            Kind::Direct => Family::Direct,
            Kind::Nginx => Family::Nginx,
            Kind::Haproxy => Family::Haproxy,
            Kind::Envoy => Family::Envoy,
            Kind::PlainHyper => Family::PlainHyper,
            Kind::Murphy(_) | Kind::Other(_) => Family::Murphy,
        }
    }

    /// Whether it is measured with TLS, too.
    pub fn speaks_tls(self) -> bool {
        matches!(self, Kind::Direct | Kind::Nginx | Kind::Murphy(_))
    }

    /// Its name in the raw numbers.
    pub fn key(self) -> String {
        match self {
            Kind::Direct => "direct".to_owned(),
            Kind::Nginx => "nginx".to_owned(),
            Kind::Haproxy => "haproxy".to_owned(),
            Kind::Envoy => "envoy".to_owned(),
            Kind::PlainHyper => "plain-hyper".to_owned(),
            Kind::Murphy(duty) => format!("murphy-{}", duty.key()),
            Kind::Other(duty) => format!("other-{}", duty.key()),
        }
    }

    /// The program of others that it is, if it is one.
    pub fn tool(self) -> Option<Tool> {
        match self {
            Kind::Nginx => Some(Tool::Nginx),
            Kind::Haproxy => Some(Tool::Haproxy),
            Kind::Envoy => Some(Tool::Envoy),
            Kind::Direct | Kind::PlainHyper | Kind::Murphy(_) | Kind::Other(_) => None,
        }
    }

    fn expected(self) -> Expected {
        match self {
            Kind::Murphy(duty) | Kind::Other(duty) => duty.expected(),
            _ => Expected::Answer,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Direct => f.write_str("direct"),
            Kind::Nginx => f.write_str("nginx"),
            Kind::Haproxy => f.write_str("HAProxy"),
            Kind::Envoy => f.write_str("Envoy"),
            Kind::PlainHyper => f.write_str("plain hyper"),
            Kind::Murphy(duty) => write!(f, "Murphy, {duty}"),
            Kind::Other(duty) => write!(f, "the other, {duty}"),
        }
    }
}

/// A subject that runs.
#[derive(Debug)]
pub struct Subject {
    /// Which one.
    pub kind: Kind,
    /// Where it listens.
    pub doors: Doors,
    /// What it shows its callers, if it speaks TLS with them.
    pub tls: Option<Certificate>,
    running: Running,
}

#[derive(Debug)]
enum Running {
    Nothing,
    Foreign(Box<Process>),
    Ours(Box<Role>),
}

impl Subject {
    /// Starts it in front of the upstream.
    pub async fn start(
        kind: Kind,
        threads: usize,
        upstream: &Doors,
        scratch: &Scratch,
        tls: Option<&Certificate>,
        other: Option<&Path>,
    ) -> Result<Self> {
        let program = kind.tool().map(Tool::find_or_install).transpose()?;
        let program = program.unwrap_or_default();
        let foreign = |(process, doors)| (Running::Foreign(Box::new(process)), doors);
        let ours = |role: Role| {
            let doors = role.doors;
            (Running::Ours(Box::new(role)), doors)
        };
        let (running, doors) = match kind {
            Kind::Direct => (Running::Nothing, *upstream),
            Kind::Nginx => foreign(nginx::start(&program, threads, upstream, scratch, tls).await?),
            Kind::Haproxy => foreign(haproxy::start(&program, threads, upstream, scratch).await?),
            Kind::Envoy => foreign(envoy::start(&program, threads, upstream, scratch).await?),
            Kind::PlainHyper => ours(plain_hyper::start(threads, upstream).await?),
            Kind::Murphy(duty) => ours(murphy::start(None, threads, upstream, duty, tls).await?),
            Kind::Other(duty) => ours(murphy::start(other, threads, upstream, duty, tls).await?),
        };
        Ok(Self {
            kind,
            doors,
            tls: tls.cloned(),
            running,
        })
    }

    /// Where it is asked, without a path.
    pub fn url(&self, protocol: Protocol) -> String {
        let scheme = match self.tls {
            Some(_) => "https",
            None => "http",
        };
        format!("{scheme}://{}", self.doors.of(protocol))
    }

    /// The group of processes whose time is measured, if there is a proxy.
    pub fn group(&self) -> Option<u32> {
        match &self.running {
            Running::Nothing => None,
            Running::Foreign(process) => Some(process.group()),
            Running::Ours(role) => Some(role.process.group()),
        }
    }

    /// Gets ready for load; the headers that the load is to carry. They are the
    /// same for all, those of an instrumented caller, so that nobody is
    /// compared by larger requests than others.
    pub async fn prepare(&mut self) -> Result<Vec<String>> {
        match (&mut self.running, self.kind) {
            (Running::Ours(role), Kind::Murphy(duty) | Kind::Other(duty)) => {
                duty.prepare(role).await
            }
            _ => Ok(murphy::campaign::headers(murphy::STRANGER)),
        }
    }

    /// Lets go of what [`Subject::prepare`] got ready.
    pub async fn settle(&mut self) -> Result<()> {
        match (&mut self.running, self.kind) {
            (Running::Ours(role), Kind::Murphy(duty) | Kind::Other(duty)) => {
                duty.settle(role).await
            }
            _ => Ok(()),
        }
    }

    /// The status that every answer must have.
    pub fn expected_status(&self, protocol: Protocol) -> i32 {
        self.kind.expected().status(protocol)
    }

    /// Checks that it answers as it should.
    pub async fn check(&mut self, protocol: Protocol) -> Result<()> {
        let headers = self.prepare().await?;
        let (doors, tls) = (&self.doors, self.tls.as_ref());
        check::answers(doors, tls, protocol, &headers, self.kind.expected())
            .await
            .with_context(|| format!("{} does not do {protocol} properly", self.kind))?;
        self.settle().await
    }
}
