//! Names of services that are made up.
//!
//! Services are called by names that live as long as the process. Systems
//! whose services are counted, not written down, are built again and again:
//! here each name is made once, whoever asks for it.

use std::collections::BTreeSet;
use std::sync::Mutex;

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// This name, for as long as the process lives.
pub(crate) fn lasting(name: String) -> &'static str {
    let mut names = NAMES.lock().expect("no panic while naming");
    if let Some(known) = names.get(name.as_str()) {
        return known;
    }
    let new = &*Box::leak(name.into_boxed_str());
    names.insert(new);
    new
}

#[cfg(test)]
mod tests {
    use super::lasting;

    #[test]
    fn a_name_is_made_once() {
        let (first, again) = (lasting("twice".to_owned()), lasting("twice".to_owned()));
        assert_eq!(first, "twice");
        assert!(std::ptr::eq(first, again));
        assert_ne!(lasting("once".to_owned()), first);
    }
}
