//! Whose campaign is it, and does that process still live?
//!
//! Owns how a process is told apart from a later one with the same number: by
//! when it was started, and under which boot of the machine. Where the system
//! does not tell (no `/proc`), only the number counts.

use std::fs;

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) pid: u32,
    /// In ticks of the system since its boot; empty if it does not say.
    pub(super) started: String,
    /// The boot's name; empty if the system has none.
    pub(super) boot: String,
}

impl Owner {
    /// This process.
    pub(super) fn this() -> Self {
        let pid = std::process::id();
        Owner {
            pid,
            started: started(pid).unwrap_or_default(),
            boot: boot(),
        }
    }

    /// Whether the process lives.
    pub(super) fn lives(&self) -> bool {
        if self.boot != boot() {
            return false;
        }
        match self.started.is_empty() {
            false => started(self.pid).as_ref() == Some(&self.started),
            true => answers(self.pid),
        }
    }
}

fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    id.map(|id| id.trim().to_owned()).unwrap_or_default()
}

/// When a process was started; `None` if there is none, or a dead one that no
/// one has taken note of.
fn started(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name may hold anything but ends with the last `)`.
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let state = fields.next()?;
    let started = fields.nth(18)?;
    (!matches!(state, "Z" | "X")).then(|| started.to_owned())
}

fn answers(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok();
    let pid = pid.and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn this_process_lives_and_a_namesake_does_not() {
        let this = Owner::this();
        assert!(this.lives());
        let earlier = Owner {
            started: "1".to_owned(),
            ..this.clone()
        };
        assert!(!earlier.lives());
        let before_boot = Owner {
            boot: "another".to_owned(),
            ..this
        };
        assert!(!before_boot.lives());
    }

    #[test]
    fn a_killed_process_is_dead_even_before_it_is_waited_for() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let owner = Owner {
            pid: child.id(),
            started: started(child.id()).unwrap(),
            boot: boot(),
        };
        assert!(owner.lives());
        child.kill().unwrap();
        for _ in 0..500 {
            if !owner.lives() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(!owner.lives());
        child.wait().unwrap();
    }
}
