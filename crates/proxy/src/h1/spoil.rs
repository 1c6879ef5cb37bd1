//! Passing an answer on in pieces, for those who change it on the way.
//!
//! Owns taking the framing off and putting it on again as the answer's head
//! says.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::body::Decoded;
use super::canned::line;
use super::exchange::H1;
use super::framing::Framing;
use super::head::LINES_LIMIT;
use super::relay::BROKEN;
use crate::exchange::{Failure, Gone, Piece};

impl H1<'_> {
    /// The next of the answer's content.
    pub(super) async fn decode_piece(&mut self) -> Result<Piece, Failure> {
        self.take_head_out();
        loop {
            let data = self.decode()?;
            if !data.is_empty() {
                return Ok(Piece::Data(data));
            }
            if self.answer_ended() {
                self.release(0);
                return Ok(Piece::End(self.trailers()));
            }
            self.hear_answer().await?;
        }
    }

    /// The content of what has come.
    fn decode(&mut self) -> Result<Bytes, Failure> {
        let answer = self.answer.as_mut().ok_or(BROKEN)?;
        let outbound = &mut self.connection.outbound;
        let mut decoded = Decoded::default();
        let used = answer.body.feed(outbound.held(), &mut decoded);
        outbound.consume(used.map_err(|_| BROKEN)?);
        answer.trailers.append(&mut decoded.trailers);
        Ok(decoded.data.freeze())
    }

    fn take_head_out(&mut self) {
        if let Some(answer) = &mut self.answer
            && answer.head_bytes.is_empty()
        {
            let outbound = &mut self.connection.outbound;
            answer.head_bytes = outbound.held()[..answer.head.len].to_vec();
            outbound.consume(answer.head.len);
        }
    }

    fn trailers(&self) -> Option<HeaderMap> {
        let lines = &self.answer.as_ref()?.trailers;
        match lines.is_empty() {
            true => None,
            false => Some(parse_trailers(lines)),
        }
    }

    /// Sends the head of the answer as it came.
    pub(super) async fn send_head(&mut self) -> Result<(), Gone> {
        self.take_head_out();
        self.tell_to_close();
        self.began_answer = true;
        match &mut self.answer {
            None => Ok(()),
            Some(answer) => {
                let head = answer.head_bytes.clone();
                self.write(&head).await
            }
        }
    }

    fn is_chunked(&self) -> bool {
        let framing = self.answer.as_ref().map(|answer| answer.head.framing);
        framing == Some(Framing::Chunked)
    }

    /// Sends content, framed as the head says.
    pub(super) async fn send_framed(&mut self, data: &[u8]) -> Result<(), Gone> {
        // An empty chunk would end the body.
        if data.is_empty() {
            return Ok(());
        }
        if !self.is_chunked() {
            return self.write(data).await;
        }
        let rendered = &mut self.connection.rendered;
        rendered.clear();
        rendered.extend_from_slice(format!("{:x}\r\n", data.len()).as_bytes());
        rendered.extend_from_slice(data);
        rendered.extend_from_slice(b"\r\n");
        self.write_rendered().await
    }

    /// Ends the answer as its head says.
    pub(super) async fn send_end(&mut self, trailers: Option<HeaderMap>) -> Result<(), Gone> {
        if self.is_chunked() {
            let rendered = &mut self.connection.rendered;
            rendered.clear();
            rendered.extend_from_slice(b"0\r\n");
            for (name, value) in trailers.iter().flatten() {
                line(name.as_str(), value.as_bytes(), rendered);
            }
            rendered.extend_from_slice(b"\r\n");
            self.write_rendered().await?;
        }
        self.conclude().await;
        Ok(())
    }
}

fn parse_trailers(lines: &[u8]) -> HeaderMap {
    let mut parsed = [httparse::EMPTY_HEADER; LINES_LIMIT];
    let section = [lines, b"\r\n"].concat();
    let mut trailers = HeaderMap::new();
    if let Ok(httparse::Status::Complete((_, lines))) =
        httparse::parse_headers(&section, &mut parsed)
    {
        for header in lines {
            let name = HeaderName::from_bytes(header.name.as_bytes());
            let value = HeaderValue::from_bytes(header.value);
            if let (Ok(name), Ok(value)) = (name, value) {
                trailers.append(name, value);
            }
        }
    }
    trailers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailers_are_read_as_far_as_they_can_be() {
        let trailers = parse_trailers(b"A: b\r\na: c\r\nGrpc-Status: 0\r\n");
        assert_eq!(trailers.get_all("a").iter().count(), 2);
        assert_eq!(trailers["grpc-status"], "0");
        assert!(parse_trailers(b"no trailer\r\n").is_empty());
    }
}
