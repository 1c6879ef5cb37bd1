//! Where campaigns are kept: one SQLite file for all campaigns of a directory.
//!
//! Owns what survives a run: the events of campaigns, and nothing else. A
//! [`Recorder`] writes them while they happen; afterwards, or after a crash,
//! everything that the [`Store`] tells is read from them, so that stored
//! executions are reused, results are reported again and the next campaign can
//! be compared with the last. Deciding
//! what to do with that is the campaign's job. Several processes may use one
//! file at once.

pub mod atomic_file;
pub mod baseline;
mod error;
mod names;
mod ndjson;
pub mod output_files;
mod past;
pub mod process;
mod prune;
mod recorder;
mod schema;
mod writer;

pub use error::StoreError;
pub use names::{CampaignId, Fingerprint};
pub use ndjson::Ndjson;
pub use past::{CampaignEntry, CampaignState, PastCampaign};
pub use recorder::Recorder;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use process::{Owner, Process};
use writer::{Inbox, Key, Trouble};

/// The file's name within the state directory.
pub const FILE: &str = "store.db";

/// Campaigns kept of each scenario unless said otherwise: weeks of daily runs.
pub const KEPT: usize = 20;

/// What is true of a campaign that came to nothing, such as one whose services
/// did not start: nothing was learnt that a later run could take over.
const EMPTY: &str = "NOT EXISTS (SELECT 1 FROM event WHERE event.campaign = campaign.id
    AND kind IN ('execution_ended', 'audited', 'ended', 'suite_round', 'suite_ended'))";

/// A store of campaigns.
///
/// Opening it makes the file where there is none. Everything read from it
/// includes what recorders of this process were told before.
#[derive(Debug)]
pub struct Store {
    file: PathBuf,
    connection: Mutex<Connection>,
    writer: Inbox,
    trouble: Trouble,
    kept: usize,
}

/// What is known of a campaign when it begins.
#[derive(Clone, Debug)]
pub struct CampaignHead {
    /// The scenario's name.
    pub scenario: String,
    /// Tells whether a later run may go on where this one stops.
    pub fingerprint: Fingerprint,
    /// What a later run must know of this one, as JSON.
    pub settings: String,
    /// When it began.
    pub begun: SystemTime,
}

impl Store {
    /// Opens the store in this state directory, which is made if need be.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        let file = directory.join(FILE);
        schema::make_directory(directory, &file)?;
        let connection = schema::connect(&file)?;
        let trouble = Trouble::default();
        let writer = writer::start(schema::connect(&file)?, file.clone(), Arc::clone(&trouble));
        Ok(Store {
            file,
            connection: Mutex::new(connection),
            writer,
            trouble,
            kept: KEPT,
        })
    }

    /// Opens the store in this state directory; `None` if there is none.
    pub fn open_existing(directory: &Path) -> Result<Option<Self>, StoreError> {
        match directory.join(FILE).exists() {
            true => Self::open(directory).map(Some),
            false => Ok(None),
        }
    }

    /// The same store, keeping this many campaigns of each scenario besides
    /// the one that begins: it may come to nothing.
    pub fn keeping(mut self, kept: usize) -> Self {
        self.kept = kept;
        self
    }

    /// Why events are not kept any more, if that is so. The campaign is none
    /// the worse for it, but cannot be resumed beyond this point.
    pub fn trouble(&self) -> Option<StoreError> {
        let trouble = self.trouble.lock().unwrap_or_else(|e| e.into_inner());
        trouble.clone()
    }

    /// Waits until everything that recorders were told is in the file.
    pub fn flush(&self) {
        recorder::flush(&self.writer);
    }

    /// Begins to record a campaign; old ones of the same scenario are let go,
    /// and those that came to nothing.
    pub fn begin(&self, head: &CampaignHead) -> Result<Recorder, StoreError> {
        let (name, key) = self.change(|change| {
            loop {
                let name = CampaignId::fresh(head.begun);
                if find(change, &name)?.is_none() {
                    insert(change, &name, head)?;
                    return Ok((name, change.last_insert_rowid()));
                }
            }
        })?;
        self.prune_scenario(&head.scenario, self.kept)?;
        Ok(Recorder::new(name, key, self.writer.clone()))
    }

    /// Takes note that everything that came of these campaigns was reported:
    /// those that came to their end are over. All of them or none.
    pub fn tell(&self, campaigns: &[CampaignId]) -> Result<(), StoreError> {
        self.change(|change| {
            let mut told = change.prepare("UPDATE campaign SET told = 1 WHERE name = ?")?;
            for campaign in campaigns {
                told.execute([campaign.as_str()])?;
            }
            Ok(())
        })
    }

    /// Goes on recording a campaign whose process is gone. The result of one
    /// that was stopped, or whose result was never told, is taken back.
    pub fn resume(&self, campaign: &CampaignId) -> Result<Recorder, StoreError> {
        let key = self.key(campaign)?;
        if self.candidate(key)?.is_over() {
            let campaign = campaign.clone();
            return Err(StoreError::Ended { campaign });
        }
        let owner = self.change(|change| {
            let owner = past::owner(change, key)?.filter(Owner::lives);
            if owner.is_none() {
                own(change, key, &Owner::this())?;
                take_back_result(change, key)?;
            }
            Ok(owner)
        })?;
        if let Some(owner) = owner {
            let campaign = campaign.clone();
            let pid = owner.process.pid;
            return Err(StoreError::UnderWay { campaign, pid });
        }
        Ok(Recorder::new(campaign.clone(), key, self.writer.clone()))
    }

    /// The connection, with everything told before in the file.
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.flush();
        self.connection.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Reads.
    fn ask<T>(
        &self,
        question: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        question(&self.connection()).map_err(|error| StoreError::of(&self.file, &error))
    }

    /// Writes, all or nothing.
    fn change<T>(
        &self,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let changed = transaction.and_then(|transaction| {
            let result = change(&transaction)?;
            transaction.commit()?;
            Ok(result)
        });
        changed.map_err(|error| StoreError::of(&self.file, &error))
    }

    fn key(&self, campaign: &CampaignId) -> Result<Key, StoreError> {
        let key = self.ask(|connection| find(connection, campaign))?;
        key.ok_or_else(|| StoreError::NoSuchCampaign {
            path: self.file.clone(),
            campaign: campaign.clone(),
        })
    }
}

/// What was told before is kept, even if recorders are still around.
impl Drop for Store {
    fn drop(&mut self) {
        self.flush();
    }
}

fn take_back_result(connection: &Connection, key: Key) -> rusqlite::Result<()> {
    connection.execute("UPDATE campaign SET told = 0 WHERE id = ?", [key])?;
    let sql = "DELETE FROM event WHERE campaign = ? AND kind IN ('ended', 'suite_ended')";
    connection.execute(sql, [key])?;
    Ok(())
}

fn find(connection: &Connection, campaign: &CampaignId) -> rusqlite::Result<Option<Key>> {
    let sql = "SELECT id FROM campaign WHERE name = ?";
    let row = connection.query_row(sql, [campaign.as_str()], |row| row.get(0));
    row.optional()
}

fn insert(connection: &Connection, name: &CampaignId, head: &CampaignHead) -> rusqlite::Result<()> {
    let since = head.begun.duration_since(UNIX_EPOCH).unwrap_or_default();
    connection.execute(
        "INSERT INTO campaign (name, fingerprint, scenario, settings, begun_ms)
         VALUES (?, ?, ?, ?, ?)",
        params![
            name.as_str(),
            head.fingerprint.as_str(),
            head.scenario,
            head.settings,
            since.as_millis() as i64,
        ],
    )?;
    own(connection, connection.last_insert_rowid(), &Owner::this())
}

fn own(connection: &Connection, campaign: Key, owner: &Owner) -> rusqlite::Result<()> {
    let Process { pid, started } = owner.process;
    connection.execute(
        "UPDATE campaign SET owner_pid = ?, owner_started = ?, owner_boot = ? WHERE id = ?",
        params![pid, started.to_string(), owner.boot, campaign],
    )?;
    Ok(())
}
