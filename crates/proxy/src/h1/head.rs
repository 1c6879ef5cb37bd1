//! The head of a request, kept as it came.
//!
//! Owns the raw bytes and where the lines are in them. Changes are noted
//! beside the lines and take effect only in what is forwarded, so that a head
//! nobody changed passes byte by byte, and the rest of a changed one as well.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::framing::{BadFraming, Fields, Framing, tokens};
use super::target::Absolute;
use crate::headers::{Headers, Names};

/// How many lines a head may have: more than any sensible message.
pub(super) const LINES_LIMIT: usize = 256;

/// A head that is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadHead {
    /// Too many lines.
    TooLong,
    /// Not HTTP/1, or framed so that others could read it differently.
    Malformed,
    /// For a host that the listener does not serve.
    UnknownHost,
}

impl From<httparse::Error> for BadHead {
    fn from(error: httparse::Error) -> Self {
        match error {
            httparse::Error::TooManyHeaders => BadHead::TooLong,
            _ => BadHead::Malformed,
        }
    }
}

impl From<BadFraming> for BadHead {
    fn from(BadFraming: BadFraming) -> Self {
        BadHead::Malformed
    }
}

/// The head of one request. Its memory is used again for the next.
pub(super) struct RequestHead {
    bytes: Vec<u8>,
    method: Range<usize>,
    /// The target as it came.
    target: Range<usize>,
    /// The target in `written` that is forwarded in its place.
    origin_form: Option<Range<usize>>,
    lines: Vec<Line>,
    /// The names of all lines, those added included.
    names: Names,
    /// What was set, one after the other.
    written: Vec<u8>,
    /// Lines added at the end, as name and value in `written`.
    added: Vec<(Range<usize>, Range<usize>)>,
    changed: bool,
    framing: Framing,
    persists: bool,
    http_1_0: bool,
    expects_continue: bool,
}

struct Line {
    name: Range<usize>,
    value: Range<usize>,
    now: Now,
}

/// What a line is when it is forwarded.
enum Now {
    AsItCame,
    /// This part of what was written.
    Set(Range<usize>),
    Removed,
}

impl RequestHead {
    /// No head yet.
    pub(super) fn new() -> Self {
        RequestHead {
            bytes: Vec::new(),
            method: 0..0,
            target: 0..0,
            origin_form: None,
            lines: Vec::new(),
            names: Names::default(),
            written: Vec::new(),
            added: Vec::new(),
            changed: false,
            framing: Framing::None,
            persists: false,
            http_1_0: false,
            expects_continue: false,
        }
    }

    /// Reads the head at the front of `bytes`. False if more of it is to come.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<bool, BadHead> {
        let mut lines = [const { MaybeUninit::uninit() }; LINES_LIMIT];
        let mut request = httparse::Request::new(&mut []);
        let parsed = request.parse_with_uninit_headers(bytes, &mut lines)?;
        let httparse::Status::Complete(length) = parsed else {
            return Ok(false);
        };
        if has_bare_line_feed(&bytes[..length]) {
            return Err(BadHead::Malformed);
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(&bytes[..length]);
        self.method = range(request.method.unwrap_or_default().as_bytes(), bytes);
        let target = request.path.unwrap_or_default();
        self.target = range(target.as_bytes(), bytes);
        self.origin_form = None;
        self.written.clear();
        self.added.clear();
        self.changed = false;
        self.read_lines(request.headers, bytes);
        self.understand(request.headers, request.version.unwrap_or(1))?;
        if let Some(absolute) = Absolute::read(target)? {
            self.put_in_origin_form(&absolute);
        }
        Ok(true)
    }

    /// The host of the target wins over the `Host` that came (RFC 9112
    /// §3.2.2).
    fn put_in_origin_form(&mut self, absolute: &Absolute<'_>) {
        let target = absolute.origin_form(self.method());
        self.origin_form = Some(self.write(target.as_bytes()));
        self.set("host", absolute.host.as_bytes());
    }

    fn read_lines(&mut self, headers: &[httparse::Header<'_>], bytes: &[u8]) {
        self.lines.clear();
        self.names = Names::default();
        for header in headers {
            let name = header.name.as_bytes();
            self.names.add(name);
            self.lines.push(Line {
                name: range(name, bytes),
                value: range(header.value, bytes),
                now: Now::AsItCame,
            });
        }
    }

    fn understand(
        &mut self,
        headers: &[httparse::Header<'_>],
        minor: u8,
    ) -> Result<(), BadFraming> {
        let mut fields = Fields::default();
        let mut offers_h2c = false;
        self.expects_continue = false;
        for header in headers {
            let named = |name: &str| header.name.eq_ignore_ascii_case(name);
            // Most lines are distinguished by their length.
            match header.name.len() {
                6 if named("expect") => {
                    self.expects_continue = header.value.eq_ignore_ascii_case(b"100-continue");
                }
                7 if named("upgrade") => {
                    offers_h2c |=
                        tokens(header.value).any(|token| token.eq_ignore_ascii_case(b"h2c"));
                }
                10 if named("connection") => fields.connection(header.value),
                14 if named("content-length") => fields.content_length(header.value),
                17 if named("transfer-encoding") => fields.transfer_encoding(header.value),
                _ => {}
            }
        }
        self.persists = fields.persists(minor);
        self.http_1_0 = minor == 0;
        self.framing = fields.of_request(minor)?;
        if offers_h2c {
            self.withdraw_h2c();
        }
        Ok(())
    }

    /// Does not forward an offer to go on in HTTP/2, which a server may ignore
    /// (RFC 9110 §7.8): a callee that took it would turn the connection into a
    /// tunnel, and hide every later call.
    fn withdraw_h2c(&mut self) {
        self.remove("http2-settings");
        self.remove_token("connection", "http2-settings");
        self.remove_token("upgrade", "h2c");
        if self.first("upgrade").is_none() {
            self.remove_token("connection", "upgrade");
        }
    }

    /// The length of the head as it came.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn method(&self) -> &str {
        text(&self.bytes[self.method.clone()])
    }

    /// The path with the query, or what else is asked for.
    pub(super) fn target(&self) -> &str {
        text(self.target_bytes())
    }

    fn target_bytes(&self) -> &[u8] {
        match &self.origin_form {
            Some(target) => &self.written[target.clone()],
            None => &self.bytes[self.target.clone()],
        }
    }

    /// How the body is delimited.
    pub(super) fn framing(&self) -> Framing {
        self.framing
    }

    /// Whether the caller wants to go on after this request.
    pub(super) fn persists(&self) -> bool {
        self.persists
    }

    /// Whether the caller speaks HTTP/1.0.
    pub(super) fn is_http_1_0(&self) -> bool {
        self.http_1_0
    }

    /// Whether the caller may wait for `100 Continue` before it sends the body.
    pub(super) fn expects_continue(&self) -> bool {
        self.expects_continue
    }

    /// Whether something is to be forwarded that is not what came.
    pub(super) fn is_changed(&self) -> bool {
        self.changed
    }

    fn added(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let written = |part: &Range<usize>| &self.written[part.clone()];
        let added = self.added.iter();
        added.map(move |(name, value)| (written(name), written(value)))
    }

    /// The head as it is to be forwarded.
    pub(super) fn render(&self, into: &mut Vec<u8>) {
        let end = self.lines_end();
        let first = self.lines.first().map_or(end, |line| line.name.start);
        into.extend_from_slice(&self.bytes[..self.target.start]);
        into.extend_from_slice(self.target_bytes());
        into.extend_from_slice(&self.bytes[self.target.end..first]);
        for (at, line) in self.lines.iter().enumerate() {
            let next = self.lines.get(at + 1).map_or(end, |next| next.name.start);
            match &line.now {
                Now::Removed => {}
                Now::AsItCame => into.extend_from_slice(&self.bytes[line.name.start..next]),
                Now::Set(value) => {
                    into.extend_from_slice(&self.bytes[line.name.start..line.value.start]);
                    into.extend_from_slice(&self.written[value.clone()]);
                    into.extend_from_slice(&self.bytes[line.value.end..next]);
                }
            }
        }
        for (name, value) in self.added() {
            for part in [name, b": ", value, b"\r\n"] {
                into.extend_from_slice(part);
            }
        }
        into.extend_from_slice(&self.bytes[end..]);
    }

    /// Where the empty line begins.
    fn lines_end(&self) -> usize {
        self.bytes.len().saturating_sub(b"\r\n".len())
    }

    fn value<'a>(&'a self, line: &'a Line) -> Option<&'a [u8]> {
        match &line.now {
            Now::AsItCame => Some(&self.bytes[line.value.clone()]),
            Now::Set(value) => Some(&self.written[value.clone()]),
            Now::Removed => None,
        }
    }

    /// Takes away every line with this name; the first of those that came, if
    /// there is one.
    fn take_away(&mut self, name: &str) -> Option<usize> {
        let mut first = None;
        if !self.names.may_have(name) {
            return first;
        }
        let (added, written) = (self.added.len(), &self.written);
        self.added
            .retain(|(added, _)| written[added.clone()] != *name.as_bytes());
        self.changed |= self.added.len() != added;
        for at in 0..self.lines.len() {
            if self.is_named(&self.lines[at], name) {
                self.lines[at].now = Now::Removed;
                self.changed = true;
                first.get_or_insert(at);
            }
        }
        first
    }

    fn write(&mut self, text: &[u8]) -> Range<usize> {
        let start = self.written.len();
        self.written.extend_from_slice(text);
        start..self.written.len()
    }

    fn is_named(&self, line: &Line, name: &str) -> bool {
        if line.name.len() != name.len() {
            return false;
        }
        // Most are written in lower case, and compared faster so.
        let came = &self.bytes[line.name.clone()];
        came == name.as_bytes() || came.eq_ignore_ascii_case(name.as_bytes())
    }

    /// Takes a token out of every list with this name, and lines that are
    /// empty then.
    fn remove_token(&mut self, name: &str, token: &str) {
        let mut kept: Vec<&[u8]> = Vec::new();
        let mut found = false;
        self.each(name, &mut |value| {
            for member in tokens(value) {
                match member.eq_ignore_ascii_case(token.as_bytes()) {
                    true => found = true,
                    false => kept.push(member),
                }
            }
        });
        if !found {
            return;
        }
        let kept = kept.join(&b", "[..]);
        match kept.is_empty() {
            true => self.remove(name),
            false => self.set(name, &kept),
        }
    }
}

impl Headers for RequestHead {
    fn each<'a>(&'a self, name: &str, see: &mut dyn FnMut(&'a [u8])) {
        if !self.names.may_have(name) {
            return;
        }
        for line in &self.lines {
            if self.is_named(line, name)
                && let Some(value) = self.value(line)
            {
                see(value);
            }
        }
        for (added, value) in self.added() {
            if added == name.as_bytes() {
                see(value);
            }
        }
    }

    fn set(&mut self, name: &str, value: &[u8]) {
        if breaks_line(value) {
            return;
        }
        let first = self.take_away(name);
        self.changed = true;
        let value = self.write(value);
        match first {
            Some(first) => self.lines[first].now = Now::Set(value),
            None => {
                let added = self.write(name.as_bytes());
                self.added.push((added, value));
                self.names.add(name.as_bytes());
            }
        }
    }

    fn replace(&mut self, name: &str, value: &[u8]) {
        let only = self.lines.iter().position(|line| self.is_named(line, name));
        match only {
            Some(only) if !breaks_line(value) => {
                self.changed = true;
                self.lines[only].now = Now::Set(self.write(value));
            }
            _ => self.set(name, value),
        }
    }

    fn remove(&mut self, name: &str) {
        self.take_away(name);
    }
}

/// Whether a value would end its line and begin another. Looks at every byte,
/// since that is faster than to stop at the first.
fn breaks_line(value: &[u8]) -> bool {
    let breaks = |byte: u8| byte.is_ascii_control() && byte != b'\t';
    value.iter().fold(false, |any, byte| any | breaks(*byte))
}

/// Whether a line ends with a line feed alone. Some take that for the end of a
/// line and some do not, and the two see different requests. Looks at all of
/// it, since that is faster than to stop at the first.
fn has_bare_line_feed(head: &[u8]) -> bool {
    let bare = |before: u8, byte: u8| byte == b'\n' && before != b'\r';
    let pairs = head.iter().zip(head.iter().skip(1));
    let first = head.first() == Some(&b'\n');
    first | pairs.fold(false, |any, (before, byte)| any | bare(*before, *byte))
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// Where `part`, which is a part of `whole`, is in it.
fn range(part: &[u8], whole: &[u8]) -> Range<usize> {
    let start = part.as_ptr().addr().saturating_sub(whole.as_ptr().addr());
    start..start + part.len()
}

/// Whether a head could end in `bytes`, of which the first `known` were looked
/// at before: reading it again for every byte of a slow caller would take the
/// square of the time.
pub(super) fn may_end(bytes: &[u8], known: usize) -> bool {
    let new = &bytes[known.saturating_sub(2)..];
    new.windows(2).any(|pair| pair == b"\n\n") || new.windows(3).any(|three| three == b"\n\r\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn head(text: &str) -> RequestHead {
        let mut head = RequestHead::new();
        assert_eq!(head.read(text.as_bytes()), Ok(true), "{text:?}");
        head
    }

    #[test]
    fn the_only_line_is_replaced_where_it_stands() {
        let mut head = head("GET / HTTP/1.1\r\nA: 1\r\nTraceState:  b=2\r\nC: 3\r\n\r\n");
        head.replace("tracestate", b"b=4\r\n");
        assert!(!head.is_changed());
        head.replace("tracestate", b"b=4");
        let now = "GET / HTTP/1.1\r\nA: 1\r\nTraceState:  b=4\r\nC: 3\r\n\r\n";
        assert_eq!(rendered(&head), now);
    }

    fn rendered(head: &RequestHead) -> String {
        let mut bytes = Vec::new();
        head.render(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    const ODD: &str =
        "GET /a?b=%20&&c HTTP/1.1\r\nhOSt:x\r\nX-A:  1 \t\r\nx-a:\r\nB: 2\r\nX-A: 3\r\n\r\n";

    #[test]
    fn what_is_not_changed_stays_as_it_came() {
        for text in [ODD, "GET / HTTP/1.0\r\n\r\n", "M-SEARCH * HTTP/1.1\r\n\r\n"] {
            assert_eq!(rendered(&head(text)), text);
        }
    }

    #[test]
    fn a_value_is_set_in_place_and_its_repetitions_go() {
        let mut head = head(ODD);
        head.set("x-a", b"new");
        head.set("traceparent", b"00");
        head.set("traceparent", b"01");
        assert_eq!(
            rendered(&head),
            "GET /a?b=%20&&c HTTP/1.1\r\nhOSt:x\r\nX-A:  new \t\r\nB: 2\r\ntraceparent: 01\r\n\r\n"
        );
        let mut seen = Vec::new();
        head.each("x-a", &mut |value| seen.push(value));
        assert_eq!(seen, [b"new"]);
    }

    #[test]
    fn a_removed_line_is_gone_until_it_is_set_again() {
        let mut head = head(ODD);
        head.remove("x-a");
        assert_eq!(head.first("x-a"), None);
        assert_eq!(
            rendered(&head),
            "GET /a?b=%20&&c HTTP/1.1\r\nhOSt:x\r\nB: 2\r\n\r\n"
        );
        head.set("x-a", b"back");
        assert_eq!(head.text("x-a"), Some("back"));
    }

    #[test]
    fn no_line_can_be_smuggled_into_a_value() {
        let mut head = head(ODD);
        head.set("x-b", b"a\r\nx-c: d");
        assert!(!head.is_changed());
    }

    #[test]
    fn values_come_in_order_without_blanks_around_them() {
        let head = head(ODD);
        let mut seen = Vec::new();
        head.each("x-a", &mut |value| seen.push(value.to_vec()));
        assert_eq!(seen, [&b"1"[..], b"", b"3"]);
    }

    #[test]
    fn an_offer_of_http_2_is_withdrawn_and_nothing_else() {
        let cases = [
            (
                "Connection: Upgrade, keep-alive\r\nConnection: HTTP2-Settings\r\nUpgrade: H2C\r\nHTTP2-Settings: x\r\n",
                "Connection: keep-alive\r\n",
            ),
            (
                "Upgrade: h2c\r\nConnection: upgrade\r\nA: b\r\n",
                "A: b\r\n",
            ),
            (
                "Upgrade: websocket, h2c\r\nConnection: Upgrade\r\n",
                "Upgrade: websocket\r\nConnection: Upgrade\r\n",
            ),
            (
                "Upgrade: websocket\r\nConnection:Upgrade\r\n",
                "Upgrade: websocket\r\nConnection:Upgrade\r\n",
            ),
        ];
        for (came, forwarded) in cases {
            let head = head(&format!("GET / HTTP/1.1\r\n{came}\r\n"));
            assert_eq!(
                rendered(&head),
                format!("GET / HTTP/1.1\r\n{forwarded}\r\n")
            );
        }
    }

    #[test]
    fn an_absolute_form_leaves_nothing_behind_for_the_next_head() {
        let mut head = head("GET http://x/long HTTP/1.1\r\nHost: y\r\n\r\n");
        assert_eq!(head.target(), "/long");
        assert_eq!(head.text("host"), Some("x"));
        assert_eq!(head.read(ODD.as_bytes()), Ok(true));
        assert_eq!(head.target(), "/a?b=%20&&c");
        assert!(!head.is_changed());
        assert_eq!(rendered(&head), ODD);
    }

    #[test]
    fn heads_that_are_not_served() {
        let many = |count| format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(count));
        let cases = [
            ("GET / HTTP/1.1\r\nA : b\r\n\r\n", Err(BadHead::Malformed)),
            (
                "GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
                Err(BadHead::Malformed),
            ),
            ("GET / HTTP/1.1\r\nA: b\rc\r\n\r\n", Err(BadHead::Malformed)),
            ("GET / HTTP/1.1\n\n", Err(BadHead::Malformed)),
            ("\nGET / HTTP/1.1\r\n\r\n", Err(BadHead::Malformed)),
            ("GET / HTTP/2.0\r\n\r\n", Err(BadHead::Malformed)),
            ("GET /a b HTTP/1.1\r\n\r\n", Err(BadHead::Malformed)),
            ("\x16\x03\x01", Err(BadHead::Malformed)),
            ("GET / HTTP/1.1\r\nA: b\r\n", Ok(false)),
            (&many(LINES_LIMIT), Ok(true)),
            (&many(LINES_LIMIT + 1), Err(BadHead::TooLong)),
        ];
        for (text, result) in cases {
            assert_eq!(RequestHead::new().read(text.as_bytes()), result, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = RequestHead::new().read(&bytes);
        }

        /// Nothing is lost where only one line is changed.
        #[test]
        fn other_lines_pass_a_change_untouched(
            lines in proptest::collection::vec(("[A-Za-z-]{1,8}", "[ -~]{0,12}"), 0..8),
        ) {
            let before: String = lines.iter().map(|(name, value)| format!("{name}:{value}\r\n")).collect();
            let text = format!("GET / HTTP/1.1\r\n{before}\r\n");
            let mut head = RequestHead::new();
            prop_assume!(head.read(text.as_bytes()) == Ok(true));
            prop_assume!(head.first("tracestate").is_none());
            head.set("tracestate", b"murphy=1");
            let expected = format!("GET / HTTP/1.1\r\n{before}tracestate: murphy=1\r\n\r\n");
            prop_assert_eq!(rendered(&head), expected);
            head.remove("tracestate");
            prop_assert_eq!(rendered(&head), text);
        }

        /// However slowly a head comes, it is found when it is complete.
        #[test]
        fn the_end_of_a_head_is_found_however_it_is_cut_up(
            text in "GET / HTTP/1.1\r?\n([A-Z]: [a-z]{0,3}\r?\n){0,3}\r?\n[a-z]{0,5}",
            known in any::<prop::sample::Index>(),
        ) {
            let bytes = text.as_bytes();
            let known = known.index(bytes.len());
            let mut head = RequestHead::new();
            if head.read(&bytes[..known]) == Ok(false) {
                prop_assert!(may_end(bytes, known));
            }
        }
    }
}
