//! What a store tells of campaigns that were recorded.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use murphy_model::{Faultload, Identity, Observed, Point};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::owner::Owner;
use super::writer::Key;
use super::{CampaignId, EMPTY, Fingerprint, Store, StoreError};
use crate::codec::{self, CodecError, KeptFinding};
use murphy_campaign::LeftBehind;

/// A campaign in the list of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CampaignEntry {
    /// Its name.
    pub campaign: CampaignId,
    /// The scenario's name.
    pub scenario: String,
    /// The strategy's name.
    pub strategy: String,
    /// How calls may fail, as it was asked for.
    pub modes: Vec<String>,
    /// The seed of everything random.
    pub seed: u64,
    /// All that a replay needs, as it was given.
    pub settings: String,
    /// When it began.
    pub begun: SystemTime,
    /// Whether it goes on.
    pub state: CampaignState,
    /// How many bugs it found; known when it ended.
    pub findings: usize,
    /// How long it took; known when it ended.
    pub took: Option<Duration>,
}

/// Whether a campaign goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CampaignState {
    /// Its process lives.
    UnderWay,
    /// Its process is gone before the end: it can be resumed.
    Interrupted,
    /// It was stopped while there was more to try: it has a result, and can be
    /// resumed.
    Stopped,
    /// It came to its end.
    Ended,
}

impl CampaignState {
    /// Whether there is a result.
    pub fn has_result(self) -> bool {
        matches!(self, CampaignState::Stopped | CampaignState::Ended)
    }
}

/// A finding with the campaign that found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFinding {
    /// The newest campaign that has it.
    pub campaign: CampaignEntry,
    /// The finding.
    pub finding: KeptFinding,
}

/// All that was kept of a campaign.
#[derive(Clone, Debug)]
pub struct PastCampaign {
    /// The campaign.
    pub entry: CampaignEntry,
    /// How calls were told apart, if that was decided.
    pub identity: Option<Identity>,
    /// The executions without faults that came first.
    pub references: Vec<Observed>,
    /// The executions by what was to fail; the one without faults is the
    /// reference, its calls named as it was settled.
    pub executions: HashMap<Faultload, Observed>,
}

impl PastCampaign {
    /// Every point of every call that was seen, the scenario's own included.
    pub fn points(&self) -> BTreeSet<Point> {
        let observed = self.references.iter().chain(self.executions.values());
        let calls = observed.flat_map(|observed| observed.execution.trace.calls());
        calls.map(|call| call.point.clone()).collect()
    }
}

impl Store {
    /// All campaigns, the newest first.
    pub fn campaigns(&self) -> Result<Vec<CampaignEntry>, StoreError> {
        let sql = format!("{ENTRY} ORDER BY campaign.id DESC");
        self.ask(|connection| {
            let mut all = connection.prepare(&sql)?;
            all.query_map([], entry)?.collect()
        })
    }

    /// The latest campaign with this fingerprint that was broken off or
    /// stopped, or that came to an end of which nobody was told, if none is
    /// over since. One that came to nothing counts only if there is no other.
    pub fn unfinished(&self, fingerprint: &Fingerprint) -> Result<Option<CampaignId>, StoreError> {
        let alike = |condition: &str| -> Result<Vec<Candidate>, StoreError> {
            let sql =
                format!("{ENTRY} WHERE fingerprint = ? AND {condition} ORDER BY campaign.id DESC");
            self.ask(|connection| {
                let mut all = connection.prepare(&sql)?;
                all.query_map([fingerprint.as_str()], candidate)?.collect()
            })
        };
        let newest = |all: Vec<Candidate>| {
            let mut since = all.into_iter().take_while(|it| !it.is_over());
            since.find(|it| !it.is_owned).map(|it| it.entry.campaign)
        };
        let begun = alike(&format!("NOT ({EMPTY})"))?;
        match newest(begun) {
            Some(campaign) => Ok(Some(campaign)),
            None => Ok(newest(alike("1")?)),
        }
    }

    /// The campaign with this name.
    pub fn campaign(&self, campaign: &CampaignId) -> Result<CampaignEntry, StoreError> {
        self.entry(self.key(campaign)?)
    }

    /// The executions that are in the file, by what was to fail; of several
    /// under one faultload the first. Without faults there is the reference as
    /// the search learnt it, its calls named as it was settled.
    pub fn executions(
        &self,
        campaign: &CampaignId,
    ) -> Result<HashMap<Faultload, Observed>, StoreError> {
        let all = self.observed(self.key(campaign)?, "faults")?;
        let mut by_faultload = HashMap::with_capacity(all.len());
        for observed in all {
            let faultload = observed.execution.faultload.clone();
            by_faultload.entry(faultload).or_insert(observed);
        }
        Ok(by_faultload)
    }

    /// The reference executions, in the order they were made, their calls
    /// named as before anything was settled.
    pub fn references(&self, campaign: &CampaignId) -> Result<Vec<Observed>, StoreError> {
        self.observed(self.key(campaign)?, "reference")
    }

    /// How calls are told apart and what was left out and why, if it has been
    /// decided.
    pub fn identity(
        &self,
        campaign: &CampaignId,
    ) -> Result<Option<(Identity, Vec<String>)>, StoreError> {
        let key = self.key(campaign)?;
        let sql = "SELECT identity, masked FROM campaign WHERE id = ?";
        let (identity, masked): (Option<String>, Option<String>) = self.ask(|connection| {
            connection.query_row(sql, [key], |row| Ok((row.get(0)?, row.get(1)?)))
        })?;
        let Some(identity) = identity else {
            return Ok(None);
        };
        let identity = self.readable(codec::read_identity(&identity))?;
        let masked = serde_json::from_str(masked.as_deref().unwrap_or("[]"));
        Ok(Some((
            identity,
            self.readable(masked.map_err(CodecError::from))?,
        )))
    }

    /// State that executions were seen to leave behind.
    pub fn left_behind(&self, campaign: &CampaignId) -> Result<Vec<LeftBehind>, StoreError> {
        let key = self.key(campaign)?;
        let sql = "SELECT record FROM left_behind WHERE campaign = ? ORDER BY id";
        let texts = self.texts(sql, key)?;
        let read = |text: &String| self.readable(codec::read_left_behind(text));
        texts.iter().map(read).collect()
    }

    /// The bugs that a campaign found, in its order; none before it ended.
    pub fn findings(&self, campaign: &CampaignId) -> Result<Vec<KeptFinding>, StoreError> {
        let key = self.key(campaign)?;
        let sql = "SELECT finding FROM finding WHERE campaign = ? ORDER BY place";
        let texts = self.texts(sql, key)?;
        let read = |text: &String| self.readable(codec::read_finding(text));
        texts.iter().map(read).collect()
    }

    /// The minimal failing combinations of which a campaign's certificate tells;
    /// none where its strategy does not, or before it ended.
    pub fn minimal(&self, campaign: &CampaignId) -> Result<Vec<Faultload>, StoreError> {
        let key = self.key(campaign)?;
        let sql = "SELECT certificate FROM campaign WHERE id = ? AND certificate IS NOT NULL";
        let texts = self.texts(sql, key)?;
        let read = |text: &String| self.readable(codec::read_minimal(text));
        let all: Result<Vec<_>, _> = texts.iter().map(read).collect();
        Ok(all?.into_iter().flatten().collect())
    }

    /// Whether a campaign that ended may have been stopped while there was
    /// more to try.
    pub fn is_short(&self, campaign: &CampaignId) -> Result<bool, StoreError> {
        let key = self.key(campaign)?;
        let sql = "SELECT certificate FROM campaign WHERE id = ? AND certificate IS NOT NULL";
        let texts = self.texts(sql, key)?;
        let read = |text: &String| self.readable(codec::read_is_short(text));
        texts.first().map_or(Ok(false), read)
    }

    /// The finding whose name begins so (the `M-` may be left out), as the
    /// newest campaign that has it shows it.
    pub fn finding(&self, prefix: &str) -> Result<Option<FoundFinding>, StoreError> {
        let matches = self.matching(prefix)?;
        let exact = matches.iter().find(|(id, _, _)| id == prefix);
        let ids: BTreeSet<&String> = matches.iter().map(|(id, _, _)| id).collect();
        if exact.is_none() && ids.len() > 1 {
            return Err(StoreError::Ambiguous {
                prefix: prefix.to_owned(),
                ids: ids.into_iter().cloned().collect(),
            });
        }
        let Some((_, key, text)) = exact.or(matches.first()) else {
            return Ok(None);
        };
        Ok(Some(FoundFinding {
            campaign: self.entry(*key)?,
            finding: self.readable(codec::read_finding(text))?,
        }))
    }

    /// Findings whose names begin so, those of the newest campaign first.
    fn matching(&self, prefix: &str) -> Result<Vec<(String, Key, String)>, StoreError> {
        let sql = "SELECT id, campaign, finding FROM finding
                   WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, 1, length(?1) + 2) = 'M-' || ?1
                   ORDER BY campaign DESC, place";
        self.ask(|connection| {
            let mut all = connection.prepare(sql)?;
            let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            all.query_map([prefix], row)?.collect()
        })
    }

    /// The latest campaign of this scenario that came to its end.
    pub fn last_ended(&self, scenario: &str) -> Result<Option<PastCampaign>, StoreError> {
        let sql = format!(
            "{ENTRY} WHERE scenario = ? AND certificate IS NOT NULL
             ORDER BY campaign.id DESC LIMIT 1"
        );
        let last = self.ask(|connection| {
            let last = connection.query_row(&sql, [scenario], entry);
            last.optional()
        })?;
        last.map(|entry| self.past(entry)).transpose()
    }

    fn past(&self, entry: CampaignEntry) -> Result<PastCampaign, StoreError> {
        let campaign = &entry.campaign;
        Ok(PastCampaign {
            identity: self.identity(campaign)?.map(|(identity, _)| identity),
            references: self.references(campaign)?,
            executions: self.executions(campaign)?,
            entry,
        })
    }

    fn entry(&self, key: Key) -> Result<CampaignEntry, StoreError> {
        self.candidate(key).map(|it| it.entry)
    }

    pub(super) fn candidate(&self, key: Key) -> Result<Candidate, StoreError> {
        let sql = format!("{ENTRY} WHERE campaign.id = ?");
        self.ask(|connection| connection.query_row(&sql, [key], candidate))
    }

    /// The points of a campaign, at their numbers.
    pub(super) fn points(&self, key: Key) -> Result<Vec<Point>, StoreError> {
        let texts = self.texts(
            "SELECT text FROM point WHERE campaign = ? ORDER BY number",
            key,
        )?;
        let read = |text: &String| {
            let point = text.parse().map_err(|_| CodecError::Text {
                what: "point",
                text: text.clone(),
            });
            self.readable(point)
        };
        texts.iter().map(read).collect()
    }

    fn observed(&self, key: Key, kind: &str) -> Result<Vec<Observed>, StoreError> {
        let sql = "SELECT observed FROM execution WHERE campaign = ? AND kind = ? ORDER BY id";
        let texts: Vec<String> = self.ask(|connection| {
            let mut all = connection.prepare(sql)?;
            all.query_map(params![key, kind], |row| row.get(0))?
                .collect()
        })?;
        // Last: another process may be writing, an execution together with the
        // points that are new in it.
        let points = self.points(key)?;
        let read = |text: &String| self.readable(codec::read_observed(text, &points));
        texts.iter().map(read).collect()
    }

    fn texts(&self, sql: &str, key: Key) -> Result<Vec<String>, StoreError> {
        self.ask(|connection| {
            let mut all = connection.prepare(sql)?;
            all.query_map([key], |row| row.get(0))?.collect()
        })
    }

    /// What is in our file and cannot be read was damaged.
    fn readable<T>(&self, read: Result<T, CodecError>) -> Result<T, StoreError> {
        read.map_err(|error| StoreError::Corrupt {
            path: self.path().to_owned(),
            reason: error.to_string(),
        })
    }
}

const ENTRY: &str = "
SELECT name, scenario, strategy, modes, seed, settings, begun_ms,
       took_ns, certificate IS NOT NULL,
       (SELECT count(*) FROM finding WHERE finding.campaign = campaign.id),
       owner_pid, owner_started, owner_boot,
       coalesce(json_extract(certificate, '$.incomplete.why') = 'stopped', 0),
       told
FROM campaign";

/// A campaign that may be gone on with.
pub(super) struct Candidate {
    entry: CampaignEntry,
    /// Whether its process lives, which may have more to do than this one.
    is_owned: bool,
    /// Whether everything that came of its run was reported.
    is_told: bool,
}

impl Candidate {
    /// Whether there is nothing to go on with.
    pub(super) fn is_over(&self) -> bool {
        self.entry.state == CampaignState::Ended && self.is_told
    }
}

fn candidate(row: &Row<'_>) -> rusqlite::Result<Candidate> {
    Ok(Candidate {
        entry: entry(row)?,
        is_owned: owner_at(row, 10)?.is_some_and(|owner| owner.lives()),
        is_told: row.get(14)?,
    })
}

fn entry(row: &Row<'_>) -> rusqlite::Result<CampaignEntry> {
    let modes: String = row.get(3)?;
    let seed: String = row.get(4)?;
    let begun = Duration::from_millis(row.get::<_, i64>(6)? as u64);
    let took: Option<i64> = row.get(7)?;
    let state = match (row.get(8)?, owner_at(row, 10)?) {
        (true, _) if row.get(13)? => CampaignState::Stopped,
        (true, _) => CampaignState::Ended,
        (false, Some(owner)) if owner.lives() => CampaignState::UnderWay,
        (false, _) => CampaignState::Interrupted,
    };
    Ok(CampaignEntry {
        campaign: CampaignId::new(row.get::<_, String>(0)?),
        scenario: row.get(1)?,
        strategy: row.get(2)?,
        modes: serde_json::from_str(&modes).unwrap_or_default(),
        seed: seed.parse().unwrap_or_default(),
        settings: row.get(5)?,
        begun: UNIX_EPOCH + begun,
        state,
        findings: row.get::<_, i64>(9)? as usize,
        took: took.map(|ns| Duration::from_nanos(ns as u64)),
    })
}

fn owner_at(row: &Row<'_>, place: usize) -> rusqlite::Result<Option<Owner>> {
    let Some(pid) = row.get(place)? else {
        return Ok(None);
    };
    Ok(Some(Owner {
        pid,
        started: row.get(place + 1)?,
        boot: row.get(place + 2)?,
    }))
}

/// The process that is at a campaign, living or dead.
pub(super) fn owner(connection: &Connection, key: Key) -> rusqlite::Result<Option<Owner>> {
    let sql = "SELECT owner_pid, owner_started, owner_boot FROM campaign WHERE id = ?";
    connection.query_row(sql, [key], |row| owner_at(row, 0))
}
