//! How much processor time processes have used.
//!
//! Owns the reading: nanoseconds of every thread of each process, from the
//! scheduler's own accounting, because ticks of 10 ms are too coarse for rounds
//! of a second or two.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Processor time of each thread up to a moment.
#[derive(Clone, Debug, Default)]
pub struct Cpu(BTreeMap<u32, u64>);

impl Cpu {
    /// The reading of a group now.
    pub fn of_group(group: u32) -> Self {
        let processes = numbered(Path::new("/proc"))
            .into_iter()
            .filter(|process| group_of(*process) == Some(group));
        Self::of(processes)
    }

    /// The reading of these processes now.
    pub fn of(processes: impl IntoIterator<Item = u32>) -> Self {
        // A thread's own account is brought up to date when it lets others go first.
        std::thread::yield_now();
        let threads = processes.into_iter().flat_map(|process| {
            let tasks = format!("/proc/{process}/task");
            numbered(Path::new(&tasks))
                .into_iter()
                .filter_map(move |thread| Some((thread, nanoseconds(process, thread)?)))
        });
        Self(threads.collect())
    }

    /// What was used since an earlier reading. Threads that have ended in
    /// between are not counted; no subject ends any while it is measured.
    pub fn since(&self, earlier: &Cpu) -> Duration {
        let used = self.0.iter().map(|(thread, now)| {
            let before = earlier.0.get(thread).copied().unwrap_or(0);
            now.saturating_sub(before)
        });
        Duration::from_nanos(used.sum())
    }
}

/// The entries of a directory whose names are numbers.
fn numbered(directory: &Path) -> Vec<u32> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// The third field after the name, which is in parentheses and may itself
/// hold some.
fn group_of(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(2)?.parse().ok()
}

fn nanoseconds(process: u32, thread: u32) -> Option<u64> {
    let path = format!("/proc/{process}/task/{thread}/schedstat");
    let text = fs::read_to_string(path).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_another_thread_of_the_group_is_counted() {
        let group = group_of(std::process::id()).unwrap();
        let before = Cpu::of_group(group);
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let (ready, until_ready) = std::sync::mpsc::channel();
        let worker = std::thread::spawn(move || {
            let start = std::time::Instant::now();
            while start.elapsed() < Duration::from_millis(30) {}
            ready.send(()).unwrap();
            let _ = wait.recv();
        });
        until_ready.recv().unwrap();
        assert!(Cpu::of_group(group).since(&before) > Duration::from_millis(1));
        drop(done);
        worker.join().unwrap();
    }
}
