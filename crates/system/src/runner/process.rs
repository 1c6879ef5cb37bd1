//! One runner that is up.

use std::sync::Arc;
use std::time::Duration;

use murphy_campaign::SetupError;
use tokio::time::timeout;

use super::super::control::{Control, Listing, OpenMailbox, RunOrder, TestResult};
use super::super::log::Log;
use super::super::process::{Children, Exit, Process};
use super::super::scenario::command::{CONTROL_VARIABLE, Program, TOKEN_VARIABLE};
use super::super::spec::RunnerSpec;
use super::super::wiring::Wiring;
use super::plugins::Plugins;

/// How much of what a runner prints beside its tests is kept.
const OUTPUT: usize = 64 * 1024;

/// How long a runner may take to tear down and end.
const END_WITHIN: Duration = Duration::from_secs(10);

/// How long listing the tests may take, once they are collected.
const LIST_WITHIN: Duration = Duration::from_secs(60);

/// A runner, ready to be started for any worker.
pub(crate) struct Runner {
    /// The scenario it is of.
    pub(super) name: String,
    what: String,
    programs: Vec<Program>,
    start_within: Duration,
}

impl Runner {
    /// Fills in its command for every worker.
    pub(crate) fn prepare(
        spec: &RunnerSpec,
        wiring: &Wiring,
        workers: u32,
        mark: &str,
        plugins: &Plugins,
    ) -> Result<Self, SetupError> {
        let what = format!("the runner of scenario `{}`", spec.name);
        let launch = spec.kind.launch(&spec.command, plugins);
        let program = |worker| {
            let program = Program::new(&what, &launch, wiring.entries(worker), mark);
            program?.reaching(wiring.egress_of_worker(worker))
        };
        Ok(Runner {
            programs: (0..workers).map(program).collect::<Result<_, _>>()?,
            name: spec.name.clone(),
            what,
            start_within: spec.start_within,
        })
    }

    /// Starts it for a worker, and waits until it has collected its tests.
    pub(super) async fn start(
        &self,
        worker: u32,
        control: &Control,
    ) -> Result<RunnerProcess, SetupError> {
        let mailbox = control.open_mailbox(worker);
        let printed = Arc::new(Log::new(OUTPUT));
        let variables = [
            (CONTROL_VARIABLE, control.url()),
            (TOKEN_VARIABLE, mailbox.token().to_owned()),
            ("MURPHY_WORKER", worker.to_string()),
        ];
        let program = &self.programs[worker as usize];
        let process = program.start(variables, Children::EndWithIt, &printed)?;
        let within = self.start_within;
        let ready = async {
            tokio::select! {
                biased;
                () = mailbox.ready() => Ok(()),
                exit = process.ended() => Err(format!("ended before it asked what to do: {exit}")),
            }
        };
        let ready = timeout(within, ready).await;
        match ready.unwrap_or_else(|_| Err(format!("did not ask what to do within {within:?}"))) {
            Ok(()) => Ok(RunnerProcess {
                process,
                mailbox,
                printed,
            }),
            Err(why) => Err(SetupError::new(format!("{} {why}", self.what))
                .hint("run its command by hand; does it collect its tests? `--fresh` and a scenario without `each` run it as it is")
                .printed("runner", printed.text())),
        }
    }
}

/// A runner that is up; killed when dropped.
pub(crate) struct RunnerProcess {
    process: Process,
    mailbox: OpenMailbox,
    printed: Arc<Log>,
}

impl RunnerProcess {
    pub(super) fn runs(&self) -> bool {
        self.process.runs()
    }

    /// It runs a test next.
    pub(super) fn is_next(&self) {
        self.mailbox.is_next();
    }

    /// How far its own output has come.
    pub(super) fn mark(&self) -> u64 {
        self.printed.mark()
    }

    /// What it printed since beside its tests.
    pub(super) fn printed_since(&self, mark: u64) -> String {
        self.printed.since(mark)
    }

    /// Runs a test once.
    pub(super) async fn run(&self, order: RunOrder) -> Result<TestResult, Exit> {
        let result = self.mailbox.run(order);
        self.unless_it_ends(result).await
    }

    /// The tests it has found.
    pub(crate) async fn list(&self) -> Result<Listing, SetupError> {
        let listing = self.unless_it_ends(self.mailbox.list());
        let listing = timeout(LIST_WITHIN, listing).await;
        let broken = |why: String| {
            SetupError::new(format!("the tests could not be listed: the runner {why}"))
                .printed("runner", self.printed.text())
        };
        match listing {
            Ok(Ok(listing)) => Ok(listing),
            Ok(Err(exit)) => Err(broken(format!("ended: {exit}"))),
            Err(_) => Err(broken(format!("did not answer within {LIST_WITHIN:?}"))),
        }
    }

    async fn unless_it_ends<T>(
        &self,
        answer: tokio::sync::oneshot::Receiver<T>,
    ) -> Result<T, Exit> {
        tokio::select! {
            biased;
            Ok(answer) = answer => Ok(answer),
            exit = self.process.ended() => Err(exit),
        }
    }

    /// Lets it tear down and end, and kills it where it does not.
    pub(super) async fn stop(self) {
        self.mailbox.stop();
        if timeout(END_WITHIN, self.process.ended()).await.is_err() {
            self.kill().await;
        }
    }

    pub(super) async fn kill(&self) {
        self.process.kill().await;
    }
}
