//! `https://` and `[services.NAME.tls]`: services that speak TLS.
//!
//! Owns where such a service listens, and that its certificates and keys are
//! there and belong together, before anything is started.

use std::path::PathBuf;
use std::sync::Arc;

use murphy_system::spec::{TlsError, TlsFiles, TlsUpstream};

use super::checker::Checker;
use super::services::host_and_port;
use crate::Span;
use crate::raw::{Service, Text, Tls};

/// What was refused has been noted.
pub(super) struct Refused;

/// How TLS is spoken to a service, if it is, and to its hosts. Its `upstream`
/// is left as `host:port`.
pub(super) fn of(
    checker: &mut Checker<'_>,
    name: &Text,
    raw: &mut Service,
    hosts: &[Text],
) -> Result<(Option<Arc<TlsUpstream>>, TlsFiles), Refused> {
    let table = raw.tls.take();
    let upstream = raw.upstream.clone();
    let address = match upstream
        .as_ref()
        .map(|text| (text, without_scheme(&text.value)))
    {
        Some((text, Some(Err(hint)))) => {
            let message = format!("`{}` is no address of a service over TLS", text.value);
            let label = "`https://`, a host and a port are expected";
            checker.refuse(&text.span, message, label, hint);
            return Err(Refused);
        }
        Some((_, Some(Ok(address)))) => Some(address),
        Some((text, None)) if table.is_some() && hosts.is_empty() => {
            let message = format!("service `{}` is not reached over TLS", name.value);
            let hint = format!(
                "write `upstream = \"https://{}\"`, or leave `tls` out",
                text.value
            );
            checker.refuse(&text.span, message, "without TLS", hint);
            return Err(Refused);
        }
        _ => None,
    };
    // What Murphy starts listens here.
    let place = match (&address, &table) {
        (None, None) => return Ok((None, TlsFiles::default())),
        (Some(address), _) => address.as_str(),
        (None, Some(_)) => "localhost",
    };
    let table = table.map(|at| at.value).unwrap_or_default();
    let files = files(checker, &table)?;
    let tls = TlsUpstream::new(place, &files).map_err(|error| {
        let span = span_of(checker, &error, &table);
        let span = span.or_else(|| upstream.as_ref().map(|it| it.span.clone()));
        let span = span.unwrap_or_else(|| name.span.clone());
        checker.refuse(
            &span,
            error.to_string(),
            "for TLS to this service",
            error.hint(),
        );
        Refused
    })?;
    let is_spoken = address.is_some() || raw.command.is_some();
    if let (Some(address), Some(upstream)) = (address, &mut raw.upstream) {
        upstream.value = address;
    }
    Ok((is_spoken.then(|| Arc::new(tls)), files))
}

fn files(checker: &mut Checker<'_>, table: &Tls) -> Result<TlsFiles, Refused> {
    let pair = match (&table.client_cert, &table.client_key) {
        (Some(certificate), Some(key)) => Some((checker.path(certificate), checker.path(key))),
        (None, None) => None,
        (Some(alone), None) | (None, Some(alone)) => {
            let message = "a client certificate and its key go together";
            let hint = "write both `client_cert` and `client_key`; they may be in one file";
            checker.refuse(&alone.span, message, "without the other", hint);
            return Err(Refused);
        }
    };
    Ok(TlsFiles {
        ca: table.ca.as_ref().map(|it| checker.path(it)),
        client: pair,
        server_name: table.server_name.as_ref().map(|it| it.value.clone()),
    })
}

/// Where in the table it stands what an error is about.
fn span_of(checker: &Checker<'_>, error: &TlsError, table: &Tls) -> Option<Span> {
    let file: &PathBuf = match error {
        TlsError::Unreadable { file, .. } | TlsError::Malformed { file, .. } => file,
        TlsError::NoCertificate(file) | TlsError::NoKey(file) | TlsError::Encrypted(file) => file,
        TlsError::Unfit { key, .. } => key,
        TlsError::BadName(_) => return table.server_name.as_ref().map(|it| it.span.clone()),
        TlsError::NoRoots(_) => return None,
    };
    let keys = match error {
        TlsError::NoKey(_) | TlsError::Encrypted(_) | TlsError::Unfit { .. } => {
            [&table.client_key, &table.client_cert, &table.ca]
        }
        _ => [&table.ca, &table.client_cert, &table.client_key],
    };
    let mut keys = keys.into_iter().flatten();
    let key = keys.find(|text| checker.path(text) == *file)?;
    Some(key.span.clone())
}

/// `host:port` of what is reached over TLS; `None` of what is not, the error
/// is the way out.
fn without_scheme(text: &str) -> Option<Result<String, String>> {
    let (scheme, rest) = text.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    if !["https", "wss", "grpcs"].contains(&scheme.as_str()) {
        return None;
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let last = authority.rsplit(':').next().unwrap_or_default();
    let has_port = authority.contains(':') && !authority.ends_with(']') && !last.is_empty();
    let address = match has_port {
        true => authority.to_owned(),
        false => format!("{}:443", authority.trim_end_matches(':')),
    };
    Some(match host_and_port(&address) {
        Err(_) => Err("write for example \"https://prices.example.com\"".to_owned()),
        Ok(()) if scheme != "https" || !["", "/"].contains(&path) => Err(format!(
            "write \"https://{authority}\": what requests ask for comes from the caller"
        )),
        Ok(()) => Ok(address),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_schemes_of_tls_are_over_tls() {
        for (text, address) in [
            ("https://a.example", "a.example:443"),
            ("HTTPS://a:8443/", "a:8443"),
            ("https://[::1]", "[::1]:443"),
            ("https://[::1]:1", "[::1]:1"),
        ] {
            assert_eq!(without_scheme(text), Some(Ok(address.to_owned())), "{text}");
        }
        for plain in ["http://a:80", "https:443", "a:1", "grpc://a:1"] {
            assert_eq!(without_scheme(plain), None, "{plain}");
        }
        let refused = |text| without_scheme(text).unwrap().unwrap_err();
        assert!(refused("https://a/v1").starts_with("write \"https://a\""));
        assert!(refused("grpcs://a:1").starts_with("write \"https://a:1\""));
        for wrong in ["https://", "https://u@a", "https://a:0", "https://a:x"] {
            assert!(refused(wrong).contains("for example"), "{wrong}");
        }
    }
}
