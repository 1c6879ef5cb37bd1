//! What Murphy started, on disk, so that the next Murphy can stop it if this
//! one was killed.
//!
//! Owns the files `run/ledger-<pid>.json` and the cleaning up after owners
//! that are dead. Nothing can be done at the moment of a `kill -9`; so each
//! owner writes down who it is before it starts anything, and marks what it
//! starts in two ways:
//!
//! - every process inherits a variable, [`MARK`], with a value that no other
//!   owner ever has. It is there from the first instruction of a process, so
//!   there is no moment at which a child is nobody's, and it also marks what
//!   left its process group.
//! - the groups of services are written down with the time their leader
//!   started, for services that clear their environment.
//!
//! A process id alone never gets anybody killed: ids are used again.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use murphy_campaign::directory;
use murphy_store::atomic_file::{self, DRAFT, Readable};
use murphy_store::process::{Process, Stat, boot, runs};

use super::proc;

/// The variable that marks every process with its owner.
pub const MARK: &str = "MURPHY_OWNER";

/// How long what an owner left behind may take to end by itself.
const FAREWELL: Duration = Duration::from_secs(2);

/// A ledger as it is on disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Page {
    boot: String,
    owner: Process,
    mark: String,
    groups: Vec<Group>,
}

/// A process group that an owner started.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Group {
    name: String,
    leader: Process,
}

/// A ledger that cannot be kept.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`, which lists what is to be stopped if Murphy is killed: {source}", path.display())]
pub(super) struct LedgerError {
    path: PathBuf,
    source: io::Error,
}

/// This process's own ledger; taken away when dropped.
pub(super) struct Ledger {
    path: PathBuf,
    page: Page,
}

impl Ledger {
    /// Opens a ledger in the state directory, before anything is started.
    pub(super) fn open(state: &Path) -> Result<Self, LedgerError> {
        let owner = Process::this();
        let Process { pid, started } = owner;
        // One process may own several systems at once, as tests do.
        let tail = fastrand::u64(..);
        let ledger = Ledger {
            path: folder(state).join(format!("ledger-{pid}-{tail:016x}.json")),
            page: Page {
                mark: format!("{pid}-{started}-{tail:016x}"),
                boot: boot(),
                owner,
                groups: Vec::new(),
            },
        };
        directory::make(state)
            .and_then(|()| directory::make_private(&folder(state)))
            .map_err(|source| ledger.failed(source))?;
        ledger.write()?;
        Ok(ledger)
    }

    /// The value of [`MARK`] for everything that is started.
    pub(super) fn mark(&self) -> &str {
        &self.page.mark
    }

    /// Writes down a group that was just started.
    pub(super) fn add(&mut self, name: &str, leader: Pid) -> Result<(), LedgerError> {
        // One that has ended already has left nothing to be stopped.
        let Some(leader) = Process::of(leader.as_raw_nonzero().get()) else {
            return Ok(());
        };
        self.page.groups.retain(|group| group.name != name);
        self.page.groups.push(Group {
            name: name.to_owned(),
            leader,
        });
        self.write()
    }

    /// Kills whatever bears our mark still; nothing does if all went well.
    pub(super) fn sweep(&self) {
        for pid in marked(&self.page.mark) {
            kill(pid, Signal::KILL);
        }
    }

    fn write(&self) -> Result<(), LedgerError> {
        let text = serde_json::to_vec_pretty(&self.page).expect("plain values become JSON");
        atomic_file::replace(&self.path, &text, Readable::Privately)
            .map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> LedgerError {
        LedgerError {
            path: self.path.clone(),
            source,
        }
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Where the ledgers of a state directory are.
fn folder(state: &Path) -> PathBuf {
    state.join("run")
}

/// What an owner that was killed had left behind, and is gone now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanedUp {
    /// The process id of the owner.
    pub owner: i32,
    /// What was stopped: process ids, with the name of the service or the
    /// command.
    pub stopped: Vec<(i32, String)>,
}

/// Stops what owners left behind that are dead, and forgets them. The
/// ledgers of owners that live are left alone.
pub fn clean_up(state: &Path) -> Vec<CleanedUp> {
    let Ok(entries) = fs::read_dir(folder(state)) else {
        return Vec::new();
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let ledgers = paths.filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("ledger-")
    });
    // In a stable order, because what was done is told.
    let ledgers: BTreeSet<PathBuf> = ledgers.collect();
    ledgers.iter().filter_map(|path| settle(path)).collect()
}

fn settle(path: &Path) -> Option<CleanedUp> {
    if path.extension().is_some_and(|it| it == DRAFT) {
        // Its owner has written the real one before, or nothing at all; but
        // it may be about to put this one in place.
        if owner_of_draft(path).is_none_or(|pid| !runs(pid)) {
            let _ = fs::remove_file(path);
        }
        return None;
    }
    let text = fs::read(path).ok()?;
    let page: Page = serde_json::from_slice(&text).ok()?;
    let same_boot = page.boot == boot();
    if same_boot && page.owner.lives() {
        return None;
    }
    let stopped = match same_boot {
        true => stop_all(&page),
        false => Vec::new(),
    };
    let _ = fs::remove_file(path);
    Some(CleanedUp {
        owner: page.owner.pid,
        stopped,
    })
}

fn owner_of_draft(path: &Path) -> Option<i32> {
    let name = path.file_name()?.to_str()?;
    name.split('-').nth(1)?.parse().ok()
}

/// Stops everything a dead owner had started.
fn stop_all(page: &Page) -> Vec<(i32, String)> {
    let left = left_behind(page);
    let named = left.iter().map(|pid| (*pid, name(page, *pid)));
    let stopped = named.collect();
    left.iter().for_each(|pid| kill(*pid, Signal::TERM));
    let deadline = Instant::now() + FAREWELL;
    while Instant::now() < deadline && !left_behind(page).is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    for pid in left_behind(page) {
        kill(pid, Signal::KILL);
    }
    while Instant::now() < deadline + FAREWELL && !left_behind(page).is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    stopped
}

/// All that bear an owner's mark, and the members of its groups.
fn left_behind(page: &Page) -> BTreeSet<i32> {
    let mut left: BTreeSet<i32> = marked(&page.mark).collect();
    let groups = page.groups.iter();
    let groups = groups.filter(|group| group.leader.holds_its_id());
    let groups: BTreeSet<i32> = groups.map(|group| group.leader.pid).collect();
    left.extend(running().filter_map(|(pid, stat)| groups.contains(&stat.group).then_some(pid)));
    left
}

fn name(page: &Page, pid: i32) -> String {
    let service = page.groups.iter().find(|group| group.leader.pid == pid);
    if let Some(service) = service.filter(|group| group.leader.holds_its_id()) {
        return service.name.clone();
    }
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    words.collect::<Vec<_>>().join(" ").trim_end().to_owned()
}

/// Every process that runs, other than ourselves.
fn running() -> impl Iterator<Item = (i32, Stat)> {
    let own = std::process::id() as i32;
    let others = proc::all().filter(move |pid| *pid != own);
    others
        .filter_map(|pid| Some((pid, Stat::of(pid)?)))
        .filter(|(_, stat)| !stat.zombie)
}

fn marked(mark: &str) -> impl Iterator<Item = i32> {
    let wanted = format!("{MARK}={mark}").into_bytes();
    let bears = move |pid: &i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|it| it == wanted)
    };
    running().map(|(pid, _)| pid).filter(bears)
}

fn kill(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    fn sleeper(mark: Option<&str>) -> Child {
        let mut command = Command::new("sleep");
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.arg("1000");
        mark.map(|mark| command.env(MARK, mark));
        command.spawn().unwrap()
    }

    fn is_running(child: &mut Child) -> bool {
        child.try_wait().unwrap().is_none()
    }

    /// Waits for its end: one that is about to be dead is not looked for any
    /// more a moment before it is.
    fn ends(child: &mut Child) -> bool {
        let deadline = Instant::now() + FAREWELL;
        while is_running(child) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        !is_running(child)
    }

    /// A page whose owner's id is in use by another process than the one that
    /// wrote it: it is dead.
    fn page_of_the_dead(mark: &str, groups: Vec<Group>) -> Page {
        Page {
            boot: boot(),
            owner: Process {
                pid: std::process::id() as i32,
                started: 1,
            },
            mark: mark.to_owned(),
            groups,
        }
    }

    fn write(state: &Path, page: &Page) {
        fs::create_dir_all(folder(state)).unwrap();
        let path = folder(state).join("ledger-1-aa.json");
        fs::write(&path, serde_json::to_vec(page).unwrap()).unwrap();
    }

    fn group(child: &Child) -> Group {
        Group {
            name: "cart".to_owned(),
            leader: Process::of(child.id() as i32).unwrap(),
        }
    }

    #[test]
    fn a_recycled_id_gets_nobody_killed() {
        let folder = tempfile::tempdir().unwrap();
        let mut other = sleeper(None);
        let mut recycled = group(&other);
        recycled.leader.started -= 1;
        write(folder.path(), &page_of_the_dead("dead-1", vec![recycled]));
        let done = clean_up(folder.path());
        assert_eq!(done.len(), 1);
        assert_eq!(done[0].stopped, []);
        assert!(is_running(&mut other));
        assert_eq!(
            fs::read_dir(super::folder(folder.path())).unwrap().count(),
            0
        );
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn groups_and_marked_processes_are_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let mark = format!("dead-{:x}", fastrand::u64(..));
        let (mut grouped, mut marked, mut other) =
            (sleeper(None), sleeper(Some(&mark)), sleeper(Some("other")));
        write(
            folder.path(),
            &page_of_the_dead(&mark, vec![group(&grouped)]),
        );
        let done = clean_up(folder.path());
        let mut stopped = done[0].stopped.clone();
        stopped.sort_by_key(|(pid, _)| *pid != grouped.id() as i32);
        let expected = [
            (grouped.id() as i32, "cart".to_owned()),
            (marked.id() as i32, "sleep 1000".to_owned()),
        ];
        assert_eq!(stopped, expected);
        assert!(ends(&mut grouped) && ends(&mut marked));
        assert!(is_running(&mut other));
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn nothing_of_a_living_owner_or_another_boot_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = sleeper(None);
        let mut ledger = Ledger::open(folder.path()).unwrap();
        let pid = Pid::from_raw(child.id() as i32).unwrap();
        ledger.add("cart", pid).unwrap();
        assert_eq!(clean_up(folder.path()), []);
        let page = Page {
            boot: "another".to_owned(),
            ..page_of_the_dead("x", vec![group(&child)])
        };
        write(folder.path(), &page);
        assert_eq!(clean_up(folder.path())[0].stopped, []);
        assert!(is_running(&mut child));
        drop(ledger);
        assert_eq!(
            fs::read_dir(super::folder(folder.path())).unwrap().count(),
            0
        );
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// A process that has ended and that nobody has taken note of.
    fn zombie() -> Child {
        let child = Command::new("true").spawn().unwrap();
        let pid = child.id() as i32;
        while runs(pid) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(Stat::of(pid).is_some());
        child
    }

    #[test]
    fn an_owner_is_dead_before_anybody_has_taken_note_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let (mut owner, mut child) = (zombie(), sleeper(None));
        let pid = owner.id() as i32;
        let page = Page {
            owner: Process::of(pid).unwrap(),
            ..page_of_the_dead("dead", vec![group(&child)])
        };
        write(folder.path(), &page);
        let draft = super::folder(folder.path()).join(format!("ledger-{pid}-aa.draft"));
        fs::write(&draft, "{").unwrap();
        let done = clean_up(folder.path());
        assert_eq!(done.len(), 1);
        assert_eq!(done[0].owner, pid);
        assert!(ends(&mut child));
        assert!(!draft.exists());
        owner.wait().unwrap();
    }

    /// Its group goes by its id for as long as that is not free.
    #[test]
    fn a_group_outlives_a_leader_that_nobody_has_taken_note_of() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.args(["-c", "sleep 1000 & echo $!"]);
        let mut leader = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let stdout = leader.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let member: i32 = line.trim().parse().unwrap();
        while runs(leader.id() as i32) {
            std::thread::sleep(Duration::from_millis(1));
        }
        write(folder.path(), &page_of_the_dead("x", vec![group(&leader)]));
        let stopped = &clean_up(folder.path())[0].stopped;
        assert_eq!(stopped.len(), 1);
        assert_eq!(stopped[0].0, member);
        leader.wait().unwrap();
    }

    #[test]
    fn drafts_and_broken_ledgers_do_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let run = super::folder(folder.path());
        fs::create_dir_all(&run).unwrap();
        fs::write(run.join("ledger-999999999-aa.draft"), "{").unwrap();
        fs::write(run.join("ledger-1-bb.json"), "{").unwrap();
        assert_eq!(clean_up(folder.path()), []);
        assert!(!run.join("ledger-999999999-aa.draft").exists());
        assert_eq!(clean_up(Path::new("/no/where")), []);
    }
}
