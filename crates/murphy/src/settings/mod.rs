//! What is meant: arguments understood, checked and put together.
//!
//! Owns the way from words to values; each kind of word has a module of its
//! own. After this only settings that make sense exist.

mod app;
mod contradictions;
mod limits;
mod modes;
mod reductions;
mod rerun;

use std::time::Duration;

use murphy_corpus::sim::State;
use murphy_corpus::{FaultSet, Simulator};
use murphy_model::{Faultload, Pattern};
use murphy_search::{Filter, Modes, Options, Order};

use crate::args::{DemoArgs, ExplainArgs, Format, OrderArg, SearchArgs, StrategyArg};
use crate::usage::Usage;

/// A campaign to run, and how to report it.
pub(crate) struct Settings {
    pub(crate) plan: Plan,
    pub(crate) about: &'static str,
    pub(crate) modes: Vec<String>,
    pub(crate) explain_command: String,
    /// What to try if the scenario fails without faults.
    pub(crate) reference_hint: String,
    pub(crate) format: Format,
    pub(crate) require_complete: bool,
}

/// A campaign to run.
pub(crate) struct Plan {
    pub(crate) scenario: &'static str,
    pub(crate) simulator: Simulator,
    pub(crate) options: Options,
    pub(crate) strategy: StrategyArg,
    pub(crate) seed: u64,
    pub(crate) jobs: usize,
    pub(crate) max_time: Option<Duration>,
    pub(crate) audit: Option<usize>,
}

/// A question about a faultload, and the campaign that answers it.
pub(crate) struct Question {
    pub(crate) settings: Settings,
    pub(crate) faultload: Faultload,
}

impl Settings {
    /// What `murphy demo` was asked to do.
    pub(crate) fn of_demo(args: &DemoArgs) -> Result<Self, Usage> {
        contradictions::check_demo(args)?;
        let mut settings = Settings::of_search("murphy demo", &args.app, &args.search)?;
        settings.plan.strategy = args.strategy;
        settings.plan.audit = args.audit;
        settings.require_complete = args.require_complete;
        Ok(settings)
    }

    fn of_search(command: &str, name: &str, args: &SearchArgs) -> Result<Self, Usage> {
        contradictions::check(args)?;
        let max_time = args.max_time.as_deref().map(limits::time).transpose()?;
        let app = app::find(command, name)?;
        let (scenario, about) = (app.name, app.about);
        let reference_hint = app::reference_hint(&app, &args.set);
        let switches = app::switches(&app, &args.set)?;
        let simulator = Simulator::new(app, switches);
        let identity = app::identity(simulator.system().identity.clone(), &args.identity)?;
        let faults = modes::fault_set(&args.modes, simulator.system())?;
        let options = options(args, &faults, &simulator)?;
        let state = match args.keep_state {
            true => State::Kept,
            false => State::Reset,
        };
        let simulator = simulator
            .identity(identity)
            .timeouts(faults.timeouts())
            .seed(args.seed)
            .state(state);
        Ok(Settings {
            plan: Plan {
                scenario,
                simulator,
                options,
                strategy: StrategyArg::Tree,
                seed: args.seed,
                jobs: args.jobs,
                max_time,
                audit: None,
            },
            about,
            modes: modes::names(&faults),
            explain_command: rerun::explain_command(scenario, args),
            reference_hint,
            format: args.format,
            require_complete: false,
        })
    }
}

impl Question {
    /// What `murphy explain` was asked.
    pub(crate) fn of(args: &ExplainArgs) -> Result<Self, Usage> {
        let settings = Settings::of_search("murphy explain --app", &args.app, &args.search)?;
        let faultload: Faultload = args
            .faultload
            .parse()
            .map_err(|error| Usage::syntax("FAULTLOAD", &error))?;
        modes::check_faultload(
            &faultload,
            &args.faultload,
            settings.plan.simulator.system(),
        )?;
        Ok(Question {
            settings,
            faultload,
        })
    }
}

fn options(args: &SearchArgs, faults: &FaultSet, simulator: &Simulator) -> Result<Options, Usage> {
    let by_service = Modes::ByService(faults.by_service(simulator.system()));
    let mut options = Options::new(by_service);
    reductions::apply(&mut options.reduce, &args.reduce, &args.no_reduce)?;
    options.order = match args.order {
        None | Some(OrderArg::Bfs) => Order::BreadthFirst,
        Some(OrderArg::Dfs) => Order::DepthFirst,
    };
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
