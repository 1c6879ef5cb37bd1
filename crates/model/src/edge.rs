//! Edges: who calls whom for what, however it came about.
//!
//! Owns the coarse identity of a call. A [`crate::Point`] identifies calls as
//! finely as a fault must be aimed; a timeout or a retry is configured once
//! for all calls of an edge, so that is what they are told by.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Frame, Interface, Point, SyntaxError};

/// Something that a service can be asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The service.
    pub service: Arc<str>,
    /// What it is asked for.
    pub interface: Interface,
}

impl Place {
    /// Where a call goes.
    pub fn of(point: &Point) -> Self {
        Self::of_frame(point.frame())
    }

    /// Whether a request goes here; `{}` in a path stands for any segment.
    pub fn is_alike(&self, service: &str, interface: &Interface) -> bool {
        *self.service == *service && self.interface.is_alike(interface)
    }

    fn of_frame(frame: &Frame) -> Self {
        Place {
            service: frame.destination.clone(),
            interface: frame.interface.clone(),
        }
    }
}

impl std::str::FromStr for Place {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        text.parse().map(|frame| Place::of_frame(&frame))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Frame::new(&self.service, self.interface.clone()).fmt(f)
    }
}

/// Who calls whom for what.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Edge {
    /// What the caller was asked for; `None` if the scenario itself calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Place>,
    /// What it asks for in turn.
    pub callee: Place,
}

impl Edge {
    /// The edge that a call is made on.
    pub fn of(point: &Point) -> Self {
        Edge {
            caller: point.parent().map(Place::of),
            callee: Place::of(point),
        }
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.caller {
            Some(caller) => write!(f, "{caller} > {}", self.callee),
            None => self.callee.fmt(f),
        }
    }
}
