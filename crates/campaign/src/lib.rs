//! Runs a campaign: scenarios under faultloads, from the reference to the
//! certificate.
//!
//! One owner ([`run`]) holds the state of a run and tells what happened
//! as [`Event`]s; terminal, reports and the store only listen. Where a
//! scenario runs is a [`World`]: a system described in `murphy.toml` (`system`),
//! an example system on sockets or in memory. What to try next is the
//! strategy's decision (`search`), what is held against an execution the
//! oracles' (`oracle`), what is kept of it the store's (`store`).

mod answer_masks;
mod campaign;
pub mod directory;
mod doubts;
mod equal_calls;
mod first_run;
mod judge;
mod redacted;
mod reference;
mod retrace;
mod searcher;
mod settings;
pub mod since;
mod stable;
mod stop;
mod volatile;
mod world;

pub use campaign::{Failed, Memory, Outcome, STATE_LEFT_BEHIND, run};
pub use doubts::uncalled;
pub use murphy_model::{Event, LeftBehind, Sink, Standing};
pub use redacted::redacted;
pub use reference::{Chosen, Refused, run as references};
pub use retrace::{Retraced, retrace};
pub use searcher::Searcher;
pub use settings::{Heading, IdentityChoice, MayLeaveOut, REFERENCES, Settings, StrategyKind};
pub use stable::Varies;
pub use stop::{Hurry, Stopper, Stopping};
pub use world::{BrokenWorld, Executing, Job, Keep, World};
