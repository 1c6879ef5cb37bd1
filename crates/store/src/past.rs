//! What a store tells of campaigns that were recorded, all of it read from
//! their events.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use murphy_model::{Ended, Event, Faultload, Identity, LeftBehind, Observed};
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::process::{Owner, Process};
use super::writer::Key;
use super::{CampaignId, EMPTY, Fingerprint, Store, StoreError};

/// A campaign in the list of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CampaignEntry {
    /// Its name.
    pub campaign: CampaignId,
    /// The scenario's name.
    pub scenario: String,
    /// What a later run must know of it, as it was given.
    pub settings: String,
    /// When it began.
    pub begun: SystemTime,
    /// Whether it goes on.
    pub state: CampaignState,
    /// How many bugs it found; known when it ended.
    pub findings: usize,
    /// How many executions counted; until it ended, how many were made.
    pub executions: usize,
    /// Why it is not complete, by the name of the reason; known when it ended.
    pub incomplete: Option<String>,
}

impl CampaignEntry {
    /// Whether it ended and may have been stopped while there was more to try.
    /// A sample does not say whether it was.
    pub fn is_short(&self) -> bool {
        let why = self.incomplete.as_deref();
        why.is_some_and(|why| [STOPPED, SAMPLING].contains(&why))
    }
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
    /// How calls were identified, if that was decided.
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

    /// The latest campaign with this fingerprint that was interrupted or
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

    /// The campaign whose name begins so; the newest with a result if nothing
    /// is said. `None` if there is no such campaign.
    pub fn named(&self, prefix: Option<&str>) -> Result<Option<CampaignEntry>, StoreError> {
        let mut all = self.campaigns()?;
        let Some(prefix) = prefix else {
            return Ok(all.into_iter().find(|entry| entry.state.has_result()));
        };
        all.retain(|entry| entry.campaign.as_str().starts_with(prefix));
        if all.len() > 1 {
            let names = all.iter().map(|entry| entry.campaign.to_string());
            return Err(StoreError::AmbiguousCampaign {
                prefix: prefix.to_owned(),
                names: names.collect(),
            });
        }
        Ok(all.pop())
    }

    /// Everything that happened in a campaign, in order.
    pub fn events(&self, campaign: &CampaignId) -> Result<Vec<Event>, StoreError> {
        self.read(campaign, "1")
    }

    /// The executions that are in the file, by what was to fail; of several
    /// under one faultload the first. Without faults there is the reference as
    /// the search learnt it, its calls named as it was settled. What was run
    /// before the search started over is none of them.
    pub fn executions(
        &self,
        campaign: &CampaignId,
    ) -> Result<HashMap<Faultload, Observed>, StoreError> {
        let all: Vec<Seen> = self.read(
            campaign,
            "kind IN ('execution_ended', 'audited') AND number > coalesce(
                 (SELECT max(number) FROM event AS other
                  WHERE other.campaign = event.campaign AND other.kind = 'restarted'), 0)",
        )?;
        let mut by_faultload = HashMap::with_capacity(all.len());
        for Seen { observed } in all {
            let faultload = observed.execution.faultload.clone();
            by_faultload.entry(faultload).or_insert(observed);
        }
        Ok(by_faultload)
    }

    /// How calls are identified and what is ignored and why, if it has been
    /// decided.
    pub fn identity(
        &self,
        campaign: &CampaignId,
    ) -> Result<Option<(Identity, Vec<String>)>, StoreError> {
        #[derive(Deserialize)]
        struct Chosen {
            identity: Identity,
            masked: Vec<String>,
        }
        let mut all: Vec<Chosen> = self.read(campaign, "kind = 'identity_chosen'")?;
        Ok(all.pop().map(|it| (it.identity, it.masked)))
    }

    /// State that executions were seen to leave behind.
    pub fn left_behind(&self, campaign: &CampaignId) -> Result<Vec<LeftBehind>, StoreError> {
        self.read(campaign, "kind = 'state_left'")
    }

    /// What came of a campaign; nothing before it ended.
    pub fn ended(&self, campaign: &CampaignId) -> Result<Option<Ended>, StoreError> {
        Ok(self.read(campaign, "kind = 'ended'")?.pop())
    }

    /// The latest campaign of this scenario that came to its end.
    pub fn last_ended(&self, scenario: &str) -> Result<Option<PastCampaign>, StoreError> {
        let sql = format!(
            "{ENTRY} WHERE scenario = ? AND ended.json IS NOT NULL
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

    /// What is read from the events of a campaign of which this is true, in
    /// order.
    fn read<T: DeserializeOwned>(
        &self,
        campaign: &CampaignId,
        condition: &str,
    ) -> Result<Vec<T>, StoreError> {
        let key = self.key(campaign)?;
        let sql =
            format!("SELECT json FROM event WHERE campaign = ? AND {condition} ORDER BY number");
        let lines: Vec<String> = self.ask(|connection| {
            let mut all = connection.prepare(&sql)?;
            all.query_map([key], |row| row.get(0))?.collect()
        })?;
        lines.iter().map(|line| self.readable(line)).collect()
    }

    /// What is in our file and cannot be read was damaged.
    fn readable<T: DeserializeOwned>(&self, json: &str) -> Result<T, StoreError> {
        serde_json::from_str(json).map_err(|error| StoreError::Corrupt {
            path: self.file.clone(),
            reason: error.to_string(),
        })
    }
}

/// An event with an execution in it.
#[derive(Deserialize)]
struct Seen {
    observed: Observed,
}

const ENTRY: &str = "
SELECT name, scenario, settings, begun_ms, told,
       owner_pid, owner_started, owner_boot,
       ended.json IS NOT NULL,
       coalesce(ended.json ->> '$.certificate.incomplete.why',
           iif(ended.json ->> '$.stopped', 'stopped', NULL)),
       coalesce(json_array_length(ended.json, '$.findings'),
           json_array_length(ended.json, '$.report.findings')),
       coalesce(ended.json ->> '$.certificate.explored',
           ended.json ->> '$.report.executed.cases',
           (SELECT count(*) FROM event
            WHERE event.campaign = campaign.id AND kind IN ('execution_ended', 'suite_round')))
FROM campaign
LEFT JOIN event AS ended ON ended.campaign = campaign.id AND ended.kind IN ('ended', 'suite_ended')";

/// A campaign that may be resumed.
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
        is_owned: owner_at(row, 5)?.is_some_and(|owner| owner.lives()),
        is_told: row.get(4)?,
    })
}

fn entry(row: &Row<'_>) -> rusqlite::Result<CampaignEntry> {
    let begun = Duration::from_millis(row.get::<_, i64>(3)? as u64);
    let incomplete: Option<String> = row.get(9)?;
    let state = match (row.get(8)?, owner_at(row, 5)?) {
        (true, _) if incomplete.as_deref() == Some(STOPPED) => CampaignState::Stopped,
        (true, _) => CampaignState::Ended,
        (false, Some(owner)) if owner.lives() => CampaignState::UnderWay,
        (false, _) => CampaignState::Interrupted,
    };
    let count = |at| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(at)?.unwrap_or(0) as usize);
    Ok(CampaignEntry {
        campaign: CampaignId::new(row.get::<_, String>(0)?),
        scenario: row.get(1)?,
        settings: row.get(2)?,
        begun: UNIX_EPOCH + begun,
        state,
        findings: count(10)?,
        executions: count(11)?,
        incomplete,
    })
}

/// Names of [`murphy_model::Incomplete`].
const STOPPED: &str = "stopped";
const SAMPLING: &str = "sampling";

fn owner_at(row: &Row<'_>, place: usize) -> rusqlite::Result<Option<Owner>> {
    let Some(pid) = row.get(place)? else {
        return Ok(None);
    };
    let started: String = row.get(place + 1)?;
    // Empty where the system did not say.
    let started = started.parse().unwrap_or(0);
    Ok(Some(Owner {
        process: Process { pid, started },
        boot: row.get(place + 2)?,
    }))
}

/// The process that is at a campaign, living or dead.
pub(super) fn owner(connection: &Connection, key: Key) -> rusqlite::Result<Option<Owner>> {
    let sql = "SELECT owner_pid, owner_started, owner_boot FROM campaign WHERE id = ?";
    connection.query_row(sql, [key], |row| owner_at(row, 0))
}
