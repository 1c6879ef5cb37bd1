//! Clusters: which failures are one bug.
//!
//! Owns what counts as the same (the chain of frames up to the one that is
//! specific to the operation, the operation, the class, the exception and where
//! the application raised it) and the ids of findings. Messages are shown, not
//! compared.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::Case;
use crate::oracle::{Complaint, Evidence, SuiteOracle};
use crate::reference::without_line;
use crate::report::{Rung, SuiteFinding, ladder};
use crate::site::SiteKey;

/// Digits of an id, as in campaigns.
const ID_DIGITS: usize = 6;

/// What failures of the same bug have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    service: String,
    operation: String,
    chain: Vec<String>,
    class: &'static str,
    exception: Option<String>,
    frames: Vec<String>,
    /// What is not confirmed by failing again keeps its oracle apart.
    noted_by: Option<SuiteOracle>,
}

/// One failure.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) case: Case,
    pub(crate) complaint: Complaint,
    site: SiteKey,
    evidence: Vec<Rung>,
    /// Whether it did not show again alone.
    pub(crate) is_refuted: bool,
}

/// Failures that are one bug.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cluster {
    pub(crate) members: Vec<Member>,
    pub(crate) is_confirmed: bool,
}

impl Cluster {
    /// The next failure to be run alone, as long as none was seen again.
    pub(crate) fn candidate(&self) -> Option<&Member> {
        let mut open = self.members.iter().filter(|member| !member.is_refuted);
        open.next().filter(|_| !self.is_confirmed)
    }
}

/// Failures by bug.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clusters(pub(crate) BTreeMap<Key, Cluster>);

impl Key {
    pub(crate) fn of(evidence: &Evidence<'_>, complaint: &Complaint) -> Self {
        use SuiteOracle::{O6, O7};
        let site = &evidence.aim.site;
        Key {
            service: site.service.clone(),
            operation: site.operation.clone(),
            chain: evidence.frames.specific(site).to_vec(),
            class: complaint.class.name(),
            exception: complaint.exception.clone(),
            frames: complaint.frames.clone(),
            noted_by: Some(complaint.oracle).filter(|oracle| matches!(oracle, O6 | O7)),
        }
    }

    /// Everything that stays the same when somebody edits the code elsewhere.
    fn parts(&self) -> Vec<String> {
        let frames = self.chain.iter().chain(&self.frames);
        let oracle = self.noted_by.map(|oracle| format!("{oracle:?}"));
        let words = [&self.service, &self.operation].map(String::clone);
        words
            .into_iter()
            .chain([self.class.to_owned()])
            .chain(self.exception.clone())
            .chain(oracle)
            .chain(frames.map(|frame| without_line(frame)))
            .collect()
    }

    /// The id of the bug; of two that differ only in lines, the second gets
    /// another one.
    fn id(&self, suite: &str, taken: &mut BTreeSet<String>) -> String {
        for number in 0_u32.. {
            let mut hasher = blake3::Hasher::new();
            let words = [suite.to_owned(), "suite".to_owned(), number.to_string()];
            for part in words.into_iter().chain(self.parts()) {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
            let digits = hasher.finalize().to_hex();
            let id = format!("M-{}", &digits[..ID_DIGITS]);
            if taken.insert(id.clone()) {
                return id;
            }
        }
        unreachable!("there are more numbers than findings")
    }
}

impl Clusters {
    /// Takes in a failure; the same fault of the same test counts once.
    pub(crate) fn add(
        &mut self,
        evidence: &Evidence<'_>,
        case: &Case,
        complaint: Complaint,
    ) -> Key {
        let key = Key::of(evidence, &complaint);
        let cluster = self.0.entry(key.clone()).or_default();
        let is_known =
            |member: &Member| member.case.test == case.test && member.case.aims[0] == *evidence.aim;
        if !cluster.members.iter().any(is_known) {
            cluster.members.push(Member {
                case: Case {
                    aims: vec![evidence.aim.clone()],
                    ..case.clone()
                },
                complaint,
                site: evidence.aim.site.clone(),
                evidence: ladder(&evidence.run.record, evidence.place),
                is_refuted: false,
            });
        }
        key
    }

    /// The bugs that were not refuted, in order.
    pub(crate) fn findings(&self, suite: &str, taken: &mut BTreeSet<String>) -> Vec<SuiteFinding> {
        let of_cluster = |(key, cluster): (&Key, &Cluster)| {
            let members: Vec<&Member> = cluster
                .members
                .iter()
                .filter(|member| !member.is_refuted)
                .collect();
            // The id is taken either way, so that others keep theirs.
            let id = key.id(suite, taken);
            let first = members.first()?;
            Some(SuiteFinding {
                id,
                class: first.complaint.class,
                oracle: members.iter().map(|member| member.complaint.oracle).min()?,
                policy: members
                    .iter()
                    .map(|member| member.case.aims[0].policy)
                    .collect(),
                service: key.service.clone(),
                operation: key.operation.clone(),
                site: key.chain.last().unwrap_or(&key.operation).clone(),
                stack: first.site.stack.clone(),
                tests: members
                    .iter()
                    .map(|member| member.case.test.clone())
                    .collect(),
                runs: members.len(),
                exception: key.exception.clone(),
                message: first.complaint.message.clone(),
                example: first.complaint.example.clone(),
                evidence: first.evidence.clone(),
                confirmed: cluster.is_confirmed,
                reason: first.complaint.reason,
                replay: first.case.clone(),
            })
        };
        self.0.iter().filter_map(of_cluster).collect()
    }
}
