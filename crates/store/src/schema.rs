//! The tables of a store, and how a file gets them.
//!
//! Owns opening: every connection is set up alike, a new file gets its tables,
//! and one of another version is refused. Meant to be looked into with
//! `sqlite3`.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::StoreError;
use murphy_campaign::directory;

/// Transactions take milliseconds; who waits longer than this for another
/// process waits in vain.
const BUSY: Duration = Duration::from_secs(10);

/// Of a campaign only its events are kept, and what is needed to find it.
const TABLES: &str = "
CREATE TABLE campaign (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    name          TEXT NOT NULL UNIQUE,
    fingerprint   TEXT NOT NULL,
    scenario      TEXT NOT NULL,
    settings      TEXT NOT NULL,              -- what a later run must know, JSON
    begun_ms      INTEGER NOT NULL,           -- since 1970
    owner_pid     INTEGER,                    -- who runs it; NULL if no one
    owner_started TEXT,
    owner_boot    TEXT,
    told          INTEGER NOT NULL DEFAULT 0  -- whether all of it was reported
) STRICT;
CREATE INDEX campaign_by_fingerprint ON campaign (fingerprint);
CREATE INDEX campaign_by_scenario ON campaign (scenario);

-- The lines that `--report events=PATH` writes, in their order.
CREATE TABLE event (
    number   INTEGER PRIMARY KEY,
    campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
    kind     TEXT NOT NULL,                   -- the `event` of the line
    json     TEXT NOT NULL
) STRICT;
CREATE INDEX event_by_campaign ON event (campaign, kind);
";

/// The version of files written here. Those before 4 had a table for each kind
/// of thing; nobody but their authors used them, so they are not converted.
const VERSION: i64 = 4;

/// Makes the directory of a store.
pub(super) fn make_directory(directory: &Path, file: &Path) -> Result<(), StoreError> {
    // SQLite gives the files beside it the permissions of this one.
    let made = directory::make(directory).and_then(|()| directory::close(file));
    made.map_err(|error| StoreError::NotWritable {
        path: file.to_owned(),
        reason: error.to_string(),
    })
}

/// A connection to the store in this file, which is made where there is none.
pub(super) fn connect(file: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open(file).map_err(|error| StoreError::of(file, &error))?;
    connection
        .busy_timeout(BUSY)
        .map_err(|error| StoreError::of(file, &error))?;
    let mut connection = prepared(connection).map_err(|error| StoreError::of(file, &error))?;
    let found = version(&connection).map_err(|error| StoreError::of(file, &error))?;
    let path = file.to_owned();
    match found {
        0 => create(&mut connection).map_err(|error| StoreError::of(file, &error))?,
        VERSION => {}
        1..VERSION => return Err(StoreError::Older { path, found }),
        _ => {
            let known = VERSION;
            return Err(StoreError::Newer { path, found, known });
        }
    }
    Ok(connection)
}

/// Losing the last moments to a power failure is fine, damage is not: that is
/// what `NORMAL` means together with a write-ahead log.
fn prepared(connection: Connection) -> rusqlite::Result<Connection> {
    log_ahead(&connection)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(connection)
}

/// Two processes that do this to a new file at once may be told that it is
/// busy without having waited; they are to try again.
fn log_ahead(connection: &Connection) -> rusqlite::Result<()> {
    const PAUSE: Duration = Duration::from_millis(20);
    let busy = |error: &rusqlite::Error| {
        error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
    };
    let mut tries = BUSY.as_millis() / PAUSE.as_millis();
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if busy(&error) && tries > 0 => tries -= 1,
            done => return done,
        }
        std::thread::sleep(PAUSE);
    }
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    if version(&transaction)? == 0 {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()
}
