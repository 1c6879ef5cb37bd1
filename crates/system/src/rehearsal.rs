//! What has to be seen before a TLS handshake can fail.
//!
//! A handshake says nothing of its call: which one it is for is known from the
//! same course of things without the fault. A search mostly has seen that
//! before; a replay, or a campaign that goes on with what was stored, has not.
//! Owns which executions those are.

use murphy_model::{Fault, Faultload};

/// Above this, there would be more executions than it is worth.
const MOST: usize = 4;

/// The executions that must have been seen, those with fewer faults first.
pub(crate) fn before(faultload: &Faultload) -> Vec<Faultload> {
    let is_tls = |fault: &Fault| fault.mode.tls().is_some();
    let (tls, others): (Vec<Fault>, Vec<Fault>) = faultload.faults().partition(is_tls);
    let sets = match tls.len() {
        0 => 0,
        few if few <= MOST => (1_usize << few) - 1,
        _ => 1,
    };
    let mut sets: Vec<usize> = (0..sets).collect();
    sets.sort_by_key(|set| set.count_ones());
    let with = |set: usize| {
        let kept = tls.iter().enumerate();
        let kept = kept.filter(move |(at, _)| set >> at & 1 == 1);
        let all = others.iter().chain(kept.map(|(_, fault)| fault));
        Faultload::new(all.cloned()).expect("a part of what goes together does")
    };
    sets.into_iter().map(with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rehearsed(faults: &str) -> Vec<String> {
        let before = before(&faults.parse().unwrap());
        before.iter().map(Faultload::to_string).collect()
    }

    #[test]
    fn all_is_seen_without_some_of_the_handshakes_that_fail() {
        assert_eq!(rehearsed("none"), [""; 0]);
        assert_eq!(rehearsed("a GET / = 503"), [""; 0]);
        assert_eq!(rehearsed("a GET / = tls:name"), ["none"]);
        assert_eq!(
            rehearsed("a GET / = 503, b GET / = tls:name"),
            ["a GET / = 503"]
        );
        assert_eq!(
            rehearsed("a GET / = tls:name, b GET / = tls:name"),
            ["none", "a GET / = tls:name", "b GET / = tls:name"]
        );
    }
}
