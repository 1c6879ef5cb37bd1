//! Exclusions: what is not run or not held against the application, and why.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::policy::Policy;
use crate::site::SiteKey;

/// Why something counts for nothing.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The test fails without faults.
    BaselineFailing,
    /// The test fails without faults, but not always.
    Flaky,
    /// The test is not run, or declares that it fails.
    Skipped,
    /// The call is made in a phase that is not asked for.
    Phase,
    /// The test itself makes the call.
    TestCode,
    /// The call is answered by an error without faults, too.
    ReferenceError,
    /// The call is not retried, so the policy comes down to another one.
    NotRetried,
    /// P1 was refused, and P2 as in the paper then does the same.
    SameAsP1,
    /// The retry of a request with an idempotency token was refused: the service
    /// would have known it again.
    EmulatorSuspect,
    /// The emulator is known to answer otherwise than the service.
    EmulatorDifference,
    /// The failure did not show again when the test was run alone.
    NotConfirmed,
    /// The finding is known.
    Known,
}

/// Something that counts for nothing, once for each site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Excluded {
    /// Why.
    pub reason: Reason,
    /// How often.
    pub count: usize,
    /// The operation, where it is about a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The application's frames that lead to the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
    /// Under which policies.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub policy: BTreeSet<Policy>,
    /// Of which tests.
    pub tests: BTreeSet<String>,
}

/// All exclusions of a session; each is counted once, however often it is met.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exclusions(BTreeSet<(Reason, Option<SiteKey>, String, Option<Policy>)>);

impl Exclusions {
    pub(crate) fn test(&mut self, reason: Reason, test: &str) {
        self.0.insert((reason, None, test.to_owned(), None));
    }

    pub(crate) fn call(
        &mut self,
        reason: Reason,
        test: &str,
        site: &SiteKey,
        policy: Option<Policy>,
    ) {
        let entry = (reason, Some(site.clone()), test.to_owned(), policy);
        self.0.insert(entry);
    }

    /// By reason and site.
    pub(crate) fn list(&self) -> Vec<Excluded> {
        let mut groups: BTreeMap<(Reason, Option<&SiteKey>), Excluded> = BTreeMap::new();
        for (reason, site, test, policy) in &self.0 {
            let new = || Excluded {
                reason: *reason,
                count: 0,
                operation: site.as_ref().map(|site| site.operation.clone()),
                stack: site.as_ref().map_or(Vec::new(), |site| site.stack.clone()),
                policy: BTreeSet::new(),
                tests: BTreeSet::new(),
            };
            let group = groups.entry((*reason, site.as_ref())).or_insert_with(new);
            group.count += 1;
            group.policy.extend(policy);
            group.tests.insert(test.clone());
        }
        groups.into_values().collect()
    }
}
