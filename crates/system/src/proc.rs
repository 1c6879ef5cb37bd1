//! The processes of this machine and their sockets, as `/proc` shows them.
//!
//! Owns reading it; where there is none, there are none. What a process is to
//! Murphy is for others.

use std::fs;

/// The ids of all processes.
pub(super) fn all() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The sockets that a process has open, by inode.
pub(super) fn sockets(pid: i32) -> impl Iterator<Item = u32> {
    let folder = fs::read_dir(format!("/proc/{pid}/fd"));
    let entries = folder.into_iter().flatten().flatten();
    let links = entries.filter_map(|entry| fs::read_link(entry.path()).ok());
    links.filter_map(|link| {
        let inode = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
        inode.parse().ok()
    })
}
