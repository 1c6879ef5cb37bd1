//! What a world promises beside running faultloads: it refuses what cannot
//! work and says why, it survives scenarios that are stuck or cancelled, and
//! nobody notices that time was scaled.

mod support;

use std::sync::Arc;
use std::time::Duration;

use murphy::campaign::World;
use murphy::demo::{ExampleWorld, Options};
use murphy_corpus::sockets::Propagation;
use murphy_model::{Faultload, Identity, Verdict};
use support::{Subject, at_pace, options, run};

fn subject(app: &'static str, settings: &'static str) -> Subject {
    Subject { app, settings }
}

async fn refused(subject: Subject, options: Options) -> String {
    match ExampleWorld::start(subject.source(), options).await {
        Ok(_) => panic!("{subject} was not refused"),
        Err(error) => format!("{error} {:?}", error.hint),
    }
}

#[tokio::test]
async fn what_cannot_work_is_refused_with_a_way_out() {
    let with = |workers, pace, propagation| Options {
        workers,
        ..at_pace(pace, options(propagation))
    };
    let w3c = Propagation::W3c;
    let cases = [
        (
            "cinema-1",
            with(0, 1.0, w3c),
            "without a worker nothing can be run",
        ),
        ("cinema-1", with(1, 0.0, w3c), "must be more than 0"),
        ("cinema-1", with(1, f64::NAN, w3c), "must be more than 0"),
        ("purchase", with(2, 1.0, w3c), "use one worker"),
        (
            "cinema-1",
            with(2, 1.0, Propagation::Nothing),
            "use `--jobs 1`",
        ),
    ];
    for (app, options, says) in cases {
        let error = refused(subject(app, ""), options).await;
        assert!(error.contains(says), "{app}: {error}");
    }
}

#[tokio::test]
async fn a_worker_runs_one_execution_at_a_time() {
    let world = subject("cinema-1", "").world(options(Propagation::W3c));
    let world = world.await;
    let none = Faultload::none();
    let (one, other) = tokio::join!(run(&world, 0, &none), run(&world, 0, &none));
    assert_eq!(one.unwrap().execution.verdict, Verdict::Passed);
    let busy = other.unwrap_err().to_string();
    assert!(busy.contains("worker 0 still runs"), "{busy}");
    let unknown = run(&world, 1, &none).await.unwrap_err().to_string();
    assert!(unknown.contains("there is no worker 1"), "{unknown}");
}

#[tokio::test]
async fn a_cancelled_run_leaves_its_worker_free() {
    let options = at_pace(0.05, options(Propagation::W3c));
    let world = subject("cinema-1", "").world(options).await;
    let hanging: Faultload = "** > bookings * #1 = hang".parse().unwrap();
    let cut = tokio::time::timeout(Duration::from_millis(100), run(&world, 0, &hanging)).await;
    assert!(cut.is_err());
    assert_eq!(world.live().system().registry().live(), 0);
    let observed = run(&world, 0, &Faultload::none()).await.unwrap();
    assert_eq!(observed.execution.verdict, Verdict::Passed);
}

#[tokio::test]
async fn a_scenario_that_never_ends_is_cut_off_as_in_the_simulator() {
    let subject = subject("cinema-4", "externals=on");
    let world = subject.world(Options {
        patience: Duration::from_millis(300),
        ..options(Propagation::W3c)
    });
    let world = world.await;
    let hanging: Faultload = "** > www.imdb.com * #1 = hang".parse().unwrap();
    let observed = run(&world, 0, &hanging).await.unwrap();
    assert!(!observed.quiet);
    let (execution, simulated) = (observed.execution, subject.simulator().run(&hanging));
    assert_eq!(execution.trace, simulated.trace);
    // A clock can say how long it was waited for, a simulator cannot.
    let why = "did not end within 600ms".to_owned();
    assert_eq!(execution.verdict, Verdict::Failed { why });
    assert!(simulated.verdict.is_failure());
    // What it waited for is gone, and the next one is not disturbed by it.
    let observed = run(&world, 0, &Faultload::none()).await.unwrap();
    let simulated = subject.simulator().run(&Faultload::none());
    assert_eq!(observed.execution, simulated);
}

/// Order waits a second for pricing. Half as fast, that is 500 ms: a delay of
/// 1500 ms that took 750 ms would not outlast a second, and one of 600 ms that
/// took 600 ms would outlast 500. So each case fails if one of the two keeps to
/// another time than the other.
#[tokio::test]
async fn delays_and_timeouts_race_as_planned_however_fast_time_passes() {
    let subject = subject("purchase", "bugs=on");
    let options = at_pace(0.5, options(Propagation::W3c));
    let world = subject.world(options).await;
    for (delay, callers_gone) in [("1500ms", 1), ("600ms", 0)] {
        let slow = format!("** > shipping * #1 = delay:{delay}");
        let slow: Faultload = slow.parse().unwrap();
        let observed = run(&world, 0, &slow).await.unwrap();
        let execution = observed.execution;
        assert_eq!(execution, subject.simulator().run(&slow), "{delay}");
        let gave_up = observed.details.iter().filter(|it| it.gave_up.is_some());
        assert_eq!(gave_up.count(), callers_gone, "{delay}");
        assert_eq!(execution.verdict.is_failure(), callers_gone > 0, "{delay}");
    }
}

#[tokio::test]
async fn calls_are_named_by_another_identity_if_one_is_given() {
    let subject = subject("cinema-3", "");
    let identity = Identity {
        path: false,
        ..Identity::default()
    };
    let world = subject.world(options(Propagation::W3c)).await;
    let failing: Faultload = "movies GET /movies/{} = 503".parse().unwrap();
    let given = Arc::new(identity.clone());
    let observed = world.run(0, &failing, &given).await.unwrap();
    let execution = observed.execution;
    let simulated = subject.simulator().identity(identity).run(&failing);
    assert_eq!(execution, simulated);
    assert_eq!(execution.verdict, Verdict::Passed);
}
