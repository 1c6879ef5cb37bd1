//! Whether a finding shows again.
//!
//! Owns judging one run by itself: by the same oracles as in a session, with
//! one run without faults in place of its references.

use std::collections::BTreeMap;

use crate::case::CaseRun;
use crate::oracle::{Evidence, Judgement, Ruling, SuiteOracle};
use crate::reference::Reference;
use crate::report::SuiteFinding;
use crate::settings::SuiteSettings;

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
