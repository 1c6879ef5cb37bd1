//! Whether a test failed for the error that was injected.
//!
//! Decided on structure: an exception of the chain carries what was injected,
//! and comes from the call it was injected into. Only where no exception carries
//! anything, and for what assertions show, text is compared: whole codes and
//! what clients say of a lost connection, never words like "aborted".

use std::collections::BTreeSet;

use murphy_model::Reply;

use super::Evidence;
use crate::case::Exception;

/// What the ids of requests that Murphy answers begin with.
const OUR_REQUESTS: &str = "murphy-";

/// Types that clients raise when no answer came. Compared without their module.
const LOST_TYPES: [&str; 14] = [
    "ReadTimeoutError",
    "ReadTimeout",
    "ConnectionClosedError",
    "EndpointConnectionError",
    "ConnectTimeoutError",
    "ServiceRequestError",
    "ServiceRequestTimeoutError",
    "ServiceResponseError",
    "ServiceResponseTimeoutError",
    "IncompleteReadError",
    "RemoteDisconnected",
    "ServerDisconnectedError",
    "ConnectionResetError",
    "ProtocolError",
];

/// Codes of errors of sockets.
const LOST_CODES: [&str; 6] = [
    "ECONNRESET",
    "ECONNREFUSED",
    "EPIPE",
    "ETIMEDOUT",
    "ESOCKETTIMEDOUT",
    "REQUEST_SEND_ERROR",
];

/// What clients say when no answer came, and nobody else does.
const LOST_PHRASES: [&str; 6] = [
    "Connection was closed before we received a valid response",
    "Read timeout on endpoint URL",
    "Remote end closed connection without response",
    "Connection aborted.",
    "Server disconnected",
    "socket hang up",
];

/// What was injected into a call.
struct Injected<'e> {
    call: Option<&'e str>,
    statuses: BTreeSet<u16>,
    codes: BTreeSet<&'e str>,
    has_lost: bool,
}

/// Whether the test failed for the error that was injected.
pub(super) fn is_injected(evidence: &Evidence<'_>) -> bool {
    let injected = Injected::of(evidence);
    let result = &evidence.run.result;
    let chain = &result.exceptions;
    if chain.iter().any(|raised| injected.is_carried_by(raised)) {
        return true;
    }
    let has_structure = chain.iter().any(has_structure);
    let asserted = result
        .assertion
        .as_ref()
        .map(|asserted| asserted.text.as_str());
    let is_shown = asserted.is_some_and(|text| injected.is_named_in(text));
    let texts = || chain.iter().map(|raised| raised.message.as_str());
    let by_text = || {
        // Without a library that knows the chain, what was printed has it.
        let printed = chain.is_empty().then_some(result.output.as_str());
        let mut texts = texts().chain([result.message.as_str()]).chain(printed);
        texts.any(|text| injected.is_named_in(text))
    };
    is_shown || (!has_structure && by_text())
}

fn has_structure(raised: &Exception) -> bool {
    let ids = [&raised.code, &raised.request_id, &raised.call];
    raised.status.is_some() || raised.injected || ids.iter().any(|id| id.is_some())
}

impl<'e> Injected<'e> {
    fn of(evidence: &Evidence<'e>) -> Self {
        let mut injected = Injected {
            call: evidence.call().id.as_deref(),
            statuses: BTreeSet::new(),
            codes: BTreeSet::new(),
            has_lost: false,
        };
        for attempt in evidence.attempts().filter(|attempt| attempt.is_injected()) {
            let end = attempt.end.as_ref().expect("what was injected has ended");
            match end.reply {
                Reply::Status(status) => {
                    injected.statuses.insert(status);
                }
                _ => injected.has_lost = true,
            }
            injected.codes.extend(end.code.as_deref());
        }
        injected
    }

    /// Whether an exception carries it, and does not come from another call.
    fn is_carried_by(&self, raised: &Exception) -> bool {
        let call = raised.call.as_deref();
        if call.is_some() && self.call.is_some() && call != self.call {
            return false;
        }
        let is_ours = |id: &String| id.starts_with(OUR_REQUESTS);
        if raised.injected || raised.request_id.as_ref().is_some_and(is_ours) {
            return true;
        }
        let code = raised.code.as_deref();
        match raised.status {
            Some(status) => self.statuses.contains(&status) && self.is_code(code),
            None => {
                let comes_from_it = call.is_some() && call == self.call;
                comes_from_it || (self.has_lost && is_lost(raised)) || self.is_its_code(code)
            }
        }
    }

    /// Whether a code does not contradict what was injected.
    fn is_code(&self, code: Option<&str>) -> bool {
        let is_number = |code: &str| code.bytes().all(|byte| byte.is_ascii_digit());
        code.is_none_or(|code| {
            self.codes.is_empty() || is_number(code) || self.codes.contains(code)
        })
    }

    fn is_its_code(&self, code: Option<&str>) -> bool {
        code.is_some_and(|code| self.codes.contains(code))
    }

    fn is_named_in(&self, text: &str) -> bool {
        let status = |status: &u16| has_word(text, &status.to_string());
        text.contains(OUR_REQUESTS)
            || self.statuses.iter().any(status)
            || self.codes.iter().any(|code| has_word(text, code))
            || (self.has_lost && names_loss(text))
    }
}

fn is_lost(raised: &Exception) -> bool {
    let kind = raised.kind.rsplit('.').next().unwrap_or(&raised.kind);
    let code = raised.code.as_deref();
    LOST_TYPES.contains(&kind) || code.is_some_and(|code| LOST_CODES.contains(&code))
}

fn names_loss(text: &str) -> bool {
    let has_any = |words: &[&str]| words.iter().any(|word| has_word(text, word));
    LOST_PHRASES.iter().any(|phrase| text.contains(phrase))
        || has_any(&LOST_TYPES)
        || has_any(&LOST_CODES)
}

/// Whether a text holds a word that is not part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        !is_part(before) && !is_part(after)
    })
}
