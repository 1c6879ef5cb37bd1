//! Runs a campaign: scenarios under faultloads, from the reference to the
//! certificate.
//!
//! One owner ([`run`]) holds the state of a run and tells what happened
//! as [`Event`]s; terminal, reports and the store only listen. Where a
//! scenario runs is a [`World`]: a system described in `murphy.toml` (`system`),
//! an example system on sockets or in memory. What to try next is the
//! strategy's decision (`search`), complaints about an execution the
//! oracles' (`oracle`), what is kept of it the store's (`store`).

mod answer_masks;
mod background;
mod campaign;
pub mod directory;
mod equal_calls;
mod first_run;
mod infer_identity;
mod judge;
mod left_out;
mod redacted;
mod reference;
mod retrace;
mod searcher;
mod settings;
pub mod since;
mod stop;
mod uncertainty;
mod volatile;
mod world;

pub use campaign::{Failed, Memory, Outcome, STATE_LEFT_BEHIND, run};
pub use infer_identity::Varies;
pub use left_out::flags as left_out_flags;
pub use murphy_model::{Event, LeftBehind, Sink, Standing};
pub use reference::{ReferenceRuns, Refused, ResolvedIdentity, run as references};
pub use retrace::{Retraced, retrace};
pub use searcher::Searcher;
pub use settings::{Droppable, Heading, IdentityChoice, REFERENCES, Settings, StrategyKind};
pub use stop::{Stop, Stopper, Stopping};
pub use uncertainty::uncalled;
pub use world::{Executing, Job, Keep, SetupError, World};
