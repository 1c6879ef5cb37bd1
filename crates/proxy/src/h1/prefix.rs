//! Reading the beginning of a request's body before it is forwarded.
//!
//! Owns how long to wait for it, and when enough has come. What was read
//! stays in the buffer as it came, to be forwarded later.

use super::body::Decoded;
use super::buffer::LARGE;
use super::canned::CONTINUE;
use super::exchange::H1;
use super::upload::Stopped;
use crate::exchange::{Gone, Prefix, Reading};
use crate::grpc;

impl H1<'_> {
    /// Reads as much of the body as is asked for.
    pub(super) async fn read_prefix(&mut self, reading: Reading) -> Result<Prefix, Gone> {
        if self.upload.is_whole() {
            return Ok(Prefix::default());
        }
        let mut decoded = Decoded::default();
        loop {
            let fed = self.upload.feed(&self.connection.inbound, &mut decoded);
            if let Err(malformed) = fed {
                return Err(self.stop(malformed.into()).await);
            }
            let enough = self.upload.is_whole() || has_enough(&decoded, reading);
            if enough || !self.wait_for_body(reading).await? {
                return Ok(prefix(decoded, reading, self.upload.is_whole()));
            }
        }
    }

    /// Waits for more; false if nothing comes, or there is no room for it.
    async fn wait_for_body(&mut self, reading: Reading) -> Result<bool, Gone> {
        // Chunks may be tiny: their framing is not let outgrow their content.
        let most = self.connection.head.len() + 2 * reading.limit + LARGE;
        if self.connection.inbound.len() >= most {
            return Ok(false);
        }
        self.tell_to_continue().await?;
        let connection = &mut *self.connection;
        let (inbound, caller) = (&mut connection.inbound, &mut connection.caller);
        match tokio::time::timeout(reading.patience, inbound.fill(caller, most)).await {
            Err(_) => Ok(false),
            Ok(Some(_)) => Ok(true),
            Ok(None) => Err(self.stop(Stopped::Gone).await),
        }
    }

    async fn tell_to_continue(&mut self) -> Result<(), Gone> {
        if !self.awaits_continue() {
            return Ok(());
        }
        self.continued = true;
        self.continued_by_us = true;
        self.write(CONTINUE).await
    }
}

fn has_enough(decoded: &Decoded, reading: Reading) -> bool {
    let has_message = reading.one_message && message_length(decoded).is_some();
    has_message || decoded.data.len() > reading.limit
}

/// The length of the first message with its prefix, if all of it is there.
fn message_length(decoded: &Decoded) -> Option<usize> {
    let length = grpc::first_message(&decoded.data);
    length.filter(|length| decoded.data.len() >= *length)
}

fn prefix(decoded: Decoded, reading: Reading, whole: bool) -> Prefix {
    let wanted = match reading.one_message {
        true => message_length(&decoded),
        false => None,
    };
    let mut cut = wanted.is_none() && !whole;
    let mut data = decoded.data;
    data.truncate(wanted.unwrap_or(data.len()));
    if data.len() > reading.limit {
        data.truncate(reading.limit);
        cut = true;
    }
    Prefix {
        bytes: data.freeze(),
        cut,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::BytesMut;

    use super::*;

    fn read(body: &[u8], limit: usize, one_message: bool, whole: bool) -> (Vec<u8>, bool) {
        let decoded = Decoded {
            data: BytesMut::from(body),
            trailers: Vec::new(),
        };
        let reading = Reading {
            limit,
            patience: Duration::ZERO,
            one_message,
        };
        let prefix = prefix(decoded, reading, whole);
        (prefix.bytes.to_vec(), prefix.cut)
    }

    #[test]
    fn a_body_is_cut_if_more_came_or_may_come() {
        assert_eq!(read(b"abc", 3, false, true), (b"abc".to_vec(), false));
        assert_eq!(read(b"abcd", 3, false, true), (b"abc".to_vec(), true));
        assert_eq!(read(b"ab", 3, false, false), (b"ab".to_vec(), true));
    }

    #[test]
    fn one_message_is_enough_of_a_stream() {
        let two = [0, 0, 0, 0, 1, 7, 0, 0, 0, 0, 1, 8];
        assert_eq!(read(&two, 100, true, false), (two[..6].to_vec(), false));
        assert_eq!(read(&two[..4], 100, true, false), (two[..4].to_vec(), true));
        assert_eq!(read(&two, 3, true, false), (two[..3].to_vec(), true));
    }
}
