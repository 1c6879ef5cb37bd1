//! Tests of every kind under faults, and what is done around them.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use murphy_campaign::{SetupError, World};
use murphy_model::{Faultload, Verdict};
use murphy_system::spec::{
    CommandSpec, ScenarioKind, ScenarioSpec, ServiceSpec, Source, StepSpec, SystemSpec,
};
use murphy_system::{InterferenceKind, LiveOptions, LiveWorld, Wanted};
use support::*;

#[test]
fn role() {
    play_role();
}

const FAULT: &str = "shop GET /buy > cart GET /items = 503";

fn command(script: &str) -> ScenarioSpec {
    scenario(ScenarioKind::Command(shell(script)))
}

/// A system without services.
async fn nothing(scenario: ScenarioSpec, folder: &TempDir) -> LiveWorld {
    let started = start(SystemSpec::default(), scenario, folder).await;
    started.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_passes_or_fails_by_its_exit_code() {
    let folder = folder();
    let cases = [
        ("echo fine", "", "fine\n"),
        (
            "echo one; echo 'AssertionError: 500 from 127.0.0.1:41234' >&2; echo done; exit 1",
            "exit code 1: AssertionError: 500 from 127.0.0.1:*",
            "one\nAssertionError: 500 from 127.0.0.1:41234\ndone\n",
        ),
        ("kill -ABRT $$", "killed by SIGABRT", ""),
        ("exit 2", "exit code 2", ""),
    ];
    for (script, complains, prints) in cases {
        let world = nothing(command(script), &folder).await;
        let observed = run(&world, "").await;
        assert_eq!(complaint(&observed), complains);
        assert_eq!(observed.output.unwrap_or_default(), prints);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_is_stuck_is_killed_with_its_children() {
    let folder = folder();
    let stuck = ScenarioSpec {
        timeout: Duration::from_millis(500),
        ..command("sleep 1000 & echo child $!; wait")
    };
    let world = nothing(stuck, &folder).await;
    let observed = run(&world, "").await;
    assert_eq!(complaint(&observed), "did not end within 500ms");
    let output = observed.output.unwrap();
    let child = output.trim().strip_prefix("child ").unwrap();
    let gone = format!("/proc/{child}/cwd");
    assert!(soon(|| std::fs::read_link(&gone).is_err()), "{gone}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_is_not_found_is_no_verdict() {
    let folder = folder();
    let world = nothing(
        scenario(ScenarioKind::Command(CommandSpec {
            command: vec!["pytset".to_owned()],
            directory: "/".into(),
            ..CommandSpec::default()
        })),
        &folder,
    )
    .await;
    let error = world.run(0, &Faultload::none(), &Arc::default()).await;
    let error = error.unwrap_err();
    assert_eq!(
        error.message,
        "scenario `buys` cannot be run: command not found: `pytset` (in `/`)"
    );
    assert!(error.hint.unwrap().contains("PATH"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_enters_by_its_worker_and_can_ask_what_injected() {
    let folder = folder();
    let test = CommandSpec {
        command: this_program(),
        directory: "/".into(),
        environment: [("ROLE".to_owned(), "test".to_owned())].into(),
    };
    let world = start(
        shop(FORWARDED),
        scenario(ScenarioKind::Command(test)),
        &folder,
    )
    .await;
    let world = world.unwrap();
    let calm = run(&world, "").await;
    assert_eq!(complaint(&calm), "");
    assert!(calm.output.unwrap().contains("\"injected\":[]"));
    let injected = run(&world, FAULT).await;
    let output = injected.output.as_deref().unwrap();
    let told = format!(
        "\"planned\":[\"{FAULT}\"],\"injected\":[{{\"point\":\"shop GET /buy > cart GET /items\",\"mode\":\"503\"}}]"
    );
    assert!(output.contains(&told), "{output}");
    assert!(
        output.contains(&format!("planned [\"{FAULT}\"]")),
        "{output}"
    );
    assert!(
        complaint(&injected).contains("buying failed"),
        "{}",
        complaint(&injected)
    );
    let again = run(&world, FAULT).await;
    assert_eq!(
        complaint(&injected),
        complaint(&again),
        "findings are distinguished by it"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_told_its_execution() {
    let folder = folder();
    let mut system = shop(FORWARDED);
    system.services[0].name = "cart-v2".to_owned();
    system.services.truncate(1);
    let mut spec = shell("env | grep -E '^(TRACE|BAGG|MURPHY|TARGET)' | sort");
    spec.environment = [("TARGET".to_owned(), "{cart-v2.address}".to_owned())].into();
    let world = start(system, scenario(ScenarioKind::Command(spec)), &folder).await;
    let world = world.unwrap();
    let output = run(&world, "** > cart-v2 * #1 = 503").await.output.unwrap();
    let value = |name: &str| {
        let line = output
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_else(|| panic!("no {name} in {output}"))
    };
    let (execution, entry) = (
        value("MURPHY_EXECUTION"),
        world.entry(0, "cart-v2").unwrap(),
    );
    assert_eq!(value("TRACESTATE"), format!("murphy={execution}"));
    assert_eq!(value("BAGGAGE"), format!("murphy={execution}"));
    assert!(value("TRACEPARENT").contains(execution));
    assert_eq!(value("MURPHY_FAULTS"), "[\"** > cart-v2 * #1 = 503\"]");
    assert_eq!(value("MURPHY_WORKER"), "0");
    assert_eq!(value("MURPHY_CART_V2_URL"), format!("http://{entry}"));
    assert_eq!(value("TARGET"), entry);
    assert!(value("MURPHY_CONTROL_URL").starts_with("http://127.0.0.1:"));
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_judged_by_what_is_expected() {
    let folder = folder();
    let mut first = request("shop", "/buy");
    first.expect.json = vec![("items.0.name".to_owned(), "tea".into())];
    first.expect.under_fault.statuses = vec!["5xx".to_owned()];
    let mut second = request("cart", "/items");
    second.expect.contains = vec!["coffee".to_owned()];
    let both = scenario(ScenarioKind::Requests(vec![first.clone(), second]));
    let world = start(shop(FORWARDED), both, &folder).await.unwrap();
    let observed = run(&world, "").await;
    assert_eq!(
        complaint(&observed),
        "GET /items: the body does not contain `coffee`"
    );
    assert!(observed.output.unwrap().contains("tea"));
    drop(world);

    let only = scenario(ScenarioKind::Requests(vec![first]));
    let world = start(shop(FORWARDED), only, &folder).await.unwrap();
    assert_eq!(complaint(&run(&world, "").await), "");
    assert_eq!(
        complaint(&run(&world, FAULT).await),
        "",
        "a failure shown honestly"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_that_never_landed_is_no_pass() {
    let folder = folder();
    let world = start(shop(FORWARDED), buys(), &folder).await.unwrap();
    let observed = run(&world, "shop GET /buy > cart GET /items #2 = 503").await;
    let Verdict::NotExercised { missing } = &observed.execution.verdict else {
        panic!("{:?}", observed.execution.verdict);
    };
    assert_eq!(missing.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn functions_get_a_session_and_may_panic() {
    let folder = folder();
    let function: murphy_system::spec::Function = Arc::new(|session| {
        Box::pin(async move {
            let url = format!("{}/buy", session.entries["shop"]);
            let headers: Vec<_> = session.headers().into_iter().collect();
            let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["baggage", "traceparent", "tracestate"]);
            let status = tokio::task::spawn_blocking(move || get(&url, &headers)).await;
            let status = status.unwrap().map(|(status, _)| status);
            assert!(
                session.faults.is_empty() || status != Some(500),
                "order 123456 failed"
            );
            match status {
                Some(200) => Ok(()),
                other => Err(format!("{other:?}")),
            }
        })
    });
    let world = start(
        shop(FORWARDED),
        scenario(ScenarioKind::Function(function)),
        &folder,
    )
    .await;
    let world = world.unwrap();
    assert_eq!(complaint(&run(&world, "").await), "");
    assert_eq!(
        complaint(&run(&world, FAULT).await),
        "panicked: order * failed"
    );
    assert_eq!(complaint(&run(&world, "").await), "");
}

/// A test that gets this of the shop, `{shop}` being where it enters, and then
/// takes its time.
fn gets(target: &'static str, then: Duration) -> ScenarioSpec {
    let function: murphy_system::spec::Function = Arc::new(move |session| {
        Box::pin(async move {
            let shop = &session.entries["shop"];
            let url = format!("{shop}{}", target.replace("{shop}", shop));
            let got = tokio::task::spawn_blocking(move || get(&url, &[])).await;
            tokio::time::sleep(then).await;
            match got.unwrap() {
                Some((200, _)) => Ok(()),
                other => Err(format!("{other:?}")),
            }
        })
    });
    scenario(ScenarioKind::Function(function))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_with_an_address_that_was_given_out_has_the_same_name_everywhere() {
    let mut names = Vec::new();
    for _ in 0..2 {
        let folder = folder();
        let options = LiveOptions {
            workers: 2,
            ..options(&folder)
        };
        let test = gets("/buy?back={shop}/done", Duration::ZERO);
        let world = LiveWorld::start(shop(FORWARDED), test, options).await;
        let world = world.unwrap();
        for worker in 0..2 {
            names.push(points(&run_on(&world, worker, "").await));
        }
    }
    assert!(names[0][0].contains("body="), "{names:?}");
    assert!(names.iter().all(|other| *other == names[0]), "{names:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_come_when_their_execution_is_over_are_counted() {
    let folder = folder();
    let options = LiveOptions {
        grace: Duration::ZERO,
        ..options(&folder)
    };
    let soon_over = gets("/later", Duration::from_millis(20));
    let world = LiveWorld::start(shop(FORWARDED), soon_over, options).await;
    let world = world.unwrap();
    let mut tries = 0..50;
    while world.late() == 0 && tries.next().is_some() {
        run(&world, "").await;
    }
    assert!(world.late() > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn executions_of_different_workers_do_not_meet() {
    let folder = folder();
    let options = LiveOptions {
        workers: 4,
        grace: Duration::ZERO,
        ..options(&folder)
    };
    let world = LiveWorld::start(shop(FORWARDED), buys(), options)
        .await
        .unwrap();
    let (world, wrong) = (Arc::new(world), Arc::new(AtomicUsize::new(0)));
    let mut tasks = tokio::task::JoinSet::new();
    for worker in 0..4 {
        let (world, wrong) = (world.clone(), wrong.clone());
        tasks.spawn(async move {
            for round in 0..50 {
                let faults = if (round + worker) % 2 == 0 { "" } else { FAULT };
                let observed = run_on(&world, worker, faults).await;
                let failed = complaint(&observed) == "GET /buy answered 500, expected 2xx";
                if failed == faults.is_empty() || points(&observed).len() != 2 {
                    wrong.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(wrong.load(Ordering::Relaxed), 0);
    assert_eq!(world.system().registry().live(), 0);
}

/// Services that run already, at a shop that asks the cart by a fixed address.
fn running_shop(connects_at: usize) -> SystemSpec {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = free.local_addr().unwrap();
    let shop = clinging_shop(listen.to_string(), connects_at);
    let cart = ServiceSpec {
        listen: Some(listen),
        ..running("cart", &cart_here())
    };
    SystemSpec {
        services: vec![running("shop", &shop), cart],
        ..SystemSpec::default()
    }
}

/// Were they bound anew, the shop would lose its only connection to the cart,
/// and the test would be blamed.
#[tokio::test(flavor = "multi_thread")]
async fn listeners_stay_when_executions_turn_out_to_run_one_at_a_time() {
    let folder = folder();
    let file = folder.path().join("steps");
    let note = format!("echo setup >> {}", file.display());
    let system = SystemSpec {
        setup: vec![StepSpec::Command(shell(&note))],
        ..running_shop(1)
    };
    let options = LiveOptions {
        workers: 3,
        ..options(&folder)
    };
    let started = LiveWorld::start_correlated(system, buys(), options, Wanted::default());
    let (world, found) = started.await.unwrap();
    assert_eq!((found.solo, world.workers()), (true, 1));
    let observed = run(&world, "").await;
    assert_eq!(complaint(&observed), "");
    assert_eq!(points(&observed).len(), 2, "{:?}", points(&observed));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "setup\n");
}

/// As gRPC clients do, which wait before they connect again.
#[tokio::test(flavor = "multi_thread")]
async fn a_test_is_tried_again_while_services_that_run_already_reconnect() {
    let folder = folder();
    let told = Arc::new(Mutex::new(Vec::new()));
    let teller = told.clone();
    let options = LiveOptions {
        say: Some(Arc::new(move |text| {
            teller.lock().unwrap().push(text.to_owned())
        })),
        ..options(&folder)
    };
    let wanted = Wanted::default();
    let started = LiveWorld::start_correlated(running_shop(3), buys(), options, wanted);
    let (world, found) = started.await.unwrap();
    assert!(found.solo);
    assert_eq!(complaint(&run(&world, "").await), "");
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("may still be reconnecting"), "{told:?}");
}

/// With context, and long after the answer: some later than is looked for at
/// first, so that they are noticed in the execution after theirs.
#[tokio::test(flavor = "multi_thread")]
async fn late_calls_are_waited_for_and_are_no_lost_context() {
    for millis in [150, 400] {
        let folder = folder();
        let later = request("shop", &format!("/later{millis}"));
        let scenario = scenario(ScenarioKind::Requests(vec![later]));
        let (system, options) = (shop(FORWARDED), options(&folder));
        let started = LiveWorld::start_correlated(system, scenario, options, Wanted::default());
        let (world, found) = started.await.unwrap();
        assert_eq!((found.solo, &found.lost[..]), (false, &[][..]), "{millis}");
        let grace = found.grace.unwrap();
        let most = Duration::from_secs(1);
        assert!(
            grace > Duration::from_millis(millis) && grace <= most,
            "{grace:?}"
        );
        for _ in 0..3 {
            assert_eq!(points(&run(&world, "").await).len(), 2, "{millis}");
        }
        assert_eq!(world.late(), 0, "{millis}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_that_gets_in_its_own_way_is_run_one_at_a_time() {
    let folder = folder();
    let lock = folder.path().join("lock");
    let lock = lock.display();
    let locks = |lock: String| {
        format!("if mkdir {lock}; then sleep 1; rmdir {lock}; else echo Error: locked; exit 1; fi")
    };
    let (one, each) = (
        locks(format!("{lock}")),
        locks(format!("{lock}-$MURPHY_WORKER")),
    );
    // Passes twice, alone, and never again: for that nobody beside is to blame.
    let moody = format!("touch {lock}.$$; test $(ls {lock}.* | wc -l) -le 2");
    let clash = Some("exit code 1: Error: locked");
    for (script, workers, clash) in [(&each, 3, None), (&moody, 3, None), (&one, 1, clash)] {
        let options = LiveOptions {
            workers: 3,
            ..options(&folder)
        };
        let wanted = Wanted {
            at_once: 3,
            ..Wanted::default()
        };
        let (system, test) = (SystemSpec::default(), command(script));
        let started = LiveWorld::start_correlated(system, test, options, wanted);
        let (world, found) = started.await.unwrap();
        assert_eq!((world.workers(), found.solo), (workers, false), "{script}");
        assert_eq!(found.at_once(3), workers);
        let why = found.clash.map(|clash| match clash.how {
            InterferenceKind::Failed { why, .. } => why,
            InterferenceKind::OtherCalls(point) => panic!("{point}"),
        });
        assert_eq!(why.as_deref(), clash, "{script}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_execution_that_is_cancelled_leaves_nothing_for_the_next() {
    let folder = folder();
    let world = start(shop(FORWARDED), buys(), &folder).await.unwrap();
    let hang: Faultload = "shop GET /buy > cart GET /items = hang".parse().unwrap();
    let identity = Arc::default();
    let hanging = world.run(0, &hang, &identity);
    let cancelled = tokio::time::timeout(Duration::from_millis(300), hanging).await;
    assert!(cancelled.is_err());
    assert_eq!(world.system().registry().live(), 0);
    let next = run(&world, "").await;
    assert_eq!((complaint(&next), points(&next).len()), ("", 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scenario_that_hangs_shows_the_call_it_waits_for() {
    let folder = folder();
    let impatient = ScenarioSpec {
        timeout: Duration::from_millis(400),
        ..buys()
    };
    let world = start(shop(FORWARDED), impatient, &folder).await.unwrap();
    let observed = run(&world, "shop GET /buy > cart GET /items = hang").await;
    assert_eq!(complaint(&observed), "did not end within 400ms");
    let unfinished = observed.execution.trace.calls().iter();
    assert_eq!(unfinished.filter(|call| call.finished.is_none()).count(), 2);
    assert!(!observed.quiet);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_with_an_address_in_its_source_is_seen() {
    let folder = folder();
    // A port that was free a moment ago may be taken; then another is tried.
    let mut tried = Vec::new();
    for _ in 0..5 {
        match with_an_address_in_its_source(&folder).await {
            Ok(world) => {
                assert_eq!(points(&run(&world, "").await).len(), 2);
                assert_eq!(complaint(&run(&world, FAULT).await), "no");
                return;
            }
            Err(error) => tried.push(error.message),
        }
    }
    panic!("{tried:?}");
}

async fn with_an_address_in_its_source(folder: &TempDir) -> Result<LiveWorld, SetupError> {
    let listen = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listen.local_addr().unwrap();
    drop(listen);
    let mut system = shop(FORWARDED);
    system.services[1].listen = Some(address);
    let hard_coded: murphy_system::spec::Function = Arc::new(move |_| {
        Box::pin(async move {
            let url = format!("http://{address}/buy");
            let asked = tokio::task::spawn_blocking(move || get(&url, &[]));
            match asked.await.unwrap() {
                Some((200, _)) => Ok(()),
                _ => Err("no".to_owned()),
            }
        })
    });
    start(system, scenario(ScenarioKind::Function(hard_coded)), folder).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_service_that_goes_down_is_no_finding() {
    let folder = folder();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    // Accepts, and never answers, until it goes away.
    let serving = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            held.push(stream);
        }
    });
    let system = SystemSpec {
        services: vec![running("shop", &address)],
        ..SystemSpec::default()
    };
    let world = start(system, buys(), &folder).await.unwrap();
    serving.abort();
    assert!(soon(|| is_free(&address)));
    let error = world.run(0, &Faultload::none(), &Arc::default()).await;
    let error = error.unwrap_err();
    assert!(error.message.contains("service `shop` is down"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_run_around_executions_without_faults() {
    let folder = folder();
    let file = folder.path().join("steps");
    let note = |word: &str| StepSpec::Command(shell(&format!("echo {word} >> {}", file.display())));
    let reset = request("shop", "/buy");
    let mut system = shop(FORWARDED);
    system.setup = vec![note("setup")];
    system.reset = vec![note("reset"), StepSpec::Request(Box::new(reset))];
    system.teardown = vec![note("teardown")];
    let world = start(system, buys(), &folder).await.unwrap();
    // The reset sends the same request, and must neither fail nor be seen.
    let injected = run(&world, "** > cart * #* = 503").await;
    assert_eq!(complaint(&injected), "GET /buy answered 500, expected 2xx");
    assert_eq!(points(&injected).len(), 2);
    run(&world, "").await;
    world.stop().await.unwrap();
    let steps = std::fs::read_to_string(&file).unwrap();
    assert_eq!(steps, "setup\nreset\nreset\nteardown\n");
}

/// Dropped, as a signal would, or never quite there: what the set-up made is
/// taken away all the same, while its services are still there.
#[tokio::test]
async fn what_was_set_up_is_torn_down_whatever_the_end() {
    let folder = folder();
    let file = folder.path().join("steps");
    let note = |word: &str| StepSpec::Command(shell(&format!("echo {word} >> {}", file.display())));
    let reached = StepSpec::Request(Box::new(request("shop", "/buy")));
    let mut system = shop(FORWARDED);
    system.setup = vec![note("setup")];
    system.teardown = vec![reached, note("teardown")];
    let world = start(system.clone(), buys(), &folder).await.unwrap();
    drop(world);
    let steps = || std::fs::read_to_string(&file).unwrap();
    assert_eq!(steps(), "setup\nteardown\n");

    system.setup.push(StepSpec::Command(shell("exit 4")));
    let error = start(system, buys(), &folder).await.err().unwrap();
    assert!(error.message.contains("setup step 2"), "{error}");
    assert_eq!(steps(), "setup\nteardown\nsetup\nteardown\n");
}

/// Neither a step that fails nor a service that is down for good keeps the
/// others from taking away what is theirs.
#[tokio::test(flavor = "multi_thread")]
async fn every_step_of_the_teardown_is_tried() {
    let folder = folder();
    let file = folder.path().join("steps");
    let note = |word: &str| StepSpec::Command(shell(&format!("echo {word} >> {}", file.display())));
    let steps = || std::fs::read_to_string(&file).unwrap();
    let mut system = shop(FORWARDED);
    system.teardown = vec![
        note("first"),
        StepSpec::Command(shell("exit 4")),
        StepSpec::Command(shell("exit 5")),
        note("last"),
    ];
    let world = start(system.clone(), buys(), &folder).await.unwrap();
    let error = world.stop().await.unwrap_err();
    assert!(error.message.contains("teardown step 2"), "{error}");
    assert_eq!(steps(), "first\nlast\n");

    drop(start(system.clone(), buys(), &folder).await.unwrap());
    assert_eq!(steps(), "first\nlast\nfirst\nlast\n");

    let Source::Managed(cart) = &mut system.services[0].source else {
        panic!("the cart is started");
    };
    let once = format!("rm {}/once || exit 9; exec \"$@\"", folder.path().display());
    let before = ["sh", "-c", &once, "cart"].map(str::to_owned);
    cart.command.splice(0..0, before);
    std::fs::write(folder.path().join("once"), "").unwrap();
    let crashes = scenario(ScenarioKind::Requests(vec![request("shop", "/crash")]));
    let world = start(system, crashes, &folder).await.unwrap();
    run(&world, "").await;
    let error = world.stop().await.unwrap_err();
    assert!(error.message.contains("service `cart` ended"), "{error}");
    assert!(steps().ends_with("last\nfirst\nlast\n"), "{}", steps());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_step_starts_lives_as_long_as_the_world() {
    let folder = folder();
    let file = folder.path().join("beats");
    // Prints, too: without a reader it would be killed by the first word.
    let script = format!(
        "(while :; do echo beat; echo >> {}; sleep 0.02; done) &",
        file.display()
    );
    let system = SystemSpec {
        setup: vec![StepSpec::Command(shell(&script))],
        ..SystemSpec::default()
    };
    let world = start(system, command("true"), &folder).await.unwrap();
    let beats = || std::fs::read(&file).map_or(0, |bytes| bytes.len());
    run(&world, "").await;
    let before = beats();
    assert!(soon(|| beats() > before + 3), "it goes on");
    world.stop().await.unwrap();
    let after = beats();
    std::thread::sleep(Duration::from_millis(200));
    assert!(beats() <= after + 1, "it ended with the world");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_fails_is_named() {
    let folder = folder();
    let failing = || StepSpec::Command(shell("echo no database; exit 4"));
    let system = SystemSpec {
        setup: vec![StepSpec::Command(shell("true")), failing()],
        ..SystemSpec::default()
    };
    let error = start(system, command("true"), &folder).await.err().unwrap();
    assert_eq!(
        error.message,
        "setup step 2 (`sh -c echo no database; exit 4`) failed: exit code 4: no database"
    );
    assert_eq!(error.logs[0].1, "no database\n");

    let mut down = request("shop", "/reset");
    down.expect.status = vec!["204".to_owned()];
    let system = SystemSpec {
        reset: vec![StepSpec::Request(Box::new(down))],
        ..shop(FORWARDED)
    };
    let world = start(system, buys(), &folder).await.unwrap();
    let error = world.run(0, &Faultload::none(), &Arc::default()).await;
    assert_eq!(
        error.unwrap_err().message,
        "reset step 1 (GET /reset) failed: GET /reset answered 200, expected 204"
    );
}

/// A client that connected for every request would pass all else, and be seen
/// by the service that no proxy stands before; a proxy that did so, by the other.
#[tokio::test(flavor = "multi_thread")]
async fn executions_send_their_requests_on_connections_that_are_kept() {
    let folder = folder();
    let (shop, at_shop) = counting_service();
    let (cart, at_cart) = counting_service();
    let not_proxied = ServiceSpec {
        proxied: false,
        ..running("cart", &cart)
    };
    let system = SystemSpec {
        services: vec![running("shop", &shop), not_proxied],
        ..SystemSpec::default()
    };
    let requests = vec![request("shop", "/buy"), request("cart", "/items")];
    let test = scenario(ScenarioKind::Requests(requests));
    let world = start(system, test, &folder).await.unwrap();
    let connections = || [&at_shop, &at_cart].map(|it| it.load(Ordering::SeqCst));
    assert_eq!(complaint(&run(&world, "").await), "");
    let made = connections();
    for _ in 0..100 {
        assert_eq!(complaint(&run(&world, "").await), "");
    }
    assert_eq!(connections(), made);
    assert_eq!(world.system().registry().live(), 0);
}
