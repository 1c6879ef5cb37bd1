//! Runs many faultloads on one stage, as many at once as it has workers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use murphy_corpus::Stage;
use murphy_model::{Execution, Faultload};
use murphy_registry::Recorded;
use tokio::task::JoinSet;

/// What came of each faultload, in the order in which they were given.
pub async fn play(
    stage: Arc<Stage>,
    workers: u32,
    faultloads: Vec<Faultload>,
) -> Vec<(Execution, Recorded)> {
    let waiting: VecDeque<(usize, Faultload)> = faultloads.into_iter().enumerate().collect();
    let waiting = Arc::new(Mutex::new(waiting));
    let mut working = JoinSet::new();
    for worker in 0..workers {
        let (stage, waiting) = (stage.clone(), waiting.clone());
        working.spawn(async move {
            let mut done = Vec::new();
            while let Some((place, faultload)) = next(&waiting) {
                let played = stage.run(worker, &faultload).await;
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
