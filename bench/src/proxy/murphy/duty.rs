//! What the proxy has to do with the calls it is measured by.

use std::fmt;

use anyhow::Result;
use clap::ValueEnum;
use murphy_model::Faultload;

use super::super::check::Expected;
use super::super::role::Role;
use super::campaign::{self, headers};

/// What the proxy has to do with the calls it is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Duty {
    /// Nothing, and no execution is live.
    PassThrough,
    /// Nothing, but 1,000 executions are live, so their context has to be
    /// looked at: it is of one that is not.
    Bystander,
    /// Name and record them; no fault is injected.
    NoMatch,
    /// The same with 1,000 faults in the faultload.
    ManyFaults,
    /// The same with 1,000 executions live.
    ManyExecutions,
    /// Fail them before they reach the upstream.
    Match,
}

impl Duty {
    /// All of them, in the order of the tables.
    pub const ALL: [Duty; 6] = [
        Duty::PassThrough,
        Duty::Bystander,
        Duty::NoMatch,
        Duty::ManyFaults,
        Duty::ManyExecutions,
        Duty::Match,
    ];

    /// Its name in the raw numbers and on the command line.
    pub fn key(self) -> String {
        let value = self.to_possible_value().expect("none is skipped");
        value.get_name().to_owned()
    }

    /// What the caller is to see.
    pub fn expected(self) -> Expected {
        match self {
            Duty::Match => Expected::Fault,
            _ => Expected::Answer,
        }
    }

    /// What fails in its executions.
    pub fn faultload(self) -> Result<Faultload> {
        match self {
            Duty::ManyFaults => campaign::many_faults(),
            Duty::Match => campaign::matching(),
            _ => Ok(Faultload::none()),
        }
    }

    /// How many executions are live besides the one that calls belong to.
    pub fn bystanders(self) -> usize {
        match self {
            Duty::Bystander => 1000,
            Duty::ManyExecutions => 999,
            _ => 0,
        }
    }

    fn is_about_an_execution(self) -> bool {
        !matches!(self, Duty::PassThrough | Duty::Bystander)
    }

    /// Begins an execution, where the duty is about one; the headers that
    /// calls are to carry.
    pub async fn prepare(self, role: &mut Role) -> Result<Vec<String>> {
        Ok(match self.is_about_an_execution() {
            true => headers(&role.ask("begin").await?),
            false => headers(STRANGER),
        })
    }

    /// Ends the execution.
    pub async fn settle(self, role: &mut Role) -> Result<()> {
        if self.is_about_an_execution() {
            role.ask("end").await?;
        }
        Ok(())
    }
}

/// A call of an execution that was never begun.
pub const STRANGER: &str = "0000000000000000-0";

impl fmt::Display for Duty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Duty::PassThrough => "pass-through",
            Duty::Bystander => "pass-through, 1,000 live",
            Duty::NoMatch => "of interest",
            Duty::ManyFaults => "of interest, 1,000 faults",
            Duty::ManyExecutions => "of interest, 1,000 live",
            Duty::Match => "of interest, fault",
        })
    }
}
