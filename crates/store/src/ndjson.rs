//! A campaign as lines of JSON, one event each, while it happens.
//!
//! Owns when lines are written out: each one at once, so that whoever reads a
//! pipe is never behind. What a line looks like is decided with the [`Event`]s.
//! A reader that goes away is no reason to stop a campaign: the
//! first error is kept and nothing more is written.

use std::io::{self, Write};

use murphy_model::{Event, Sink};
use murphy_report::unseen;

/// Writes every event as one line of JSON.
#[derive(Debug)]
pub struct Ndjson<W> {
    out: W,
    trouble: Option<io::Error>,
}

impl<W: Write> Ndjson<W> {
    /// Lines go to `out`.
    pub fn new(out: W) -> Self {
        Ndjson { out, trouble: None }
    }

    /// Why writing stopped, if it did.
    pub fn trouble(&self) -> Option<&io::Error> {
        self.trouble.as_ref()
    }

    fn write(&mut self, event: &Event) -> io::Result<()> {
        let mut line = unseen::escaped(&serde_json::to_string(event)?).into_owned();
        line.push('\n');
        self.out.write_all(line.as_bytes())?;
        self.out.flush()
    }
}

impl<W: Write + Send> Sink for Ndjson<W> {
    fn note(&mut self, event: &Event) {
        if self.trouble.is_none() {
            self.trouble = self.write(event).err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use murphy_model::Standing;

    struct Broken(usize);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            self.0 += 1;
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn every_event_is_one_line() {
        let mut lines = Ndjson::new(Vec::new());
        lines.note(&Event::Learned(Standing::default()));
        lines.note(&Event::Learned(Standing {
            explored: 3,
            ..Standing::default()
        }));
        let text = String::from_utf8(lines.out).unwrap();
        assert_eq!(
            text,
            "{\"event\":\"learned\",\"explored\":0,\"skipped\":null,\"waiting\":null,\"failed\":0,\"findings\":0}\n\
             {\"event\":\"learned\",\"explored\":3,\"skipped\":null,\"waiting\":null,\"failed\":0,\"findings\":0}\n"
        );
    }

    #[test]
    fn a_reader_that_went_away_is_not_written_to_again() {
        let mut lines = Ndjson::new(Broken(0));
        for _ in 0..3 {
            lines.note(&Event::Learned(Standing::default()));
        }
        let kind = lines.trouble().map(io::Error::kind);
        assert_eq!(kind, Some(io::ErrorKind::BrokenPipe));
        assert_eq!(lines.out.0, 1);
    }
}
