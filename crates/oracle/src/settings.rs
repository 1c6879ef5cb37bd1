//! How much each oracle's word counts, and the rules some of them go by.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use murphy_model::{Pattern, Point, Severity, nearest};

use crate::oracle::{Oracle, UnknownOracle};

/// How much an oracle's word counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// It is not asked.
    Off,
    /// Its complaints are reported.
    Warn,
    /// Its complaints fail the build.
    Fail,
}

impl Level {
    /// All of them, least first.
    pub const ALL: [Level; 3] = [Level::Off, Level::Warn, Level::Fail];

    /// The name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Level::Off => "off",
            Level::Warn => "warn",
            Level::Fail => "fail",
        }
    }

    /// How severe a complaint can be at most; `None` if there are to be none.
    pub(crate) fn severity(self) -> Option<Severity> {
        match self {
            Level::Off => None,
            Level::Warn => Some(Severity::Warn),
            Level::Fail => Some(Severity::Fail),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that is no level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected `off`, `warn` or `fail`, not `{word}`{}", hint(.word))]
pub struct UnknownLevel {
    word: String,
}

fn hint(word: &str) -> String {
    let near = nearest(word, Level::ALL.map(Level::name));
    near.map_or(String::new(), |near| format!("; did you mean `{near}`?"))
}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(word: &str) -> Result<Self, UnknownLevel> {
        let named = |level: &Level| level.name() == word;
        let unknown = || UnknownLevel {
            word: word.to_owned(),
        };
        Level::ALL.into_iter().find(named).ok_or_else(unknown)
    }
}

/// A setting that cannot be taken over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// No oracle has this name.
    #[error(transparent)]
    Oracle(#[from] UnknownOracle),
    /// No level has this name.
    #[error("oracle `{oracle}`: {source}")]
    Level {
        /// Whose level it was to be.
        oracle: Oracle,
        /// What was wrong with it.
        source: UnknownLevel,
    },
}

/// More attempts than this at one place within one request are more than any
/// sensible policy makes: libraries stop after three to ten.
pub const MOST_ATTEMPTS: usize = 10;

/// Methods that change nothing by common naming; all other gRPC methods are
/// taken to do something that must not be done twice.
const READING_METHODS: [&str; 8] = [
    "** > * */Get*",
    "** > * */BatchGet*",
    "** > * */List*",
    "** > * */Search*",
    "** > * */Find*",
    "** > * */Read*",
    "** > * */Watch*",
    "** > * grpc.health.v1.Health/*",
];

/// What the oracles go by.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How much the oracles' words count; the default where one is missing.
    pub levels: BTreeMap<Oracle, Level>,
    /// Rules about the answers that the scenario gets.
    pub response: ResponseRules,
    /// Calls that may be made twice although their method does not say so.
    pub idempotent: Vec<Pattern>,
    /// The most attempts at one place within one request of the scenario.
    pub most_attempts: usize,
}

/// Rules about the answers that the scenario gets; none unless configured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResponseRules {
    /// The first digits of the statuses allowed (`2` for 200 to 299); empty
    /// allows all. A gRPC status counts as the HTTP status nearest to it, no
    /// answer at all as `5`.
    pub status_classes: Vec<u8>,
    /// Words that must not be in what the scenario prints or complains, nor in
    /// the answers to declared requests, whatever their case, unless they are
    /// in the reference execution too.
    pub keywords: Vec<String>,
    /// The longest a request of the scenario may take.
    pub longest: Option<Duration>,
    /// The longest it may take in times of the same request in the reference
    /// execution, the slowest if there are several.
    pub longest_factor: Option<f64>,
}

impl Default for Settings {
    fn default() -> Self {
        let patterns = READING_METHODS.iter().map(|text| text.parse());
        Settings {
            levels: BTreeMap::new(),
            response: ResponseRules::default(),
            idempotent: patterns
                .collect::<Result<_, _>>()
                .expect("the patterns above are well-formed"),
            most_attempts: MOST_ATTEMPTS,
        }
    }
}

impl Settings {
    /// How much an oracle's word counts.
    pub fn level(&self, oracle: Oracle) -> Level {
        let configured = self.levels.get(&oracle).copied();
        configured.unwrap_or_else(|| oracle.default_level())
    }

    /// Sets the level of an oracle, both as they are written.
    pub fn set(&mut self, oracle: &str, level: &str) -> Result<(), SettingError> {
        let oracle = oracle.parse()?;
        let level = level
            .parse()
            .map_err(|source| SettingError::Level { oracle, source })?;
        self.levels.insert(oracle, level);
        Ok(())
    }

    /// Whether a call was declared to do no harm when made twice.
    pub(crate) fn is_idempotent(&self, point: &Point) -> bool {
        self.idempotent.iter().any(|pattern| pattern.matches(point))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attempt_of_a_call_is_declared_idempotent() {
        let settings = Settings {
            idempotent: vec!["** > cart POST /carts/*".parse().unwrap()],
            ..Settings::default()
        };
        for attempt in ["", " #2"] {
            let point = format!("shop GET / > cart POST /carts/{{}}{attempt}");
            assert!(settings.is_idempotent(&point.parse().unwrap()), "{point}");
        }
    }

    #[test]
    fn levels_are_set_by_name() {
        let mut settings = Settings::default();
        assert_eq!(settings.level(Oracle::WrongStatus), Level::Warn);
        settings.set("wrong-status", "fail").unwrap();
        assert_eq!(settings.level(Oracle::WrongStatus), Level::Fail);
        assert_eq!(settings.level(Oracle::Scenario), Level::Fail);
    }

    #[test]
    fn what_cannot_be_set_is_refused_with_the_way_out() {
        let refused = |oracle: &str, level: &str| {
            let error = Settings::default().set(oracle, level).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            refused("no-case", "warn"),
            "there is no oracle `no-case`; did you mean `no-cause`?"
        );
        assert_eq!(
            refused("no-cause", "warning"),
            "oracle `no-cause`: expected `off`, `warn` or `fail`, not `warning`"
        );
        assert_eq!(
            refused("no-cause", "of"),
            "oracle `no-cause`: expected `off`, `warn` or `fail`, not `of`; did you mean `off`?"
        );
    }

    #[test]
    fn reading_methods_of_grpc_may_be_called_twice() {
        let settings = Settings::default();
        let cases = [
            ("a GET / > cart shop.Cart/GetCart", true),
            ("a GET / > cart shop.Cart/GetCart #2", true),
            ("a GET / > cart shop.Cart/ListItems", true),
            ("a GET / > b GET / > x grpc.health.v1.Health/Check", true),
            ("a GET / > cart shop.Cart/AddItem", false),
            ("a GET / > cart POST /items", false),
        ];
        for (point, expected) in cases {
            let point: Point = point.parse().unwrap();
            assert_eq!(settings.is_idempotent(&point), expected, "{point}");
        }
    }
}
