//! What of gRPC a proxy must understand: which calls are gRPC, where messages
//! begin and end, what the status is.
//!
//! Owns the five-byte message prefix and the status header. What the messages
//! say is nobody's business here.

use murphy_model::{GrpcCode, Interface, Reply};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// The bytes before each message: a flag and a length.
pub(crate) const PREFIX: usize = 5;

/// Whether a content type is gRPC: `application/grpc`, with any `+format` and
/// parameters; not gRPC-Web, which is plain HTTP to everyone on the way.
pub fn is_grpc(content_type: &[u8]) -> bool {
    const GRPC: &[u8] = b"application/grpc";
    let Some((front, rest)) = content_type.split_at_checked(GRPC.len()) else {
        return false;
    };
    front.eq_ignore_ascii_case(GRPC) && matches!(rest.first(), None | Some(b'+' | b';' | b' '))
}

/// The interface behind a gRPC path, `/package.Service/Method`.
pub fn interface(path: &str) -> Interface {
    let path = path.strip_prefix('/').unwrap_or(path);
    let (service, method) = path.rsplit_once('/').unwrap_or(("", path));
    Interface::grpc(service, method)
}

/// What a caller makes of a `grpc-status`. An answer without one is broken: it
/// ended before its status. Numbers nobody assigned count as UNKNOWN, as
/// clients do it.
pub fn reply(status: Option<&[u8]>) -> Reply {
    let Some(status) = status else {
        return Reply::Broken;
    };
    let number = std::str::from_utf8(status)
        .ok()
        .and_then(|text| text.trim().parse::<u32>().ok());
    let code = |number: u8| GrpcCode::new(number).expect("1 to 16");
    match number {
        Some(0) => Reply::GrpcOk,
        Some(number @ 1..=16) => Reply::Grpc(code(number as u8)),
        _ => Reply::Grpc(GrpcCode::named("UNKNOWN").expect("a gRPC code")),
    }
}

/// The length of the first message with its prefix, once the prefix is there.
pub fn first_message(body: &[u8]) -> Option<usize> {
    let prefix = body.first_chunk::<PREFIX>()?;
    let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]);
    Some(PREFIX + length as usize)
}

/// A message for `grpc-message`: percent-encoded where the protocol wants it.
pub fn encode_message(text: &str) -> String {
    const UNFIT: &AsciiSet = &CONTROLS.add(b'%');
    utf8_percent_encode(text, UNFIT).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_of_grpc() {
        for grpc in [
            "application/grpc",
            "application/grpc+proto",
            "Application/gRPC; charset=utf-8",
        ] {
            assert!(is_grpc(grpc.as_bytes()), "{grpc}");
        }
        for other in [
            "application/grpc-web",
            "application/json",
            "application/grp",
            "",
        ] {
            assert!(!is_grpc(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn every_status_is_kept_apart() {
        let codes: Vec<Reply> = (1..=16)
            .map(|n: u8| reply(Some(n.to_string().as_bytes())))
            .collect();
        let named: Vec<Reply> = GrpcCode::all().map(Reply::Grpc).collect();
        assert_eq!(codes, named);
        assert_eq!(reply(Some(b"0")), Reply::GrpcOk);
        assert_eq!(reply(None), Reply::Broken);
        assert_eq!(reply(Some(b"99")), reply(Some(b"2")));
        assert_eq!(reply(Some(b"\xff")), reply(Some(b"2")));
    }

    #[test]
    fn a_message_is_five_bytes_and_its_length() {
        assert_eq!(first_message(&[0, 0, 0, 1, 2, 7]), Some(263));
        assert_eq!(first_message(&[0, 0, 0, 0]), None);
    }

    #[test]
    fn a_status_message_is_plain_ascii() {
        assert_eq!(encode_message("100% é\n"), "100%25 %C3%A9%0A");
    }
}
