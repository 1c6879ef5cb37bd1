//! Which process is it, and does it still live?
//!
//! Owns how a process is distinguished from a later one with the same number: by
//! when it was started, and under which boot of the machine. Where the system
//! does not tell (no `/proc`), only the number counts.

use std::fs;

use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

/// A process, told from all others that had or will have its number under this
/// boot of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// When it was started, in clock ticks since the boot; 0 if the system does
    /// not say.
    pub started: u64,
}

impl Process {
    /// This one.
    pub fn this() -> Self {
        let pid = std::process::id() as i32;
        Process::of(pid).unwrap_or(Process { pid, started: 0 })
    }

    /// Who has this number now.
    pub fn of(pid: i32) -> Option<Self> {
        let started = Stat::of(pid)?.started;
        Some(Process { pid, started })
    }

    /// Whether nobody else can have its number, or that of its group: it runs,
    /// or is dead and its parent has not waited for it.
    pub fn holds_its_id(&self) -> bool {
        Process::of(self.pid).as_ref() == Some(self)
    }

    /// Whether it runs.
    pub fn lives(&self) -> bool {
        match self.started {
            0 => Pid::from_raw(self.pid).is_some_and(|pid| test_kill_process(pid).is_ok()),
            _ => self.holds_its_id() && runs(self.pid),
        }
    }
}

/// Whether there is such a process, and not only a dead one whose parent has
/// not taken note of it: in a container that may never happen.
pub fn runs(pid: i32) -> bool {
    Stat::of(pid).is_some_and(|stat| !stat.zombie)
}

/// What the kernel says of a process.
pub struct Stat {
    /// The number of its group.
    pub group: i32,
    /// See [`Process`].
    pub started: u64,
    /// Whether it is dead and its parent has not waited for it.
    pub zombie: bool,
}

impl Stat {
    /// `None` if there is no such process.
    pub fn of(pid: i32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The program's name may hold anything but ends with the last `)`.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        Some(Stat {
            zombie: matches!(*fields.first()?, "Z" | "X"),
            group: fields.get(2)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }
}

/// The machine since it was last started: numbers of before mean nothing.
/// Empty if the system does not say.
pub fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    id.unwrap_or_default().trim().to_owned()
}

/// Who runs a campaign.
pub(super) struct Owner {
    pub(super) process: Process,
    pub(super) boot: String,
}

impl Owner {
    /// This process.
    pub(super) fn this() -> Self {
        Owner {
            process: Process::this(),
            boot: boot(),
        }
    }

    pub(super) fn lives(&self) -> bool {
        self.boot == boot() && self.process.lives()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::time::Duration;

    #[test]
    fn this_process_lives_and_a_namesake_does_not() {
        let this = Process::this();
        assert!(this.lives());
        let earlier = Process { started: 1, ..this };
        assert!(!earlier.lives());
        let before_boot = Owner {
            boot: "another".to_owned(),
            ..Owner::this()
        };
        assert!(!before_boot.lives());
    }

    #[test]
    fn a_killed_process_is_dead_even_before_it_is_waited_for() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = Process::of(child.id() as i32).unwrap();
        assert!(process.lives());
        child.kill().unwrap();
        while process.lives() {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(process.holds_its_id());
        child.wait().unwrap();
    }
}
