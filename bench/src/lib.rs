//! Side-by-side measurements and the published figures they are held against.

pub mod lineage;
pub mod measure;
pub mod predecessor;
pub mod proxy;
pub mod published;
pub mod services;
pub mod shops;
pub mod sockets;
pub mod twins;
