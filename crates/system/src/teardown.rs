//! The teardown, whatever the end.
//!
//! A campaign that is interrupted (a signal while it finds its feet, a set-up
//! that fails half-way) drops its world, and what the set-up made must not
//! stay. Owns that case; a world that is stopped gracefully does it itself.

use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::time::timeout;

use super::spec::StepSpec;
use super::steps::Steps;
use super::template::Places;

/// Whoever has asked for an end does not wait for long.
const WITHIN: Duration = Duration::from_secs(10);

/// Tears down when dropped, unless it is let off.
pub(super) struct Teardown {
    steps: Vec<StepSpec>,
    direct: Places,
    mark: String,
}

impl Teardown {
    /// From now on there is something to be torn down.
    pub(super) fn owed(steps: &[StepSpec], direct: &Places, mark: &str) -> Self {
        // A function may need the runtime that has to wait meanwhile.
        let alone = |step: &&StepSpec| !matches!(step, StepSpec::Function(_));
        Teardown {
            steps: steps.iter().filter(alone).cloned().collect(),
            direct: direct.clone(),
            mark: mark.to_owned(),
        }
    }

    /// It is done in another way.
    pub(super) fn let_off(&mut self) {
        self.steps.clear();
    }

    fn run(&self) {
        let Ok(runtime) = Builder::new_current_thread().enable_all().build() else {
            return;
        };
        let torn_down = async {
            let steps = Steps::prepare("teardown", &self.steps, &self.direct, &self.mark).await?;
            steps.run_all().await
        };
        // There is nobody left to be told what does not work.
        let _ = runtime.block_on(async { timeout(WITHIN, torn_down).await });
    }
}

impl Drop for Teardown {
    fn drop(&mut self) {
        if self.steps.is_empty() {
            return;
        }
        // On a thread of its own: this one may be a runtime's, which cannot
        // wait for another.
        thread::scope(|scope| {
            scope.spawn(|| self.run());
        });
    }
}
