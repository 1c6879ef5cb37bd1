//! A calendar day: `2027-01-31`.

use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// A day. Written year first with every digit, so that texts sort as days do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Date(String);

/// A text that is no day of the calendar.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no date; write it as in `2027-01-31`")]
pub struct NotADate(String);

impl Date {
    /// The day of this moment, in UTC.
    pub fn of(moment: SystemTime) -> Self {
        let mut text = humantime::format_rfc3339_seconds(moment).to_string();
        text.truncate("2027-01-31".len());
        Date(text)
    }
}

impl FromStr for Date {
    type Err = NotADate;

    fn from_str(text: &str) -> Result<Self, NotADate> {
        match is_day(text) {
            true => Ok(Date(text.to_owned())),
            false => Err(NotADate(text.to_owned())),
        }
    }
}

fn is_day(text: &str) -> bool {
    text.len() == "2027-01-31".len()
        && humantime::parse_rfc3339(&format!("{text}T00:00:00Z")).is_ok()
}

impl TryFrom<String> for Date {
    type Error = NotADate;

    fn try_from(text: String) -> Result<Self, NotADate> {
        text.parse()
    }
}

impl From<Date> for String {
    fn from(date: Date) -> String {
        date.0
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn only_days_of_the_calendar_are_dates() {
        for day in ["2027-01-31", "2028-02-29", "2000-02-29", "2026-12-01"] {
            assert_eq!(day.parse::<Date>().unwrap().to_string(), day);
        }
        let none = [
            "",
            "2027",
            "2027-1-31",
            "2027-13-01",
            "2027-02-29",
            "2100-02-29",
            "2027-04-31",
            "2027-01-00",
            "31.01.2027",
            "+027-01-31",
            "2027-01-31T00:00",
            "２027-01-31",
        ];
        for text in none {
            assert_eq!(text.parse::<Date>(), Err(NotADate(text.to_owned())));
        }
    }

    #[test]
    fn days_sort_as_they_come() {
        let moment = UNIX_EPOCH + Duration::from_secs(1_794_798_902);
        assert_eq!(Date::of(moment), "2026-11-16".parse().unwrap());
        assert!(Date::of(moment) < "2026-12-01".parse().unwrap());
    }
}
