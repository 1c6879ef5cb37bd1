//! The processes of this machine and their sockets, as `/proc` shows them.
//!
//! Owns reading it; where there is none, there are none. What a process is to
//! Murphy is for others.

use std::fs;
use std::path::PathBuf;

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

/// The process that has a socket open.
pub(super) fn with_socket(inode: u32) -> Option<i32> {
    all().find(|pid| sockets(*pid).any(|it| it == inode))
}

/// The file name of the program that a process runs.
pub(super) fn program(pid: i32) -> Option<String> {
    let file = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let name = file.file_name()?.to_str()?;
    // What the kernel appends when it was replaced meanwhile.
    Some(name.trim_end_matches(" (deleted)").to_owned())
}

/// What a process was started with in a variable.
pub(super) fn variable(pid: i32, name: &str) -> Option<String> {
    let all = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let value = all.split(|byte| *byte == 0).find_map(|it| {
        let value = it.strip_prefix(name.as_bytes())?;
        value.strip_prefix(b"=")
    })?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// A file as a process names it, which may be relative to where it is.
pub(super) fn file_of(pid: i32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/cwd")).join(name)
}
