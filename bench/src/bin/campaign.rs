//! Prints what a campaign over sockets costs, next to its scenario alone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use murphy::campaign::{
    Event, IdentityChoice, Memory, Settings, Sink, Stopping, StrategyKind, run,
};
use murphy::demo::OnSockets;
use murphy_corpus::sockets::{Bare, Options as StageOptions, Stage};
use murphy_corpus::{FaultSet, find};
use murphy_search::{Modes, Options, Reduction};

struct Nobody;
impl Sink for Nobody {
    fn note(&mut self, _: &Event) {}
}

async fn bare(app: &str, settings: &str) -> Duration {
    let app = find(app).unwrap();
    let settings = app.settings_from_text(settings).unwrap();
    let bare = Bare::new(app, settings).await.unwrap();
    for _ in 0..50 {
        bare.run().await.unwrap();
    }
    let began = Instant::now();
    let n = 500;
    for _ in 0..n {
        bare.run().await.unwrap();
    }
    began.elapsed() / n
}

async fn campaign(
    app: &str,
    settings: &str,
    jobs: u32,
    reduce: &[Reduction],
) -> (usize, usize, Duration) {
    let name = app;
    let app = find(app).unwrap();
    let settings = app.settings_from_text(settings).unwrap();
    let mut stage_options = StageOptions {
        workers: jobs,
        grace: Duration::ZERO,
        ..StageOptions::default()
    };
    if let Ok(t) = std::env::var("PROXY_THREADS") {
        stage_options.proxy.threads = t.parse().unwrap();
    }
    let stage = Stage::new(app, settings, stage_options).await.unwrap();
    let system = stage.system();
    let mut options = Options::new(Modes::ByService(
        FaultSet::http_errors().by_service(&system),
    ));
    options.reduce.extend(reduce);
    let settings = Settings {
        scenario: name.to_owned(),
        strategy: StrategyKind::Tree,
        options,
        modes: Vec::new(),
        seed: 0,
        jobs,
        max_time: None,
        audit: None,
        references: 3,
        identity: IdentityChoice::Given(system.identity.clone()),
    };
    let world = OnSockets::new(stage, jobs);
    let began = Instant::now();
    let outcome = run(
        &world,
        &settings,
        Memory::default(),
        &mut Nobody,
        Stopping::never(),
    )
    .await;
    let outcome = outcome.unwrap_or_else(|e| panic!("{e:?}"));
    (
        outcome.certificate.explored,
        outcome.certificate.speculative,
        began.elapsed(),
    )
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let _ = Arc::new(());
    for (app, set) in [("cinema-3", ""), ("mailchimp", ""), ("netflix", "")] {
        let b = bare(app, set).await;
        let (n, _, t1) = campaign(app, set, 1, &[]).await;
        let (n8, s8, t8) = campaign(app, set, 8, &[]).await;
        let b2 = bare(app, set).await;
        println!(
            "{app}: bare {b:?} {b2:?}; jobs 1: {n} in {t1:?} = {:.2}x bare, {:.0}/s; jobs 8: {n8} (+{s8}) in {t8:?}, {:.2}x throughput",
            t1.as_secs_f64() / (n as f64 * b.as_secs_f64()),
            n as f64 / t1.as_secs_f64(),
            t1.as_secs_f64() / t8.as_secs_f64()
        );
    }
    let (n, s, t) = campaign("netflix", "", 1, &[Reduction::Modes]).await;
    println!("netflix --reduce modes: {n} (+{s}) in {t:?}");
}
