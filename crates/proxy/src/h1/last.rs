//! The last answer on a connection of a caller.
//!
//! Owns telling the caller so where the callee did not: a caller that is not
//! told may send its next request while the connection is being closed.

/// The head of an answer, with word that nothing follows.
pub(super) fn closing(head: &[u8]) -> Vec<u8> {
    let mut told = Vec::with_capacity(head.len() + CLOSE.len());
    let mut is_dropped = false;
    for line in head.split_inclusive(|byte| *byte == b'\n') {
        let is_end = line.trim_ascii().is_empty();
        if is_end {
            told.extend_from_slice(CLOSE);
        }
        let goes_on = line.starts_with(b" ") || line.starts_with(b"\t");
        is_dropped = match goes_on {
            true => is_dropped,
            false => is_connection(line),
        };
        if !is_dropped || is_end {
            told.extend_from_slice(line);
        }
    }
    told
}

const CLOSE: &[u8] = b"connection: close\r\n";

fn is_connection(line: &[u8]) -> bool {
    let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
    name.trim_ascii().eq_ignore_ascii_case(b"connection")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caller_is_told_once_whatever_the_callee_said() {
        let cases = [
            (
                "HTTP/1.1 200 OK\r\na: b\r\n\r\n",
                "HTTP/1.1 200 OK\r\na: b\r\nconnection: close\r\n\r\n",
            ),
            (
                "HTTP/1.1 200 OK\r\nConnection : keep-alive,\r\n  x\r\na: b\r\n c\r\n\r\n",
                "HTTP/1.1 200 OK\r\na: b\r\n c\r\nconnection: close\r\n\r\n",
            ),
            (
                "HTTP/1.1 204 \nconnection: close\n\n",
                "HTTP/1.1 204 \nconnection: close\r\n\n",
            ),
        ];
        for (head, expected) in cases {
            let told = closing(head.as_bytes());
            assert_eq!(String::from_utf8(told).unwrap(), expected);
        }
    }
}
