//! What a store tells of campaigns that were recorded.

use std::collections::HashMap;

use murphy_model::{Faultload, Identity, Observed, Point};
use rusqlite::{Connection, OptionalExtension, Row};

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
    /// Whether it goes on.
    pub state: CampaignState,
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

/// All that was kept of a campaign.
#[derive(Clone, Debug)]
pub struct PastCampaign {
    /// The campaign.
    pub entry: CampaignEntry,
    /// How calls were told apart, if that was decided.
    pub identity: Option<Identity>,
    /// The executions by what was to fail; the one without faults is the
    /// reference, its calls named as it was settled.
    pub executions: HashMap<Faultload, Observed>,
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

    /// The executions that are in the file, by what was to fail; of several
    /// under one faultload the first. Without faults there is the reference as
    /// the search learnt it, its calls named as it was settled.
    pub fn executions(
        &self,
        campaign: &CampaignId,
    ) -> Result<HashMap<Faultload, Observed>, StoreError> {
        let key = self.key(campaign)?;
        let sql =
            "SELECT observed FROM execution WHERE campaign = ? AND kind = 'faults' ORDER BY id";
        let texts = self.texts(sql, key)?;
        // Last: another process may be writing, an execution together with the
        // points that are new in it.
        let points = self.points(key)?;
        let mut by_faultload = HashMap::with_capacity(texts.len());
        for text in texts {
            let observed = self.readable(codec::read_observed(&text, &points))?;
            let faultload = observed.execution.faultload.clone();
            by_faultload.entry(faultload).or_insert(observed);
        }
        Ok(by_faultload)
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
            executions: self.executions(campaign)?,
            entry,
        })
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

    fn texts(&self, sql: &str, key: Key) -> Result<Vec<String>, StoreError> {
        self.ask(|connection| {
            let mut all = connection.prepare(sql)?;
            all.query_map([key], |row| row.get(0))?.collect()
        })
    }

    /// What is in our file and cannot be read was damaged.
    fn readable<T>(&self, read: Result<T, CodecError>) -> Result<T, StoreError> {
        read.map_err(|error| StoreError::Corrupt {
            path: self.file.clone(),
            reason: error.to_string(),
        })
    }
}

const ENTRY: &str = "
SELECT name, scenario, strategy, modes, seed, settings, certificate IS NOT NULL,
       coalesce(json_extract(certificate, '$.incomplete.why') = 'stopped', 0),
       owner_pid, owner_started, owner_boot, told
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
        is_owned: owner_at(row, 8)?.is_some_and(|owner| owner.lives()),
        is_told: row.get(11)?,
    })
}

fn entry(row: &Row<'_>) -> rusqlite::Result<CampaignEntry> {
    let modes: String = row.get(3)?;
    let seed: String = row.get(4)?;
    let state = match (row.get(6)?, owner_at(row, 8)?) {
        (true, _) if row.get(7)? => CampaignState::Stopped,
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
        state,
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
