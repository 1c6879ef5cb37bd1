//! Fault not exercised: planned and never injected.
//!
//! Owns the reminder that such an execution passed for nothing. The
//! certificate counts them too; here they get a name.

use murphy_model::{BugClass, Fault, Verdict};

use crate::case::Case;
use crate::complaint::Complaint;

pub(crate) fn judge(case: &Case<'_>) -> Option<Complaint> {
    let Verdict::NotExercised { missing } = &case.observed.execution.verdict else {
        return None;
    };
    let names: Vec<String> = missing.iter().map(name).collect();
    Some(Complaint::new(
        format!(
            "planned but not injected, so nothing is known of it: {}",
            names.join(", ")
        ),
        BugClass::Untested,
        None,
    ))
}

fn name(fault: &Fault) -> String {
    format!("`{}`", fault.target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use crate::testing::{Story, call, judged};

    #[test]
    fn only_faults_that_were_never_injected_are_named() {
        let story = || {
            Story::new(vec![
                call("a GET /"),
                call("a GET / > b GET /").injected("503"),
            ])
        };
        let said = |story: &Story| judged(judge, &Settings::default(), &[], story);
        assert_eq!(said(&story()), []);
        let missing = said(&story().planned("a GET / > c GET / = 500"));
        assert_eq!(
            missing[0].summary,
            "planned but not injected, so nothing is known of it: `a GET / > c GET /`"
        );
    }
}
