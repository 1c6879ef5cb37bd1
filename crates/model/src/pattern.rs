//! Patterns: one expression for many points.
//!
//! Owns matching. A pattern is written like a point, with `*` in text fields
//! and a leading `** >` for any path; what it does not mention (attempt,
//! payload, predecessors, call site) matches anything. A pattern of a single
//! frame stands for calls by anyone; with a leading `^`, for entry calls.

use std::sync::Arc;

use crate::{Frame, Interface, Point, Predecessors};

/// A text with `*` wildcards, each standing for any run of characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text {
    /// The literal pieces between the wildcards; one piece means no wildcard.
    pieces: Vec<Arc<str>>,
}

impl Text {
    /// Exactly this text; a `*` in it is a plain character.
    pub fn exactly(text: &str) -> Self {
        Text {
            pieces: vec![text.into()],
        }
    }

    /// Any text.
    pub fn any() -> Self {
        Text::from_pieces(["", ""])
    }

    /// The literal pieces between wildcards, in order.
    pub fn from_pieces<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        let pieces: Vec<Arc<str>> = pieces.into_iter().map(Arc::from).collect();
        assert!(!pieces.is_empty(), "a text has at least one piece");
        Text { pieces }
    }

    /// The literal pieces between wildcards, in order.
    pub fn pieces(&self) -> &[Arc<str>] {
        &self.pieces
    }

    /// The text itself, if there is no wildcard in it.
    pub fn literal(&self) -> Option<&Arc<str>> {
        match self.pieces.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Whether `text` fits.
    pub fn matches(&self, text: &str) -> bool {
        let [first, middle @ .., last] = self.pieces.as_slice() else {
            return *self.pieces[0] == *text;
        };
        let Some(rest) = text.strip_prefix(&**first) else {
            return false;
        };
        let Some(mut rest) = rest.strip_suffix(&**last) else {
            return false;
        };
        // Taking the earliest fit of each piece leaves the most for the others.
        for piece in middle {
            match rest.find(&**piece) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        true
    }
}

/// Which attempts of a call a frame pattern means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attempts {
    /// The n-th, from 1.
    Exactly(u32),
    /// The first n.
    UpTo(u32),
    /// All of them.
    Any,
}

impl Attempts {
    /// Whether the attempt with this count is meant.
    pub fn matches(&self, count: u32) -> bool {
        match self {
            Attempts::Exactly(n) => count == *n,
            Attempts::UpTo(n) => count <= *n,
            Attempts::Any => true,
        }
    }
}

/// An interface with wildcards.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InterfacePattern {
    /// Anything that can be asked for.
    Any,
    /// An HTTP method and path template.
    Http {
        /// The request method.
        method: Text,
        /// The path template.
        path: Text,
    },
    /// A gRPC method, matched as `package.Service/Method`.
    Grpc(Text),
}

impl InterfacePattern {
    fn matches(&self, interface: &Interface) -> bool {
        match (self, interface) {
            (InterfacePattern::Any, _) => true,
            (InterfacePattern::Http { method, path }, Interface::Http { method: m, path: p }) => {
                method.matches(m) && path.matches(p)
            }
            (InterfacePattern::Grpc(text), Interface::Grpc { service, method }) => {
                text.matches(&format!("{service}/{method}"))
            }
            _ => false,
        }
    }

    fn as_interface(&self) -> Option<Interface> {
        match self {
            InterfacePattern::Any => None,
            InterfacePattern::Http { method, path } => Some(Interface::Http {
                method: method.literal()?.clone(),
                path: path.literal()?.clone(),
            }),
            InterfacePattern::Grpc(text) => {
                let (service, method) = text.literal()?.rsplit_once('/')?;
                Some(Interface::grpc(service, method))
            }
        }
    }
}

/// One frame with wildcards; `None` in an optional field matches anything.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FramePattern {
    /// The service called.
    pub destination: Text,
    /// What it is asked for.
    pub interface: InterfacePattern,
    /// Leading hexadecimal digits of the payload's hash, in lower case.
    pub payload: Option<Arc<str>>,
    /// The completed siblings, all of them.
    pub predecessors: Option<Predecessors>,
    /// Where in the caller's code.
    pub site: Option<Text>,
    /// Which attempts.
    pub count: Attempts,
}

impl FramePattern {
    /// Whether `frame` fits.
    pub fn matches(&self, frame: &Frame) -> bool {
        self.count.matches(frame.count)
            && self.destination.matches(&frame.destination)
            && self.interface.matches(&frame.interface)
            && self.payload.as_ref().is_none_or(|start| {
                frame
                    .payload
                    .is_some_and(|hash| hash.to_string().starts_with(&**start))
            })
            && self
                .predecessors
                .as_ref()
                .is_none_or(|wanted| frame.predecessors.as_ref() == Some(wanted))
            && self
                .site
                .as_ref()
                .is_none_or(|site| frame.site.as_ref().is_some_and(|s| site.matches(s)))
    }

    /// The frame spelled out, if nothing in it is a wildcard or cut short.
    fn as_frame(&self) -> Option<Frame> {
        let payload = match &self.payload {
            None => None,
            Some(digits) => Some(digits.parse().ok()?),
        };
        let site = match &self.site {
            None => None,
            Some(site) => Some(site.literal()?.clone()),
        };
        let Attempts::Exactly(count) = self.count else {
            return None;
        };
        Some(Frame {
            destination: self.destination.literal()?.clone(),
            interface: self.interface.as_interface()?,
            payload,
            predecessors: self.predecessors.clone(),
            site,
            count,
        })
    }

    /// Whether no text in it has a wildcard.
    fn is_spelled_out(&self) -> bool {
        self.destination.literal().is_some()
            && self.interface.as_interface().is_some()
            && self.site.as_ref().is_none_or(|it| it.literal().is_some())
    }
}

/// A point with wildcards.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern {
    /// Whether any chain may lead to the first frame (`** >`).
    pub anywhere: bool,
    /// The frames, entry call first; never empty.
    pub frames: Vec<FramePattern>,
}

impl From<&Frame> for FramePattern {
    /// This frame, whatever it does not tell: payload, predecessors, site.
    fn from(frame: &Frame) -> Self {
        let interface = match &frame.interface {
            Interface::Http { method, path } => InterfacePattern::Http {
                method: Text::exactly(method),
                path: Text::exactly(path),
            },
            Interface::Grpc { service, method } => {
                InterfacePattern::Grpc(Text::exactly(&format!("{service}/{method}")))
            }
        };
        FramePattern {
            destination: Text::exactly(&frame.destination),
            interface,
            payload: frame.payload.map(|hash| hash.to_string().into()),
            predecessors: frame.predecessors.clone(),
            site: frame.site.as_deref().map(Text::exactly),
            count: Attempts::Exactly(frame.count),
        }
    }
}

impl From<&Point> for Pattern {
    /// Every point that is this one as far as this one tells.
    fn from(point: &Point) -> Self {
        Pattern {
            anywhere: false,
            frames: point.frames().into_iter().map(FramePattern::from).collect(),
        }
    }
}

impl Pattern {
    /// Whether the call at `point` is meant.
    pub fn matches(&self, point: &Point) -> bool {
        let enough = match self.anywhere {
            true => point.depth() >= self.frames.len(),
            false => point.depth() == self.frames.len(),
        };
        let chain = std::iter::successors(Some(point), |p| p.parent());
        enough
            && chain
                .zip(self.frames.iter().rev())
                .all(|(point, pattern)| pattern.matches(point.frame()))
    }

    /// Whether the call at `point` is meant where something is injected: an
    /// entry call only by a pattern that says so.
    pub fn injects(&self, point: &Point) -> bool {
        let is_entry = point.parent().is_none();
        !(is_entry && self.anywhere) && self.matches(point)
    }

    /// Whether one call is named, with nothing left open but its attempts:
    /// written as a fault's target, it is a point.
    pub(crate) fn is_spelled_out(&self) -> bool {
        !self.anywhere && self.frames.iter().all(FramePattern::is_spelled_out)
    }

    /// The point spelled out, if there is no wildcard in the pattern.
    pub fn as_point(&self) -> Option<Point> {
        if self.anywhere {
            return None;
        }
        let frames: Option<Vec<Frame>> = self.frames.iter().map(FramePattern::as_frame).collect();
        Point::from_frames(frames?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_stand_for_any_run_of_characters() {
        let cases = [
            (&["a"][..], "a", true),
            (&["a"], "ab", false),
            (&["", ""], "", true),
            (&["/users/", ""], "/users/1", true),
            (&["/users/", ""], "/user/1", false),
            (&["a", "b", "c"], "aXbYc", true),
            (&["a", "b", "c"], "abc", true),
            (&["a", "b", "c"], "acb", false),
            (&["ab", "ba"], "aba", false),
            (&["", "x", "x", ""], "axbxc", true),
            (&["", "x", "x", ""], "axb", false),
        ];
        for (pieces, text, fits) in cases {
            let pattern = Text::from_pieces(pieces.iter().copied());
            assert_eq!(pattern.matches(text), fits, "{pieces:?} on {text}");
        }
    }
}
