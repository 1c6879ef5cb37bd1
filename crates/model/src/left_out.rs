//! Calls that vary without faults and are left out of a campaign.
//!
//! Owns how such a call is described and recognised; finding them in the
//! references is the campaign's job. They are passed on and in no trace: what
//! comes and goes by itself says nothing about faults.

use serde::{Deserialize, Serialize};

use crate::{Frame, Point};

/// A call that varies, with all that is called for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutCall {
    /// The call, by services and interfaces alone, whichever attempt it is:
    /// where their number varies, none of them is sure to be made.
    pub at: Point,
    /// How it varies, as in "is called 2, then 3 times".
    pub how: String,
}

impl LeftOutCall {
    /// The call at a point that varies so.
    pub fn new(at: &Point, how: String) -> Self {
        let frames = at.frames().into_iter();
        let bare = |it: &Frame| Frame::new(&it.destination, it.interface.clone()).nth(it.count);
        let at = Point::from_frames(frames.map(bare)).expect("as many frames as before");
        let at = at.attempt(1);
        LeftOutCall { at, how }
    }

    /// Whether a point is this call.
    pub fn is(&self, point: &Point) -> bool {
        point.depth() == self.at.depth() && self.is_above(point)
    }

    /// Whether a point is this call, or below it.
    pub fn is_above(&self, point: &Point) -> bool {
        let (own, others) = (self.at.frames(), point.frames());
        let last = own.len() - 1;
        let is_alike = |(depth, (own, other)): (usize, (&&Frame, &&Frame))| {
            (depth == last || own.count == other.count)
                && own.destination == other.destination
                && own.interface.is_alike(&other.interface)
        };
        own.len() <= others.len() && own.iter().zip(&others).enumerate().all(is_alike)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attempt_and_what_is_called_for_it_are_left_out() {
        let point = |text: &str| text.parse::<Point>().unwrap();
        let call = LeftOutCall::new(&point("shop GET /buy > jobs GET /state #3"), String::new());
        for (text, expected) in [
            ("shop GET /buy > jobs GET /state", true),
            ("shop GET /buy > jobs GET /state #4 > db GET /", true),
            ("shop GET /buy #2 > jobs GET /state #3", false),
            ("shop GET /buy > jobs GET /other #3", false),
            ("shop GET /buy", false),
        ] {
            assert_eq!(call.is_above(&point(text)), expected, "{text}");
        }
    }
}
