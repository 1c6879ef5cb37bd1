//! What was asked for lately.
//!
//! Owns giving the same interface the same memory: a service is asked for few
//! things many times, and the record of an execution keeps every one of them.

use std::sync::{Mutex, PoisonError};

use murphy_model::Interface;

use crate::grpc;

/// How many are remembered. Those that get in each other's way are only made
/// anew.
const PLACES: usize = 64;

/// The interfaces asked for lately at one listener.
pub(crate) struct Interfaces(Mutex<[Option<Known>; PLACES]>);

struct Known {
    /// Without it, what was asked for is a method of gRPC.
    method: Option<Box<str>>,
    path: Box<str>,
    interface: Interface,
}

impl Default for Interfaces {
    fn default() -> Self {
        Interfaces(Mutex::new([const { None }; PLACES]))
    }
}

impl Interfaces {
    /// The interface behind a method and a path of HTTP.
    pub(crate) fn http(&self, method: &str, path: &str) -> Interface {
        self.get(Some(method), path, || Interface::http(method, path))
    }

    /// The interface behind a path of gRPC.
    pub(crate) fn grpc(&self, path: &str) -> Interface {
        self.get(None, path, || grpc::interface(path))
    }

    fn get(&self, method: Option<&str>, path: &str, make: impl FnOnce() -> Interface) -> Interface {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = &mut places[place(method, path)];
        if let Some(known) = place
            && *known.path == *path
            && known.method.as_deref() == method
        {
            return known.interface.clone();
        }
        let interface = make();
        *place = Some(Known {
            method: method.map(Box::from),
            path: path.into(),
            interface: interface.clone(),
        });
        interface
    }
}

/// Where an interface is remembered: told by its length and its last letters.
fn place(method: Option<&str>, path: &str) -> usize {
    let seed = path.len() + method.map_or(0, str::len);
    let last = path.bytes().rev().take(8);
    let mixed = last.fold(seed, |mixed, byte| {
        mixed.wrapping_mul(31).wrapping_add(usize::from(byte))
    });
    mixed % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_what_was_asked_for() {
        let interfaces = Interfaces::default();
        for _ in 0..2 {
            for number in 0..10 * PLACES {
                let path = format!("/a/{number}");
                let expected = Interface::http("GET", &path);
                assert_eq!(interfaces.http("GET", &path), expected);
                assert_eq!(interfaces.http("PUT", &path), Interface::http("PUT", &path));
                assert_eq!(interfaces.grpc(&path), grpc::interface(&path));
            }
        }
    }

    #[test]
    fn the_same_is_not_made_twice() {
        let interfaces = Interfaces::default();
        let path = |interface: Interface| match interface {
            Interface::Http { path, .. } => path.as_ptr(),
            Interface::Grpc { service, .. } => service.as_ptr(),
        };
        let first = path(interfaces.http("GET", "/a"));
        assert_eq!(path(interfaces.http("GET", "/a")), first);
    }
}
