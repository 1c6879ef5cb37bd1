//! Example systems with known bugs.
//!
//! Every system is written once, as ordinary async handlers over the small
//! [`net::Net`] trait: [`sim`] runs it in memory, deterministically, and
//! [`sockets`] serves it on loopback ports. Each one declares its scenario,
//! its switches, the errors its services can raise and what must be found in
//! it ([`app`]), so that every strategy is checked against the same truth.

pub mod app;
pub mod apps;
pub mod brute;
pub mod deployments;
mod faults;
pub mod generated;
mod names;
pub mod net;
pub mod overlap;
pub mod sim;
pub mod skeleton;
pub mod sockets;
mod wire;

pub use app::{
    App, Expected, Outcome, Service, SettingError, Settings, Switch, System, Values, stands_for,
};
pub use apps::{all, find};
pub use faults::FaultSet;
pub use sim::Simulator;
pub use wire::Wire;
