//! A test that is a program: passes if it exits with 0.
//!
//! Owns its environment and what its end means. The same for the steps around
//! executions, which are told no execution.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::egress::Egress;
use super::super::ledger::MARK;
use super::super::log::Log;
use super::super::process::{Children, Exit, Process, Start};
use super::super::spec::{CommandSpec, Session};
use super::super::template::{Places, expand};
use murphy_campaign::SetupError;
use murphy_oracle::telling_line;

/// A program with everything filled in that does not change.
pub(crate) struct Program {
    what: String,
    command: Vec<String>,
    spec: CommandSpec,
    environment: BTreeMap<String, String>,
}

impl Program {
    /// Fills in a command; `what` is its name in messages.
    pub(crate) fn new(
        what: &str,
        spec: &CommandSpec,
        places: &Places,
        mark: &str,
    ) -> Result<Self, SetupError> {
        let fill = |text: &String| {
            let filled = expand(text, places, None);
            filled.map_err(|error| SetupError::new(format!("{what}: {error}")))
        };
        let mut environment = BTreeMap::from([(MARK.to_owned(), mark.to_owned())]);
        let urls = places
            .iter()
            .map(|(name, place)| (url_variable(name), place.url()));
        environment.extend(urls);
        for (key, value) in &spec.environment {
            environment.insert(key.clone(), fill(value)?);
        }
        let command: Result<_, _> = spec.command.iter().map(fill).collect();
        Ok(Program {
            what: what.to_owned(),
            command: command?,
            spec: spec.clone(),
            environment,
        })
    }

    /// The same for a program that is told of the way out.
    pub(crate) fn reaching(mut self, egress: Option<Egress>) -> Result<Self, SetupError> {
        if let Some(egress) = egress {
            egress.tell(&mut self.environment)?;
        }
        Ok(self)
    }

    /// Starts it, telling it about its execution.
    pub(crate) fn start(
        &self,
        more: impl IntoIterator<Item = (&'static str, String)>,
        children: Children,
        printed: &Arc<Log>,
    ) -> Result<Process, SetupError> {
        let mut environment = self.environment.clone();
        let more = more.into_iter();
        environment.extend(more.map(|(key, value)| (key.to_owned(), value)));
        let start = Start {
            command: &self.command,
            directory: &self.spec.directory,
            environment: &environment,
            children,
        };
        Process::start(&start, printed.clone()).map_err(|error| {
            SetupError::new(format!("{} cannot be run: {error}", self.what)).hint(error.hint())
        })
    }
}

/// The variable in which a test finds where to ask about its execution.
pub const CONTROL_VARIABLE: &str = "MURPHY_CONTROL_URL";

/// The variable with what it must show there.
pub const TOKEN_VARIABLE: &str = "MURPHY_TOKEN";

/// What a test knows of its execution, as variables.
pub(super) fn variables(session: &Session, worker: u32) -> [(&'static str, String); 8] {
    [
        ("TRACEPARENT", session.traceparent.clone()),
        ("TRACESTATE", session.tracestate.clone()),
        ("BAGGAGE", session.baggage.clone()),
        ("MURPHY_EXECUTION", session.execution.clone()),
        (
            "MURPHY_FAULTS",
            serde_json::json!(session.faults).to_string(),
        ),
        (CONTROL_VARIABLE, session.control.clone()),
        (TOKEN_VARIABLE, session.token.clone()),
        ("MURPHY_WORKER", worker.to_string()),
    ]
}

/// The variable in which a test finds where to enter a service:
/// `MURPHY_<NAME>_URL`.
pub fn url_variable(service: &str) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_uppercase(),
        false => '_',
    };
    let name: String = service.chars().map(plain).collect();
    format!("MURPHY_{name}_URL")
}

/// What a program's end says, in one line that is the same each time.
pub(crate) fn result(exit: Exit, printed: &Log) -> Result<(), String> {
    if exit.is_success() {
        return Ok(());
    }
    Err(match telling_line(&printed.text()) {
        Some(line) => format!("{exit}: {line}"),
        None => exit.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_services_become_variables() {
        assert_eq!(url_variable("cart"), "MURPHY_CART_URL");
        assert_eq!(url_variable("pay-v2.api"), "MURPHY_PAY_V2_API_URL");
    }
}
