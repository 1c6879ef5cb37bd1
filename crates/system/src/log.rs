//! What a process printed: the end of it in memory, the beginning on disk.
//!
//! Owns the bounds, so that a talkative service costs no more than a quiet
//! one. Positions count bytes since the start and stay valid however much is
//! forgotten.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use murphy_report::redact;

use murphy_campaign::directory;

/// How much of a service's log is kept in memory: some thousands of lines.
pub(super) const KEPT: usize = 256 * 1024;

/// How much of a service's log goes to disk.
const ON_DISK: u64 = 16 * 1024 * 1024;

/// What a process printed.
pub(super) struct Log {
    kept: usize,
    inner: Mutex<Inner>,
}

struct Inner {
    /// Grows to twice what is kept before its older half is forgotten.
    bytes: Vec<u8>,
    /// How many bytes were printed in all.
    printed: u64,
    file: Option<OnDisk>,
}

/// The log on disk, line by line, without the secrets that are in it.
struct OnDisk {
    file: File,
    /// What is not a whole line yet.
    line: Vec<u8>,
}

/// A line longer than this is written in parts.
const LONGEST_LINE: usize = 64 * 1024;

impl Log {
    /// A log of which the last `kept` bytes are kept.
    pub(super) fn new(kept: usize) -> Self {
        Log {
            kept,
            inner: Mutex::new(Inner {
                bytes: Vec::new(),
                printed: 0,
                file: None,
            }),
        }
    }

    /// The same, also written to a file.
    pub(super) fn with_file(kept: usize, path: &Path) -> std::io::Result<Self> {
        if let Some(folder) = path.parent() {
            directory::make_private(folder)?;
        }
        let log = Log::new(kept);
        log.inner().file = Some(OnDisk {
            file: directory::create_private(path)?,
            line: Vec::new(),
        });
        Ok(log)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("no panic while logs are written")
    }

    /// Something was printed.
    pub(super) fn write(&self, bytes: &[u8]) {
        let mut inner = self.inner();
        inner.write_to_file(bytes);
        inner.printed += bytes.len() as u64;
        inner.bytes.extend_from_slice(bytes);
        if inner.bytes.len() > 2 * self.kept {
            let forgotten = inner.bytes.len() - self.kept;
            inner.bytes.drain(..forgotten);
        }
    }

    /// The position reached by now.
    pub(super) fn mark(&self) -> u64 {
        self.inner().printed
    }

    /// What was printed after a position, as far as it is kept.
    pub(super) fn since(&self, mark: u64) -> String {
        let inner = self.inner();
        let wanted = usize::try_from(inner.printed.saturating_sub(mark)).unwrap_or(usize::MAX);
        let wanted = wanted.min(self.kept).min(inner.bytes.len());
        let cut = (wanted as u64) < inner.printed.saturating_sub(mark);
        let from = inner.bytes.len() - wanted;
        text(&inner.bytes[from..], cut)
    }

    /// All that is kept.
    pub(super) fn text(&self) -> String {
        self.since(0)
    }

    /// The last lines.
    pub(super) fn tail(&self, lines: usize) -> String {
        let text = self.text();
        let text = text.trim_end();
        let from = text.rmatch_indices('\n').nth(lines - 1);
        text[from.map_or(0, |(at, _)| at + 1)..].to_owned()
    }
}

impl Inner {
    /// A full disk must not stop a campaign: the log in memory goes on.
    fn write_to_file(&mut self, bytes: &[u8]) {
        let Some(on_disk) = &mut self.file else {
            return;
        };
        let written = on_disk.write(bytes);
        let full = self.printed + bytes.len() as u64 > ON_DISK;
        if full {
            on_disk.flush();
            let end = b"\n[the log goes on, but no more of it is written here]\n";
            let _ = on_disk.file.write_all(end);
        }
        if full || written.is_err() {
            self.file = None;
        }
    }
}

impl OnDisk {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.line.extend_from_slice(bytes);
        let end = self.line.iter().rposition(|byte| *byte == b'\n');
        let whole = match end {
            Some(end) => end + 1,
            None if self.line.len() > LONGEST_LINE => self.line.len(),
            None => return Ok(()),
        };
        let lines: Vec<u8> = self.line.drain(..whole).collect();
        let lines = String::from_utf8_lossy(&lines);
        self.file.write_all(redact::text(&lines).as_bytes())
    }

    /// Writes what is no whole line.
    fn flush(&mut self) {
        let rest = std::mem::take(&mut self.line);
        let rest = String::from_utf8_lossy(&rest);
        let _ = self.file.write_all(redact::text(&rest).as_bytes());
    }
}

impl Drop for OnDisk {
    fn drop(&mut self) {
        self.flush();
    }
}

/// As text; where its beginning was cut off, from the next line on.
fn text(bytes: &[u8], cut: bool) -> String {
    let end_of_line = bytes.iter().position(|byte| *byte == b'\n');
    match (cut, end_of_line) {
        (true, Some(at)) => format!("[…]\n{}", String::from_utf8_lossy(&bytes[at + 1..])),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_reach_the_disk_however_they_are_printed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.log");
        let log = Log::with_file(KEPT, &path).unwrap();
        log.write(b"up\npass");
        log.write(b"word=hunter2\nand so");
        assert!(log.text().contains("hunter2"), "whoever looks now sees it");
        drop(log);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("up\npassword="), "{text}");
        assert!(text.ends_with("\nand so"), "{text}");
        assert!(!text.contains("hunter2"), "{text}");
    }

    #[test]
    fn the_end_is_kept_and_positions_stay_valid() {
        let log = Log::new(20);
        log.write(b"one\n");
        let mark = log.mark();
        log.write(b"two\nthree\n");
        assert_eq!(log.since(mark), "two\nthree\n");
        assert_eq!(log.tail(1), "three");
        assert_eq!(log.tail(9), "one\ntwo\nthree");
        for number in 0..1000 {
            log.write(format!("line {number}\n").as_bytes());
        }
        assert_eq!(log.text(), "[…]\nline 998\nline 999\n");
        assert_eq!(log.since(mark), log.text());
        assert!(log.inner().bytes.len() <= 40);
        assert_eq!(log.since(log.mark()), "");
    }
}
