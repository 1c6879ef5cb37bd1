//! Runs a campaign: scenarios under faultloads, from the reference to the
//! certificate.
//!
//! One owner ([`Campaign`]) holds the state of a run and tells what happened
//! as [`Event`]s; terminal, reports and the [`store`] only listen. Where a
//! scenario runs is a [`World`]: a system described in `murphy.toml`
//! ([`live`]), an example system on sockets or in memory. What to try next is
//! the strategy's decision (`search`), what is held against an execution the
//! oracles' (`oracle`).

mod event;
pub mod live;
mod world;

pub use event::{Event, Sink, Standing};
pub use world::{BrokenWorld, References, World};
