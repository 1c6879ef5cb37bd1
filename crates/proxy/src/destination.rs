//! A destination: a service, as it is reached through one listener of one
//! worker thread.
//!
//! Owns what the two protocol engines share for a call: whose traffic it is,
//! where it goes, and the connections kept open to the service. Which
//! destination a request is for is the listener's business.

use std::sync::Arc;

use murphy_registry::{Control, Origin};

use crate::connect::Upstream;
use crate::interfaces::Interfaces;
use crate::settings::Settings;
use crate::{h1, h2};

/// A service, as it is reached through one listener of one worker thread.
pub(crate) struct Destination {
    pub(crate) service: Arc<str>,
    /// How it is reached.
    pub(crate) upstream: Box<dyn Upstream>,
    /// What requests must name as their host, where it is not what they came
    /// with: servers of many hosts go by it, and callers know our address only.
    pub(crate) authority: Option<Box<str>>,
    /// Whose traffic comes in here.
    pub(crate) origin: Origin,
    /// The control plane.
    pub(crate) control: Arc<dyn Control>,
    /// What is set.
    pub(crate) settings: Arc<Settings>,
    /// What it was asked for lately.
    pub(crate) interfaces: Interfaces,
    /// HTTP/1.1 connections to the service.
    pub(crate) h1: h1::Pool,
    /// HTTP/2 connections to the service.
    pub(crate) h2: h2::Pool,
}

impl Destination {
    /// A service of which nothing is known yet.
    pub(crate) fn new(
        service: &str,
        upstream: Box<dyn Upstream>,
        origin: Origin,
        control: Arc<dyn Control>,
        settings: Arc<Settings>,
    ) -> Self {
        Destination {
            service: service.into(),
            upstream,
            authority: None,
            origin,
            control,
            settings,
            interfaces: Interfaces::default(),
            h1: h1::Pool::default(),
            h2: h2::Pool::default(),
        }
    }
}
