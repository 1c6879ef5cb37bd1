//! How a campaign is told to stop from outside.
//!
//! Owns the two degrees of it. Who says so (Ctrl-C, a test) is not known here.

use tokio::sync::watch;

/// Whether and how a campaign is to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Go on.
    #[default]
    No,
    /// Begin nothing more, finish what is under way.
    Graceful,
    /// Drop what is under way.
    Now,
}

/// Tells a campaign to stop.
#[derive(Debug, Default)]
pub struct Stopper(watch::Sender<Stop>);

/// Learns of it.
#[derive(Clone, Debug)]
pub struct Stopping(watch::Receiver<Stop>);

impl Stopper {
    /// One that has not said anything yet.
    pub fn new() -> Self {
        Stopper::default()
    }

    /// To be given to the campaign.
    pub fn stopping(&self) -> Stopping {
        Stopping(self.0.subscribe())
    }

    /// Asks to stop; the second time at once.
    pub fn stop(&self) {
        self.0.send_modify(|stop| {
            *stop = match stop {
                Stop::No => Stop::Graceful,
                Stop::Graceful | Stop::Now => Stop::Now,
            };
        });
    }
}

impl Stopping {
    /// Nobody will ever ask.
    pub fn never() -> Self {
        Stopper::new().stopping()
    }

    /// What was asked up to now.
    pub fn requested(&self) -> Stop {
        *self.0.borrow()
    }

    /// Waits until a faster stop is asked for than `than`; for ever if
    /// nobody is there to ask.
    pub async fn more_than(&mut self, than: Stop) {
        if self.0.wait_for(|stop| *stop > than).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_second_request_stops_now() {
        let stopper = Stopper::new();
        let mut stopping = stopper.stopping();
        assert_eq!(stopping.requested(), Stop::No);
        stopper.stop();
        stopping.more_than(Stop::No).await;
        assert_eq!(stopping.requested(), Stop::Graceful);
        stopper.stop();
        stopping.more_than(Stop::Graceful).await;
        assert_eq!(stopping.requested(), Stop::Now);
    }
}
