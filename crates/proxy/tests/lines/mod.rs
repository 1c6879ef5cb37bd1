//! Headers as a list of lines, the way HTTP/1.1 has them on the wire.

use murphy_proxy::Headers;

/// Lines of lower-case names and values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines(pub(crate) Vec<(String, Vec<u8>)>);

impl Headers for Lines {
    fn each<'a>(&'a self, name: &str, see: &mut dyn FnMut(&'a [u8])) {
        for (_, value) in self.0.iter().filter(|(known, _)| known == name) {
            see(value);
        }
    }

    fn set(&mut self, name: &str, value: &[u8]) {
        let line = (name.to_owned(), value.to_owned());
        match self.0.iter().position(|(known, _)| known == name) {
            None => self.0.push(line),
            Some(first) => {
                self.0[first] = line;
                let mut at = 0;
                self.0.retain(|(known, _)| {
                    at += 1;
                    known != name || at == first + 1
                });
            }
        }
    }

    fn remove(&mut self, name: &str) {
        self.0.retain(|(known, _)| known != name);
    }
}

impl Lines {
    /// The lines as a header map, if one can hold them.
    pub(crate) fn to_map(&self) -> Option<http::HeaderMap> {
        let mut map = http::HeaderMap::new();
        for (name, value) in &self.0 {
            let name = http::HeaderName::try_from(name).ok()?;
            map.append(name, http::HeaderValue::from_bytes(value).ok()?);
        }
        Some(map)
    }
}
