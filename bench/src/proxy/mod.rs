//! What a request costs through each proxy, and what traffic leaves behind.
//!
//! Owns `bench/proxy`. [`run`] is where it begins, [`compare`] is the story of a comparison and [`memory`]
//! that of the memory checks; the files beside them are one part each: the
//! programs ([`nginx`], [`haproxy`], [`envoy`], [`plain_hyper`], [`murphy`]
//! and the [`upstream`] behind them all), the [`load`] put on them, the
//! readings taken ([`process`], [`cpu`], [`resident`]) and what is made of
//! them ([`bars`], [`table`], [`raw`]).
//!
//! Everything that is measured runs in a process of its own, so that its
//! processor time and memory are its own; the programs written here are this
//! same binary, started again with a [`role`].

pub mod args;
pub mod bars;
pub mod body;
pub mod check;
pub mod client;
pub mod compare;
pub mod cpu;
pub mod envoy;
pub mod haproxy;
pub mod load;
pub mod memory;
pub mod murphy;
pub mod nginx;
pub mod plain_hyper;
pub mod process;
pub mod profile;
pub mod protocol;
pub mod raw;
pub mod resident;
pub mod role;
pub mod rounds;
pub mod run;
pub mod scratch;
pub mod statistics;
pub mod stop;
pub mod subject;
pub mod table;
pub mod tls;
pub mod tools;
pub mod upstream;
