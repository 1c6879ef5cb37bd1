//! Services that Murphy starts, watches and stops, as real processes.
//!
//! Each test would pass without Murphy's proxies only where no fault is in it.

mod support;

use std::sync::Arc;
use std::time::Duration;

use murphy_campaign::World;
use murphy_model::Faultload;
use murphy_system::spec::{ScenarioKind, Source, SystemSpec};
use murphy_system::{LiveWorld, RunningSystem};
use support::*;

#[test]
fn role() {
    play_role();
}

fn alone(service: murphy_system::spec::ServiceSpec) -> SystemSpec {
    SystemSpec {
        services: vec![service],
        ..SystemSpec::default()
    }
}

/// Why a system does not start: message, hint and logs.
async fn refusal(system: SystemSpec) -> String {
    let folder = folder();
    let started = start(system, buys(), &folder).await;
    let error = started.err().expect("it must not start");
    format!(
        "{} / {} / {:?}",
        error.message,
        error.hint.unwrap_or_default(),
        error.logs
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn scenarios_share_a_system_that_is_started_once() {
    let folder = folder();
    let items = ScenarioKind::Requests(vec![request("cart", "/items")]);
    let scenarios = [buys(), scenario(items)];
    let system = RunningSystem::start(shop(FORWARDED), &scenarios, options(&folder)).await;
    let system = system.unwrap();
    let address = system.direct("cart").unwrap();
    let [buys, items] = scenarios;
    let world = LiveWorld::in_system(system.clone(), buys).await.unwrap();
    let injected = run(&world, "shop GET /buy > cart GET /items = 503").await;
    assert_eq!(complaint(&injected), "GET /buy answered 500, expected 2xx");
    world.stop().await.unwrap();
    let world = LiveWorld::in_system(system.clone(), items).await.unwrap();
    let calm = run(&world, "").await;
    assert_eq!((complaint(&calm), points(&calm).len()), ("", 1));
    assert_eq!(system.direct("cart"), Some(address.clone()));
    // Nobody else has it now, so it goes with the last scenario.
    drop(system);
    world.stop().await.unwrap();
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_between_managed_services_is_seen_by_the_caller() {
    let folder = folder();
    let world = start(shop(FORWARDED), buys(), &folder).await.unwrap();
    let calm = run(&world, "").await;
    assert_eq!(complaint(&calm), "");
    assert_eq!(
        points(&calm),
        ["shop GET /buy", "shop GET /buy > cart GET /items"]
    );
    let injected = run(&world, "shop GET /buy > cart GET /items = 503").await;
    assert_eq!(complaint(&injected), "GET /buy answered 500, expected 2xx");
    let (output, logged) = (injected.output.unwrap(), injected.logged.unwrap());
    assert!(output.contains("order 123456 is lost"), "{output}");
    assert!(!output.contains("cart said Some(503)"), "{output}");
    assert!(
        logged.contains("--- `shop` logged during this execution ---"),
        "{logged}"
    );
    assert!(logged.contains("cart said Some(503)"), "{logged}");
    assert!(world.system().logs("shop").contains("cart said Some(503)"));
    let file = folder.path().join("run/tested/logs/shop.log");
    assert!(std::fs::read_to_string(file).unwrap().contains("cart said"));
    let (shop, cart) = (
        world.system().direct("shop").unwrap(),
        world.system().direct("cart").unwrap(),
    );
    world.stop().await.unwrap();
    assert!(is_free(&shop) && is_free(&cart));
    let ledgers = std::fs::read_dir(folder.path().join("run")).unwrap();
    assert_eq!(ledgers.count(), 1, "only the logs are left");
}

#[tokio::test(flavor = "multi_thread")]
async fn parents_are_inferred_where_nothing_is_handed_on() {
    let folder = folder();
    let options = murphy_system::LiveOptions {
        solo: true,
        ..options(&folder)
    };
    let world = LiveWorld::start(shop(""), buys(), options).await.unwrap();
    let injected = run(&world, "shop GET /buy > cart GET /items = reset").await;
    assert_eq!(complaint(&injected), "GET /buy answered 500, expected 2xx");
    assert_eq!(points(&injected).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_world_that_is_dropped_leaves_nothing_behind() {
    let folder = folder();
    let world = start(shop(FORWARDED), buys(), &folder).await.unwrap();
    let places = ["shop", "cart"].map(|name| {
        [
            world.system().direct(name).unwrap(),
            world.system().proxied(name).unwrap(),
            world.entry(0, name).unwrap(),
        ]
    });
    drop(world);
    for address in places.as_flattened() {
        assert!(soon(|| is_free(address)), "{address} is still bound");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_crashed_is_there_for_the_next_execution() {
    let folder = folder();
    let crashes = support::scenario(murphy_system::spec::ScenarioKind::Requests(vec![request(
        "shop", "/crash",
    )]));
    let world = start(shop(FORWARDED), crashes, &folder).await.unwrap();
    for _ in 0..2 {
        let crashed = run(&world, "").await;
        assert_eq!(
            complaint(&crashed),
            "GET /crash answered 500, expected 2xx; service `cart` ended (exit code 3) while the scenario ran"
        );
        let output = crashed.logged.unwrap();
        assert!(
            output.contains("--- `cart` ended: exit code 3 ---"),
            "{output}"
        );
        assert!(output.contains("cannot go on"), "{output}");
    }
}

fn brittle() -> murphy_system::spec::ScenarioSpec {
    let request = request("shop", "/brittle");
    support::scenario(murphy_system::spec::ScenarioKind::Requests(vec![request]))
}

const FATAL: &str = "shop GET /brittle > cart GET /items = 503";

const ENDED: &str = "service `cart` ended (exit code 3) while the scenario ran";

/// Who calls it gets over it, and it is there again for the next test: without
/// a look at its process nobody would ever know.
#[tokio::test(flavor = "multi_thread")]
async fn a_crash_that_the_scenario_does_not_see_is_a_failure() {
    let folder = folder();
    let world = start(shop(FORWARDED), brittle(), &folder).await.unwrap();
    assert_eq!(complaint(&run(&world, "").await), "");
    let injected = run(&world, FATAL).await;
    assert_eq!(complaint(&injected), ENDED);
    assert!(injected.logged.unwrap().contains("cannot go on"));
    assert_eq!(complaint(&run(&world, "").await), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_is_not_held_against_what_ran_beside_it() {
    let folder = folder();
    let mut system = shop(FORWARDED);
    system.services[0] = managed("cart", "cart", &[("SLOW", "100")]);
    let options = murphy_system::LiveOptions {
        workers: 2,
        ..options(&folder)
    };
    let world = LiveWorld::start(system, brittle(), options).await.unwrap();
    let (injected, calm) = tokio::join!(run_on(&world, 0, FATAL), run_on(&world, 1, ""));
    assert_eq!(complaint(&injected), ENDED);
    assert_eq!(complaint(&calm), "");
}

/// The test under the fault may see no more than a connection that breaks, or
/// not even that; the next one finds nobody there, which is not its doing.
#[tokio::test(flavor = "multi_thread")]
async fn the_fault_is_named_under_which_a_running_service_went_down() {
    let folder = folder();
    let mut system = shop(FORWARDED);
    let address = mortal_cart(1);
    system.services[0] = running("cart", &address);
    let world = start(system, buys(), &folder).await.unwrap();
    let fatal = "shop GET /buy > cart GET /items = after:503";
    let injected = run(&world, fatal).await;
    assert_eq!(complaint(&injected), "GET /buy answered 500, expected 2xx");
    assert!(soon(|| is_free(&address)));
    let next: Faultload = "shop GET /buy > cart GET /items = delay:1ms"
        .parse()
        .unwrap();
    let error = world.run(0, &next, &Arc::default()).await.unwrap_err();
    assert_eq!(
        error.message,
        format!(
            "service `cart` is down: nothing listens on {address}; it went down while `{fatal}` was injected"
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_does_not_come_up_shows_its_log() {
    let mut deaf = managed("cart", "deaf", &[]);
    deaf.health.within = Duration::from_millis(700);
    let said = refusal(alone(deaf)).await;
    assert!(
        said.contains("service `cart` did not come up within 700ms: nothing listens on 127.0.0.1:"),
        "{said}"
    );
    assert!(said.contains("warming up"), "{said}");
    assert!(said.contains("`PORT`"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_ends_at_once_is_not_waited_for() {
    let began = std::time::Instant::now();
    let said = refusal(alone(managed("cart", "broken", &[]))).await;
    assert!(
        said.contains("service `cart` ended before it was up: exit code 7"),
        "{said}"
    );
    assert!(said.contains("no database at db.local"), "{said}");
    assert!(
        began.elapsed() < Duration::from_secs(15),
        "health may take 20 s"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_whose_port_somebody_else_took_is_started_at_another() {
    let folder = folder();
    let told = folder.path().join("port");
    let file = told.clone();
    let robber = std::thread::spawn(move || {
        let port = || std::fs::read_to_string(&file).unwrap_or_default();
        assert!(soon(|| port().ends_with('\n')), "it is started");
        std::net::TcpListener::bind(format!("127.0.0.1:{}", port().trim())).unwrap()
    });
    let system = SystemSpec {
        services: vec![
            managed("cart", "robbed", &[("TOLD", told.to_str().unwrap())]),
            managed("shop", "slow", &[]),
        ],
        ..SystemSpec::default()
    };
    let world = start(system, buys(), &folder).await.unwrap();
    let stolen = robber.join().unwrap().local_addr().unwrap();
    let cart = world.system().direct("cart").unwrap();
    assert_ne!(cart, stolen.to_string());
    let answer = get(&format!("http://{cart}/items"), &[]);
    assert_eq!(answer.map(|(status, _)| status), Some(200));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_service_is_said() {
    let mut missing = managed("cart", "cart", &[]);
    let mut taken = managed("cart", "cart", &[]);
    let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = holder.local_addr().unwrap();
    if let Source::Managed(spec) = &mut missing.source {
        spec.command = vec!["no-such-program".to_owned()];
    }
    if let Source::Managed(spec) = &mut taken.source {
        spec.port = Some(address.port());
    }
    let mut listen = managed("cart", "cart", &[]);
    listen.listen = Some(address);
    let down = "127.0.0.1:1";
    let cases = [
        (
            missing,
            "service `cart` cannot be started: command not found: `no-such-program`".to_owned(),
        ),
        (
            taken,
            format!("service `cart` cannot be started: {address} is taken already"),
        ),
        (
            listen,
            format!("cannot listen on {address} for service `cart`: the port is taken"),
        ),
        (
            running("cart", down),
            format!(
                "service `cart` is down: nothing listens on {down} / start it, or let Murphy start it with `command = …`"
            ),
        ),
        (running("cart", "cart"), "`cart` is no address".to_owned()),
        (
            managed("cart", "cart", &[("X", "{carts.url}")]),
            "did you mean `cart`?".to_owned(),
        ),
    ];
    for (service, says) in cases {
        let said = refusal(alone(service)).await;
        assert!(said.contains(&says), "{said}\n{says}");
    }
}
