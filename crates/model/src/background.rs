//! Calls that a service makes in the background, for no request that is known.
//!
//! Owns how such a call is described and recognised. Without trace context it
//! is luck which request is under way when a worker thread makes it, so it can
//! stand under none of them. Finding these calls is the campaign's job.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Interface, Place, Point};

/// A call in the background of a service.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BackgroundCall {
    /// The service that makes it; nothing where several could.
    pub caller: Option<Arc<str>>,
    /// What it asks for; `{}` in a path stands for any segment.
    pub callee: Place,
    /// What is called for it, as far as that is certain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub makes: Vec<Place>,
}

impl BackgroundCall {
    /// Whether a request of `caller`, if that is known, is this call.
    pub fn is(&self, caller: Option<&str>, destination: &str, interface: &Interface) -> bool {
        let is_caller = self.caller.is_none() || self.caller.as_deref() == caller;
        is_caller && self.goes_to(destination, interface)
    }

    /// Whether both are the same call, whatever is called for it.
    pub fn is_same(&self, other: &BackgroundCall) -> bool {
        self.caller == other.caller && self.callee == other.callee
    }

    /// Whether it is known to lead to a call like this one.
    pub fn makes(&self, destination: &str, interface: &Interface) -> bool {
        let mut makes = self.makes.iter();
        makes.any(|it| it.is_alike(destination, interface))
    }

    /// Whether a point is this call, or was called for it, whoever made it.
    pub fn is_above(&self, point: &Point) -> bool {
        let mut frames = point.frames().into_iter();
        frames.any(|it| self.goes_to(&it.destination, &it.interface))
    }

    fn goes_to(&self, destination: &str, interface: &Interface) -> bool {
        self.callee.is_alike(destination, interface)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_in_the_background_is_known_by_caller_service_and_template() {
        let mail = BackgroundCall {
            caller: Some("booking".into()),
            callee: "mail POST /boxes/{}/messages".parse().unwrap(),
            makes: vec!["store PUT /{}".parse().unwrap()],
        };
        assert!(mail.makes("store", &Interface::http("PUT", "/7")));
        assert!(!mail.makes("store", &Interface::http("GET", "/7")));
        let sent = |path| Interface::http("POST", path);
        let booking = Some("booking");
        assert!(mail.is(booking, "mail", &sent("/boxes/ann/messages")));
        assert!(!mail.is(Some("gate"), "mail", &sent("/boxes/ann/messages")));
        assert!(!mail.is(None, "mail", &sent("/boxes/ann/messages")));
        assert!(!mail.is(booking, "shop", &sent("/boxes/ann/messages")));
        assert!(!mail.is(booking, "mail", &sent("/boxes/ann")));
        let anyones = BackgroundCall {
            caller: None,
            ..mail.clone()
        };
        assert!(anyones.is(None, "mail", &sent("/boxes/ann/messages")));
        assert!(anyones.is(Some("gate"), "mail", &sent("/boxes/ann/messages")));
        let below = "gate GET / > mail POST /boxes/{}/messages > shop GET /orders";
        assert!(mail.is_above(&below.parse().unwrap()));
        assert!(!mail.is_above(&"gate GET / > shop GET /orders".parse().unwrap()));
    }
}
