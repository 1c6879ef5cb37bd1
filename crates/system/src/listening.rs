//! Which ports a process listens on.
//!
//! Owns the question who listens where, for services that are up at another port
//! than the one they were given: the most common mistake in a first file. What
//! is known comes from `/proc`; where there is none, nothing is known.

use std::collections::{BTreeSet, HashSet};
use std::fs;

use murphy_store::process::Stat;
use rustix::process::Pid;

use super::proc;

/// The state of a socket that listens, in `/proc/net/tcp`.
const LISTENS: &str = "0A";

/// The ports that processes of this group listen on, in order.
pub(super) fn ports_of(group: Pid) -> Vec<u16> {
    let group = group.as_raw_nonzero().get();
    let is_member = |pid: &i32| Stat::of(*pid).is_some_and(|it| it.group == group);
    let members = proc::all().filter(is_member);
    let sockets: HashSet<u32> = members.flat_map(proc::sockets).collect();
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let tables = tables.map(|table| fs::read_to_string(table).unwrap_or_default());
    let ports = tables.iter().flat_map(|table| listening(table, &sockets));
    let ports: BTreeSet<u16> = ports.collect();
    ports.into_iter().collect()
}

/// The local ports of those sockets of a table that listen.
fn listening(table: &str, sockets: &HashSet<u32>) -> Vec<u16> {
    let port = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?.parse().ok()?);
        let (_, port) = local.rsplit_once(':')?;
        let is_meant = *state == LISTENS && sockets.contains(&inode);
        u16::from_str_radix(port, 16).ok().filter(|_| is_meant)
    };
    table.lines().skip(1).filter_map(port).collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_ports_of_this_very_process_are_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let group = rustix::process::getpgrp();
        assert!(ports_of(group).contains(&port));
        drop(listener);
        assert!(!ports_of(group).contains(&port));
    }

    #[test]
    fn only_sockets_that_listen_count() {
        let table = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1388 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 41 1
   1: 0100007F:1389 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 42 1
   2: 0100007F:138A 0100007F:0050 01 00000000:00000000 00:00000000 00000000  1000        0 41 1
";
        let sockets = HashSet::from([41]);
        assert_eq!(listening(table, &sockets), [5000]);
    }
}
