//! HTTP/1.1 on real sockets: callers and callees are written by hand, byte by
//! byte, so that nothing between them and the proxy hides what was sent.

mod bodies;
mod broken;
mod connections;
mod expect;
mod faults;
mod hostile;
mod order;
mod refused;
mod storm;
#[path = "../tap/mod.rs"]
mod tap;
mod transparency;
mod upgrades;
mod wire;
