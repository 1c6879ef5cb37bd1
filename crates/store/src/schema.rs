//! The tables of a store, and how a file gets them.
//!
//! Owns opening: every connection is set up alike, and a file of an earlier
//! version is brought up to date. Meant to be looked into with `sqlite3`.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::StoreError;
use murphy_campaign::directory;

/// Transactions take milliseconds; who waits longer than this for another
/// process waits in vain.
const BUSY: Duration = Duration::from_secs(10);

/// Each brings a file from the version of its place to the next; never changed
/// once released.
const MIGRATIONS: [&str; 3] = [
    "
CREATE TABLE campaign (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    name          TEXT NOT NULL UNIQUE,
    fingerprint   TEXT NOT NULL,
    scenario      TEXT NOT NULL,
    strategy      TEXT NOT NULL,
    modes         TEXT NOT NULL,              -- a JSON list
    seed          TEXT NOT NULL,              -- 64 bits, unsigned
    jobs          INTEGER NOT NULL,
    settings      TEXT NOT NULL,              -- what a replay needs, JSON
    begun_ms      INTEGER NOT NULL,           -- since 1970
    owner_pid     INTEGER,                    -- who is at it; NULL if no one
    owner_started TEXT,
    owner_boot    TEXT,
    identity      TEXT,                       -- JSON; NULL until chosen
    masked        TEXT,                       -- a JSON list of sentences
    took_ns       INTEGER,
    certificate   TEXT                        -- JSON; NULL until it ended
) STRICT;
CREATE INDEX campaign_by_fingerprint ON campaign (fingerprint);
CREATE INDEX campaign_by_scenario ON campaign (scenario);

-- The points of a campaign; executions refer to them by number.
CREATE TABLE point (
    campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
    number   INTEGER NOT NULL,
    text     TEXT NOT NULL,
    PRIMARY KEY (campaign, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE execution (
    id       INTEGER PRIMARY KEY,
    campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
    kind     TEXT NOT NULL CHECK (kind IN ('reference', 'faults')),
    number   INTEGER NOT NULL,                -- of the reference, or the ticket
    verdict  TEXT NOT NULL CHECK (verdict IN ('passed', 'failed', 'not exercised')),
    observed TEXT NOT NULL                    -- JSON
) STRICT;
CREATE INDEX execution_by_campaign ON execution (campaign);

CREATE TABLE finding (
    campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
    place    INTEGER NOT NULL,                -- in the campaign's list
    id       TEXT NOT NULL,
    finding  TEXT NOT NULL,                   -- JSON
    PRIMARY KEY (campaign, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX finding_by_id ON finding (id);
",
    "
-- Whether everything that came of the run it belongs to was reported. Of what
-- ended before this was kept, it is taken to be so.
ALTER TABLE campaign ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
UPDATE campaign SET told = 1 WHERE certificate IS NOT NULL;
",
    "
-- State that executions were seen to leave behind, so that a resumed campaign
-- knows of it.
CREATE TABLE left_behind (
    id       INTEGER PRIMARY KEY,
    campaign INTEGER NOT NULL REFERENCES campaign ON DELETE CASCADE,
    record   TEXT NOT NULL                    -- JSON
) STRICT;
CREATE INDEX left_behind_by_campaign ON left_behind (campaign);
",
];

/// The version of files written here.
const VERSION: i64 = MIGRATIONS.len() as i64;

/// Makes the directory of a store.
pub(super) fn make_directory(directory: &Path, file: &Path) -> Result<(), StoreError> {
    // SQLite gives the files beside it the permissions of this one.
    let made = directory::make(directory).and_then(|()| directory::close(file));
    made.map_err(|error| StoreError::NotWritable {
        path: file.to_owned(),
        reason: error.to_string(),
    })
}

/// A connection to the store in this file, which is made or brought up to date
/// where needed.
pub(super) fn connect(file: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open(file).map_err(|error| StoreError::of(file, &error))?;
    connection
        .busy_timeout(BUSY)
        .map_err(|error| StoreError::of(file, &error))?;
    let mut connection = prepared(connection).map_err(|error| StoreError::of(file, &error))?;
    let found = version(&connection).map_err(|error| StoreError::of(file, &error))?;
    if found > VERSION {
        return Err(StoreError::Newer {
            path: file.to_owned(),
            found,
            known: VERSION,
        });
    }
    migrate(&mut connection).map_err(|error| StoreError::of(file, &error))?;
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

fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    if version(connection)? == VERSION {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let done = usize::try_from(version(&transaction)?).unwrap_or_default();
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}
