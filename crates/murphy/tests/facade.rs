//! Campaigns as a Rust program writes them, on services in this process.
//!
//! A shop asks its cart, once more if that fails, and then lets pay. It can
//! live without the payment (202), but not if the cart fails twice (500):
//! that is the bug, and it takes two faults to show.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use murphy::{Campaign, Error, Managed, Proxied, ReplayResult, Report, Session, Step, Strategy};
use murphy_model::Severity;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Lines of context, ready to be sent along.
type Context = String;

/// One GET on a connection of its own: the status, or nothing.
async fn get(url: &str, path: &str, context: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(url.strip_prefix("http://")?)
        .await
        .ok()?;
    let ask = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{context}\r\n");
    stream.write_all(ask.as_bytes()).await.ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    answer.split(' ').nth(1)?.parse().ok()
}

/// Serves one GET per connection.
async fn serve<F, Fut>(answer: F) -> SocketAddr
where
    F: Fn(Context) -> Fut + Clone + Send + 'static,
    Fut: Future<Output = u16> + Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move { serve_one(stream, answer).await });
        }
    });
    address
}

async fn serve_one<F, Fut>(stream: TcpStream, answer: F) -> Option<()>
where
    F: Fn(Context) -> Fut,
    Fut: Future<Output = u16>,
{
    let mut stream = BufReader::new(stream);
    let mut context = Context::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok().filter(|n| *n > 0)?;
        if line == "\r\n" {
            break;
        }
        if line.starts_with("trace") {
            context += &line;
        }
    }
    let status = answer(context).await;
    let head = format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.ok()
}

/// How a shop deals with its cart.
#[derive(Clone, Copy, PartialEq)]
enum Cart {
    /// Fails if the cart fails twice.
    Needed,
    /// As above, but says 202: the bug is fixed.
    Dispensable,
    /// Does not ask it.
    Unknown,
}

/// What the shop does for a request.
async fn buy(proxied: Proxied, context: Context, how: Cart) -> u16 {
    if how == Cart::Unknown {
        return 200;
    }
    let mut cart = get(&proxied.url("cart"), "/items", &context).await;
    if cart != Some(200) {
        cart = get(&proxied.url("cart"), "/items", &context).await;
    }
    if cart != Some(200) {
        return if how == Cart::Needed { 500 } else { 202 };
    }
    match get(&proxied.url("pay"), "/charge", &context).await {
        Some(200) => 200,
        _ => 202,
    }
}

/// A campaign on the three of them; the test is not given yet.
async fn shop(hands_on: bool) -> Campaign {
    shop_with(hands_on, Cart::Needed).await
}

async fn shop_with(hands_on: bool, how: Cart) -> Campaign {
    let proxied = Proxied::default();
    let cart = serve(async |_| 200).await;
    let pay = serve(async |_| 200).await;
    let asks = proxied.clone();
    let shop = serve(move |context| {
        let context = if hands_on { context } else { Context::new() };
        buy(asks.clone(), context, how)
    });
    Campaign::new("checkout")
        .service("shop", shop.await)
        .service("cart", cart)
        .service("pay", pay)
        .proxied(&proxied)
        .modes("503,reset")
        .max_faults(2)
        // What it says depends on time.
        .oracle("retry-at-once", "off")
}

async fn can_buy(session: Session) -> Result<(), String> {
    match get(&session.entries["shop"], "/buy", "").await {
        Some(200 | 202) => Ok(()),
        other => Err(format!("buying gave {other:?}")),
    }
}

/// All that must not depend on how a campaign was run.
fn essence(report: &Report) -> (Vec<(String, String)>, usize, bool) {
    let findings = report.findings().iter();
    let findings = findings.map(|it| (it.id.clone(), it.faultload.to_string()));
    let certificate = report.certificate();
    (
        findings.collect(),
        certificate.explored,
        certificate.is_complete(),
    )
}

#[tokio::test]
async fn a_seeded_bug_is_found_whatever_the_number_of_jobs() {
    let alone = shop(true).await.scenario(can_buy).run().await.unwrap();
    assert_eq!((alone.is_solo(), alone.notes().len()), (false, 0));
    assert!(alone.injected());
    let [finding] = alone.findings() else {
        panic!("{alone}");
    };
    assert_eq!(finding.faultload.len(), 2, "{alone}");
    let faultload = finding.faultload.to_string();
    assert!(
        faultload.contains("cart GET /items =") && faultload.contains("cart GET /items #2 ="),
        "{faultload}"
    );
    assert!(finding.summary.contains("buying gave Some(500)"), "{alone}");
    let four = shop(true).await.jobs(4).scenario(can_buy).run().await;
    let four = four.unwrap();
    assert_eq!(four.jobs(), 4);
    assert_eq!(essence(&four), essence(&alone));
}

/// Without an answer to what was injected, the test could not tell an honest
/// failure from a bug: it would accept neither or both.
#[tokio::test]
async fn a_test_can_ask_which_faults_were_injected() {
    let campaign = shop(true).await.scenario(async |session: Session| {
        let is_cart = |service: &str| service == "cart";
        assert_eq!(session.injected(), []);
        let bought = can_buy(session.clone()).await;
        let injected = session.injected();
        let at_cart = injected.iter();
        let at_cart = at_cart.filter(|(point, _)| is_cart(&point.frame().destination));
        bought.or_else(|why| (at_cart.count() == 2).then_some(()).ok_or(why))
    });
    let report = campaign.run().await.unwrap();
    assert!(
        report.injected() && report.findings().is_empty(),
        "{report}"
    );
}

#[tokio::test]
async fn without_any_context_the_same_bug_is_found_and_it_is_said_how() {
    let known = shop(true).await.scenario(can_buy).run().await.unwrap();
    for jobs in [1, 4] {
        let campaign = shop(false).await.jobs(jobs).scenario(can_buy);
        let report = campaign.run().await.unwrap();
        assert!(report.is_solo());
        assert_eq!(report.jobs(), 1);
        let said =
            "no trace context arrives with the calls to cart, pay: one execution ran at a time";
        assert!(report.notes()[0].starts_with(said), "{:?}", report.notes());
        assert!(report.to_string().contains(said), "{report}");
        assert_eq!(essence(&report), essence(&known));
    }
}

/// A fixed address in front of a service looks like an entry of the test's;
/// calls that lost their context must not be taken for that.
#[tokio::test]
async fn lost_context_is_noticed_where_proxies_have_fixed_addresses() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = free.local_addr().unwrap();
    drop(free);
    let cart = serve(async |_| 200).await;
    let url = format!("http://{listen}");
    let shop = serve(move |_| {
        let url = url.clone();
        async move { get(&url, "/items", "").await.unwrap_or(500) }
    });
    let campaign = Campaign::new("checkout")
        .service("shop", shop.await)
        .service_at("cart", cart, listen)
        .modes("503")
        .scenario(can_buy);
    let report = campaign.run().await.unwrap();
    assert!(report.is_solo(), "{report}");
    let findings = report.findings().iter();
    let failures = findings.filter(|it| it.severity == Severity::Fail);
    assert_eq!(failures.count(), 1, "{report}");
}

#[tokio::test]
async fn lineage_finds_the_same_bug() {
    let tree = shop(true).await.scenario(can_buy).run().await.unwrap();
    let lineage = shop(true).await.strategy(Strategy::Lineage);
    let lineage = lineage.scenario(can_buy).run().await.unwrap();
    let ids = |report: &Report| -> Vec<String> {
        let findings = report.findings().iter();
        findings.map(|finding| finding.id.clone()).collect()
    };
    assert_eq!(ids(&lineage), ids(&tree), "{lineage}");
    assert_eq!(lineage.findings()[0].faultload.len(), 2, "{lineage}");
    assert_eq!(lineage.summary().strategy, "lineage");
}

#[tokio::test]
async fn equivalent_modes_are_tried_once_in_combination() {
    let all = shop(true).await.exhaustive();
    let all = all.scenario(can_buy).run().await.unwrap();
    let fewer = shop(true).await.scenario(can_buy).run().await.unwrap();
    assert_eq!(fewer.findings().len(), 1, "{fewer}");
    assert!(
        fewer.certificate().explored < all.certificate().explored,
        "{fewer}"
    );
}

/// A cart that sells out: each execution finds it full only if it was filled
/// up just before, and nothing may be injected into that.
#[tokio::test]
async fn steps_run_around_executions_and_no_fault_strikes_them() {
    let stock = Arc::new(AtomicU32::new(0));
    let steps = Arc::new(Mutex::new(Vec::new()));
    let note = |word: &'static str| {
        let steps = steps.clone();
        Step::function(move |urls| {
            assert_eq!(urls.len(), 2);
            steps.lock().unwrap().push(word);
            async {}
        })
    };
    let full = stock.clone();
    let fill = serve(move |_| {
        full.store(1, Ordering::SeqCst);
        async { 200 }
    });
    let left = stock.clone();
    let shop = serve(move |_| {
        let had = left.swap(0, Ordering::SeqCst);
        async move { if had == 1 { 200 } else { 500 } }
    });
    let campaign = Campaign::new("sold out")
        .service("shop", shop.await)
        .service("stock", fill.await)
        .modes("503")
        .setup(note("setup"))
        .reset(Step::request("stock", "POST", "/fill"))
        .reset(note("reset"))
        .teardown(note("teardown"))
        .teardown(Step::command(["sh", "-c", "test {shop.port} -gt 0"]))
        .scenario(can_buy);
    let report = campaign.run().await.unwrap();
    let steps = steps.lock().unwrap();
    let (first, rest) = steps.split_first().unwrap();
    let (last, between) = rest.split_last().unwrap();
    assert_eq!((*first, *last), ("setup", "teardown"), "{steps:?}");
    assert!(between.len() >= report.certificate().explored, "{steps:?}");
    assert!(between.iter().all(|step| *step == "reset"), "{steps:?}");
}

/// Can buy, but not while another one does; counts how often that was tried.
fn alone_only(clashes: &Arc<AtomicU32>) -> impl Fn(Session) -> Trying + Clone + use<> {
    let (inside, clashes) = (Arc::new(AtomicU32::new(0)), clashes.clone());
    move |session| {
        let (inside, clashes) = (inside.clone(), clashes.clone());
        Box::pin(async move {
            let others = inside.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(30)).await;
            let bought = can_buy(session).await;
            inside.fetch_sub(1, Ordering::SeqCst);
            clashes.fetch_add(u32::from(others > 0), Ordering::SeqCst);
            match others {
                0 => bought,
                _ => Err("somebody is in\n  the way".to_owned()),
            }
        })
    }
}

type Trying = std::pin::Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

#[tokio::test]
async fn a_scenario_that_gets_in_its_own_way_is_run_one_at_a_time() {
    let clashes = Arc::new(AtomicU32::new(0));
    let shop = async || shop(true).await.scenario(alone_only(&clashes));
    let alone = shop().await.run().await.unwrap();
    assert_eq!(clashes.load(Ordering::SeqCst), 0, "only one was asked for");
    assert_eq!(alone.notes(), [""; 0]);
    let beside = shop().await.jobs(3).run().await.unwrap();
    let why = "the test passes alone, but 2 of 3 parallel runs failed (somebody is in): one execution ran at a time, whatever `jobs` says";
    assert_eq!(beside.notes(), [why]);
    assert_eq!((beside.jobs(), beside.is_solo()), (1, false));
    assert_eq!(clashes.load(Ordering::SeqCst), 2, "while it was tried out");
    assert_eq!(essence(&beside), essence(&alone));
}

#[tokio::test]
async fn a_teardown_that_fails_takes_no_result_away() {
    let failing = Step::command(["sh", "-c", "exit 4"]);
    let campaign = shop(true).await.scenario(can_buy).teardown(failing);
    let report = campaign.run().await.unwrap();
    assert_eq!(report.findings().len(), 1, "{report}");
    let left = report.left_behind().unwrap();
    assert!(left.message.contains("teardown step 1"), "{left}");
    assert!(report.to_string().contains("error: teardown step 1"));
}

#[tokio::test]
async fn a_step_that_fails_ends_the_campaign() {
    let cases = [
        (
            Step::function(async |_| Err("no database")),
            "reset step 1 (a function) failed: no database",
        ),
        (
            Step::function(async |urls| assert!(urls.is_empty(), "no tables")),
            "reset step 1 (a function) failed: panicked: no tables",
        ),
        (
            Step::command(["sh", "-c", "exit 4"]),
            "reset step 1 (`sh -c exit 4`) failed: exit code 4",
        ),
    ];
    for (step, says) in cases {
        let campaign = shop(true).await.reset(step).scenario(can_buy);
        let text = campaign.run().await.unwrap_err().to_string();
        assert!(text.contains(says), "{text}");
    }
}

#[tokio::test]
async fn a_finding_is_replayed_until_it_is_fixed() {
    let store = tempfile::tempdir().unwrap();
    let store = store.path();
    let found = shop(true).await.store(store).scenario(can_buy);
    let found = found.run().await.unwrap();
    let [file] = found.replay_files() else {
        panic!("{found}");
    };
    assert!(found.to_string().contains(&file.display().to_string()));
    let file = file.to_str().unwrap();

    let by_name = shop(true).await.store(store).scenario(can_buy);
    let by_name = by_name.replay(&found.findings()[0].id).await.unwrap();
    let by_file = shop(true).await.scenario(can_buy).replay(file).await;
    for replayed in [by_name, by_file.unwrap()] {
        let complaint = "buying gave Some(500)".to_owned();
        assert_eq!(*replayed.result(), ReplayResult::Failed { complaint });
        let text = panic_of(|| replayed.assert_fixed()).expect("it shows");
        for part in ["FAILED: buying gave", "└─ cart GET /items #2  503"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    let fixed = shop_with(true, Cart::Dispensable).await.scenario(can_buy);
    let fixed = fixed.replay(file).await.unwrap();
    fixed.assert_fixed();
    assert_eq!(fixed.trace().injected().len(), 2, "{fixed}");

    let other = shop_with(true, Cart::Unknown).await.scenario(can_buy);
    let other = other.replay(file).await.unwrap();
    assert!(
        matches!(other.result(), ReplayResult::NotReached { missing } if missing.len() == 2),
        "{other}"
    );
    let text = panic_of(|| other.assert_fixed()).expect("nothing is known");
    assert!(text.contains("NOT REACHED"), "{text}");

    let failing = Step::command(["sh", "-c", "exit 4"]);
    let messy = shop_with(true, Cart::Dispensable).await.scenario(can_buy);
    let messy = messy.teardown(failing).replay(file).await.unwrap();
    assert_eq!(*messy.result(), ReplayResult::Fixed);
    assert!(messy.left_behind().is_some());
    let text = panic_of(|| messy.assert_fixed()).expect("not all is well");
    assert!(
        text.contains("teardown step 1") && text.contains("FIXED"),
        "{text}"
    );

    let broken = shop(true).await.scenario(async |_| Err("no luck"));
    let text = broken.replay(file).await.unwrap_err().to_string();
    assert!(text.contains("fails without any fault"), "{text}");
}

fn panic_text(report: &Report) -> Option<String> {
    panic_of(|| report.assert_no_findings())
}

fn panic_of(asserting: impl FnOnce()) -> Option<String> {
    let caught = catch_unwind(AssertUnwindSafe(asserting));
    let payload = caught.err()?;
    Some(payload.downcast_ref::<String>().unwrap().clone())
}

#[tokio::test]
async fn an_assertion_shows_the_whole_report() {
    let report = shop(true).await.scenario(can_buy).run().await.unwrap();
    let text = panic_text(&report).expect("there is a bug");
    for part in ["Murphy found 1 bug(s)", "Findings", "cart", "buying gave"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "{text}");
    let fine = shop(true).await.except("** > cart *").scenario(can_buy);
    assert_eq!(panic_text(&fine.run().await.unwrap()), None);
    let nothing = shop(true).await.except("** > * *").scenario(can_buy);
    let text = panic_text(&nothing.run().await.unwrap()).expect("nothing was tested");
    assert!(text.contains("no fault was injected"), "{text}");
}

#[tokio::test]
async fn a_test_may_just_panic() {
    let campaign = shop(true).await.scenario(|session| async move {
        let status = get(&session.entries["shop"], "/buy", "").await;
        assert!(matches!(status, Some(200 | 202)), "buying failed");
    });
    let report = campaign.run().await.unwrap();
    assert_eq!(report.findings().len(), 1);
    assert!(
        report.findings()[0].summary.contains("buying failed"),
        "{report}"
    );
}

#[tokio::test]
async fn what_cannot_be_tested_is_said_with_the_way_out() {
    let fails = shop(true).await.scenario(async |_| Err("no luck"));
    let text = fails.run().await.unwrap_err().to_string();
    assert!(
        text.contains("fails without any fault\n  | no luck\nhint:"),
        "{text}"
    );

    let missing = Managed::new(["no-such-program-here", "{port}"]);
    let missing = shop(true).await.managed("stock", missing).scenario(can_buy);
    let error = missing.run().await.unwrap_err();
    assert!(matches!(error, Error::Broken(_)), "{error}");
    assert!(
        error.to_string().contains("no-such-program-here"),
        "{error}"
    );
}

#[tokio::test]
async fn a_stuck_test_has_failed() {
    let stuck = shop(true).await.timeout(Duration::from_millis(50));
    let stuck = stuck.scenario(async |_| std::future::pending::<Result<(), Infallible>>().await);
    let text = stuck.run().await.unwrap_err().to_string();
    assert!(text.contains("did not end within 50ms"), "{text}");
}

#[tokio::test]
async fn nothing_is_left_behind_unless_asked_for() {
    let mine = || {
        let prefix = format!("{}-", std::process::id());
        let user = std::fs::metadata("/proc/self").unwrap().uid();
        let place = std::env::temp_dir().join(format!("murphy-{user}"));
        let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with(&prefix)).count()
    };
    let store = tempfile::tempdir().unwrap();
    let store = store.path();
    let kept = shop(true).await.store(store).scenario(can_buy);
    kept.run().await.unwrap();
    let names: Vec<_> = std::fs::read_dir(store).unwrap().flatten().collect();
    assert!(!names.is_empty());
    let opened = murphy_store::Store::open_existing(store).unwrap();
    let ended = opened.unwrap().last_ended("checkout").unwrap();
    assert!(ended.is_some());
    // Other tests of this process may be running meanwhile, each with its own.
    let campaign = shop(true).await.scenario(can_buy);
    campaign.run().await.unwrap();
    tokio::time::timeout(Duration::from_secs(30), async {
        while mine() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .expect("directories of campaigns that have ended");
}
