//! Dialects: which cloud service a request is for, and how that service says
//! that it failed. SDKs go by the error code in a body or header to decide what
//! to raise and whether to try again; some cannot even read another body.
//!
//! Owns the data file that is shipped (`dialects.toml`), recognition, and the
//! answers that are made from it. Knows nothing of connections or faults, so
//! that whoever injects errors uses the same ones: the proxy, and suites.

mod answer;
mod dialects;
mod glob;
mod recognition;
mod template;

pub use answer::Answer;
pub use dialects::{Dialect, DialectTable, Dialects};
pub use recognition::Request;
