//! Every published count the search must reproduce, as data.
//!
//! Owns the figures and how each is obtained; printing them is the `counts`
//! command's job, asserting them the test's.

use murphy_corpus::{App, FaultSet, Settings, Simulator, System, find};
use murphy_model::{Certificate, Identity};
use murphy_search::{Modes, Options, Reduction, Tree, explore};

use crate::sockets::Campaign;

/// One published count.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// The app.
    pub app: &'static str,
    /// Its switches, as `name=value` words.
    pub settings: &'static str,
    /// Changes to the app's own identity, as on the command line.
    pub identity: &'static str,
    /// The faults, as on the command line.
    pub faults: &'static str,
    /// Whether service encapsulation is in force.
    pub encapsulation: bool,
    /// Whether the retry reduction is in force.
    pub retry: bool,
    /// The published number of executions.
    pub explored: usize,
    /// What we get where that is known to be another number.
    pub differs: Option<usize>,
}

impl Published {
    /// The number of executions that is to be expected here.
    pub fn expected(&self) -> usize {
        self.differs.unwrap_or(self.explored)
    }

    fn fault_set(&self) -> FaultSet {
        self.faults.parse().expect("published faults are valid")
    }
}

/// Runs the search a published count was obtained by.
pub fn run(row: &Published) -> Certificate {
    let mut simulator = simulator(row);
    let mut tree = Tree::new(options(row, simulator.system()));
    explore(&mut tree, 1, |faultload| simulator.run(faultload))
}

/// The same over real sockets, this many executions at once.
pub async fn run_on_sockets(row: &Published, jobs: u32) -> Certificate {
    let (app, settings) = app(row);
    let system = (app.build)(&settings);
    let campaign = Campaign {
        options: options(row, &system),
        identity: identity(row, &system),
        ..Campaign::of(app, settings, jobs)
    };
    campaign.run().await.certificate
}

impl Published {
    /// Whether it can be had over sockets: there nobody makes timeouts run out
    /// at once, as those who published did.
    pub fn is_for_sockets(&self) -> bool {
        self.faults != "declared"
    }
}

fn app(row: &Published) -> (App, Settings) {
    let app = find(row.app).expect("a published app is in the corpus");
    let settings = app
        .settings_from_text(row.settings)
        .expect("published settings are valid");
    (app, settings)
}

fn identity(row: &Published, system: &System) -> Identity {
    let mut identity = system.identity.clone();
    for word in row.identity.split(',').filter(|word| !word.is_empty()) {
        let (name, value) = word.split_once('=').expect("component=on|off");
        identity
            .set(name, value == "on")
            .expect("a component of identity");
    }
    identity
}

fn simulator(row: &Published) -> Simulator {
    let (app, settings) = app(row);
    let simulator = Simulator::new(app, settings);
    let identity = identity(row, simulator.system());
    simulator
        .identity(identity)
        .timeouts(row.fault_set().timeouts())
}

fn options(row: &Published, system: &System) -> Options {
    let modes = Modes::ByService(row.fault_set().by_service(system));
    let mut options = Options::new(modes);
    if !row.encapsulation {
        options.reduce.remove(&Reduction::Encapsulation);
    }
    if row.retry {
        options.reduce.insert(Reduction::Retry);
    }
    options
}

const fn http(app: &'static str, settings: &'static str) -> Published {
    Published {
        app,
        settings,
        identity: "",
        faults: "500,502,503,504",
        encapsulation: true,
        retry: false,
        explored: 0,
        differs: None,
    }
}

impl Published {
    const fn is(self, explored: usize) -> Self {
        Published { explored, ..self }
    }

    const fn without_encapsulation(self) -> Self {
        Published {
            encapsulation: false,
            ..self
        }
    }

    const fn retry(self) -> Self {
        Published {
            retry: true,
            ..self
        }
    }

    const fn identity(self, identity: &'static str) -> Self {
        Published { identity, ..self }
    }

    const fn faults(self, faults: &'static str) -> Self {
        Published { faults, ..self }
    }
}

/// With and without service encapsulation.
fn both(row: Published, explored: usize, without: usize) -> [Published; 2] {
    [row.is(explored), row.without_encapsulation().is(without)]
}

/// Every published count.
pub fn all() -> Vec<Published> {
    [
        four_http_errors(),
        reynard_systems(),
        declared_faults(),
        identity_ablation(),
    ]
    .concat()
}

/// The Filibuster corpus under four HTTP errors.
fn four_http_errors() -> Vec<Published> {
    [
        both(http("cinema-1", ""), 9, 9),
        both(http("cinema-2", ""), 8, 9),
        both(http("cinema-3", ""), 27, 73),
        both(http("cinema-3", "").retry(), 19, 45),
        both(http("cinema-4", ""), 8, 9),
        both(http("cinema-5", ""), 25, 25),
        both(http("cinema-6", ""), 41, 41),
        both(http("cinema-7", ""), 45, 45),
        both(http("cinema-8", ""), 21, 21),
        both(http("cinema-8", "").retry(), 9, 9),
        both(http("expedia", ""), 21, 21),
        both(http("audible", ""), 30, 65),
        both(http("mailchimp", ""), 192, 193),
        both(http("netflix", ""), 2440, 2441),
        both(http("netflix", "bugs=on"), 2444, 12173),
    ]
    .concat()
}

/// The other systems of the Reynard evaluation.
fn reynard_systems() -> Vec<Published> {
    let micro = http("micro", "");
    let both_sides = [
        both(http("shipping", ""), 15, 17),
        both(http("recommendations", ""), 635, 637),
        both(http("checkout", ""), 65, 165),
        both(http("hotel-search", ""), 17, 21),
    ]
    .concat();
    let with_only = vec![
        http("checkout", "").identity("predecessors=on").is(65),
        micro.is(548),
        micro.identity("predecessors=on").is(555),
        micro.retry().is(536),
        micro.retry().identity("predecessors=on").is(543),
        http("register", "").is(125),
        http("register", "retries=2").retry().is(729),
        http("register", "retries=4").retry().is(729),
        http("register", "retries=1").is(9261),
    ];
    [both_sides, with_only].concat()
}

/// The Filibuster corpus under what each callee declares.
fn declared_faults() -> Vec<Published> {
    [
        ("cinema-1", "", 9, 9),
        ("cinema-2", "", 10, 9),
        ("cinema-3", "", 91, 37),
        ("cinema-4", "externals=on", 34, 21),
        ("cinema-5", "", 25, 25),
        ("cinema-6", "", 41, 41),
        ("cinema-7", "health=exception", 45, 45),
        ("cinema-8", "", 21, 21),
        ("audible", "", 69, 31),
        ("expedia", "", 17, 17),
        ("mailchimp", "", 135, 134),
        ("netflix", "", 1606, 1603),
        ("netflix", "bugs=on", 18653, 4670),
    ]
    .into_iter()
    .flat_map(|(app, settings, without, with)| {
        both(http(app, settings).faults("declared"), with, without)
    })
    .collect()
}

/// Dissertation table 7.1: what is lost without parts of the identity.
fn identity_ablation() -> Vec<Published> {
    let row = |app| http(app, "").faults("reset").without_encapsulation();
    vec![
        row("cinema-3").is(7),
        row("cinema-3").identity("count=off").is(4),
        row("cinema-3").identity("call_site=off").is(7),
        row("cinema-call-site").is(5),
        row("cinema-call-site").identity("count=off").is(5),
        row("cinema-call-site").identity("call_site=off").is(5),
        row("cinema-call-site")
            .identity("count=off,call_site=off")
            .is(3),
        row("cinema-path").is(6),
        row("cinema-path").identity("count=off").is(6),
        row("cinema-path").identity("call_site=off").is(6),
        row("cinema-path").identity("count=off,call_site=off").is(6),
        // The two Movies calls are one point, so that four cases are left.
        Published {
            differs: Some(4),
            ..row("cinema-path")
                .identity("path=off,count=off,call_site=off")
                .is(5)
        },
    ]
}
