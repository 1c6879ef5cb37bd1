//! What the files of a project say about its services, for a first `murphy.toml`.
//!
//! Owns where addresses of services are looked for (command lines, `.env` and
//! compose files, code that reads the environment), which commands start services
//! and run tests, which variables therefore lead through Murphy, and the text
//! that is written. Arguments, questions and the file itself are the command
//! line's business.

pub mod address;
pub mod code;
pub mod command_line;
pub mod commands;
pub mod compose;
pub mod dotenv;
pub mod plan;
pub mod refusals;
pub mod test_files;
pub mod text;
pub mod wires;
