//! Words for a world that is broken: short ways to write [`BrokenWorld`]s.

use murphy_campaign::BrokenWorld;

/// Something is wrong, and it is not known how to help.
pub(super) fn broken(message: impl Into<String>) -> BrokenWorld {
    BrokenWorld {
        message: message.into(),
        place: None,
        hint: None,
        logs: Vec::new(),
    }
}

/// Ways to say more.
pub(super) trait More {
    /// With where the part concerned is described, if it is known.
    fn at(self, place: &Option<String>) -> Self;

    /// With a way out.
    fn hint(self, hint: impl Into<String>) -> Self;

    /// With what a part concerned last printed, if it printed anything.
    fn printed(self, part: &str, text: String) -> Self;
}

impl More for BrokenWorld {
    fn at(mut self, place: &Option<String>) -> Self {
        self.place.clone_from(place);
        self
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn printed(mut self, part: &str, text: String) -> Self {
        if !text.trim().is_empty() {
            self.logs.push((part.to_owned(), text));
        }
        self
    }
}
