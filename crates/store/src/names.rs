//! Names of campaigns, and what makes two campaigns the same.

use std::fmt;
use std::time::SystemTime;

/// The name of a campaign: date and time of its beginning, and some digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CampaignId(String);

impl CampaignId {
    /// A name as it was typed or read.
    pub fn new(name: impl Into<String>) -> Self {
        CampaignId(name.into())
    }

    /// A fresh name for a campaign that began then, in UTC.
    pub(super) fn fresh(begun: SystemTime) -> Self {
        let time = humantime::format_rfc3339_seconds(begun).to_string();
        let digits: String = time.chars().filter(char::is_ascii_digit).collect();
        let (day, time) = digits.split_at(8);
        CampaignId(format!("{day}-{time}-{:04x}", fastrand::u16(..)))
    }

    /// The name itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CampaignId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A digest of all that decides how a campaign goes: one can go on where
/// another stopped if their fingerprints are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The fingerprint of these texts; their number, order and borders count.
    pub fn of<'t>(parts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        Fingerprint(hasher.finalize().to_hex()[..32].to_owned())
    }

    /// Its hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_name_tells_when_the_campaign_began() {
        let begun = SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_798_902);
        let name = CampaignId::fresh(begun);
        assert!(name.as_str().starts_with("20261116-031502-"), "{name}");
        assert_eq!(name.as_str().len(), 20);
    }

    #[test]
    fn fingerprints_keep_their_parts_apart() {
        let of = |parts: &[&'static str]| Fingerprint::of(parts.iter().copied());
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["a"]), of(&["a", ""]));
        assert_eq!(of(&[]).as_str().len(), 32);
    }
}
