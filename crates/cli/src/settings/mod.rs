//! What is meant: arguments understood, checked and put together.
//!
//! Owns the way from words to values; each kind of word has a module of its
//! own. After this only settings that make sense exist.

mod app;
pub(crate) mod contradictions;
mod modes;
mod reductions;
pub(crate) mod rerun;

pub(crate) use murphy_config::time;

use std::time::Duration;

use murphy::demo::Options as ExampleOptions;
use murphy_campaign::{IdentityChoice, REFERENCES, Settings as Campaign, StrategyKind};
use murphy_corpus::sim::State;
use murphy_corpus::sockets::{Options as ServeOptions, Source};
use murphy_corpus::{App, FaultSet, Settings as Switches, Simulator, System};
use murphy_model::{Faultload, Mode, Outcome, Pattern};
use murphy_search::{Filter, Modes, Options, Order, Reduction, Replies};

use crate::args::{CampaignArgs, DEFAULT_MODES, DemoArgs, ExplainArgs, SearchArgs, SystemArgs};
use crate::descriptors;
use murphy_config::Usage;

/// A campaign to run, and how to report it.
pub(crate) struct Settings {
    pub(crate) campaign: Campaign,
    pub(crate) place: Place,
    pub(crate) about: &'static str,
    pub(crate) explain_command: String,
    /// What to try if the scenario fails without faults.
    pub(crate) reference_hint: String,
    pub(crate) require_complete: bool,
}

/// Where an example system runs.
pub(crate) enum Place {
    /// In memory.
    Memory(Box<Simulator>),
    /// On sockets.
    Sockets(Box<(Source, ExampleOptions)>),
}

/// A question about a faultload, and the campaign that answers it.
pub(crate) struct Question {
    pub(crate) settings: Settings,
    pub(crate) faultload: Faultload,
}

impl Settings {
    /// What `murphy demo` was asked to do.
    pub(crate) fn of_demo(args: &DemoArgs) -> Result<Self, Usage> {
        let DemoArgs {
            app,
            system,
            search,
            campaign,
            ..
        } = args;
        contradictions::check_campaign(campaign, search, None)?;
        let strategy = campaign.strategy;
        let mut settings = Settings::of_system("murphy demo", app, system, search, strategy)?;
        settings.take(campaign);
        Ok(settings)
    }

    fn take(&mut self, args: &CampaignArgs) {
        self.campaign.audit = audit(args.audit, &self.campaign);
        self.require_complete = args.require_complete;
    }

    /// A campaign on an example system; `command` is what stood before its
    /// name.
    pub(crate) fn of_system(
        command: &str,
        name: &str,
        given: &SystemArgs,
        args: &SearchArgs,
        strategy: Option<StrategyKind>,
    ) -> Result<Self, Usage> {
        contradictions::check(args)?;
        contradictions::check_system(given, args)?;
        let max_time = args.max_time.as_deref().map(time).transpose()?;
        let app = app::find(command, name)?;
        let (scenario, about) = (app.name, app.about);
        let reference_hint = app::reference_hint(&app, &given.set);
        let switches = app::switches(&app, &given.set)?;
        let system = (app.build)(&switches);
        let identity = app::identity(system.identity.clone(), &given.identity)?;
        let faults = modes::fault_set(args.modes.as_deref().unwrap_or(DEFAULT_MODES), &system)?;
        let strategy_kind = strategy.unwrap_or_default();
        let options = options(args, strategy_kind, &faults, &system)?;
        let seed = args.seed.unwrap_or(0);
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
                    .seed(seed)
                    .state(state);
                Place::Memory(Box::new(simulator))
            }
        };
        Ok(Settings {
            campaign: Campaign {
                scenario: scenario.to_owned(),
                strategy: strategy_kind,
                options,
                modes: modes::names(&faults),
                seed,
                jobs,
                max_time,
                audit: None,
                references: if on_sockets { REFERENCES } else { 1 },
                identity: IdentityChoice::Given(identity),
                oracles: murphy_oracle::Settings::default(),
            },
            place,
            about,
            explain_command: rerun::explain_command(scenario, given, args)
                + &rerun::strategy(strategy),
            reference_hint,
            require_complete: false,
        })
    }
}

impl Question {
    /// What `murphy explain` was asked. The search is made in memory, where it
    /// takes no time: it is the same as on sockets.
    pub(crate) fn of(app: &str, args: &ExplainArgs) -> Result<Self, Usage> {
        let given = SystemArgs {
            simulate: true,
            set: args.system.set.clone(),
            identity: args.system.identity.clone(),
            keep_state: args.system.keep_state,
        };
        contradictions::check_strategy(args.strategy, &args.search, None)?;
        let command = "murphy explain --app";
        let strategy = args.strategy;
        let settings = Settings::of_system(command, app, &given, &args.search, strategy)?;
        let faultload: Faultload = args
            .faultload
            .parse()
            .map_err(|error| Usage::syntax("FAULTLOAD", &error))?;
        let Place::Memory(simulator) = &settings.place else {
            unreachable!("explanations are made in memory");
        };
        modes::check_faultload(&faultload, &args.faultload, simulator.system())?;
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

/// What was typed about a search, understood, for any system.
pub(crate) struct SearchWords {
    /// `None`: nothing was typed.
    pub(crate) modes: Option<Vec<Mode>>,
    pub(crate) exhaustive: bool,
    pub(crate) replies: Option<Replies>,
    pub(crate) reduce: Vec<Reduction>,
    pub(crate) no_reduce: Vec<Reduction>,
    pub(crate) order: Option<Order>,
    pub(crate) max_faults: Option<usize>,
    pub(crate) max_cases: Option<usize>,
    pub(crate) filter: Filter,
}

/// Understands what was typed about a search of a user's own system.
pub(crate) fn search_words(args: &SearchArgs) -> Result<SearchWords, Usage> {
    contradictions::check(args)?;
    let modes = args
        .modes
        .as_deref()
        .map(|list| Mode::parse_list(list).map_err(|error| Usage::syntax("--modes", &error)));
    let (reduce, no_reduce) = reductions::named_all(&args.reduce, &args.no_reduce)?;
    Ok(SearchWords {
        modes: modes.transpose()?,
        exhaustive: args.exhaustive,
        replies: args.replies,
        reduce,
        no_reduce,
        order: args.order,
        max_faults: args.max_faults,
        max_cases: args.max_cases,
        filter: Filter {
            only: patterns("--only", &args.only)?,
            except: patterns("--except", &args.except)?,
        },
    })
}

/// How many skipped cases are run after all where modes stand for each other.
const AUDIT: usize = 10;

/// How many skipped cases a campaign runs after all: as many as were asked
/// for, or a few where the search relies on more than what it has seen.
pub(crate) fn audit(asked: Option<usize>, campaign: &Campaign) -> Option<usize> {
    let relies =
        campaign.strategy == StrategyKind::Tree && campaign.options.reduces(Reduction::Modes);
    asked.or(relies.then_some(AUDIT))
}

/// What a search does before anything more particular is said. Only the tree
/// strategy skips anything that was not asked for.
pub(crate) fn base_options(modes: Modes, strategy: StrategyKind, exhaustive: bool) -> Options {
    match (strategy, exhaustive) {
        (StrategyKind::Tree, false) => Options::usual(modes),
        (StrategyKind::Tree, true) => Options::exhaustive(modes),
        _ => Options::new(modes),
    }
}

fn options(
    args: &SearchArgs,
    strategy: StrategyKind,
    faults: &FaultSet,
    system: &System,
) -> Result<Options, Usage> {
    let by_service = Modes::ByService(faults.by_service(system));
    let mut options = base_options(by_service, strategy, args.exhaustive);
    if let Some(replies) = args.replies {
        options.replies = replies;
    }
    reductions::apply(&mut options.reduce, &args.reduce, &args.no_reduce)?;
    options.order = args.order.unwrap_or_default();
    options.max_faults = args.max_faults;
    options.max_cases = args.max_cases;
    options.filter = Filter {
        only: patterns("--only", &args.only)?,
        except: patterns("--except", &args.except)?,
    };
    Ok(options)
}

fn patterns(argument: &str, texts: &[String]) -> Result<Vec<Pattern>, Usage> {
    let pattern = |text: &String| {
        text.parse()
            .map_err(|error| Usage::syntax(argument, &error))
    };
    texts.iter().map(pattern).collect()
}
