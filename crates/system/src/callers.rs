//! Who has the other end of a connection.
//!
//! An address that is fixed may be known to every service and to the test, so
//! the address alone does not tell who calls there; the process does. Owns
//! finding the service to whose processes a socket belongs, among those that
//! Murphy started. What is nobody's may be the test's, or that of a service
//! that runs elsewhere.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use murphy_store::process::Stat;
use rustix::process::Pid;

use super::proc;

/// The processes of services, by which calls are known to be theirs.
#[derive(Default)]
pub(super) struct CallingProcesses(Mutex<Processes>);

#[derive(Default)]
struct Processes {
    /// The service that each group of processes is.
    groups: BTreeMap<i32, Arc<str>>,
    /// Who was looked at already, with the group if it is one of these: most
    /// connections come from processes that called before.
    seen: BTreeMap<i32, Option<i32>>,
}

impl CallingProcesses {
    /// From now on this group of processes is this service.
    pub(super) fn add(&self, service: &str, group: Pid) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.groups
            .insert(group.as_raw_nonzero().get(), service.into());
        all.seen.clear();
    }

    /// The service that has a socket open.
    pub(super) fn of_socket(&self, inode: u32) -> Option<Arc<str>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.groups.is_empty() {
            return None;
        }
        all.among_seen(inode).or_else(|| {
            all.look_around();
            all.among_seen(inode)
        })
    }
}

impl Processes {
    fn among_seen(&self, inode: u32) -> Option<Arc<str>> {
        let ours = self
            .seen
            .iter()
            .filter_map(|(pid, group)| Some((*pid, (*group)?)));
        let has_it = |(pid, group): &(i32, i32)| {
            // Another process may have its number by now.
            proc::sockets(*pid).any(|it| it == inode)
                && Stat::of(*pid).is_some_and(|it| it.group == *group)
        };
        let (_, group) = ours.into_iter().find(has_it)?;
        self.groups.get(&group).cloned()
    }

    /// Services start processes at any time.
    fn look_around(&mut self) {
        let before = std::mem::take(&mut self.seen);
        for pid in proc::all() {
            let group = match before.get(&pid) {
                Some(known) => *known,
                None => Stat::of(pid).map(|it| it.group),
            };
            let group = group.filter(|it| self.groups.contains_key(it));
            self.seen.insert(pid, group);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use super::*;

    fn inode(socket: &impl AsRawFd) -> u32 {
        let link = std::fs::read_link(format!("/proc/self/fd/{}", socket.as_raw_fd()));
        let link = link.unwrap().to_string_lossy().into_owned();
        let digits = link.trim_start_matches("socket:[").trim_end_matches(']');
        digits.parse().unwrap()
    }

    #[test]
    fn a_socket_is_that_of_the_service_whose_process_has_it_open() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let calling = CallingProcesses::default();
        assert_eq!(
            calling.of_socket(inode(&own)),
            None,
            "no service is known yet"
        );
        // A process of the group, not its leader, has inherited a socket.
        let inherited = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = inode(&inherited);
        let mut child = Command::new("sh")
            .args(["-c", "sleep 60 & wait"])
            .stdin(Stdio::from(std::os::fd::OwnedFd::from(inherited)))
            .process_group(0)
            .spawn()
            .unwrap();
        let group = Pid::from_raw(child.id() as i32).unwrap();
        calling.add("cart", group);
        assert_eq!(calling.of_socket(at).as_deref(), Some("cart"));
        assert_eq!(calling.of_socket(inode(&own)), None, "the test's own");
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
        child.wait().unwrap();
        let is_gone = || calling.of_socket(at).is_none();
        let waited = (0..500).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            is_gone()
        });
        assert!(waited, "the group has ended");
    }
}
