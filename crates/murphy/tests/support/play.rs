//! Runs many faultloads in one world, as many at once as it has workers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use murphy::demo::ExampleWorld;
use murphy_model::{Faultload, Observed};
use tokio::task::JoinSet;

use super::run;

/// What came of each faultload, in the order in which they were given.
pub async fn play(
    world: Arc<ExampleWorld>,
    workers: u32,
    faultloads: Vec<Faultload>,
) -> Vec<Observed> {
    let waiting: VecDeque<(usize, Faultload)> = faultloads.into_iter().enumerate().collect();
    let waiting = Arc::new(Mutex::new(waiting));
    let mut working = JoinSet::new();
    for worker in 0..workers {
        let (world, waiting) = (world.clone(), waiting.clone());
        working.spawn(async move {
            let mut done = Vec::new();
            while let Some((place, faultload)) = next(&waiting) {
                let played = run(&world, worker, &faultload).await;
                let played = played.unwrap_or_else(|error| panic!("{faultload}: {error}"));
                done.push((place, played));
            }
            done
        });
    }
    let mut all: Vec<_> = working.join_all().await.into_iter().flatten().collect();
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, played)| played).collect()
}

fn next(waiting: &Mutex<VecDeque<(usize, Faultload)>>) -> Option<(usize, Faultload)> {
    waiting.lock().unwrap().pop_front()
}
