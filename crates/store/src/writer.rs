//! The one thread of a process that writes what happens into a store.
//!
//! Owns when that is done. Events are turned into JSON as they come, and rows
//! are written in short transactions, so that neither the campaign waits for
//! the disk nor another process for us. A row is in the file as a whole or not
//! at all, and never without those before it. After a failure nothing
//! more is written: the trouble is kept for whoever asks, and the campaign goes
//! on.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use murphy_model::Event;
use rusqlite::{Connection, TransactionBehavior, params};

use super::{EMPTY, StoreError};

/// What a crash may cost: events of the last moments.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// Rows written at once, so that transactions stay short.
const MOST_ROWS: usize = 256;

/// Events that may wait to be written. A campaign that is faster than the disk
/// for long is slowed down rather than let fill the memory.
const MOST_WAITING: usize = 8192;

/// The key of a campaign within its store.
pub(super) type Key = i64;

/// What the writer is told.
pub(super) enum Message {
    /// Something happened in a campaign.
    Note(Key, Event),
    /// No one is at it any more.
    Leave(Key),
    /// Say so when everything up to here is written.
    Flush(SyncSender<()>),
}

/// Where messages to the writer are handed in. When the last one is gone, so is
/// the writer: its connection is closed by then.
#[derive(Clone, Debug)]
pub(super) struct Inbox(Arc<Handle>);

/// The writer's thread, and the way to it; both are there until the end.
#[derive(Debug)]
struct Handle {
    messages: Option<SyncSender<Message>>,
    writer: Option<JoinHandle<()>>,
}

impl Inbox {
    /// Hands in a message; false if the writer is gone.
    pub(super) fn send(&self, message: Message) -> bool {
        let messages = self.0.messages.as_ref();
        messages.is_some_and(|messages| messages.send(message).is_ok())
    }
}

/// The last connection to a file that is closed puts everything into that file.
/// A process that ends before its writer would leave a log beside it.
impl Drop for Handle {
    fn drop(&mut self) {
        drop(self.messages.take());
        if let Some(writer) = self.writer.take() {
            // If it panicked, that was told when it did.
            let _ = writer.join();
        }
    }
}

/// Why nothing is written any more.
pub(super) type Trouble = Arc<Mutex<Option<StoreError>>>;

/// Starts the thread; it ends when the last inbox is gone.
pub(super) fn start(connection: Connection, file: PathBuf, trouble: Trouble) -> Inbox {
    let (sender, messages) = sync_channel(MOST_WAITING);
    let writer = Writer {
        connection,
        file,
        trouble,
        batch: Batch::default(),
    };
    let thread = thread::Builder::new()
        .name("murphy-store".to_owned())
        .spawn(move || writer.run(&messages))
        .expect("a thread can be started");
    Inbox(Arc::new(Handle {
        messages: Some(sender),
        writer: Some(thread),
    }))
}

struct Writer {
    connection: Connection,
    file: PathBuf,
    trouble: Trouble,
    batch: Batch,
}

/// What is to be written next.
#[derive(Default)]
struct Batch {
    rows: Vec<Row>,
    waiting: Vec<SyncSender<()>>,
    urgent: bool,
}

impl Batch {
    fn is_due(&self) -> bool {
        self.urgent || self.rows.len() >= MOST_ROWS
    }
}

enum Row {
    Event {
        campaign: Key,
        kind: &'static str,
        json: String,
    },
    Left(Key),
}

impl Writer {
    fn run(mut self, messages: &Receiver<Message>) {
        while let Ok(first) = messages.recv() {
            self.take(first);
            let connected = self.gather(messages);
            self.write();
            if !connected {
                return;
            }
        }
    }

    /// Takes in more until it is time to write; whether more can come.
    fn gather(&mut self, messages: &Receiver<Message>) -> bool {
        let deadline = Instant::now() + LONGEST_WAIT;
        while !self.batch.is_due() {
            let left = deadline.saturating_duration_since(Instant::now());
            match messages.recv_timeout(left) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => return true,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        true
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Note(campaign, event) => self.note(campaign, &event),
            Message::Leave(campaign) => self.batch.rows.push(Row::Left(campaign)),
            Message::Flush(done) => {
                self.batch.waiting.push(done);
                self.batch.urgent = true;
            }
        }
    }

    fn note(&mut self, campaign: Key, event: &Event) {
        self.batch.urgent |= matches!(event, Event::Ended(_) | Event::SuiteEnded { .. });
        self.batch.rows.push(Row::Event {
            campaign,
            kind: event.name(),
            json: serde_json::to_string(event).expect("events hold nothing that JSON lacks"),
        });
    }

    fn write(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        if !batch.rows.is_empty() && !self.is_broken() {
            let written = write_rows(&mut self.connection, &batch.rows);
            if let Err(error) = written {
                let error = StoreError::of(&self.file, &error);
                *self.trouble.lock().unwrap_or_else(|e| e.into_inner()) = Some(error);
            }
        }
        for done in batch.waiting {
            // Whoever asked may have gone.
            let _ = done.send(());
        }
    }

    fn is_broken(&self) -> bool {
        let trouble = self.trouble.lock().unwrap_or_else(|e| e.into_inner());
        trouble.is_some()
    }
}

fn write_rows(connection: &mut Connection, rows: &[Row]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for row in rows {
        write_row(&transaction, row)?;
    }
    transaction.commit()
}

fn write_row(connection: &Connection, row: &Row) -> rusqlite::Result<usize> {
    let prepared = |sql: &str| connection.prepare_cached(sql);
    match row {
        Row::Event {
            campaign,
            kind,
            json,
        } => prepared("INSERT INTO event (campaign, kind, json) VALUES (?, ?, ?)")?
            .execute(params![campaign, kind, json]),
        Row::Left(campaign) => {
            // It would only be in the way of those that can be resumed.
            prepared(&format!("DELETE FROM campaign WHERE id = ? AND {EMPTY}"))?
                .execute(params![campaign])?;
            prepared("UPDATE campaign SET owner_pid = NULL WHERE id = ?")?
                .execute(params![campaign])
        }
    }
}
