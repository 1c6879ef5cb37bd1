use super::super::spec::{ServiceSpec, Source, SystemSpec};
use super::super::template::Place;
use super::*;
use bytes::Bytes;
use http::Request as HttpRequest;
use http_body_util::Full;
use murphy_registry::{Plan, Settings, WorkerId};
use murphy_request::Client;
use serde_json::{Value, json};
use std::time::Duration;

/// A system in which the test starts `cart`, and Murphy the rest.
fn started() -> Arc<StartedByTest> {
    let service = |name: &str, source| ServiceSpec {
        name: name.to_owned(),
        source,
        process: None,
        tls: None,
        callers: Default::default(),
        listen: None,
        proxied: true,
        calls: None,
        unused: Default::default(),
        health: Default::default(),
        place: None,
    };
    let system = SystemSpec {
        services: vec![
            service("cart", Source::Test),
            service("shop", Source::Managed(Default::default())),
        ],
        ..SystemSpec::default()
    };
    let mut started = StartedByTest::of(&system, 2);
    for worker in 0..2 {
        let place = Place::parse(&format!("127.0.0.1:{}", 7000 + worker));
        started.listens(worker, "cart", place.unwrap());
    }
    Arc::new(started)
}

struct Api {
    control: Control,
    registry: Arc<Registry>,
}

impl Api {
    async fn start() -> Self {
        let registry = Arc::new(Registry::new(Settings::default()));
        let control = Control::start(registry.clone(), 2, started())
            .await
            .unwrap();
        Api { control, registry }
    }

    fn begin(&self, armed_in: &[&str]) -> ExecutionId {
        let faultload: Faultload = "** > cart * = 503".parse().unwrap();
        let id = self.registry.begin(Plan {
            faultload: faultload.clone(),
            identity: Arc::default(),
            worker: Some(WorkerId(0)),
            solo: false,
            entries: false,
            injector: None,
        });
        let armed_in: Vec<String> = armed_in.iter().map(|it| (*it).to_owned()).collect();
        self.control.began(id.unwrap(), faultload, &armed_in);
        id.unwrap()
    }

    async fn ask(&self, token: &str, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut client = Client::new(self.control.address.to_string());
        let request = HttpRequest::builder()
            .method(method)
            .uri(path)
            .header("host", "x")
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {token}"))
            .body(Full::new(Bytes::from(body.to_owned())));
        let answer = client.exchange(request.unwrap()).await.unwrap();
        let body = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
        (answer.status, body)
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        self.ask(self.control.token(0), "GET", path, "").await
    }
}

#[tokio::test]
async fn executions_are_told_of_while_they_run() {
    let api = Api::start().await;
    let id = api.begin(&[]);
    let path = format!("/v1/executions/{id}");
    let told = json!({"execution": id.to_string(), "planned": ["** > cart * = 503"], "injected": [], "phase": null, "armed": true});
    assert_eq!(api.get(&path).await, (200, told));
    api.control.ended(id);
    assert_eq!(api.get(&path).await.0, 404);
    assert_eq!(api.get("/v1/executions/zebra").await.0, 404);
    assert_eq!(api.get("/").await.0, 404);
    assert_eq!(
        api.ask(api.control.token(0), "DELETE", &path, "").await.0,
        405
    );
}

#[tokio::test]
async fn nothing_is_answered_without_the_token() {
    let api = Api::start().await;
    let id = api.begin(&[]);
    for path in [
        format!("/v1/executions/{id}"),
        "/v1/worker/next".to_owned(),
        "/nowhere".to_owned(),
    ] {
        let (status, body) = api.ask("guessed", "GET", &path, "").await;
        assert_eq!(status, 401, "{path}");
        assert!(body["error"].as_str().unwrap().contains("MURPHY_TOKEN"));
    }
    // A test's token does not make it a runner.
    let token = api.control.token(0);
    let (status, _) = api.ask(token, "GET", "/v1/worker/next", "").await;
    assert_eq!(status, 403);
}

#[tokio::test]
async fn calls_may_fail_only_in_the_phases_that_are_armed() {
    let api = Api::start().await;
    let id = api.begin(&["call"]);
    let path = format!("/v1/executions/{id}/phase");
    let token = api.control.token(0);
    for (phase, armed) in [("setup", false), ("call", true), ("teardown", false)] {
        let body = json!({"name": phase}).to_string();
        let told = json!({"in_flight": 0, "armed": armed});
        assert_eq!(api.ask(token, "PUT", &path, &body).await, (200, told));
    }
    let (status, _) = api.ask(token, "PUT", &path, "{\"name\": \"lunch\"}").await;
    assert_eq!(status, 400);
    let (status, body) = api.ask(token, "PUT", &path, "{\"name\": 1}").await;
    assert_eq!(status, 400);
    assert!(body["error"].as_str().unwrap().contains("line 1"), "{body}");
    let long = format!("{{\"name\": \"{}\"}}", "x".repeat(MOST));
    assert_eq!(api.ask(token, "PUT", &path, &long).await.0, 413);
}

#[tokio::test]
async fn a_runner_is_told_what_to_do_and_reports_it_once() {
    let api = Api::start().await;
    let mailbox = api.control.open_mailbox(0);
    let token = mailbox.token().to_owned();
    let listing = mailbox.list();
    assert_eq!(
        api.ask(&token, "GET", "/v1/worker/next", "").await,
        (200, json!({"do": "list"}))
    );
    let tests = json!({"runner": "x 1", "tests": [{"id": "a", "line": 3}]}).to_string();
    assert_eq!(
        api.ask(&token, "POST", "/v1/worker/tests", &tests).await.0,
        204
    );
    assert_eq!(listing.await.unwrap().tests[0].id, "a");
    let order = RunOrder {
        execution: "e1".to_owned(),
        test: "a".to_owned(),
        phases: vec!["call".to_owned()],
        fresh_fixtures: false,
        timeout_ms: 1000,
        faults: Vec::new(),
        headers: BTreeMap::new(),
    };
    let result = mailbox.run(order);
    let (_, told) = api.ask(&token, "GET", "/v1/worker/next", "").await;
    assert_eq!((&told["do"], &told["test"]), (&json!("run"), &json!("a")));
    let report = |execution: &str| {
        json!({"execution": execution, "outcome": "failed", "message": "no"}).to_string()
    };
    let post = |body: String| {
        let (api, token) = (&api, &token);
        async move { api.ask(token, "POST", "/v1/worker/result", &body).await.0 }
    };
    assert_eq!(post(report("e0")).await, 409);
    assert_eq!(post(report("e1")).await, 204);
    assert_eq!(post(report("e1")).await, 409);
    assert_eq!(result.await.unwrap().outcome, Outcome::Failed);
    // Gone with its runner.
    drop(mailbox);
    assert_eq!(api.ask(&token, "GET", "/v1/worker/next", "").await.0, 401);
}

#[tokio::test]
async fn a_test_is_told_where_to_call_what_it_has_started() {
    let api = Api::start().await;
    let post = |token: &str, name: &str, upstream: &str| {
        let body = json!({"name": name, "upstream": upstream}).to_string();
        let (api, token) = (&api, token.to_owned());
        async move { api.ask(&token, "POST", "/v1/services", &body).await }
    };
    let (first, second) = (api.control.token(0), api.control.token(1));
    for (token, at) in [(first, "127.0.0.1:7000"), (second, "127.0.0.1:7001")] {
        let told = json!({"name": "cart", "url": format!("http://{at}"), "address": at});
        assert_eq!(post(token, "cart", "127.0.0.1:4711").await, (200, told));
    }
    let refused = [
        ("cat", "127.0.0.1:1", 404, "started_by = \"test\""),
        ("shop", "127.0.0.1:1", 409, "`shop` is started by Murphy"),
        ("cart", "4711", 400, "host:port"),
        ("cart", "https://127.0.0.1:4711", 400, "without TLS"),
        ("cart", "127.0.0.1:7000", 400, "is the proxy of `cart`"),
    ];
    for (name, upstream, expected, why) in refused {
        let (status, body) = post(first, name, upstream).await;
        let error = body["error"].as_str().unwrap();
        assert_eq!(status, expected, "{name} {upstream}: {error}");
        assert!(error.contains(why), "{error}");
    }
    assert_eq!(post("guessed", "cart", "127.0.0.1:4711").await.0, 401);
    let (status, body) = api
        .ask(first, "POST", "/v1/services", "{\"name\": 1}")
        .await;
    assert_eq!(status, 400);
    assert!(body["error"].as_str().unwrap().contains("line 1"), "{body}");
}

#[tokio::test]
async fn each_process_has_what_it_has_started_itself() {
    let api = Api::start().await;
    let address = api.control.desk.started.address(0, "cart");
    let at = || address.get().as_deref().map(str::to_owned);
    let tell = |token: String, upstream: &str| {
        let body = json!({"name": "cart", "upstream": upstream}).to_string();
        let api = &api;
        async move {
            let (status, _) = api.ask(&token, "POST", "/v1/services", &body).await;
            assert_eq!(status, 200);
        }
    };
    let warm = api.control.open_mailbox(0);
    tell(warm.token().to_owned(), "127.0.0.1:1").await;
    let fresh = api.control.open_mailbox(0);
    assert_eq!(at(), None, "it has started nothing yet");
    tell(fresh.token().to_owned(), "127.0.0.1:2").await;
    assert_eq!(at().as_deref(), Some("127.0.0.1:2"));
    drop(fresh);
    warm.is_next();
    assert_eq!(at().as_deref(), Some("127.0.0.1:1"));
    let other = api.control.desk.started.address(1, "cart");
    assert_eq!(other.get(), None, "the other worker's test has its own");
    // The processes of a command share a token, but not what they start.
    tell(api.control.token(0).to_owned(), "127.0.0.1:3").await;
    api.control.test_begins(0, false);
    assert_eq!(at().as_deref(), Some("127.0.0.1:3"));
    api.control.test_begins(0, true);
    assert_eq!(at(), None);
}

#[tokio::test(start_paused = true)]
async fn a_runner_that_has_nothing_to_do_asks_again() {
    let mailbox = Mailbox::default();
    assert_eq!(mailbox.next(Duration::from_secs(20)).await, None);
    mailbox.stop();
    assert!(mailbox.next(Duration::from_secs(20)).await.is_some());
}

/// The description that is handed out with the guide.
const DESCRIBED: &str = include_str!("../../../../docs/guide/control-api.json");

#[test]
fn the_description_in_the_guide_is_the_one_of_the_types() {
    let described: Value = serde_json::from_str(DESCRIBED).unwrap();
    assert_eq!(
        described,
        openapi(),
        "`murphy schema control > docs/guide/control-api.json` writes it anew"
    );
}

#[tokio::test]
async fn what_is_described_is_there_and_nothing_else_is() {
    let described = openapi();
    let described = described["paths"].as_object().unwrap();
    let served: Vec<&str> = routes().iter().map(|(path, _)| *path).collect();
    assert_eq!(described.keys().collect::<Vec<_>>(), served);
    let api = Api::start().await;
    let id = api.begin(&[]).to_string();
    for (path, operations) in described {
        let path = path.replace("{id}", &id);
        for method in ["get", "put", "post", "delete", "patch"] {
            // A runner's token would wait for something to do.
            let (token, verb) = (api.control.token(0), method.to_uppercase());
            let (status, body) = api.ask(token, &verb, &path, "").await;
            let Some(operation) = operations.get(method) else {
                assert_eq!(status, 405, "{method} {path}");
                continue;
            };
            let answer = &operation["responses"][status.to_string()];
            assert!(answer.is_object(), "{method} {path} answers {status}");
            has_the_shape(&body, answer);
        }
    }
}

/// That an answer has the fields that are described, and no others.
fn has_the_shape(body: &Value, answer: &Value) {
    let shape = &answer["content"]["application/json"]["schema"]["$ref"];
    let name = shape.as_str().unwrap().rsplit('/').next().unwrap();
    let described = openapi();
    let fields = &described["components"]["schemas"][name]["properties"];
    let names = |value: &Value| {
        let names = value.as_object().unwrap().keys().cloned();
        names.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(names(body), names(fields), "{name}");
}

#[tokio::test]
async fn a_refusal_arrives_though_the_body_is_still_being_sent() {
    let api = Api::start().await;
    for _ in 0..20 {
        let body = "x".repeat(MOST / 2);
        let (status, _) = api.ask("guessed", "POST", "/v1/worker/result", &body).await;
        assert_eq!(status, 401);
    }
}
