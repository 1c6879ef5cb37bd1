//! The recorder of one campaign: hands its events to the store's writer.

use std::sync::mpsc::sync_channel;

use super::CampaignId;
use super::writer::{Inbox, Key, Message};
use murphy_model::{Event, Sink};

/// Keeps every event of one campaign.
///
/// When it is dropped, all it was told is in the file (or the store is in
/// trouble, see [`super::Store::trouble`]), and the campaign can be resumed
/// by anyone unless it is over; one that came to nothing is gone.
#[derive(Debug)]
pub struct Recorder {
    campaign: CampaignId,
    key: Key,
    writer: Inbox,
}

impl Recorder {
    pub(super) fn new(campaign: CampaignId, key: Key, writer: Inbox) -> Self {
        Recorder {
            campaign,
            key,
            writer,
        }
    }

    /// The campaign it records.
    pub fn campaign(&self) -> &CampaignId {
        &self.campaign
    }

    /// Waits until everything noted so far is in the file.
    pub fn flush(&self) {
        flush(&self.writer);
    }
}

/// The writer thread lives as long as its inboxes do, so sending cannot fail
/// unless it panicked; a campaign is not to go down with it.
impl Sink for Recorder {
    fn note(&mut self, event: &Event) {
        let is_news = match event {
            // What was learned is told by what happened.
            Event::Learned(_) => false,
            // It came out of this very store.
            Event::ExecutionEnded { stored, .. } | Event::Audited { stored, .. } => !stored,
            _ => true,
        };
        if is_news {
            self.writer.send(Message::Note(self.key, event.clone()));
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.writer.send(Message::Leave(self.key));
        self.flush();
    }
}

/// Waits until the writer has written all it was sent.
pub(super) fn flush(writer: &Inbox) {
    let (done, wait) = sync_channel(1);
    if writer.send(Message::Flush(done)) {
        let _ = wait.recv();
    }
}
