//! The simulated suite: its cloud, its SDK, its tests.

use std::collections::BTreeMap;
use std::time::Duration;

use murphy_model::{Outcome, Phase, Reply};
use murphy_suite::{
    Assertion, Caller, CaseRun, End, Exception, Injection, Lost, Request, Round, RoundKind, Shot,
    TestEnd, TestInfo, TestOutcome,
};

/// What the cloud keeps; new in every round.
#[derive(Default)]
struct World {
    objects: BTreeMap<String, String>,
    queue: Vec<String>,
}

/// How a service answers: status and body.
type Answer = (u16, String);

/// A test process, with its SDK.
struct Cloud<'w> {
    world: &'w mut World,
    shot: Shot,
    calls: usize,
    attempts: u32,
    round: u32,
    kind: RoundKind,
}

/// What an SDK raises.
struct SdkError {
    status: Option<u16>,
    is_ours: bool,
    call: String,
}

/// How a test fails.
enum Failure {
    /// An exception of the SDK reached the test.
    Raised(SdkError),
    /// Another one did, raised in this frame.
    Broke(&'static str, &'static str),
    /// The test saw something wrong.
    Asserted(&'static str),
    /// It never ended.
    Hung,
}

impl From<SdkError> for Failure {
    fn from(error: SdkError) -> Self {
        Failure::Raised(error)
    }
}

type Passed = Result<(), Failure>;

/// What an operation asks for; its name is that of the innermost function.
struct Op<'o> {
    stack: &'o [&'o str],
    method: &'o str,
    path: &'o str,
    body: &'o str,
}

fn put<'o>(stack: &'o [&'o str], path: &'o str, body: &'o str) -> Op<'o> {
    let method = "PUT";
    Op {
        stack,
        method,
        path,
        body,
    }
}

fn get<'o>(stack: &'o [&'o str], path: &'o str) -> Op<'o> {
    let (method, body) = ("GET", "");
    Op {
        stack,
        method,
        path,
        body,
    }
}

impl Cloud<'_> {
    /// Three attempts.
    fn call(
        &mut self,
        op: Op<'_>,
        serve: impl FnMut(&mut World) -> Answer,
    ) -> Result<String, SdkError> {
        self.call_with(3, op, serve)
    }

    fn call_with(
        &mut self,
        attempts: u32,
        op: Op<'_>,
        mut serve: impl FnMut(&mut World) -> Answer,
    ) -> Result<String, SdkError> {
        self.calls += 1;
        let call = format!("1-{}", self.calls);
        let mut last = Reply::Closed;
        for _ in 0..attempts {
            let (reply, body, is_ours) = self.attempt(&op, &call, &mut serve);
            last = reply;
            match reply {
                Reply::Status(503) | Reply::Closed => {}
                Reply::Status(status @ 400..) => {
                    let status = Some(status);
                    return Err(SdkError {
                        status,
                        is_ours,
                        call,
                    });
                }
                _ => return Ok(body),
            }
        }
        let status = match last {
            Reply::Status(status) => Some(status),
            _ => None,
        };
        let is_ours = true;
        Err(SdkError {
            status,
            is_ours,
            call,
        })
    }

    /// What a proxy does with a request.
    fn attempt(
        &mut self,
        op: &Op<'_>,
        call: &str,
        serve: &mut impl FnMut(&mut World) -> Answer,
    ) -> (Reply, String, bool) {
        self.attempts += 1;
        let (id, mode) = self.shot.arrive(request(op, call));
        let outcome = mode.map(|mode| (mode.phase(), mode.outcome()));
        let mut lost = None;
        let (reply, body) = match outcome {
            Some((Phase::Before, Outcome::Status(status))) => {
                (Reply::Status(status), String::new())
            }
            Some((Phase::Before, _)) => (Reply::Closed, String::new()),
            _ => {
                let (status, body) = serve(self.world);
                if outcome.is_some() && self.shot.answered(id, status) {
                    let body = Some(hash(&body));
                    lost = Some(Lost { status, body });
                    (Reply::Closed, String::new())
                } else {
                    (Reply::Status(status), body)
                }
            }
        };
        let landed = lost.is_some() || matches!(outcome, Some((Phase::Before, _)));
        let end = End {
            at: Duration::from_millis(u64::from(self.attempts)),
            reply,
            body: (!landed).then(|| hash(&body)),
            lost,
            code: None,
            landed,
            gave_up: false,
        };
        self.shot.finish(id, end);
        (reply, body, landed)
    }

    fn store(&mut self, stack: &[&str], path: &str, body: &str) -> Result<String, SdkError> {
        let (key, value) = (path.to_owned(), body.to_owned());
        self.call(put(stack, path, body), move |world| {
            world.objects.insert(key.clone(), value.clone());
            (200, String::new())
        })
    }

    fn load(&mut self, stack: &[&str], path: &str) -> Result<String, SdkError> {
        let key = path.to_owned();
        self.call(get(stack, path), move |world| {
            match world.objects.get(&key) {
                Some(value) => (200, value.clone()),
                None => (404, String::new()),
            }
        })
    }

    /// Refuses what is there already.
    fn create(&mut self, stack: &[&str], path: &str) -> Result<String, SdkError> {
        let key = path.to_owned();
        self.call(put(stack, path, ""), move |world| {
            match world.objects.insert(key.clone(), String::new()) {
                None => (200, String::new()),
                Some(_) => (409, String::new()),
            }
        })
    }
}

fn request(op: &Op<'_>, call: &str) -> Request {
    let innermost = op.stack.first().copied().unwrap_or("test.py:1:own");
    let function = innermost.rsplit(':').next().unwrap();
    Request {
        service: "proxy".to_owned(),
        method: op.method.to_owned(),
        path: op.path.to_owned(),
        body_hash: hash(op.body),
        token: op.path.contains("token"),
        caller: Caller {
            call: Some(call.to_owned()),
            operation: Some(format!("cloud.{function}")),
            stack: op.stack.iter().map(|frame| (*frame).to_owned()).collect(),
            line: Some("test.py:1".to_owned()),
            ..Caller::default()
        },
        ..Request::default()
    }
}

fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(7, |hash, byte| hash * 31 % 1_000_003 + u64::from(byte))
}

/// All tests, with how long they take in milliseconds.
pub(crate) const TESTS: [(&str, u64); 17] = [
    ("a_leaver", 20),
    ("broken", 5),
    ("cache", 10),
    ("clean", 10),
    ("create", 10),
    ("exists", 10),
    ("hides", 10),
    ("many", 60),
    ("missing", 10),
    ("policy", 10),
    ("poll", 10),
    ("queue", 10),
    ("sometimes", 10),
    ("stream", 10),
    ("token", 10),
    ("unlucky", 10),
    ("z_victim", 10),
];

pub(crate) fn test_infos() -> Vec<TestInfo> {
    let info = |(id, _): &(&str, u64)| TestInfo {
        id: (*id).to_owned(),
    };
    let usual = TESTS.iter().filter(|(id, _)| *id != "hides");
    usual.map(info).collect()
}

fn run_test(name: &str, cloud: &mut Cloud<'_>) -> Passed {
    match name {
        "a_leaver" => a_leaver(cloud),
        "broken" => Err(Failure::Asserted("1 == 2")),
        "cache" => cache(cloud),
        "clean" => clean(cloud),
        "create" => create(cloud),
        "exists" => exists(cloud),
        "hides" => hides(cloud),
        "many" => many(cloud),
        "missing" => missing(cloud),
        "policy" => policy(cloud),
        "poll" => poll(cloud),
        "queue" => queue(cloud),
        "sometimes" => sometimes(cloud),
        "stream" => stream(cloud),
        "token" => token(cloud),
        "unlucky" => unlucky(cloud),
        "z_victim" => z_victim(cloud),
        other => panic!("no test is called {other}"),
    }
}

/// Leaves its object behind where removing it fails.
fn a_leaver(cloud: &mut Cloud<'_>) -> Passed {
    cloud.store(&["left.py:1:leave"], "/left", "x")?;
    let stack = ["left.py:2:remove"];
    let remove = Op {
        method: "DELETE",
        ..put(&stack, "/left", "")
    };
    cloud.call(remove, |world| {
        world.objects.remove("/left");
        (204, String::new())
    })?;
    Ok(())
}

/// Fails at once where another test left something behind.
fn z_victim(cloud: &mut Cloud<'_>) -> Passed {
    if cloud.world.objects.contains_key("/left") {
        return Err(Failure::Asserted("list() == []"));
    }
    cloud.store(&[], "/own", "made by the test itself")?;
    cloud.store(&["victim.py:1:write"], "/victim", "x")?;
    cloud.store(&["victim.py:2:write"], "/victim", "y")?;
    Ok(())
}

/// Swallows that making the folder failed; listing it is then refused.
fn cache(cloud: &mut Cloud<'_>) -> Passed {
    let _ = cloud.store(&["cache.py:3:ensure"], "/folder", "");
    match cloud.load(&["cache.py:8:list"], "/folder") {
        Err(error) if error.status == Some(404) => {
            Err(Failure::Broke("NotFound", "cache.py:8:list"))
        }
        other => Ok(other.map(drop)?),
    }
}

/// Everything may be repeated, and errors are passed on.
fn clean(cloud: &mut Cloud<'_>) -> Passed {
    cloud.store(&["clean.py:1:write"], "/clean", "x")?;
    cloud.load(&["clean.py:2:read"], "/clean")?;
    Ok(())
}

/// Takes the refusal of its own retry for somebody else's object.
fn create(cloud: &mut Cloud<'_>) -> Passed {
    match cloud.create(&["logs.py:5:create"], "/log") {
        Err(error) if !error.is_ours => Err(Failure::Broke("AlreadyExists", "logs.py:6:create")),
        other => Ok(other.map(drop)?),
    }
}

/// Says that nothing is there, whatever the error.
fn exists(cloud: &mut Cloud<'_>) -> Passed {
    cloud.store(&["store.py:1:write"], "/there", "x")?;
    match cloud.load(&["store.py:9:exists"], "/there") {
        Ok(_) => Ok(()),
        // Without an answer it raises what it got.
        Err(error) if error.status.is_none() => Err(error.into()),
        Err(_) => Err(Failure::Asserted("store.exists('/there')")),
    }
}

/// As `queue`, but nobody can see that a message was sent twice: where both
/// answers are lost, the second message makes up for the first.
fn hides(cloud: &mut Cloud<'_>) -> Passed {
    cloud.call(put(&["hides.py:2:send"], "/queue", "hello"), |world| {
        world.queue.push("hello".to_owned());
        (200, String::new())
    })?;
    let received = cloud.call(get(&["hides.py:7:receive"], "/queue"), |world| {
        (200, world.queue.pop().unwrap_or_default())
    })?;
    match received.is_empty() {
        true => Err(Failure::Broke("TypeError", "hides.py:8:get")),
        false => Ok(()),
    }
}

/// Six sites, all of which may be repeated.
fn many(cloud: &mut Cloud<'_>) -> Passed {
    for number in 0..6 {
        let frame = format!("many.py:{number}:step{number}");
        cloud.store(
            &["wrap.py:1:send", frame.as_str()],
            &format!("/many/{number}"),
            "x",
        )?;
    }
    Ok(())
}

/// What it asks for is not there.
fn missing(cloud: &mut Cloud<'_>) -> Passed {
    match cloud.load(&["missing.py:1:find"], "/nowhere") {
        Err(error) if error.status == Some(404) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(_) => Err(Failure::Asserted("nothing is there")),
    }
}

/// Takes a failed read for an empty policy and writes that.
fn policy(cloud: &mut Cloud<'_>) -> Passed {
    cloud
        .world
        .objects
        .insert("/policy".to_owned(), "old".to_owned());
    let old = cloud
        .load(&["policy.py:4:read"], "/policy")
        .unwrap_or_default();
    cloud.store(&["policy.py:9:write"], "/policy", &format!("{old}+new"))?;
    Ok(())
}

/// Asks again and again as long as it is refused.
fn poll(cloud: &mut Cloud<'_>) -> Passed {
    cloud
        .world
        .objects
        .insert("/poll".to_owned(), String::new());
    match cloud.load(&["poll.py:1:poll"], "/poll") {
        Err(error) if cloud.attempts == 3 && error.status == Some(503) => Err(Failure::Hung),
        other => Ok(other.map(drop)?),
    }
}

/// Sends and receives; a message whose delivery was lost is gone.
fn queue(cloud: &mut Cloud<'_>) -> Passed {
    let mut sent = 0;
    cloud.call(put(&["queue.py:2:send"], "/queue", "hello"), |world| {
        sent += 1;
        world.queue.push("hello".to_owned());
        (200, format!("message {sent}"))
    })?;
    let received = cloud.call(get(&["queue.py:7:receive"], "/queue"), |world| {
        (200, world.queue.pop().unwrap_or_default())
    })?;
    cloud.world.queue.clear();
    match received.is_empty() {
        true => Err(Failure::Broke("TypeError", "queue.py:8:get")),
        false => Ok(()),
    }
}

/// Fails every second time.
fn sometimes(cloud: &mut Cloud<'_>) -> Passed {
    match cloud.round.is_multiple_of(2) {
        true => Ok(()),
        false => Err(Failure::Asserted("luck")),
    }
}

/// The SDK cannot repeat it.
fn stream(cloud: &mut Cloud<'_>) -> Passed {
    let stack = ["stream.py:1:upload"];
    cloud.call_with(1, put(&stack, "/stream", "x"), |_| (200, String::new()))?;
    Ok(())
}

/// The service would know the token again; this cloud does not.
fn token(cloud: &mut Cloud<'_>) -> Passed {
    match cloud.create(&["pay.py:1:pay"], "/token") {
        Err(error) if !error.is_ours => Err(Failure::Broke("AlreadyExists", "pay.py:1:pay")),
        other => Ok(other.map(drop)?),
    }
}

/// Fails once in a while where other tests run beside it, never alone.
fn unlucky(cloud: &mut Cloud<'_>) -> Passed {
    cloud.store(&["unlucky.py:1:write"], "/unlucky", "x")?;
    cloud.load(&["unlucky.py:2:read"], "/unlucky")?;
    let is_shared = !matches!(
        cloud.kind,
        RoundKind::Reference | RoundKind::Alone | RoundKind::Audit
    );
    match is_shared && cloud.attempts > 2 {
        true => Err(Failure::Asserted("it took too long")),
        false => Ok(()),
    }
}

/// Runs a round as Murphy would: a fresh world, one test after another.
pub(crate) fn run_round(round: &Round) -> Vec<CaseRun> {
    let mut world = World::default();
    let run = |case: &murphy_suite::Case| {
        let mut cloud = Cloud {
            world: &mut world,
            shot: Shot::new(case.aims.clone(), Injection::default()).of_test(&case.test),
            calls: 0,
            attempts: 0,
            round: round.id,
            kind: round.kind,
        };
        let passed = run_test(&case.test, &mut cloud);
        let (_, took) = TESTS.iter().find(|(name, _)| *name == case.test).unwrap();
        CaseRun {
            case: case.id,
            result: outcome(passed),
            record: cloud.shot.record(),
            took: Duration::from_millis(*took),
        }
    };
    round.cases.iter().map(run).collect()
}

fn outcome(passed: Passed) -> TestOutcome {
    let failed = |end, message: &str| TestOutcome {
        outcome: end,
        message: message.to_owned(),
        ..TestOutcome::default()
    };
    match passed {
        Ok(()) => TestOutcome::default(),
        Err(Failure::Hung) => failed(TestEnd::Hung, "no end after 30 s"),
        Err(Failure::Asserted(text)) => TestOutcome {
            assertion: Some(Assertion {
                file: "test.py".to_owned(),
                line: 3,
                text: text.to_owned(),
            }),
            ..failed(TestEnd::Failed, text)
        },
        Err(Failure::Broke(kind, frame)) => TestOutcome {
            exceptions: vec![Exception {
                kind: kind.to_owned(),
                frames: vec!["test.py:2:test".to_owned(), frame.to_owned()],
                ..Exception::default()
            }],
            ..failed(TestEnd::Failed, kind)
        },
        Err(Failure::Raised(error)) => TestOutcome {
            exceptions: vec![Exception {
                kind: "SdkError".to_owned(),
                status: error.status,
                call: Some(error.call),
                frames: vec!["test.py:2:test".to_owned(), "sdk.py:1:send".to_owned()],
                ..Exception::default()
            }],
            ..failed(TestEnd::Failed, "the SDK gave up")
        },
    }
}
