//! Which version of a service it is: a digest of the files it is made of.
//!
//! Owns the choice of files. Services that Murphy starts are made of what is
//! in their directory; what tools put there beside it does not count. A
//! change that touches no file (an installed package, a database) is not seen.

use std::fs;
use std::path::{Path, PathBuf};

use murphy_campaign::live::spec::ManagedSpec;

/// Directories that are made from others, or by us.
const LEFT_OUT: [&str; 8] = [
    "node_modules",
    "target",
    "__pycache__",
    "venv",
    "dist",
    "build",
    "vendor",
    "coverage",
];

/// Files larger than this are data, most likely; their size has to do.
const LARGEST: u64 = 1 << 20;

/// More files than this are not one service's source.
const MOST: usize = 20_000;

/// The version of a service that Murphy starts. Files that Murphy itself
/// writes (`own`) are none of the service's, wherever they are.
pub(crate) fn of(service: &ManagedSpec, own: &[PathBuf]) -> String {
    let mut files = Vec::new();
    collect(&service.directory, &mut files);
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let own: Vec<PathBuf> = own.iter().map(|path| absolute(path)).collect();
    files.retain(|file| !own.contains(&absolute(file)));
    files.sort();
    let mut hasher = blake3::Hasher::new();
    for word in &service.command {
        take(&mut hasher, word.as_bytes());
    }
    for (name, value) in &service.environment {
        take(&mut hasher, name.as_bytes());
        take(&mut hasher, value.as_bytes());
    }
    for file in &files {
        let name = file.strip_prefix(&service.directory).unwrap_or(file);
        take(&mut hasher, name.as_os_str().as_encoded_bytes());
        take(&mut hasher, &content(file));
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

/// The length keeps neighbouring parts from running into each other.
fn take(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

fn content(file: &Path) -> Vec<u8> {
    match fs::metadata(file) {
        Ok(about) if about.len() > LARGEST => about.len().to_le_bytes().to_vec(),
        // A file that cannot be read is the same unreadable file next time.
        _ => fs::read(file).unwrap_or_default(),
    }
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') || LEFT_OUT.contains(&&*name) || files.len() >= MOST {
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect(&entry.path(), files),
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::time::Duration;

    #[test]
    fn a_version_changes_with_the_files_but_not_with_what_we_write() {
        let name = format!("murphy-versions-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(&directory).unwrap();
        let service = ManagedSpec {
            command: vec!["serve".to_owned()],
            directory: directory.clone(),
            environment: BTreeMap::new(),
            port: None,
            stop_within: Duration::ZERO,
        };
        let own = [directory.join("events.ndjson")];
        let empty = of(&service, &own);
        fs::write(&own[0], "{}").unwrap();
        fs::create_dir_all(directory.join(".murphy")).unwrap();
        fs::write(directory.join(".murphy/store.db"), "rows").unwrap();
        assert_eq!(of(&service, &own), empty);
        fs::write(directory.join("app.py"), "print()").unwrap();
        let one = of(&service, &own);
        assert_ne!(one, empty);
        fs::write(directory.join("app.py"), "print(1)").unwrap();
        assert_ne!(of(&service, &own), one);
        fs::remove_dir_all(&directory).unwrap();
    }
}
