//! Whether a finding shows again.
//!
//! Owns judging one run by itself: by the same oracles as in a session, with
//! one run without faults in place of its references.

use std::collections::BTreeMap;

use crate::case::{Case, CaseRun};
use crate::oracle::{Evidence, Judgement, Ruling, SuiteOracle};
use crate::reference::{Reference, without_line};
use crate::report::SuiteFinding;
use crate::settings::SuiteSettings;
use crate::site::SiteKey;

impl SuiteFinding {
    /// Whether a run of its case shows it again; `reference` is a run of the
    /// same test without faults, in which it passes.
    pub fn is_shown_by(&self, run: &CaseRun, reference: CaseRun) -> bool {
        let test = self.replay.test.clone();
        let runs = BTreeMap::from([(test.clone(), vec![reference])]);
        let reference = Reference::of(&runs);
        let settings = SuiteSettings {
            // What failed nowhere else was a finding only in system tests.
            system: self.oracle == SuiteOracle::O4,
            ..SuiteSettings::default()
        };
        let Some(of_test) = reference.tests.get(&test) else {
            return run.result.is_failure();
        };
        run.record.landed().any(|(aim, place)| {
            let evidence = Evidence {
                aim,
                place,
                run,
                reference: of_test,
                frames: &reference.frames,
                settings: &settings,
            };
            self.is_among(&evidence.judge())
        })
    }

    /// Its case, aimed at the same calls as they are made now: lines move when
    /// code is edited.
    pub fn case_in(&self, reference: &CaseRun) -> Case {
        let mut case = self.replay.clone();
        for aim in &mut case.aims {
            let calls = || {
                reference
                    .record
                    .calls
                    .iter()
                    .filter(|call| call.phase == aim.phase)
            };
            if calls().any(|call| call.site == aim.site) {
                continue;
            }
            let moved = calls().find(|call| is_moved(&call.site, &aim.site));
            if let Some(call) = moved.map(|call| call.site.clone()) {
                aim.site = call;
                aim.line = None;
            }
        }
        case
    }

    fn is_among(&self, judgement: &Judgement) -> bool {
        match self.oracle {
            SuiteOracle::O6 | SuiteOracle::O7 => {
                let mut notes = judgement.warnings.iter().chain(&judgement.smells);
                notes.any(|note| note.oracle == self.oracle)
            }
            _ => matches!(judgement.ruling, Ruling::Failed(_) | Ruling::Suspect(_)),
        }
    }
}

/// Whether two sites differ in lines alone.
fn is_moved(now: &SiteKey, then: &SiteKey) -> bool {
    let frames = |site: &SiteKey| -> Vec<String> {
        site.stack.iter().map(|frame| without_line(frame)).collect()
    };
    (&now.service, &now.operation) == (&then.service, &then.operation)
        && frames(now) == frames(then)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_whose_lines_moved_is_the_same() {
        let site = |frame: &str| SiteKey {
            service: "s3".to_owned(),
            operation: "s3.GetObject".to_owned(),
            stack: vec![frame.to_owned()],
        };
        let then = site("store.py:41:load");
        assert!(is_moved(&site("store.py:43:load"), &then));
        assert!(!is_moved(&site("store.py:41:save"), &then));
        assert!(!is_moved(&site("other.py:41:load"), &then));
    }
}
