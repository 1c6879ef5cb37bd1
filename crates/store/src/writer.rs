//! The one thread of a process that writes what happens into a store.
//!
//! Owns when that is done. Events are turned into rows as they come, and rows
//! are written in short transactions, so that neither the campaign waits for
//! the disk nor another process for us. A row is in the file as a whole or not
//! at all, and never before the points it refers to. After a failure nothing
//! more is written: the trouble is kept for whoever asks, and the campaign goes
//! on.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use murphy_model::{Certificate, Finding, Observed, Point, Verdict};
use rusqlite::{Connection, TransactionBehavior, params};

use super::{EMPTY, StoreError};
use crate::codec::{self, Name, Naming};
use murphy_campaign::Event;

/// What a crash may cost: events of the last moments.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// Events written at once, so that transactions stay short.
const MOST_EVENTS: usize = 256;

/// Events that may wait to be written. A campaign that is faster than the disk
/// for long is slowed down rather than let fill the memory.
const MOST_WAITING: usize = 8192;

/// The key of a campaign within its store.
pub(super) type Key = i64;

/// What the writer is told.
pub(super) enum Message {
    /// A campaign is recorded from now on; these are its points so far.
    Open(Key, Vec<Point>),
    /// Something happened in it.
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
        books: HashMap::new(),
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
    books: HashMap<Key, Book>,
    batch: Batch,
}

/// What is to be written next.
#[derive(Default)]
struct Batch {
    rows: Vec<Row>,
    events: usize,
    waiting: Vec<SyncSender<()>>,
    urgent: bool,
}

impl Batch {
    fn is_due(&self) -> bool {
        self.urgent || self.events >= MOST_EVENTS
    }
}

enum Row {
    Point {
        campaign: Key,
        number: u32,
        text: String,
    },
    Execution {
        campaign: Key,
        kind: &'static str,
        number: u64,
        verdict: &'static str,
        observed: String,
    },
    /// What was run under faults counts for nothing.
    Forget {
        campaign: Key,
    },
    Identity {
        campaign: Key,
        identity: String,
        masked: String,
    },
    LeftBehind {
        campaign: Key,
        record: String,
    },
    Finding {
        campaign: Key,
        place: usize,
        id: String,
        finding: String,
    },
    Ended {
        campaign: Key,
        certificate: String,
        took: Duration,
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
            Message::Open(campaign, points) => {
                self.books.insert(campaign, Book::new(campaign, points));
            }
            Message::Note(campaign, event) => self.note(campaign, event),
            Message::Leave(campaign) => {
                self.books.remove(&campaign);
                self.batch.rows.push(Row::Left(campaign));
            }
            Message::Flush(done) => {
                self.batch.waiting.push(done);
                self.batch.urgent = true;
            }
        }
    }

    fn note(&mut self, campaign: Key, event: Event) {
        let Some(book) = self.books.get_mut(&campaign) else {
            return;
        };
        self.batch.events += 1;
        self.batch.urgent |= matches!(event, Event::Ended { .. });
        match event {
            // Its row was made when it began.
            Event::Began { .. } => {}
            Event::ReferenceRan { number, observed } => {
                book.execution("reference", number as u64, &observed);
            }
            Event::IdentityChosen { identity, masked } => book.rows.push(Row::Identity {
                campaign,
                identity: codec::write_identity(&identity),
                masked: codec::write_masked(&masked),
            }),
            Event::Restarted { .. } => book.rows.push(Row::Forget { campaign }),
            // It came out of this very store.
            Event::ExecutionEnded { stored: true, .. } | Event::Audited { stored: true, .. } => {}
            Event::ExecutionEnded {
                ticket, observed, ..
            } => book.execution("faults", ticket.0, &observed),
            // Under faults like any other: that it agreed is in the certificate.
            Event::Audited {
                number, observed, ..
            } => book.execution("faults", number as u64, &observed),
            Event::StateLeft(left) => book.rows.push(Row::LeftBehind {
                campaign,
                record: codec::write_left_behind(&left),
            }),
            // No part of what the search asks for, and not to be reused.
            Event::Checked { .. } | Event::FailedInParallel(_) | Event::Repeated { .. } => {}
            // Everything else tells it too; recorders leave it out.
            Event::Learned(_) => {}
            Event::Ended {
                certificate,
                findings,
                took,
            } => book.ended(&certificate, &findings, took),
        }
        self.batch.rows.append(&mut book.rows);
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

/// A campaign that is being recorded: its points by number, and the rows that
/// came of its last event.
struct Book {
    campaign: Key,
    numbers: HashMap<Point, u32>,
    rows: Vec<Row>,
}

impl Book {
    fn new(campaign: Key, points: Vec<Point>) -> Self {
        Book {
            campaign,
            numbers: points.into_iter().zip(0..).collect(),
            rows: Vec::new(),
        }
    }

    fn execution(&mut self, kind: &'static str, number: u64, observed: &Observed) {
        let text = codec::write_observed(observed, self);
        self.rows.push(Row::Execution {
            campaign: self.campaign,
            kind,
            number,
            verdict: match observed.execution.verdict {
                Verdict::Passed => "passed",
                Verdict::Failed { .. } => "failed",
                Verdict::NotExercised { .. } => "not exercised",
            },
            observed: text,
        });
    }

    fn ended(&mut self, certificate: &Certificate, findings: &[Finding], took: Duration) {
        let campaign = self.campaign;
        let rows = findings.iter().enumerate();
        self.rows.extend(rows.map(|(place, finding)| Row::Finding {
            campaign,
            place,
            id: finding.id.clone(),
            finding: codec::write_finding(finding),
        }));
        self.rows.push(Row::Ended {
            campaign,
            certificate: codec::certificate_text(certificate),
            took,
        });
    }
}

/// Points get their numbers in the order they are first seen.
impl Naming for Book {
    fn name(&mut self, point: &Point) -> Name {
        if let Some(number) = self.numbers.get(point) {
            return Name::Number(*number);
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(point.clone(), number);
        self.rows.push(Row::Point {
            campaign: self.campaign,
            number,
            text: point.to_string(),
        });
        Name::Number(number)
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
        Row::Point {
            campaign,
            number,
            text,
        } => prepared("INSERT INTO point (campaign, number, text) VALUES (?, ?, ?)")?
            .execute(params![campaign, number, text]),
        Row::Execution {
            campaign,
            kind,
            number,
            verdict,
            observed,
        } => prepared(
            "INSERT INTO execution (campaign, kind, number, verdict, observed)
             VALUES (?, ?, ?, ?, ?)",
        )?
        .execute(params![campaign, kind, *number as i64, verdict, observed]),
        Row::Forget { campaign } => {
            prepared("DELETE FROM execution WHERE campaign = ? AND kind = 'faults'")?
                .execute(params![campaign])
        }
        Row::Identity {
            campaign,
            identity,
            masked,
        } => prepared("UPDATE campaign SET identity = ?, masked = ? WHERE id = ?")?
            .execute(params![identity, masked, campaign]),
        Row::LeftBehind { campaign, record } => {
            prepared("INSERT INTO left_behind (campaign, record) VALUES (?, ?)")?
                .execute(params![campaign, record])
        }
        Row::Finding {
            campaign,
            place,
            id,
            finding,
        } => prepared("INSERT INTO finding (campaign, place, id, finding) VALUES (?, ?, ?, ?)")?
            .execute(params![campaign, *place as i64, id, finding]),
        Row::Ended {
            campaign,
            certificate,
            took,
        } => {
            let took = i64::try_from(took.as_nanos()).unwrap_or(i64::MAX);
            prepared("UPDATE campaign SET certificate = ?, took_ns = ? WHERE id = ?")?
                .execute(params![certificate, took, campaign])
        }
        Row::Left(campaign) => {
            // It would only be in the way of those that can be gone on with.
            prepared(&format!("DELETE FROM campaign WHERE id = ? AND {EMPTY}"))?
                .execute(params![campaign])?;
            prepared("UPDATE campaign SET owner_pid = NULL WHERE id = ?")?
                .execute(params![campaign])
        }
    }
}
