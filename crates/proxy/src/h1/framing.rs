//! Where the body of a message ends, and whether its connection goes on.
//!
//! Owns the rules of RFC 9112 §6 and §9.3, and the refusal of requests that
//! two readers could take apart differently (request smuggling). Following a
//! body to its end is for `body`.

/// How a body is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// There is none.
    None,
    /// By its length.
    Length(u64),
    /// By the chunked coding.
    Chunked,
    /// By the end of the connection.
    UntilClose,
}

/// A message whose framing is contradictory or not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadFraming;

/// What the headers of one message say about framing and the connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fields {
    length: Option<u64>,
    bad_length: bool,
    codings: usize,
    /// Whether the last coding is chunked.
    chunked: bool,
    close: bool,
    keep_alive: bool,
}

impl Fields {
    /// Takes note of a `Content-Length`. It may be repeated, but not differ.
    pub(super) fn content_length(&mut self, value: &[u8]) {
        match number(value) {
            Some(length) if self.length.is_none_or(|known| known == length) => {
                self.length = Some(length);
            }
            _ => self.bad_length = true,
        }
    }

    /// Takes note of a `Transfer-Encoding`.
    pub(super) fn transfer_encoding(&mut self, value: &[u8]) {
        for coding in tokens(value) {
            self.codings += 1;
            self.chunked = coding.eq_ignore_ascii_case(b"chunked");
        }
        // A line that names nothing is not the same as no line to everyone.
        self.codings = self.codings.max(1);
    }

    /// Takes note of a `Connection`.
    pub(super) fn connection(&mut self, value: &[u8]) {
        for option in tokens(value) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// Whether the connection is meant to go on after a message of
    /// HTTP/1.`minor`.
    pub(super) fn persists(&self, minor: u8) -> bool {
        !self.close && (minor >= 1 || self.keep_alive)
    }

    /// The framing of a request. What is not exactly one of the usual forms is
    /// refused, because the callee might read it otherwise.
    pub(super) fn of_request(&self, minor: u8) -> Result<Framing, BadFraming> {
        if self.bad_length {
            return Err(BadFraming);
        }
        match (self.codings, self.length) {
            (0, None) => Ok(Framing::None),
            (0, Some(length)) => Ok(Framing::Length(length)),
            (1, None) if self.chunked && minor >= 1 => Ok(Framing::Chunked),
            _ => Err(BadFraming),
        }
    }

    /// The framing of an answer that may have a body.
    pub(super) fn of_answer(&self) -> Result<Framing, BadFraming> {
        if self.codings > 0 {
            return Ok(match self.chunked {
                true => Framing::Chunked,
                false => Framing::UntilClose,
            });
        }
        match (self.bad_length, self.length) {
            (true, _) => Err(BadFraming),
            (false, Some(length)) => Ok(Framing::Length(length)),
            (false, None) => Ok(Framing::UntilClose),
        }
    }
}

/// Whether an answer has no body, whatever its headers say.
pub(super) fn is_bodiless(status: u16, to_head: bool) -> bool {
    to_head || matches!(status, 100..=199 | 204 | 304)
}

/// The members of a comma-separated list, without blanks and parameters.
pub(super) fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .split(|byte| *byte == b',')
        .map(<[u8]>::trim_ascii)
        .filter(|token| !token.is_empty())
}

/// Digits only: signs, blanks and lists are read differently by different
/// servers.
fn number(value: &[u8]) -> Option<u64> {
    let is_plain = value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok().filter(|_| is_plain);
    text?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Lines = &'static [(&'static str, &'static str)];
    type Framed = Result<Framing, BadFraming>;

    fn fields(lines: &[(&str, &str)]) -> Fields {
        let mut fields = Fields::default();
        for (name, value) in lines {
            match *name {
                "cl" => fields.content_length(value.as_bytes()),
                "te" => fields.transfer_encoding(value.as_bytes()),
                _ => fields.connection(value.as_bytes()),
            }
        }
        fields
    }

    #[test]
    fn requests_are_framed_in_one_way_or_refused() {
        let bad = Err(BadFraming);
        let cases: [(Lines, u8, Framed); 17] = [
            (&[], 1, Ok(Framing::None)),
            (&[("cl", "5")], 1, Ok(Framing::Length(5))),
            (&[("cl", "5"), ("cl", "5")], 1, Ok(Framing::Length(5))),
            (&[("te", "Chunked")], 1, Ok(Framing::Chunked)),
            (&[("cl", "5"), ("cl", "6")], 1, bad),
            (&[("cl", "6"), ("cl", "x")], 1, bad),
            (&[("cl", "5, 5")], 1, bad),
            (&[("cl", "+5")], 1, bad),
            (&[("cl", "")], 1, bad),
            (&[("cl", "99999999999999999999")], 1, bad),
            (&[("cl", "5"), ("te", "chunked")], 1, bad),
            (&[("te", "gzip, chunked")], 1, bad),
            (&[("te", "chunked"), ("te", "chunked")], 1, bad),
            (&[("te", "identity")], 1, bad),
            (&[("te", "xchunked")], 1, bad),
            (&[("te", "")], 1, bad),
            (&[("te", "chunked")], 0, bad),
        ];
        for (lines, minor, framing) in cases {
            assert_eq!(fields(lines).of_request(minor), framing, "{lines:?}");
        }
    }

    #[test]
    fn answers_are_taken_as_clients_take_them() {
        let cases: [(Lines, Framed); 7] = [
            (&[], Ok(Framing::UntilClose)),
            (&[("cl", "0")], Ok(Framing::Length(0))),
            (&[("te", "chunked")], Ok(Framing::Chunked)),
            (&[("te", "gzip, chunked")], Ok(Framing::Chunked)),
            (&[("te", "gzip")], Ok(Framing::UntilClose)),
            (&[("cl", "3"), ("te", "chunked")], Ok(Framing::Chunked)),
            (&[("cl", "3"), ("cl", "4")], Err(BadFraming)),
        ];
        for (lines, framing) in cases {
            assert_eq!(fields(lines).of_answer(), framing, "{lines:?}");
        }
    }

    #[test]
    fn connections_go_on_by_version_and_option() {
        let cases = [
            ("", 1, true),
            ("", 0, false),
            ("Keep-Alive", 0, true),
            ("upgrade , Close", 1, false),
            ("close, keep-alive", 0, false),
            ("closed", 1, true),
        ];
        for (value, minor, persists) in cases {
            let fields = fields(&[("connection", value)]);
            assert_eq!(fields.persists(minor), persists, "{value} {minor}");
        }
    }
}
