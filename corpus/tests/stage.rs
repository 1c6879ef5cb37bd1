//! What a stage promises beside playing faultloads: it refuses what cannot
//! work and says why, it survives scenarios that are stuck or cancelled, and
//! nobody notices that time was scaled.

mod support;

use std::time::Duration;

use murphy_corpus::Stage;
use murphy_corpus::sockets::{Options, Propagation, StageError};
use murphy_model::{Faultload, Identity, Verdict};
use support::{Subject, options};

fn subject(app: &'static str, settings: &'static str) -> Subject {
    Subject { app, settings }
}

async fn refused(subject: Subject, options: Options) -> String {
    let app = murphy_corpus::find(subject.app).unwrap();
    let settings = app.settings_from_text(subject.settings).unwrap();
    match Stage::new(app, settings, options).await {
        Ok(_) => panic!("{subject} was not refused"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn what_cannot_work_is_refused_with_a_way_out() {
    let with = |workers, pace, propagation| Options {
        workers,
        pace,
        ..options(propagation)
    };
    let w3c = Propagation::W3c;
    let cases = [
        ("cinema-1", with(0, 1.0, w3c), "at least one is needed"),
        ("cinema-1", with(1, 0.0, w3c), "must be more than 0"),
        ("cinema-1", with(1, f64::NAN, w3c), "must be more than 0"),
        ("purchase", with(2, 1.0, w3c), "use one worker"),
        (
            "cinema-1",
            with(2, 1.0, Propagation::Nothing),
            "use one worker",
        ),
    ];
    for (app, options, says) in cases {
        let error = refused(subject(app, ""), options).await;
        assert!(error.contains(says), "{app}: {error}");
    }
}

#[tokio::test]
async fn a_worker_runs_one_execution_at_a_time() {
    let stage = subject("cinema-1", "")
        .stage(options(Propagation::W3c))
        .await;
    let none = Faultload::none();
    let (one, other) = tokio::join!(stage.run(0, &none), stage.run(0, &none));
    assert_eq!(one.unwrap().0.verdict, Verdict::Passed);
    assert!(matches!(other, Err(StageError::Begin(_))));
    let unknown = stage.run(1, &none).await;
    assert!(matches!(unknown, Err(StageError::NoSuchWorker { .. })));
}

#[tokio::test]
async fn a_cancelled_run_leaves_its_worker_free() {
    let stage = subject("cinema-1", "").stage(Options {
        pace: 0.05,
        ..options(Propagation::W3c)
    });
    let stage = stage.await;
    let hanging: Faultload = "** > bookings * #1 = hang".parse().unwrap();
    let cut = tokio::time::timeout(Duration::from_millis(100), stage.run(0, &hanging)).await;
    assert!(cut.is_err());
    assert_eq!(stage.in_flight(), 0);
    let (execution, _) = stage.run(0, &Faultload::none()).await.unwrap();
    assert_eq!(execution.verdict, Verdict::Passed);
}

#[tokio::test]
async fn a_scenario_that_never_ends_is_cut_off_as_in_the_simulator() {
    let subject = subject("cinema-4", "externals=on");
    let stage = subject.stage(Options {
        patience: Duration::from_millis(300),
        ..options(Propagation::W3c)
    });
    let stage = stage.await;
    let hanging: Faultload = "** > www.imdb.com * #1 = hang".parse().unwrap();
    let (execution, recorded) = stage.run(0, &hanging).await.unwrap();
    assert!(!recorded.quiet);
    assert_eq!(execution, subject.simulator().run(&hanging));
    // What it waited for is gone, and the next one is not disturbed by it.
    let (execution, _) = stage.run(0, &Faultload::none()).await.unwrap();
    assert_eq!(execution, subject.simulator().run(&Faultload::none()));
}

/// Order waits a second for pricing. Half as fast, that is 500 ms: a delay of
/// 1500 ms that took 750 ms would not outlast a second, and one of 600 ms that
/// took 600 ms would outlast 500. So each case fails if one of the two keeps to
/// another time than the other.
#[tokio::test]
async fn delays_and_timeouts_race_as_planned_however_fast_time_passes() {
    let subject = subject("purchase", "bugs=on");
    let stage = subject.stage(Options {
        pace: 0.5,
        ..options(Propagation::W3c)
    });
    let stage = stage.await;
    for (delay, callers_gone) in [("1500ms", 1), ("600ms", 0)] {
        let slow = format!("** > shipping * #1 = delay:{delay}");
        let slow: Faultload = slow.parse().unwrap();
        let (execution, recorded) = stage.run(0, &slow).await.unwrap();
        assert_eq!(execution, subject.simulator().run(&slow), "{delay}");
        let gave_up = recorded.details.iter().filter(|it| it.gave_up.is_some());
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
    let stage = subject.stage(Options {
        identity: Some(identity.clone()),
        ..options(Propagation::W3c)
    });
    let failing: Faultload = "movies GET /movies/{} = 503".parse().unwrap();
    let (execution, _) = stage.await.run(0, &failing).await.unwrap();
    let simulated = subject.simulator().identity(identity).run(&failing);
    assert_eq!(execution, simulated);
    assert_eq!(execution.verdict, Verdict::Passed);
}
