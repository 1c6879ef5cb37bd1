//! The certificate authority of a project, in its state directory.
//!
//! Owns its files: one authority per project, used again by the next run until
//! it is about to end, never in a store of the machine. Its key is for nobody
//! but the user.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use murphy_campaign::{SetupError, directory};
use murphy_proxy::{Authority, AuthorityError};
use murphy_store::atomic_file::{DRAFT, Readable, replace};
use murphy_store::process::runs;

/// An authority that ends sooner is replaced: runs may take days.
const LEAST: Duration = Duration::from_secs(3 * 24 * 3600);

/// What stands before the moment at which it ends, in the file of its key.
const ENDS: &str = "# ends ";

/// What stands before its name there.
const NAME: &str = "# name ";

/// Where an authority is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorityFiles {
    /// The folder of both, and of what is made from them.
    pub folder: PathBuf,
    /// Its certificate: what callers must trust.
    pub certificate: PathBuf,
    key: PathBuf,
}

impl AuthorityFiles {
    fn of(state: &Path) -> Self {
        let folder = state.join("ca");
        AuthorityFiles {
            certificate: folder.join("ca.pem"),
            key: folder.join("ca.key"),
            folder,
        }
    }
}

/// The authority of a project with this state directory, made if there is none
/// or it is about to end.
pub fn open_authority(state: &Path) -> Result<(Arc<Authority>, AuthorityFiles), SetupError> {
    locked(state, |files| match restore(files) {
        Some(authority) if authority.ends() > SystemTime::now() + LEAST => Ok(authority),
        _ => make(files),
    })
}

/// A new authority in place of the one that there is.
pub fn rotate_authority(state: &Path) -> Result<(Arc<Authority>, AuthorityFiles), SetupError> {
    locked(state, make)
}

/// Two campaigns that start at once must not make two of them.
fn locked(
    state: &Path,
    open: impl FnOnce(&AuthorityFiles) -> io::Result<Authority>,
) -> Result<(Arc<Authority>, AuthorityFiles), SetupError> {
    let files = AuthorityFiles::of(state);
    let opened = || {
        // It may be the first of Murphy here, and a key is not for git.
        directory::make(state)?;
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&files.folder)?;
        let lock = File::create(files.folder.join("lock"))?;
        lock.lock()?;
        forget_drafts(&files.folder);
        open(&files)
    };
    match opened() {
        Ok(authority) => Ok((Arc::new(authority), files)),
        Err(error) => Err(SetupError::new(format!(
            "the certificate authority in `{}` cannot be used: {error}",
            files.folder.display()
        ))
        .hint("is the disk full, or the folder somebody else's? it can be deleted: a new one is made then")),
    }
}

/// A process that was killed may have left a key that is in use nowhere.
fn forget_drafts(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let drafts = entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().and_then(|it| it.to_str());
        let name = name.and_then(|it| it.strip_suffix(DRAFT)?.strip_suffix('.'));
        let owner = name.and_then(|it| it.rsplit('.').next()?.parse().ok());
        owner.is_some_and(|pid| !runs(pid))
    });
    for draft in drafts {
        let _ = fs::remove_file(draft);
    }
}

fn restore(files: &AuthorityFiles) -> Option<Authority> {
    let saved = fs::read_to_string(&files.key).ok()?;
    let certificate = fs::read_to_string(&files.certificate).ok()?;
    let after = |prefix: &str| saved.lines().find_map(|line| line.strip_prefix(prefix));
    let ends = UNIX_EPOCH.checked_add(Duration::from_secs(after(ENDS)?.parse().ok()?))?;
    let key = &saved[saved.find("-----BEGIN")?..];
    Authority::restore(after(NAME)?, certificate, key, ends).ok()
}

fn make(files: &AuthorityFiles) -> io::Result<Authority> {
    // Trust stores look authorities up by their name.
    let random = fastrand::u64(..);
    let name = format!("Murphy, for tests only ({random:016x})");
    let failed = |error: AuthorityError| io::Error::other(error);
    let authority = Authority::generate(&name).map_err(failed)?;
    let ends = authority
        .ends()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let saved = format!(
        "{NAME}{name}\n{ENDS}{}\n{}",
        ends.as_secs(),
        authority.key_pem()
    );
    // Whole seconds, as they are read back.
    let ends = UNIX_EPOCH + Duration::from_secs(ends.as_secs());
    let certificate = authority.certificate_pem().to_owned();
    replace(&files.key, saved.as_bytes(), Readable::Privately)?;
    replace(
        &files.certificate,
        certificate.as_bytes(),
        Readable::AsUsual,
    )?;
    Authority::restore(&name, certificate, &authority.key_pem(), ends).map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_next_run_uses_the_same_authority() {
        let state = tempfile::tempdir().unwrap();
        let (first, files) = open_authority(state.path()).unwrap();
        let (second, _) = open_authority(state.path()).unwrap();
        assert_eq!(first.certificate_pem(), second.certificate_pem());
        assert_eq!(first.ends(), second.ends());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&files.key), 0o600);
        assert_eq!(mode(&files.folder), 0o700);
        let (third, _) = rotate_authority(state.path()).unwrap();
        assert_ne!(first.certificate_pem(), third.certificate_pem());
    }

    #[test]
    fn the_key_is_kept_out_of_version_control_also_where_it_comes_first() {
        let project = tempfile::tempdir().unwrap();
        let state = project.path().join(".murphy");
        open_authority(&state).unwrap();
        let ignored = fs::read_to_string(state.join(".gitignore")).unwrap();
        assert_eq!(ignored, "*\n");
    }

    #[test]
    fn one_that_is_about_to_end_or_cannot_be_read_is_replaced() {
        let state = tempfile::tempdir().unwrap();
        let (first, files) = open_authority(state.path()).unwrap();
        let saved = fs::read_to_string(&files.key).unwrap();
        let ends = first.ends().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let soon = saved.replace(&ends.to_string(), &(ends - 5 * 24 * 3600).to_string());
        let replaced = ["", "nonsense", "-----BEGIN", soon.as_str()];
        let mut last = first.certificate_pem().to_owned();
        for text in replaced {
            fs::write(&files.key, text).unwrap();
            let (next, _) = open_authority(state.path()).unwrap();
            assert_ne!(next.certificate_pem(), last, "{text}");
            last = next.certificate_pem().to_owned();
        }
    }

    #[test]
    fn what_a_killed_process_was_writing_is_removed_and_nothing_else() {
        let state = tempfile::tempdir().unwrap();
        let (_, files) = open_authority(state.path()).unwrap();
        let mut gone = std::process::Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        let of_dead = files.folder.join(format!("ca.key.{}.draft", gone.id()));
        let of_living = format!("ca.key.{}.draft", std::process::id());
        let of_living = files.folder.join(of_living);
        fs::write(&of_dead, "-----BEGIN").unwrap();
        fs::write(&of_living, "-----BEGIN").unwrap();
        open_authority(state.path()).unwrap();
        assert!(!of_dead.exists() && of_living.exists());
        assert!(files.key.exists() && files.certificate.exists());
    }

    #[test]
    fn runs_that_start_at_once_share_one() {
        let state = tempfile::tempdir().unwrap();
        let open = || {
            open_authority(state.path())
                .unwrap()
                .0
                .certificate_pem()
                .to_owned()
        };
        let all = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            let all = threads.into_iter().map(|thread| thread.join().unwrap());
            all.collect::<Vec<_>>()
        });
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
