//! What is meant: arguments understood, checked and put together.
//!
//! Owns the way from words to values; each kind of word has a module of its
//! own. After this only settings that make sense exist.

mod app;
mod contradictions;
mod modes;
mod reductions;
pub mod rerun;
mod search;

use murphy_config::time;

use std::time::Duration;

use murphy::demo::Options as ExampleOptions;
use murphy_campaign::{Heading, IdentityChoice, REFERENCES, Settings as Campaign};
use murphy_corpus::sim::State;
use murphy_corpus::sockets::{Options as ServeOptions, Source};
use murphy_corpus::{App, FaultSet, Settings as Switches, Simulator, System};
use murphy_model::{Faultload, Mode, Outcome};
use murphy_search::Modes;

use crate::descriptors;
use crate::typed::{Typed, TypedExample};
use murphy_config::{SearchRules, Usage};

/// A campaign to run, and how to report it.
pub struct Settings {
    /// The campaign.
    pub campaign: Campaign,
    /// Where the system runs.
    pub place: Place,
    /// What to try if the scenario fails without faults.
    pub reference_hint: String,
}

/// Where an example system runs.
pub enum Place {
    /// In memory.
    Memory(Box<Simulator>),
    /// On sockets.
    Sockets(Box<(Source, ExampleOptions)>),
}

/// A question about a faultload, and the campaign that answers it.
pub struct Question {
    /// The campaign that answers it.
    pub settings: Settings,
    /// What is asked about.
    pub faultload: Faultload,
}

impl Settings {
    /// A campaign on an example system; `command` is what stood before its
    /// name.
    pub fn of_system(
        command: &str,
        name: &str,
        given: &TypedExample,
        typed: &Typed,
    ) -> Result<Self, Usage> {
        let args = &typed.search;
        contradictions::check_system(given, args)?;
        let app = app::find(command, name)?;
        let (scenario, about) = (app.name, app.about);
        let reference_hint = app::reference_hint(&app, &given.set);
        let switches = app::switches(&app, &given.set)?;
        let system = (app.build)(&switches);
        let identity = app::identity(system.identity.clone(), &given.identity)?;
        let default = murphy_search::default_modes(system.wire.protocol());
        let faults = modes::fault_set(args.modes.as_deref().unwrap_or(default), &system)?;
        let by_service = Modes::ByService(faults.by_service(&system));
        let search = typed.resolve(&SearchRules::default(), by_service)?;
        let jobs = args.jobs.unwrap_or(1);
        let on_sockets = !given.simulate && !given.keep_state;
        if on_sockets {
            descriptors::check(jobs, system.services.len(), true)?;
        }
        let place = match on_sockets {
            true => on_sockets_of(app, switches, &system, jobs, &faults),
            false => {
                let state = match given.keep_state {
                    true => State::Kept,
                    false => State::Reset,
                };
                let simulator = Simulator::new(app, switches)
                    .identity(identity.clone())
                    .timeouts(faults.timeouts())
                    .seed(search.seed)
                    .state(state);
                Place::Memory(Box::new(simulator))
            }
        };
        Ok(Settings {
            campaign: Campaign {
                scenario: scenario.to_owned(),
                strategy: search.strategy,
                options: search.options,
                modes: modes::names(&faults),
                seed: search.seed,
                jobs,
                max_time: search.max_time,
                audit: search.audit,
                references: if on_sockets { REFERENCES } else { 1 },
                identity: IdentityChoice::Given(identity),
                oracles: murphy_oracle::Settings::default(),
                heading: Heading {
                    about: about.to_owned(),
                    explain_command: rerun::explain_command(scenario, given, args)
                        + &rerun::strategy(typed.strategy),
                    rerun_command: rerun::demo_command(scenario, given, args)
                        + &rerun::strategy(typed.strategy),
                    ..Heading::default()
                },
            },
            place,
            reference_hint,
        })
    }
}

impl Question {
    /// What `murphy explain` was asked. The search is made in memory, where it
    /// takes no time: it is the same as on sockets.
    pub fn of(app: &str, given: TypedExample, typed: &Typed, text: &str) -> Result<Self, Usage> {
        let given = TypedExample {
            simulate: true,
            ..given
        };
        let settings = Settings::of_system("murphy explain --app", app, &given, typed)?;
        let faultload: Faultload = text
            .parse()
            .map_err(|error| Usage::syntax("FAULTLOAD", &error))?;
        let Place::Memory(simulator) = &settings.place else {
            unreachable!("explanations are made in memory");
        };
        modes::check_faultload(&faultload, text, simulator.system())?;
        Ok(Question {
            settings,
            faultload,
        })
    }
}

/// How many seconds a second of the services takes where faults are waited
/// out: short, but long enough for a busy machine to answer in time.
const HURRIED: f64 = 0.05;

fn on_sockets_of(
    app: App,
    switches: Switches,
    system: &System,
    jobs: u32,
    faults: &FaultSet,
) -> Place {
    let all: Vec<Mode> = faults.by_service(system).into_values().flatten().collect();
    let waited_out = all.iter().any(takes_time);
    let mut options = ExampleOptions {
        workers: if system.keeps_state { 1 } else { jobs },
        services: ServeOptions {
            pace: if waited_out { HURRIED } else { 1.0 },
            ..ServeOptions::default()
        },
        ..ExampleOptions::default()
    };
    if !waited_out {
        // No example system makes a call that nobody waits for, and without
        // faults that take time nobody gives up waiting.
        options.grace = Duration::ZERO;
    }
    Place::Sockets(Box::new((Source::App(app, switches), options)))
}

fn takes_time(mode: &Mode) -> bool {
    matches!(
        mode.outcome(),
        Outcome::Hang | Outcome::Delay(_) | Outcome::Slow(_)
    )
}
