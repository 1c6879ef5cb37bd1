//! Explanations: what the lineage strategy made of a faultload, and why.
//!
//! Owns the words. What was run or follows from what was is the evidence's to
//! know, and the strategy's assumptions are told where they are relied upon.

use murphy_hitting::Set;
use murphy_model::Faultload;

use super::Lineage;
use super::evidence::Evidence;
use crate::catalogue::{FaultKey, FaultSet};
use crate::explain::Explanation;
use crate::resolve::NeverSeen;

const OPEN: &str = "no execution shows that it cannot fail, nor that a part of it fails";

impl Lineage {
    /// The faultloads over points seen that a faultload may mean, at most
    /// `most` of them.
    pub fn resolve(&self, faultload: &Faultload, most: usize) -> Result<Vec<Faultload>, NeverSeen> {
        self.evidence.catalogue.resolve(faultload, most)
    }

    /// What became of a faultload over points that were seen.
    pub fn explain(&self, faultload: &Faultload) -> Result<Explanation, NeverSeen> {
        let faults = match self.evidence.catalogue.numbered(faultload)? {
            Ok(faults) => faults,
            Err(mode) => return Ok(Explanation::unasked(mode)),
        };
        // Faults that were planned and were not injected had no part in it, so an
        // execution of exactly these is also one in which no others were injected.
        let injected = || self.injected.get(faultload).copied();
        if let Some(number) = self.number(faultload).or_else(injected) {
            return Ok(Explanation::Run { number });
        }
        let most = self.options.max_faults;
        let set = match self.set(&faults) {
            Ok(set) => set,
            Err(unasked) => return Ok(unasked),
        };
        Ok(match self.implied(&set) {
            Some(reason) => Explanation::Implied {
                reasons: vec![reason],
            },
            None if most.is_some_and(|most| set.len() > most) => Explanation::too_many(),
            None => Explanation::Open {
                reason: OPEN.to_owned(),
            },
        })
    }

    /// The faults as elements, unless this search never tries one of them.
    fn set(&self, faults: &FaultSet) -> Result<Set, Explanation> {
        let Evidence {
            catalogue,
            elements,
            ..
        } = &self.evidence;
        let element = |key: &FaultKey| {
            let element = elements.element(*key);
            element.ok_or_else(|| Explanation::unasked_fault(*key, catalogue))
        };
        faults.keys().iter().map(element).collect()
    }

    fn implied(&self, set: &Set) -> Option<String> {
        let mut failures = self.evidence.minimal_failures().into_iter();
        let part = failures.find(|failed| failed.is_subset(set));
        if let Some(part) = part.map(|part| self.faultload(part)) {
            let number = self.injected.get(&part);
            let seen = number.map_or_else(String::new, |it| format!(" (execution {it})"));
            return Some(format!(
                "it contains `{part}`, which fails already{seen}, and what fails still fails when more fails"
            ));
        }
        let number = self.evidence.refuted_by(set)?;
        Some(format!(
            "it cannot fail: execution {number} succeeded by calls that these faults leave alone, and what sufficed once suffices again"
        ))
    }
}
