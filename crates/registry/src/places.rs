//! Addresses that are another each time, in what is sent.
//!
//! Proxies and the services that Murphy starts listen wherever a port is free.
//! A test that hands such an address on, as a callback or in a link, sends
//! something else in every worker and every campaign, and would have its calls
//! called something else. Owns reading such an address as the service it is
//! of; fixed addresses are what they are.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How loopback is written in addresses that Murphy gives out, and may be
/// written by whoever hands them on.
const HOSTS: [&[u8]; 2] = [b"127.0.0.1", b"localhost"];

/// What stands between host and port, also in a query.
const SEPARATORS: [&[u8]; 3] = [b":", b"%3A", b"%3a"];

/// Which service is reached at which port of this machine.
#[derive(Debug, Default)]
pub struct Places(BTreeMap<u16, Arc<str>>);

impl FromIterator<(u16, Arc<str>)> for Places {
    fn from_iter<T: IntoIterator<Item = (u16, Arc<str>)>>(places: T) -> Self {
        Places(places.into_iter().collect())
    }
}

impl Places {
    /// The same, with names instead of addresses.
    pub(crate) fn named<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let mut named = Vec::new();
        let mut done = 0;
        let mut at = 0;
        while !self.0.is_empty() && at < text.len() {
            match self.address(&text[at..]) {
                Some((length, service)) => {
                    named.extend_from_slice(&text[done..at]);
                    named.push(b'{');
                    named.extend_from_slice(service.as_bytes());
                    named.push(b'}');
                    at += length;
                    done = at;
                }
                None => at += 1,
            }
        }
        if done == 0 {
            return Cow::Borrowed(text);
        }
        named.extend_from_slice(&text[done..]);
        Cow::Owned(named)
    }

    /// The same for a query.
    pub(crate) fn named_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.named(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(named) => Cow::Owned(String::from_utf8_lossy(&named).into_owned()),
        }
    }

    /// The length of the address that a text begins with, and whose it is.
    fn address(&self, text: &[u8]) -> Option<(usize, &str)> {
        let host = HOSTS.iter().find(|host| text.starts_with(host))?;
        let rest = &text[host.len()..];
        let separator = SEPARATORS.iter().find(|it| rest.starts_with(it))?;
        let digits = &rest[separator.len()..];
        let length = digits.iter().take_while(|it| it.is_ascii_digit()).count();
        let port = std::str::from_utf8(&digits[..length]).ok()?.parse().ok()?;
        let service = self.0.get(&port)?;
        Some((host.len() + separator.len() + length, service))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_given_out_are_read_as_services_and_others_stay() {
        let places = Places::from_iter([(4001, "cart".into()), (40011, "stock".into())]);
        let cases = [
            ("", ""),
            ("nothing to see", "nothing to see"),
            (
                r#"{"callback":"http://127.0.0.1:4001/done"}"#,
                r#"{"callback":"http://{cart}/done"}"#,
            ),
            (
                "to=http%3A%2F%2Flocalhost%3A40011%2Fa&x=1",
                "to=http%3A%2F%2F{stock}%2Fa&x=1",
            ),
            ("127.0.0.1:4001127.0.0.1:4001", "127.0.0.1:4001{cart}"),
            ("127.0.0.1:4001,127.0.0.1:40011", "{cart},{stock}"),
            (
                "127.0.0.1:4002 127.0.0.1 localhost: 127.0.0.1:99999",
                "127.0.0.1:4002 127.0.0.1 localhost: 127.0.0.1:99999",
            ),
            ("10.127.0.0.1:4001", "10.{cart}"),
        ];
        for (text, expected) in cases {
            assert_eq!(places.named_text(text), expected);
        }
        assert_eq!(
            Places::default().named_text("127.0.0.1:4001"),
            "127.0.0.1:4001"
        );
    }
}
