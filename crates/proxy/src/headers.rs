//! Headers as carriers see them, whatever the protocol.
//!
//! Owns the few operations a carrier needs. HTTP/1.1 keeps the lines as they
//! came, HTTP/2 a header map; both do it behind [`Headers`].

/// The headers of one message.
pub trait Headers {
    /// Shows every value with this name (lower case), in order.
    fn each<'a>(&'a self, name: &str, see: &mut dyn FnMut(&'a [u8]));

    /// Makes `value` the only one with this name (lower case): in place of the
    /// first line that has it, at the end if there is none.
    fn set(&mut self, name: &str, value: &[u8]);

    /// The same where exactly one line has this name, which is changed.
    fn replace(&mut self, name: &str, value: &[u8]) {
        self.set(name, value);
    }

    /// Takes away every line with this name (lower case).
    fn remove(&mut self, name: &str);

    /// The first value with this name (lower case).
    fn first<'a>(&'a self, name: &str) -> Option<&'a [u8]> {
        let mut first = None;
        self.each(name, &mut |value| first = first.or(Some(value)));
        first
    }

    /// The first value with this name, if it is plain text.
    fn text<'a>(&'a self, name: &str) -> Option<&'a str> {
        self.first(name)
            .and_then(|value| std::str::from_utf8(value).ok())
            .map(str::trim)
    }
}

/// Which names there may be, of headers or else: a bit for every name there
/// is; several names share one. Carriers mostly ask for headers that are not
/// there, and this tells without looking through them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Names(u64);

impl Names {
    /// There is one with this name, whatever its case.
    pub(crate) fn add(&mut self, name: &[u8]) {
        self.0 |= bit(name);
    }

    /// All of them in a number; zero if there are none.
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    /// The names of which this is all.
    pub(crate) fn from_bits(bits: u64) -> Self {
        Names(bits)
    }

    /// Whether there may be one with this name; if not, there is none.
    #[inline]
    pub(crate) fn may_have(self, name: &str) -> bool {
        self.0 & bit(name.as_bytes()) != 0
    }
}

/// Which bit stands for a name: its length and its last letter distinguish
/// the usual ones.
#[inline]
fn bit(name: &[u8]) -> u64 {
    let last = name.last().map_or(0, |byte| byte.to_ascii_lowercase());
    1 << ((name.len() * 7 + usize::from(last)) % 64)
}

impl Headers for http::HeaderMap {
    fn each<'a>(&'a self, name: &str, see: &mut dyn FnMut(&'a [u8])) {
        for value in self.get_all(name) {
            see(value.as_bytes());
        }
    }

    fn set(&mut self, name: &str, value: &[u8]) {
        let name = http::HeaderName::try_from(name);
        let value = http::HeaderValue::from_bytes(value);
        if let (Ok(name), Ok(value)) = (name, value) {
            self.insert(name, value);
        }
    }

    fn remove(&mut self, name: &str) {
        http::HeaderMap::remove(self, name);
    }
}
