//! Whether a service is up.
//!
//! Owns the asking, straight at the service and never through a proxy, so that
//! no fault can make a healthy service look ill.

use std::time::Duration;

use http::Request;
use http::header::{ACCEPT, HOST, USER_AGENT};
use http_body_util::Full;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

use murphy_request::Client;

use super::spec::Health;

/// How long one try may take: a service that is starting may accept a
/// connection long before it answers.
const ONE_TRY: Duration = Duration::from_secs(2);

/// The wait between tries grows from the first to the second, so that fast
/// services are not waited for and slow ones not pestered.
const WAITS: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(100));

/// Waits until a service is up; says whether it got so in time.
pub(super) async fn wait(address: &str, health: &Health) -> bool {
    let give_up = Instant::now() + health.within;
    let mut pause = WAITS.0;
    loop {
        if is_up(address, health.path.as_deref()).await {
            return true;
        }
        if Instant::now() + pause > give_up {
            return false;
        }
        sleep(pause).await;
        pause = (pause * 2).min(WAITS.1);
    }
}

/// Whether a service is up now.
pub(super) async fn is_up(address: &str, path: Option<&str>) -> bool {
    let asked = async {
        match path {
            None => TcpStream::connect(address).await.is_ok(),
            Some(path) => answers_well(address, path).await,
        }
    };
    timeout(ONE_TRY, asked).await.unwrap_or(false)
}

async fn answers_well(address: &str, path: &str) -> bool {
    let request = Request::get(path)
        .header(HOST, address)
        .header(USER_AGENT, "murphy")
        .header(ACCEPT, "*/*")
        .body(Full::default());
    let Ok(request) = request else { return false };
    let answer = Client::new(address).exchange(request).await;
    answer.is_ok_and(|answer| (200..400).contains(&answer.status))
}
