//! HTTP/2 through the proxy, frame by frame: callers and callees are made by
//! hand on the `h2` crate, so that every frame that arrives can be looked at.
//! What would pass without a proxy passes here; that is the point.

mod connections;
mod endings;
mod flow;
mod recorded;
mod retries;
mod shapes;
mod support;
mod transparency;
