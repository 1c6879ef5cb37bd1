//! What an example system declares of itself.
//!
//! Owns the words of a declaration: services and their handlers, the scenario
//! with its assertions, switches, and what must be found. The systems are in
//! [`crate::apps`]; running them is [`crate::sim`]'s job.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use murphy_model::{Fault, Faultload, Identity, Mode, Target, Verdict};

use crate::net::{Abort, BoxFuture, Ctx, Request, Response};
use crate::wire::Wire;

/// An example system: a name, its switches, and how to build it.
pub struct App {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// What can be set.
    pub switches: &'static [Switch],
    /// Builds it with all its state fresh.
    pub build: fn(&Settings) -> System,
    /// What must be found in it, setting by setting.
    pub expected: fn() -> Vec<Expected>,
}

/// Something about an app that can be set: `--set name=value`.
pub struct Switch {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// What it may be set to.
    pub values: Values,
    /// What it is when not set.
    pub default: &'static str,
}

/// What a switch may be set to.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// `on` or `off`.
    OnOff,
    /// A whole number from the first to the second.
    Number(u32, u32),
    /// A number from the first to the second, with at most one digit after the
    /// point.
    Tenths(u32, u32),
    /// One of these words.
    Words(&'static [&'static str]),
}

impl Values {
    fn allow(&self, value: &str) -> bool {
        match self {
            Values::OnOff => ["on", "off"].contains(&value),
            Values::Number(low, high) => value
                .parse::<u32>()
                .is_ok_and(|number| (*low..=*high).contains(&number)),
            Values::Tenths(low, high) => {
                tenths(value).is_some_and(|number| (low * 10..=high * 10).contains(&number))
            }
            Values::Words(words) => words.contains(&value),
        }
    }
}

/// A number such as `2` or `1.5`, times ten.
fn tenths(text: &str) -> Option<u32> {
    let (whole, tenth) = text.split_once('.').unwrap_or((text, "0"));
    let whole: u32 = whole.parse().ok()?;
    let tenth: u32 = tenth.parse().ok().filter(|_| tenth.len() == 1)?;
    whole.checked_mul(10)?.checked_add(tenth)
}

impl std::fmt::Display for Values {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Values::OnOff => write!(f, "on or off"),
            Values::Number(low, high) => write!(f, "a number from {low} to {high}"),
            Values::Tenths(low, high) => {
                write!(f, "a number from {low} to {high} with at most one decimal")
            }
            Values::Words(words) => write!(f, "{}", words.join(" or ")),
        }
    }
}

/// A setting that an app does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// There is no such switch.
    #[error("`{app}` has no switch `{name}`{}", switches_hint(.known))]
    Unknown {
        /// The app.
        app: &'static str,
        /// What was given.
        name: String,
        /// The switches it has.
        known: Vec<&'static str>,
    },
    /// The switch does not take this value.
    #[error("`{name}={value}`: `{name}` takes {allowed}")]
    Value {
        /// The switch.
        name: String,
        /// What was given.
        value: String,
        /// What it takes.
        allowed: String,
    },
}

fn switches_hint(known: &[&str]) -> String {
    match known {
        [] => " (it has none)".to_owned(),
        known => format!(" (it has: {})", known.join(", ")),
    }
}

/// The switches of an app, all of them with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings(BTreeMap<&'static str, String>);

impl Settings {
    /// Whether a switch is on.
    ///
    /// # Panics
    /// If the app does not declare the switch.
    pub fn on(&self, name: &str) -> bool {
        self.word(name) == "on"
    }

    /// The number a switch is set to.
    ///
    /// # Panics
    /// If the app does not declare the switch as a number.
    pub fn number(&self, name: &str) -> u32 {
        self.word(name).parse().expect("a declared number switch")
    }

    /// The number a switch is set to, times ten.
    ///
    /// # Panics
    /// If the app does not declare the switch as a number with tenths.
    pub fn tenths(&self, name: &str) -> u32 {
        tenths(self.word(name)).expect("a declared switch of tenths")
    }

    /// The word a switch is set to.
    ///
    /// # Panics
    /// If the app does not declare the switch.
    pub fn word(&self, name: &str) -> &str {
        self.0.get(name).expect("a declared switch")
    }
}

impl App {
    /// The settings that result from `name=value` pairs over the defaults.
    pub fn settings<'a>(
        &self,
        given: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Settings, SettingError> {
        let defaults = self.switches.iter().map(|s| (s.name, s.default.to_owned()));
        let mut settings = Settings(defaults.collect());
        for (name, value) in given {
            let Some(switch) = self.switches.iter().find(|s| s.name == name) else {
                return Err(SettingError::Unknown {
                    app: self.name,
                    name: name.to_owned(),
                    known: self.switches.iter().map(|s| s.name).collect(),
                });
            };
            if !switch.values.allow(value) {
                return Err(SettingError::Value {
                    name: name.to_owned(),
                    value: value.to_owned(),
                    allowed: switch.values.to_string(),
                });
            }
            settings.0.insert(switch.name, value.to_owned());
        }
        Ok(settings)
    }

    /// The settings written as `name=value` words separated by blanks.
    pub fn settings_from_text(&self, text: &str) -> Result<Settings, SettingError> {
        let pairs = text
            .split_whitespace()
            .map(|word| word.split_once('=').unwrap_or((word, "")));
        self.settings(pairs)
    }
}

/// A handler: what a service does with a request.
pub type Handler = Arc<dyn Fn(Ctx, Request) -> BoxFuture<Result<Response, Abort>> + Send + Sync>;

/// A scenario: sends requests and says whether the answers are right.
pub type Scenario = Arc<dyn Fn(Ctx) -> BoxFuture<Result<(), String>> + Send + Sync>;

/// One service of a system.
#[derive(Clone)]
pub struct Service {
    /// Its name, by which it is called.
    pub name: &'static str,
    /// The error statuses its code can raise, apart from 500.
    pub raises: &'static [u16],
    /// Whether callers set a timeout when they call it.
    pub timed: bool,
    /// Whether it belongs to someone else: nothing of its code is known.
    pub external: bool,
    /// Whether calls to it are seen and can be injected.
    pub proxied: bool,
    /// What it does.
    pub handler: Handler,
}

impl Service {
    /// A service of our own, seen, called with a timeout.
    pub fn new<F, Fut>(name: &'static str, handler: F) -> Self
    where
        F: Fn(Ctx, Request) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Response, Abort>> + Send + 'static,
    {
        Service {
            name,
            raises: &[],
            timed: true,
            external: false,
            proxied: true,
            handler: Arc::new(move |ctx, request| Box::pin(handler(ctx, request))),
        }
    }

    /// The error statuses its code can raise, apart from 500.
    pub fn raises(self, raises: &'static [u16]) -> Self {
        Service { raises, ..self }
    }

    /// Someone else's service, called without a timeout.
    pub fn external(self) -> Self {
        Service {
            external: true,
            timed: false,
            ..self
        }
    }

    /// Not behind a proxy: never seen, never failed.
    pub fn unproxied(self) -> Self {
        Service {
            proxied: false,
            ..self
        }
    }

    /// What can go wrong when this service is called, from what it declares: a
    /// connection error; a timeout, where callers set one; 500 and the
    /// statuses its code can raise. Of external services only the connection
    /// error is known.
    pub fn declared_modes(&self) -> Vec<Mode> {
        let mut modes = vec![Mode::RESET];
        if self.external {
            return modes;
        }
        if self.timed {
            modes.push(Mode::HANG);
        }
        modes.push(Mode::status(500));
        modes.extend(self.raises.iter().map(|status| Mode::status(*status)));
        modes
    }
}

/// A built system, with its state.
#[derive(Clone)]
pub struct System {
    /// Its services.
    pub services: Vec<Service>,
    /// The test that exercises it.
    pub scenario: Scenario,
    /// The identity under which its published figures hold.
    pub identity: Identity,
    /// How its services call each other.
    pub wire: Wire,
    /// Whether its services keep something from one request to the next that
    /// changes what they do: executions at the same time would disturb each
    /// other, and each one needs the system fresh. Luck is no such thing: it
    /// is to go on from one execution to the next.
    pub keeps_state: bool,
}

impl System {
    /// A system of these services, exercised by this scenario.
    pub fn new<F, Fut>(services: Vec<Service>, scenario: F) -> Self
    where
        F: Fn(Ctx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), String>> + Send + 'static,
    {
        System {
            services,
            scenario: Arc::new(move |ctx| Box::pin(scenario(ctx))),
            identity: Identity::default(),
            wire: Wire::Http,
            keeps_state: false,
        }
    }

    /// The same system, of services that keep state between requests.
    pub fn with_state(self) -> Self {
        System {
            keeps_state: true,
            ..self
        }
    }

    /// The service with this name.
    pub fn service(&self, name: &str) -> Option<&Service> {
        self.services.iter().find(|service| service.name == name)
    }
}

/// The word of a scenario that never gave its own.
pub(crate) const STUCK: &str = "the scenario never ended: a call it waits for is never answered";

/// The verdict on a scenario's own word, given the planned faults that were
/// never injected or took no effect.
pub(crate) fn verdict(word: Result<(), String>, missing: Vec<Fault>) -> Verdict {
    match word {
        Err(why) => Verdict::Failed { why },
        Ok(()) if missing.is_empty() => Verdict::Passed,
        Ok(()) => Verdict::NotExercised { missing },
    }
}

/// What an exhaustive search must report under one setting and set of modes.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The switches, as `name=value` words; empty for the defaults.
    pub settings: &'static str,
    /// The modes, as on the command line (`500,502,503,504` or `declared`).
    pub modes: &'static str,
    /// What happens.
    pub outcome: Outcome,
}

/// What an exhaustive search must report.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The scenario fails without any fault: the search must refuse.
    ReferenceFails,
    /// Exactly these minimal faultloads make the scenario fail, written as
    /// texts whose targets may be patterns (`** > stats * = 503`).
    Fails(&'static [&'static str]),
}

/// Whether declared faults, whose targets may be patterns, stand for exactly
/// the found ones.
pub fn stands_for(declared: &Faultload, found: &Faultload) -> bool {
    let same = |declared: &Fault, found: &Fault| match &found.target {
        Target::Call(point) => declared.mode == found.mode && declared.target.matches(point),
        _ => false,
    };
    let declared: Vec<Fault> = declared.faults().collect();
    declared.len() == found.len()
        && found
            .faults()
            .all(|found| declared.iter().any(|d| same(d, &found)))
}

#[cfg(test)]
mod tests {
    use super::Values;

    #[test]
    fn tenths_have_at_most_one_decimal_and_stay_between_their_bounds() {
        let values = Values::Tenths(1, 20);
        for allowed in ["1", "1.0", "1.5", "9.9", "20", "20.0"] {
            assert!(values.allow(allowed), "{allowed}");
        }
        for refused in ["", ".", "1.", ".5", "0.9", "20.1", "1.55", "1,5", "-1", "x"] {
            assert!(!values.allow(refused), "{refused}");
        }
    }
}
