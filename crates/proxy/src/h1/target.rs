//! Targets in absolute form: `http://host:port/path`.
//!
//! Owns what becomes of them. Callers that take us for a forward proxy send
//! them, and any server has to accept them (RFC 9112 §3.2.2); many services
//! route by the path alone, so they get the usual form.

use http::uri::Authority;

use super::head::BadHead;

/// A target in absolute form, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Absolute<'a> {
    /// What `Host` has to say, with the port if there is one.
    pub(super) host: &'a str,
    /// The path with the query; may be empty, or a query alone.
    path: &'a str,
}

impl<'a> Absolute<'a> {
    /// Takes a target apart; `None` if it has another form.
    pub(super) fn read(target: &'a str) -> Result<Option<Self>, BadHead> {
        let Some(rest) = after_scheme(target) else {
            return Ok(None);
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let host = authority.rsplit('@').next().unwrap_or_default();
        match host.parse::<Authority>() {
            Ok(parsed) if !parsed.host().is_empty() => Ok(Some(Absolute { host, path })),
            _ => Err(BadHead::Malformed),
        }
    }

    /// The target in the form that servers usually get.
    pub(super) fn origin_form(&self, method: &str) -> String {
        match (self.path, method) {
            // RFC 9112 §3.2.4: it asks about the server as a whole.
            ("", "OPTIONS") => "*".to_owned(),
            (path, _) if path.starts_with('/') => path.to_owned(),
            (path, _) => format!("/{path}"),
        }
    }
}

fn after_scheme(target: &str) -> Option<&str> {
    if target.starts_with('/') {
        return None;
    }
    let (scheme, rest) = target.split_once("://")?;
    let known = ["http", "https"];
    let is_known = known.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    is_known.then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_forms_become_a_host_and_a_path() {
        let cases = [
            ("http://x/a?b", "x", "/a?b"),
            ("HTTPS://x:8443/a", "x:8443", "/a"),
            ("http://x", "x", "/"),
            ("http://x?u=a/b", "x", "/?u=a/b"),
            ("http://me:secret@x:80/", "x:80", "/"),
            ("http://[::1]:80/a@b", "[::1]:80", "/a@b"),
        ];
        for (target, host, path) in cases {
            let absolute = Absolute::read(target).unwrap().unwrap();
            assert_eq!(absolute.host, host, "{target}");
            assert_eq!(absolute.origin_form("GET"), path, "{target}");
        }
    }

    #[test]
    fn options_of_a_server_as_a_whole_ask_about_everything() {
        let form = |target| {
            let absolute = Absolute::read(target).unwrap().unwrap();
            absolute.origin_form("OPTIONS")
        };
        assert_eq!(form("http://x"), "*");
        assert_eq!(form("http://x/"), "/");
        assert_eq!(form("http://x?a"), "/?a");
    }

    #[test]
    fn other_forms_are_left_alone() {
        let targets = [
            "/a?u=http://x/y",
            "*",
            "x:443",
            "a?u=http://x/y",
            "urn://x/",
        ];
        for target in targets {
            assert_eq!(Absolute::read(target), Ok(None), "{target}");
        }
    }

    #[test]
    fn no_host_is_none_to_serve() {
        for target in [
            "http://",
            "http:///a",
            "http://:80/",
            "http://me@/",
            "http://[x/",
        ] {
            assert_eq!(Absolute::read(target), Err(BadHead::Malformed), "{target}");
        }
    }
}
