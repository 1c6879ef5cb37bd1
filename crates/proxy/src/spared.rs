//! Paths that are neither recorded nor failed.
//!
//! Owns telling whether a path is one of them. It is asked for every call of
//! an execution and mostly it is none, which a glance tells.

use crate::headers::Names;

/// The paths that are spared.
#[derive(Debug, Default)]
pub(crate) struct Spared {
    paths: Vec<String>,
    glance: Names,
}

impl Spared {
    /// These paths.
    pub(crate) fn new(paths: &[String]) -> Self {
        let mut glance = Names::default();
        paths.iter().for_each(|path| glance.add(path.as_bytes()));
        let paths = paths.to_owned();
        Spared { paths, glance }
    }

    /// Whether this path, without its query, is spared.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.glance.may_have(path) && self.paths.iter().any(|spared| spared == path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::HEALTH_CHECKS;

    #[test]
    fn exactly_the_paths_that_were_given_are_spared() {
        let spared = Spared::new(&HEALTH_CHECKS.map(str::to_owned));
        for path in HEALTH_CHECKS {
            assert!(spared.has(path), "{path}");
            // The first ends alike and is as long.
            let alike = path.replace('/', "x");
            for other in [alike.as_str(), &path[1..], &path.to_uppercase(), ""] {
                assert!(!spared.has(other), "{other}");
            }
        }
        assert!(!Spared::default().has(""));
        assert!(!Spared::default().has("/health"));
    }
}
