//! How a campaign is told to stop from outside.
//!
//! Owns the two degrees of it. Who says so (Ctrl-C, a test) is not known here.

use tokio::sync::watch;

/// How much of a hurry there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hurry {
    /// None: go on.
    #[default]
    None,
    /// Begin nothing more, finish what is under way.
    Finish,
    /// Drop what is under way.
    Now,
}

/// Tells a campaign to stop.
#[derive(Debug, Default)]
pub struct Stopper(watch::Sender<Hurry>);

/// Learns of it.
#[derive(Clone, Debug)]
pub struct Stopping(watch::Receiver<Hurry>);

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
    pub fn hurry(&self) {
        self.0.send_modify(|hurry| {
            *hurry = match hurry {
                Hurry::None => Hurry::Finish,
                Hurry::Finish | Hurry::Now => Hurry::Now,
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
    pub fn hurry(&self) -> Hurry {
        *self.0.borrow()
    }

    /// Waits until more of a hurry is asked for than `than`; for ever if
    /// nobody is there to ask.
    pub async fn more_than(&mut self, than: Hurry) {
        if self.0.wait_for(|hurry| *hurry > than).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_second_word_is_the_stronger_one() {
        let stopper = Stopper::new();
        let mut stopping = stopper.stopping();
        assert_eq!(stopping.hurry(), Hurry::None);
        stopper.hurry();
        stopping.more_than(Hurry::None).await;
        assert_eq!(stopping.hurry(), Hurry::Finish);
        stopper.hurry();
        stopping.more_than(Hurry::Finish).await;
        assert_eq!(stopping.hurry(), Hurry::Now);
    }
}
