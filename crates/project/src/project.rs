//! A user's own system, as `murphy.toml` and the arguments describe it.
//!
//! Owns which of the two counts where both speak (what was typed), and the way
//! from there to a world that is up. Running campaigns in it is for the
//! commands.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use murphy::replays::System;
use murphy_campaign::{Droppable, Heading, IdentityChoice, Settings as Campaign, SetupError};
use murphy_model::{Identity, PathTemplates};
use murphy_proxy::Witness;
use murphy_report::redact;
use murphy_search::{ModeRules, Modes};
use murphy_store::Store;
use murphy_system::spec::{Health, ScenarioKind, ScenarioSpec, Source};
use murphy_system::{
    self, Correlation, Interference, InterferenceKind, LiveOptions, LiveWorld, RunningSystem,
    ServiceState, Wanted,
};

use crate::context::Context;
use crate::error::Error;
use crate::typed::{Typed, TypedProject, TypedSearch};
use crate::{descriptors, messages};
use murphy_config::Usage;
use murphy_config::{Config, Extended, IdentityRules, Switch, TYPED, TypedEach};

/// A user's own system.
pub struct Project {
    /// What murphy.toml says.
    pub config: Config,
    /// The scenarios that are meant; at least one, unless only the services
    /// are looked at.
    pub scenarios: Vec<ScenarioSpec>,
    /// The test that was typed instead of them; empty if none was.
    pub command: Vec<String>,
}

impl Project {
    /// What the arguments mean.
    pub fn open(args: impl Into<TypedProject>, context: &Context) -> Result<Self, Error> {
        let args = args.into();
        let (config, extended) = load(&args, context, &context.directory())?;
        say_if_extended(extended.as_ref());
        Project::of(config, &args)
    }

    /// The same for who can do without a scenario.
    pub fn open_services(args: impl Into<TypedProject>, context: &Context) -> Result<Self, Error> {
        let args = args.into();
        let (config, extended) = load(&args, context, &context.directory())?;
        say_if_extended(extended.as_ref());
        match config.scenarios.is_empty() && args.scenario.is_empty() {
            true => Ok(Project {
                config,
                scenarios: Vec::new(),
                command: Vec::new(),
            }),
            false => Project::of(config, &args),
        }
    }

    /// The same, as if they had been typed in this directory, and without a
    /// word about it.
    pub(crate) fn open_in(
        args: &TypedProject,
        context: &Context,
        directory: &Path,
    ) -> Result<Self, Error> {
        let (config, _) = load(args, context, directory)?;
        Project::of(config, args)
    }

    /// The same with every test as a scenario of its own, where that was typed.
    pub fn with_each(mut self, typed: &TypedEach) -> Result<Self, Error> {
        let names: Vec<String> = self.scenarios.iter().map(|it| it.name.clone()).collect();
        self.config = self.config.with_each(typed)?;
        let named = |name: &String| self.config.scenario_or_test(name);
        self.scenarios = names.iter().map(named).collect::<Result<_, _>>()?;
        Ok(self)
    }

    fn of(config: Config, args: &TypedProject) -> Result<Self, Error> {
        // What was typed is the only one already.
        let scenarios = match args.command.is_empty() {
            true => scenarios(&config, &args.scenario)?,
            false => config.scenarios.clone(),
        };
        Ok(Project {
            config,
            scenarios,
            command: args.command.clone(),
        })
    }

    /// Murphy's own directory.
    pub fn state(&self) -> &Path {
        &self.config.store.directory
    }

    /// The scenario that stands for several tests, if this is one of them.
    pub fn suite_of(&self, test: &ScenarioSpec) -> Option<&ScenarioSpec> {
        if self.scenarios.iter().any(|it| it.name == test.name) {
            return None;
        }
        self.scenarios.iter().find(|it| {
            let rest = test.name.strip_prefix(&it.name);
            // The tests of a typed command are called as their runner calls them.
            it.name == TYPED || rest.is_some_and(|rest| rest.starts_with('/'))
        })
    }

    /// The campaigns on record, made if there are none.
    pub fn store(&self) -> Result<Store, Error> {
        let store = Store::open(self.state())?;
        Ok(store.keeping(self.config.store.keep))
    }

    /// The system, as those find it again who replay a finding.
    pub fn system(&self) -> System {
        System::Project {
            config: self.config.file.path().to_owned(),
            command: self.command.clone(),
            directory: std::env::current_dir().unwrap_or_default(),
        }
    }

    /// Where known findings are.
    pub fn baseline(&self, given: Option<&Path>) -> PathBuf {
        let beside = || {
            self.config
                .file
                .directory()
                .join(murphy_store::baseline::FILE)
        };
        given.map_or_else(beside, Path::to_owned)
    }

    /// A campaign on one of the scenarios.
    pub fn campaign(&self, scenario: &ScenarioSpec, typed: &Typed) -> Result<Campaign, Error> {
        let rules = &self.config.search;
        let modes = self.modes(&typed.search)?;
        check_tls(&modes, typed)?;
        let mut search = typed.resolve(rules, Modes::ByRule(modes.clone()))?;
        search.options.entries = scenario.entries;
        let jobs = self.jobs(&typed.search);
        descriptors::check(jobs, self.config.system.services.len(), false)?;
        Ok(Campaign {
            scenario: scenario.name.clone(),
            strategy: search.strategy,
            modes: murphy_search::mode_names(&modes),
            options: search.options,
            seed: search.seed,
            jobs,
            max_time: search.max_time,
            audit: search.audit,
            references: rules.references,
            identity: identity(&self.config.identity),
            oracles: self.oracles()?,
            heading: Heading::default(),
        })
    }

    /// How calls fail: what was typed counts for all of them; the file may say
    /// more exactly.
    fn modes(&self, search: &TypedSearch) -> Result<ModeRules, Usage> {
        let modes = match search.modes()? {
            Some(modes) => murphy_search::mode_rules(Some(modes)),
            None => self.config.modes.for_search(),
        };
        Ok(ModeRules {
            over_tls: self.config.system.over_tls(),
            ..modes
        })
    }

    /// How many executions run at once. State that is reset for one must not
    /// be reset under another.
    pub fn jobs(&self, search: &TypedSearch) -> u32 {
        let written = self
            .config
            .search
            .jobs
            .and_then(|jobs| u32::try_from(jobs).ok());
        let jobs = search.jobs.or(written).unwrap_or(1);
        if jobs > 1 && self.config.system.restart {
            messages::note(
                "using `--jobs 1`: with `restart = \"execution\"`, parallel executions would stop each other's services",
            );
            return 1;
        }
        if jobs > 1 && !self.config.system.reset.is_empty() {
            messages::note(
                "using `--jobs 1`: with `reset` steps, parallel executions would reset each other's state",
            );
            return 1;
        }
        let shared = self.config.system.shared_but_started_by_test();
        if let Some((service, caller)) = shared.filter(|_| jobs > 1) {
            messages::note(format_args!(
                "using `--jobs 1`: each worker's test starts a `{service}` of its own, but {caller} can call only one",
            ));
            return 1;
        }
        if jobs > 1 && self.modes(search).is_ok_and(|modes| has_tls(&modes)) {
            messages::note(
                "using `--jobs 1`: with `tls:` modes, a handshake could belong to any of several executions",
            );
            return 1;
        }
        jobs
    }

    fn oracles(&self) -> Result<murphy_oracle::Settings, Usage> {
        let mut settings = self.config.rules.clone();
        for rule in &self.config.oracles {
            let oracle = rule.name.parse().map_err(|error| {
                let refused: &murphy_oracle::UnknownOracle = &error;
                self.config
                    .refusal(&rule.place, &refused.to_string(), "not an oracle")
            })?;
            settings.levels.insert(oracle, rule.level.into());
        }
        Ok(settings)
    }

    /// Brings the system up for a scenario and finds out how its calls are
    /// identified; says what there is to say about it.
    pub async fn bring_up(
        &self,
        scenario: &ScenarioSpec,
        jobs: u32,
        name: &str,
    ) -> Result<(LiveWorld, Correlation), SetupError> {
        let scenarios = std::slice::from_ref(scenario);
        let system = self.start(scenarios, jobs, name, None).await?;
        self.enter(system, scenario, jobs).await
    }

    /// Finds out how the calls of a scenario are identified in a system that is
    /// up, for who says himself what there is to say about it.
    pub async fn correlate(
        &self,
        system: Arc<RunningSystem>,
        scenario: &ScenarioSpec,
        jobs: u32,
    ) -> Result<(LiveWorld, Correlation), SetupError> {
        LiveWorld::correlated_in(system, scenario.clone(), self.wanted(jobs)).await
    }

    /// Starts the system that these scenarios share.
    pub async fn start(
        &self,
        scenarios: &[ScenarioSpec],
        jobs: u32,
        name: &str,
        witness: Option<Witness>,
    ) -> Result<Arc<RunningSystem>, SetupError> {
        let options = self.live_options(jobs, name, witness);
        let options = self.wanted(jobs).options(options);
        let system = self.config.system.clone();
        let system = RunningSystem::start(system, scenarios, options).await?;
        for cleaned in system.cleaned_up() {
            let names = cleaned.stopped.iter().map(|(_, name)| name.as_str());
            let names: Vec<&str> = names.collect();
            if !names.is_empty() {
                let (owner, names) = (cleaned.owner, names.join(", "));
                messages::note(format_args!(
                    "a campaign that was killed (process {owner}) had left these running, now stopped: {names}"
                ));
            }
        }
        Ok(system)
    }

    /// Puts a scenario into a system that is up, and finds out how its calls
    /// are identified; says what there is to say about it.
    pub async fn enter(
        &self,
        system: Arc<RunningSystem>,
        scenario: &ScenarioSpec,
        jobs: u32,
    ) -> Result<(LiveWorld, Correlation), SetupError> {
        let entered = LiveWorld::correlated_in(system, scenario.clone(), self.wanted(jobs));
        let (world, correlation) = entered.await?;
        if let Some(took) = world.system().restart_took() {
            messages::note(format_args!(
                "services are restarted before every execution, which takes about {took:.1?} each time"
            ));
        }
        say_if_one_at_a_time(&correlation, scenario, jobs);
        if let Some(why) = world.why_fresh().filter(|_| !is_fresh(scenario)) {
            messages::note(format_args!(
                "`{}` runs in a new process for every execution: {why}",
                scenario.name
            ));
        }
        say_if_waiting(&correlation);
        Ok((world, correlation))
    }

    /// What is to be found out about how calls are identified.
    fn wanted(&self, jobs: u32) -> Wanted {
        let rules = &self.config.context;
        Wanted {
            solo: match rules.solo {
                Switch::Auto => None,
                Switch::On => Some(true),
                Switch::Off => Some(false),
            },
            grace: rules.grace,
            at_once: jobs,
        }
    }

    fn live_options(&self, jobs: u32, name: &str, witness: Option<Witness>) -> LiveOptions {
        LiveOptions {
            workers: jobs,
            proxy: murphy_proxy::Settings {
                witness,
                ..self.config.proxy.clone()
            },
            state: self.state().to_owned(),
            campaign: name.to_owned(),
            say: Some(Arc::new(|text| messages::note(format_args!("{text}")))),
            ..LiveOptions::default()
        }
    }

    /// Looks at every service, whatever the others do, and at nothing else.
    /// What is known to be wrong already is not waited for again.
    pub async fn survey(
        &self,
        name: &str,
        known: Option<&SetupError>,
    ) -> Result<Vec<ServiceState>, SetupError> {
        let options = self.live_options(1, name, None);
        murphy_system::survey(&self.config.system, &options, known).await
    }

    /// Lets services take no longer to come up than this, where the file does
    /// not say how long they may.
    pub fn wait_at_most(&mut self, most: Duration) {
        for service in &mut self.config.system.services {
            if service.health.within == Health::WITHIN {
                service.health.within = most;
            }
        }
    }
}

/// What the file says, and where something was typed after `--`, with that as
/// its only scenario.
fn load(
    args: &TypedProject,
    context: &Context,
    directory: &Path,
) -> Result<(Config, Option<Extended>), Error> {
    let variables = |name: &str| context.variable(name);
    let config = Config::load(args.config.as_deref(), directory, &variables);
    let config = config.map_err(Error::Config)?;
    hide_secrets_of(&config);
    if args.command.is_empty() {
        return Ok((config, None));
    }
    let directory = directory.to_owned();
    Ok(config.with_typed(&args.command, directory, &args.scenario)?)
}

/// Says what is run where a scenario was given more arguments.
pub fn say_if_extended(extended: Option<&Extended>) {
    if let Some(Extended { scenario, command }) = extended {
        let plain = |word: &String| word.replace("{{", "{").replace("}}", "}");
        let words: Vec<String> = command.iter().map(plain).collect();
        messages::say(format_args!(
            "note: what follows `--` is added to the command of scenario `{scenario}`: {}",
            redact::command(&words)
        ));
    }
}

/// What the file hands to services and tests in variables whose names tell of
/// secrets is not to be printed either.
pub(crate) fn hide_secrets_of(config: &Config) {
    let services = config.system.services.iter();
    let services = services.filter_map(|service| match &service.source {
        Source::Managed(managed) => Some(&managed.environment),
        Source::Running { .. } | Source::Hosts | Source::Test => None,
    });
    let tests = config.scenarios.iter();
    let tests = tests.filter_map(|scenario| Some(&scenario.kind.command()?.environment));
    let common = std::iter::once(&config.environment);
    let variables = services.chain(tests).chain(common).flatten();
    redact::hide_values_of(variables.map(|(name, value)| (name.clone(), value.clone())));
}

fn say_if_one_at_a_time(correlation: &Correlation, scenario: &ScenarioSpec, jobs: u32) {
    let Some(why) = murphy::why_one_at_a_time(correlation) else {
        return;
    };
    let at_once = match jobs {
        1 => "",
        _ => ", so `--jobs` is 1",
    };
    let more = match &correlation.clash {
        None => " (see `murphy doctor`)",
        Some(clash) => way_out(clash, scenario),
    };
    messages::note(format_args!(
        "{why}: one execution runs at a time{at_once}{more}"
    ));
}

fn is_fresh(scenario: &ScenarioSpec) -> bool {
    matches!(&scenario.kind, ScenarioKind::Test(test) if test.runner.fresh)
}

/// A wait that is too short to be noticed is not worth a word.
const NOTICED: Duration = Duration::from_millis(100);

/// Says that every execution takes longer than its test, and why.
fn say_if_waiting(correlation: &Correlation) {
    if let (Some(late), Some(grace)) = (correlation.late, correlation.grace)
        && grace >= NOTICED
    {
        messages::note(format_args!(
            "calls arrive up to {late:.0?} after the test has ended: every execution waits {grace:.0?} for them (`[context] grace` sets it)"
        ));
    }
}

/// What lets a test run beside itself.
fn way_out(clash: &Interference, scenario: &ScenarioSpec) -> &'static str {
    match (&clash.how, &scenario.kind) {
        (InterferenceKind::Failed { .. }, ScenarioKind::Command(_) | ScenarioKind::Test(_)) => {
            "\nhint: parallel executions need separate data: use `MURPHY_WORKER`"
        }
        (InterferenceKind::Failed { .. }, _) => "\nhint: parallel executions need separate data",
        (InterferenceKind::OtherCalls(_), _) => "",
    }
}

fn has_tls(modes: &ModeRules) -> bool {
    modes.all().any(|mode| mode.tls().is_some())
}

/// Handshakes can fail only where there are some.
fn check_tls(modes: &ModeRules, typed: &Typed) -> Result<(), Usage> {
    if !has_tls(modes) || !modes.over_tls.is_empty() {
        return Ok(());
    }
    let usage =
        Usage::new("`tls:` modes need callers that speak TLS with Murphy, and no service has any");
    let usage = match &typed.search.modes {
        Some(text) => usage.at("--modes", text, text, "there is no handshake to fail"),
        None => usage,
    };
    Err(usage.hint(
        "let the callers of a service speak TLS with Murphy: `listen = \"https://127.0.0.1:15443\"`, or `hosts` for callers that take a forward proxy; see docs/guide/https.md",
    ))
}

/// What is not left to be found out is as it is set.
fn identity(rules: &IdentityRules) -> IdentityChoice {
    let usual = Identity::default();
    let on = |switch: Switch, usual: bool| match switch {
        Switch::Auto => usual,
        Switch::On => true,
        Switch::Off => false,
    };
    let start = Identity {
        path: on(rules.path, usual.path),
        payload: on(rules.payload, usual.payload),
        predecessors: on(rules.predecessors, usual.predecessors),
        call_site: on(rules.call_site, usual.call_site),
        count: on(rules.count, usual.count),
        templates: PathTemplates::with(rules.paths.clone()),
        masked: rules.masked.clone(),
        ..usual
    };
    let may = Droppable {
        payload: rules.payload == Switch::Auto,
        predecessors: rules.predecessors == Switch::Auto,
        call_site: rules.call_site == Switch::Auto,
    };
    IdentityChoice::Auto(start, may)
}

fn scenarios(config: &Config, names: &[String]) -> Result<Vec<ScenarioSpec>, Usage> {
    if config.scenarios.is_empty() {
        return Err(
            Usage::new(format!("{} has no scenario", config.file.shown())).hint(
                "give the test after `--`, as in `murphy run -- pytest -q`, or write a `[scenario.NAME]`",
            ),
        );
    }
    if names.is_empty() {
        return Ok(config.scenarios.clone());
    }
    let named = |name: &String| config.scenario_or_test(name);
    names.iter().map(named).collect()
}
