//! Murphy as a library: campaigns from Rust.
//!
//! [`Campaign`] tests a program's own services with a function as the test;
//! that is all most need. Below it, [`campaign`] runs a scenario under
//! faultloads in any [`World`](campaign::World), and [`demo`] offers the
//! example systems as worlds. The command line (`murphy-cli`) is built on it.

pub mod demo;
mod facade;
#[doc(hidden)]
pub mod harden;
#[doc(hidden)]
pub mod replays;
mod run_campaign;

#[doc(hidden)]
pub use facade::setup_error_text;
pub use facade::{
    Campaign, Error, IntoTestResult, Managed, Proxied, Report, Step, Strategy, why_one_at_a_time,
};
pub use murphy_campaign as campaign;
pub use murphy_model as model;
pub use murphy_report as report;
pub use murphy_search::{GRPC_MODES, HTTP_MODES, Reduction};
pub use murphy_system::spec::Session;
pub use replays::{ReplayError, ReplayResult, Replayed};
#[doc(hidden)]
pub use run_campaign::{Finished, run_campaign};
