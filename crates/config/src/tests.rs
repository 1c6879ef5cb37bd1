//! Whole files, read.

use std::collections::BTreeSet;

use murphy_campaign::REFERENCES;
use murphy_model::Point;
use murphy_search::Modes;
use murphy_system::spec::{
    CommandSpec, Health, RequestCall, ScenarioKind, ServiceSpec, Source, StepSpec, Unused,
};
use serde_json::{Value, json};
use toml::de::{DeTable, DeValue};

use super::*;

fn config(text: &str) -> Result<Config, Vec<Usage>> {
    Config::of_new_file(Path::new(NAME), text, &|name| {
        (name == "CART").then(|| "127.0.0.1:5001".to_owned())
    })
}

fn good(text: &str) -> Config {
    config(text).unwrap_or_else(|problems| panic!("{}", problems[0]))
}

fn problems(text: &str) -> Vec<String> {
    let problems = config(text).err().expect("a file that makes no sense");
    problems.iter().map(Usage::to_string).collect()
}

const CART: &str = "[services.cart]\nupstream = \"127.0.0.1:5001\"\n";

#[test]
fn a_few_lines_are_enough_and_the_rest_is_usual() {
    let config = good(CART);
    let [
        ServiceSpec {
            name,
            source,
            listen,
            proxied,
            calls,
            unused,
            health,
            place,
            process: None,
            tls: None,
            callers: _,
        },
    ] = &*config.system.services
    else {
        panic!("one service");
    };
    assert!(matches!(source, Source::Running { upstream } if upstream == "127.0.0.1:5001"));
    assert_eq!((name.as_str(), *listen, *proxied), ("cart", None, true));
    assert_eq!((calls, unused), (&None, &Unused::Never));
    assert_eq!(health.within, Health::default().within);
    assert_eq!(place.as_deref(), Some("murphy.toml:1"));
    assert_eq!(config.search.references, REFERENCES);
    assert_eq!(config.store.directory, Path::new(STORE));
    assert!(config.scenarios.is_empty() && config.modes.usual.is_none());
    assert_eq!(config.proxy.ignored, murphy_proxy::HEALTH_CHECKS);
}

#[test]
fn a_service_says_whom_it_calls_and_where_nobody_calls_it() {
    let shop = "[services.shop]\nupstream = 'h:1'\ncalls = ['cart']\nunused = ['browse']\n";
    let scenarios = "[scenario.browse]\nrequest = 'GET /'\nservice = 'shop'\n[scenario.buy]\nrequest = 'GET /'\nservice = 'shop'\n";
    let config = good(&format!("{shop}{CART}unused = true\n{scenarios}"));
    let [shop, cart] = &*config.system.services else {
        panic!("two services");
    };
    assert_eq!(shop.calls, Some(["cart".to_owned()].into()));
    assert!(shop.unused.covers("browse") && !shop.unused.covers("buy"));
    assert_eq!(cart.unused, Unused::Always);
    let wrong = "[services.shop]\nupstream = 'h:1'\ncalls = ['card']\nunused = ['by']\n";
    let said = problems(&format!("{wrong}{CART}{scenarios}"));
    assert!(said[0].contains("there is no service `card`"), "{said:?}");
    assert!(said[0].contains("did you mean `cart`?"), "{said:?}");
    assert!(said[1].contains("there is no scenario `by`"), "{said:?}");
    assert!(said[1].contains("did you mean `buy`?"), "{said:?}");
}

#[test]
fn calls_declared_idempotent_come_on_top_of_the_usual_ones() {
    let usual = murphy_oracle::Settings::default().idempotent;
    assert_eq!(good(CART).rules.idempotent, usual);
    let declared = "[retries]\nidempotent = [\"** > cart POST /carts/*\"]\n";
    let config = good(&format!("{CART}{declared}"));
    let (first, last) = config.rules.idempotent.split_at(usual.len());
    assert_eq!(first, usual);
    assert_eq!(last, ["** > cart POST /carts/*".parse().unwrap()]);
}

#[test]
fn services_and_scenarios_keep_the_order_they_are_written_in() {
    let text =
        "[services.z]\nupstream='h:1'\n[services.a]\nupstream='h:2'\n[services.m]\nupstream='h:3'";
    let config = good(text);
    let names: Vec<&str> = config.system.services.iter().map(|s| &*s.name).collect();
    assert_eq!(names, ["z", "a", "m"]);
}

#[test]
fn variables_are_filled_in_everywhere_even_in_json() {
    let text = "[services.cart]\nupstream = '${CART}'\n[scenario.x]\nrequest = 'PUT /'\njson = { deep = ['${CART}', '$$'] }";
    let config = good(text);
    let ScenarioKind::Requests(requests) = &config.scenarios[0].kind else {
        panic!("a request");
    };
    let RequestCall::Http { body, .. } = &requests[0].call else {
        panic!("HTTP");
    };
    assert_eq!(body, br#"{"deep":["127.0.0.1:5001","$"]}"#);
}

#[test]
fn a_request_becomes_what_the_campaign_understands() {
    let text = CART.to_owned()
        + r#"
[scenario.x]
request = "/cart?x=1"
headers = { X-User = "4" }
body = "text"
expect = { status = 200, under_fault = ["503"], json = { "a.0" = 1, b = "*" }, within = "1s", contains = "x", headers = { a = "b" } }
[scenario.y]
grpc = "/shop.Cart/Get"
expect = { status = ["OK", "NOT_FOUND"] }
"#;
    let config = good(&text);
    let request = |i: usize| match &config.scenarios[i].kind {
        ScenarioKind::Requests(requests) => requests[0].clone(),
        _ => panic!("a request"),
    };
    let http = request(0);
    assert_eq!(http.service, "cart");
    assert!(
        matches!(&http.call, RequestCall::Http { method, target, body }
        if method == "GET" && target == "/cart?x=1" && body == b"text")
    );
    assert_eq!(http.headers, [("x-user".to_owned(), "4".to_owned())]);
    assert_eq!(http.expect.status, ["200"]);
    assert_eq!(http.expect.under_fault.statuses, ["503"]);
    assert_eq!(
        http.expect.json,
        [("a.0".to_owned(), json!(1)), ("b".to_owned(), json!("*"))]
    );
    assert_eq!(http.expect.within, Some(Duration::from_secs(1)));
    let grpc = request(1);
    assert!(matches!(&grpc.call, RequestCall::Grpc { method, message }
        if method == "shop.Cart/Get" && *message == json!({})));
    assert_eq!(grpc.expect.status, ["OK", "NOT_FOUND"]);
}

#[test]
fn json_bodies_say_what_they_are_unless_the_file_does() {
    for (headers, wanted) in [
        ("", "application/json"),
        ("headers = { Content-Type = 'a/b' }", "a/b"),
    ] {
        let text = format!("{CART}[scenario.x]\nrequest = 'PUT /'\njson = {{}}\n{headers}");
        let ScenarioKind::Requests(requests) = &good(&text).scenarios[0].kind else {
            panic!("a request");
        };
        assert_eq!(
            requests[0].headers,
            [("content-type".to_owned(), wanted.to_owned())]
        );
    }
}

#[test]
fn the_most_particular_rule_says_how_a_call_fails() {
    let text = "
[services.cart]\nupstream = 'h:1'\nmodes = ['reset']
[services.quiet]\nupstream = 'h:2'\nmodes = []
[search]\nmodes = [500, '503, 500']
[[modes]]\nat = '** > cart GET *'\nmodes = 'hang'
[[modes]]\nat = '** > cart *'\nmodes = '404'
";
    let rules = Modes::ByRule(good(text).modes.for_search());
    let cases = [
        ("shop GET / > cart GET /a", "hang"),
        ("shop GET / > cart PUT /a", "404"),
        ("cart GET /a", "hang"),
        ("shop GET / > quiet GET /", ""),
        ("shop GET / > other GET /", "500, 503"),
    ];
    for (point, wanted) in cases {
        let point: Point = point.parse().unwrap();
        assert_eq!(mode_names(&rules.of(&point)), wanted, "{point}");
    }
}

#[test]
fn steps_are_commands_or_requests() {
    let text = CART.to_owned()
        + "[steps]\nreset = [\"a 'b c'\", ['d', 'e f'], { command = 'g', env = { X = '{cart.url}' } }, { request = 'POST /reset' }]";
    let steps = good(&text).system.reset;
    let words = |step: &StepSpec| match step {
        StepSpec::Command(command) => command.command.join("|"),
        StepSpec::Request(request) => request.service.clone(),
        StepSpec::Function(_) => panic!("no file holds one"),
    };
    let words: Vec<String> = steps.iter().map(words).collect();
    assert_eq!(words, ["a|b c", "d|e f", "g", "cart"]);
}

/// The only scenario there is, once this was typed for the one named.
fn typed(text: &str, words: &[&str], named: &[&str]) -> Result<ScenarioSpec, String> {
    let texts = |words: &[&str]| words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let typed = good(text).with_typed(&texts(words), "/there".into(), &texts(named));
    let (config, _) = typed.map_err(|refused| refused.to_string())?;
    let [only] = <[ScenarioSpec; 1]>::try_from(config.scenarios)
        .ok()
        .unwrap();
    Ok(only)
}

fn command_of(scenario: &ScenarioSpec) -> &CommandSpec {
    match &scenario.kind {
        ScenarioKind::Command(command) => command,
        _ => panic!("a command"),
    }
}

const X: &str = "[scenario.x]\ncommand = 'x -a'\nenv = { A = 'b' }\nunder_fault = 503\n";

#[test]
fn a_typed_command_stands_in_for_that_of_the_scenario() {
    let one = CART.to_owned() + X;
    let scenario = typed(&one, &["curl", "{cart.url}", r#"{"a":1}"#], &[]).unwrap();
    assert_eq!(scenario.name, TYPED);
    let command = command_of(&scenario);
    assert_eq!(command.command, ["curl", "{cart.url}", r#"{{"a":1}}"#]);
    assert_eq!(command.directory, Path::new("/there"));
    // What the scenario says besides its command counts for the typed one.
    assert_eq!(command.environment["A"], "b");
    assert_eq!(scenario.under_fault.statuses, ["503"]);
    let several = one + "[scenario.y]\ncommand = 'y'";
    let scenario = typed(&several, &["z"], &[]).unwrap();
    assert!(scenario.under_fault.is_empty() && command_of(&scenario).environment.is_empty());
    let scenario = typed(&several, &["z"], &["x"]).unwrap();
    assert_eq!(scenario.name, "x");
    assert_eq!(command_of(&scenario).environment["A"], "b");
}

#[test]
fn typed_words_that_begin_with_a_dash_are_added_to_the_command() {
    let one = CART.to_owned() + X;
    let several = one.clone() + "[scenario.y]\ncommand = 'y'";
    for (text, named) in [(&one, &[][..]), (&several, &["x"])] {
        let scenario = typed(text, &["-k", "{happy}"], named).unwrap();
        assert_eq!(scenario.name, "x");
        let command = command_of(&scenario);
        assert_eq!(command.command, ["x", "-a", "-k", "{{happy}}"]);
        assert_eq!(command.directory, good(text).file.directory());
        assert_eq!(command.environment["A"], "b");
    }
}

#[test]
fn typed_words_that_fit_no_scenario_are_refused() {
    let request = CART.to_owned() + "[scenario.r]\nrequest = 'GET /'\n";
    let several = request.clone() + X;
    let cases: [(&str, &[&str], &[&str], &str); 6] = [
        (CART, &["-k"], &[], "murphy.toml has no scenario"),
        (&several, &["-k"], &[], "there are r, x"),
        (&several, &["-k"], &["r"], "it declares requests"),
        (&several, &["z"], &["r"], "no command can stand in for them"),
        (&several, &["-k"], &["xx"], "did you mean `x`?"),
        (&several, &["-k"], &["r", "x"], "several are named"),
    ];
    for (text, words, named, says) in cases {
        let refused = typed(text, words, named).err().expect("refused");
        assert!(refused.contains(says), "{refused}");
    }
    // The only scenario was not asked for, so that it is no command matters not.
    assert!(typed(&request, &["z"], &[]).is_ok());
}

#[test]
fn common_variables_are_for_all_and_ones_own_win() {
    let text = "[env]\nA = '{cart.url}'\nB = 'b'\n\
        [services.cart]\ncommand = 'x'\nenv = { B = 'own' }\n\
        [scenario.t]\ncommand = 't'\n\
        [steps]\nsetup = ['s']\n";
    let config = good(text);
    let Source::Managed(cart) = &config.system.services[0].source else {
        panic!("started");
    };
    let StepSpec::Command(setup) = &config.system.setup[0] else {
        panic!("a command");
    };
    let of = |environment: &BTreeMap<String, String>| environment.clone().into_iter().collect();
    let both: Vec<(String, String)> = of(&cart.environment);
    let expected = |b: &str| {
        let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Vec::from([("A", "{cart.url}"), ("B", b)].map(pair))
    };
    assert_eq!(both, expected("own"));
    let test = command_of(&config.scenarios[0]);
    assert_eq!(of(&test.environment), expected("b"));
    assert_eq!(of(&setup.environment), expected("b"));
    // A test that is typed gets them as well, whatever scenarios there are.
    let alone = text.replace("[scenario.t]\ncommand = 't'\n", "");
    let scenario = typed(&alone, &["z"], &[]).unwrap();
    assert_eq!(of(&command_of(&scenario).environment), expected("b"));
}

/// Each with a part of the message and the text that is underlined.
#[test]
fn mistakes_are_told_with_their_place() {
    let service = |rest: &str| format!("[services.cart]\n{rest}");
    let with = |rest: &str| format!("{CART}{rest}");
    let cases = [
        (String::new(), "names no service", ""),
        (
            service("upstrem = 'a:1'"),
            "`[services.cart]` has no key `upstrem`",
            "upstrem",
        ),
        (
            service("upstream = 5"),
            "`services.cart.upstream` must be a text",
            "5",
        ),
        (service("upstream = 'a'"), "is not host:port", "'a'"),
        (service("command = ''"), "the command is empty", "''"),
        (service("command = []"), "the command is empty", "[]"),
        (
            service("command = 'x {crt.url}'"),
            "no service `crt`",
            "{crt.url}",
        ),
        (
            service("command = 'x {cart}'"),
            "is not a placeholder",
            "{cart}",
        ),
        (
            service("command = 'x'\nenv = { A = '{port' }"),
            "unmatched brace",
            "{port",
        ),
        (
            service("command = 'x'\nport = 70000"),
            "from 1 to 65535",
            "70000",
        ),
        (
            service("command = 'x'\ndirectory = 'nowhere'"),
            "no folder `nowhere`",
            "'nowhere'",
        ),
        (
            service("command = 'x'\nstop_within = 'soon'"),
            "is no time span",
            "'soon'",
        ),
        (service("command = 'x && y'"), "no shell", "&&"),
        (
            service("upstream = 'a:1'\nport = 1"),
            "`port` means nothing",
            "1",
        ),
        (
            service("upstream = 'a:1'\ncommand = 'x'"),
            "cannot both",
            "'x'",
        ),
        (
            service("proxied = true"),
            "needs `command` or `upstream`",
            "cart",
        ),
        (
            service("upstream = 'a:1'\nlisten = 'localhost:9'"),
            "no address to listen at",
            "'localhost:9'",
        ),
        (
            service("upstream = '127.0.0.1:9'\nlisten = '0.0.0.0:9'"),
            "cannot listen at",
            "'0.0.0.0:9'",
        ),
        (
            service("upstream = 'a:1'\nhealth = 'ok'"),
            "is no path",
            "'ok'",
        ),
        (
            service("upstream = 'a:1'\nmodes = ['500', '5o3']"),
            "",
            "5o3",
        ),
        (
            "[services.'a b']\nupstream = 'a:1'".to_owned(),
            "cannot be the name",
            "'a b'",
        ),
        (
            with("[services.b]\nupstream = '${NONE}'"),
            "no variable `NONE`",
            "${NONE}",
        ),
        (
            with("[scenario.x]\nservice = 'cart'"),
            "scenario `x` does nothing",
            "x",
        ),
        (
            with("[scenario.x]\ncommand = 'a'\nrequest = 'GET /'"),
            "both `command` and `request`",
            "'GET /'",
        ),
        (
            with("[scenario.x]\ncommand = 'a'\nexpect = {}"),
            "`expect` means nothing beside `command`",
            "{}",
        ),
        (
            with("[scenario.x]\ncommand = 'a {port}'"),
            "port of its own",
            "{port}",
        ),
        (
            with("[scenario.x]\nrequest = 'GET /'\nservice = 'crt'"),
            "no service `crt`",
            "'crt'",
        ),
        (
            with("[services.b]\nupstream = 'b:1'\n[scenario.x]\nrequest = 'GET /'"),
            "which service",
            "'GET /'",
        ),
        (
            with("[scenario.x]\nrequest = 'get /'"),
            "is no request",
            "'get /'",
        ),
        (
            with("[scenario.x]\nrequest = 'GET http://cart/'"),
            "is no request",
            "'GET http://cart/'",
        ),
        (
            with("[scenario.x]\ngrpc = 'Cart.Get'"),
            "no method of gRPC",
            "'Cart.Get'",
        ),
        (
            with("[scenario.x]\nrequest = 'GET /'\nexpect = { status = 20 }"),
            "no status of HTTP",
            "20",
        ),
        (
            with("[scenario.x]\ngrpc = 'a.B/C'\nexpect = { status = 5 }"),
            "no status of gRPC",
            "5",
        ),
        (
            with("[scenario.x]\nrequest = 'GET /'\njson = 1\nbody = 'x'"),
            "here are two",
            "'x'",
        ),
        (
            with("[scenario.x]\nrequest = 'GET /'\nheaders = { 'a b' = 'x' }"),
            "name of a header",
            "'a b'",
        ),
        (with("[scenario.x]\nsteps = []"), "there is no step", "[]"),
        (
            with("[scenario.x]\nsteps = [{ service = 'cart' }]"),
            "a step does nothing",
            "{ service = 'cart' }",
        ),
        (
            with("[steps]\nsetup = [5]"),
            "must be a command, or a table",
            "5",
        ),
        (with("[search]\nmodes = []"), "nothing can fail", "[]"),
        (with("[search]\nmodes = '500,rset'"), "", "rset"),
        (
            with("[search]\nmax_faults = 0"),
            "a whole number from 1",
            "0",
        ),
        (with("[search]\nseed = -1"), "a whole number from 0", "-1"),
        (
            with("[search]\nstrategy = 'treee'"),
            "no strategy `treee`",
            "'treee'",
        ),
        (
            with("[search]\nreduce = 'rety'"),
            "no reduction `rety`",
            "'rety'",
        ),
        (
            with("[search]\nreduce = 'ser'\nno_reduce = ['ser']"),
            "both switched",
            "['ser']",
        ),
        (with("[search]\nonly = ['']"), "", "'"),
        (
            with("[[modes]]\nat = '** > cart *'"),
            "needs a key `modes`",
            "[[modes]]",
        ),
        (
            with("[identity]\npayload = 'maybe'"),
            "no setting `maybe`",
            "'maybe'",
        ),
        (with("[identity]\npaths = 'users'"), "is no path", "'users'"),
        (
            with("[context]\ncarriers = 'tracestat'"),
            "no carrier is called `tracestat`",
            "'tracestat'",
        ),
        (
            with("[inject]\nanswers.999 = {}"),
            "no status of HTTP",
            "999",
        ),
        (
            with("[dialects.s4]\nerrors.503 = { code = 'Busy' }"),
            "dialect `s4` recognises no request",
            "s4",
        ),
        (
            with("[dialects.s3]\nerors = {}"),
            "`[dialects.s3]` has no key `erors`",
            "erors",
        ),
        (
            with("[dialects.s3]\nbody = '{cod}'"),
            "`{cod}` is not a placeholder",
            "'{cod}'",
        ),
        (
            with("[dialects.s3]\nerrors.99 = { code = 'Busy' }"),
            "`99` is no status of HTTP",
            "99",
        ),
        (
            with("[oracles]\na-b = 'fail'\na_b = 'warn'"),
            "set twice",
            "a_b",
        ),
        (
            with("[oracles]\nscenario = 'fatal'"),
            "no level `fatal`",
            "'fatal'",
        ),
        (
            with("[report]\njson = 'x'\njunit = 'x'"),
            "two reports",
            "'x'",
        ),
        (
            with("[scenarios.x]\ncommand = 'x'"),
            "the file has no key `scenarios`",
            "scenarios",
        ),
        (with("[search]\njobs = "), "not TOML", ""),
    ];
    let more = [
        (service("upstream = 'a:1'\nmodes = 50"), "100 to 599", "50"),
        (
            service("upstream = 'a:1'\nmodes = [true]"),
            "must be a mode",
            "true",
        ),
        (
            with("[[scenario.x.steps]]\nreqest = 'GET /'"),
            "`[scenario.x.steps.0]` has no key `reqest`",
            "reqest",
        ),
        (
            with("[steps]\nreset = [{ reqest = 'GET /' }]"),
            "`[steps.reset.0]` has no key `reqest`",
            "reqest",
        ),
    ];
    for (text, message, underlined) in cases.into_iter().chain(more) {
        let shown = &problems(&text)[0];
        assert!(shown.contains(message), "{text}\n---\n{shown}");
        let lines: Vec<&str> = shown.lines().collect();
        let carets = lines
            .iter()
            .position(|line| line.contains('^'))
            .expect(shown);
        let start = lines[carets].find('^').unwrap();
        let width = lines[carets].matches('^').count();
        let marked = lines[carets - 1].get(start..start + width).unwrap_or("");
        assert_eq!(marked, underlined, "{shown}");
        assert!(shown.contains("\nhint: "), "{shown}");
    }
}

#[test]
fn what_runs_elsewhere_does_not_take_our_ports() {
    good("[services.a]\nupstream = '10.0.0.5:80'\nlisten = '0.0.0.0:80'");
    good("[services.a]\nupstream = 'h:80'\n[services.b]\nupstream = 'h:80'");
    let twice = "[services.a]\ncommand = 'a'\nport = 80\n[services.b]\ncommand = 'b'\nport = 80";
    assert!(problems(twice)[0].contains("service `a` listens there"));
}

#[test]
fn several_mistakes_are_told_from_top_to_bottom() {
    let text = "[services.a]\nupstream = 'x'\n[services.b]\nupstream = 'b:1'\nmodes = 'nope'\n[scenario.x]\ncommand = 'a'\ntimeout = '5'";
    let found = problems(text);
    assert_eq!(found.len(), 3, "{found:#?}");
    for (problem, place) in found.iter().zip(["toml:2:", "toml:5:", "toml:8:"]) {
        assert!(problem.contains(place), "{problem}");
    }
}

/// Nothing that is typed half way makes the reader panic, and whatever it
/// refuses has a place.
#[test]
fn a_damaged_file_is_read_or_refused_with_a_place() {
    let characters = REFERENCE.char_indices().map(|(i, c)| i..i + c.len_utf8());
    let lines = REFERENCE.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some(start..*at)
    });
    let cut = characters.step_by(5).map(|part| (part, ""));
    let quoted = REFERENCE
        .char_indices()
        .step_by(11)
        .map(|(i, _)| (i..i, "\""));
    for (part, instead) in cut.chain(quoted).chain(lines.map(|part| (part, ""))) {
        let mut text = REFERENCE.to_owned();
        text.replace_range(part, instead);
        if let Err(problems) = config(&text) {
            assert!(!problems.is_empty());
            for problem in problems {
                assert!(
                    problem.to_string().contains("--> murphy.toml:"),
                    "{problem}"
                );
            }
        }
    }
}

#[test]
fn the_nearest_file_is_found_from_below_and_paths_start_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let deep = folder.join("below/deep");
    std::fs::create_dir_all(&deep).unwrap();
    let config = CART.to_owned() + "[report]\njson = 'x.json'";
    std::fs::write(folder.join(NAME), config).unwrap();
    let found = Config::load(None, &deep, &|_| None).ok().unwrap();
    assert_eq!(found.file.directory(), folder);
    assert_eq!(found.reports[0].path, folder.join("x.json"));
    assert_eq!(found.store.directory, folder.join(STORE));

    std::fs::write(folder.join("below").join(NAME), "").unwrap();
    let nearer = Config::load(None, &deep, &|_| None).err().unwrap();
    assert!(nearer[0].to_string().contains("names no service"));
    let given = Config::load(Some(Path::new("../../murphy.toml")), &deep, &|_| None);
    assert!(given.is_ok());
}

#[test]
fn later_checks_can_point_at_an_oracle() {
    let text = CART.to_owned() + "[oracles]\ntimout_inversion = 'warn'";
    let config = good(&text);
    let rule = &config.oracles[0];
    assert_eq!(
        (rule.name.as_str(), rule.level),
        ("timout-inversion", Level::Warn)
    );
    let shown = config
        .refusal(&rule.place, "no such oracle", "unknown")
        .to_string();
    assert!(shown.contains("murphy.toml:4:1") && shown.contains("| ^^^^^^^^^^^^^^^^ unknown"));
}

/// Paths of keys: names that users choose are `*`, and so are places in lists.
fn keys_of_schema(schema: &Value, root: &Value, path: &str, keys: &mut BTreeSet<String>) {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let definition = root.pointer(reference.trim_start_matches('#'));
        keys_of_schema(definition.expect(reference), root, path, keys);
    }
    for way in schema["anyOf"].as_array().into_iter().flatten() {
        keys_of_schema(way, root, path, keys);
    }
    for (key, value) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{key}");
        keys_of_schema(value, root, &path, keys);
        keys.insert(path);
    }
    for inner in ["items", "additionalProperties"] {
        if schema[inner].is_object() {
            keys_of_schema(&schema[inner], root, &format!("{path}.*"), keys);
        }
    }
}

fn keys_of_table(
    table: &DeTable<'_>,
    path: &str,
    known: &BTreeSet<String>,
    keys: &mut BTreeSet<String>,
) {
    for (key, value) in table.iter() {
        let named = format!("{path}.{}", key.get_ref());
        let here = if known.contains(&named) {
            named
        } else {
            format!("{path}.*")
        };
        keys_of_value(value.get_ref(), &here, known, keys);
        keys.insert(here);
    }
}

fn keys_of_value(
    value: &DeValue<'_>,
    path: &str,
    known: &BTreeSet<String>,
    keys: &mut BTreeSet<String>,
) {
    match value {
        DeValue::Table(table) => keys_of_table(table, path, known, keys),
        DeValue::Array(items) => {
            for item in items.iter() {
                keys_of_value(item.get_ref(), &format!("{path}.*"), known, keys);
            }
        }
        _ => {}
    }
}

/// One name for keys that mean the same in several places.
fn folded(key: &str) -> String {
    if let Some((_, answer)) = key.split_once(".scenario.*.under_fault.") {
        let answer = answer.strip_prefix("*.").unwrap_or(answer);
        return format!(".expect.{answer}");
    }
    if let Some((_, expectation)) = key.split_once(".expect.") {
        let answer = ["under_fault.*.", "under_fault."];
        let answer = answer
            .iter()
            .find_map(|part| expectation.strip_prefix(part));
        return format!(".expect.{}", answer.unwrap_or(expectation));
    }
    let parts = [".steps.setup.*", ".steps.reset.*", ".steps.teardown.*"];
    let step = parts.iter().find_map(|part| key.strip_prefix(part));
    step.map_or(key.to_owned(), |rest| format!(".steps{rest}"))
}

#[test]
fn the_reference_explains_every_key_of_the_schema() {
    let schema = schema::schema();
    let mut known = BTreeSet::new();
    keys_of_schema(&schema, &schema, "", &mut known);
    assert!(known.contains(".steps.reset.*.expect.status"), "{known:#?}");
    let table = DeTable::parse(REFERENCE).unwrap();
    let mut explained = BTreeSet::new();
    keys_of_table(table.get_ref(), "", &known, &mut explained);
    // What can stand in several places is explained in one of them; of `json`
    // and `body` a request has only one.
    let explained: BTreeSet<String> = explained.iter().map(|key| folded(key)).collect();
    let folded_known: BTreeSet<String> = known.iter().map(|key| folded(key)).collect();
    let elsewhere = BTreeSet::from([".scenario.*.body".to_owned()]);
    let missing: Vec<&String> = folded_known
        .difference(&explained)
        .filter(|key| !elsewhere.contains(*key))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn the_reference_can_be_read() {
    // Where there are the files that it names.
    let here = tempfile::tempdir().unwrap();
    let certs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/systems/https/certs");
    std::fs::create_dir(here.path().join("certs")).unwrap();
    for (from, to) in [
        ("ca.pem", "ca.pem"),
        ("client.pem", "murphy.pem"),
        ("client.key", "murphy.key"),
    ] {
        std::fs::copy(certs.join(from), here.path().join("certs").join(to)).unwrap();
    }
    let text = REFERENCE.replace("\"certs/", &format!("\"{}/certs/", here.path().display()));
    let config = good(&text);
    assert_eq!(config.scenarios.len(), 4);
    assert_eq!(config.search.references, REFERENCES);
    assert_eq!(config.store.keep, KEEP);
    assert_eq!(
        config.proxy.carriers.to_string(),
        murphy_proxy::carriers::Carriers::default().to_string()
    );
}

/// The guide holds the reference word for word, so that it cannot go stale.
#[test]
fn the_guide_shows_the_reference() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/configuration.md");
    let guide = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = guide
        .split_once("```toml reference\n")
        .expect("the reference");
    let (shown, after) = rest.split_once("```\n").expect("its end");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        let new = format!("{before}```toml reference\n{REFERENCE}```\n{after}");
        std::fs::write(&path, new).unwrap();
        return;
    }
    assert!(
        shown == REFERENCE,
        "UPDATE_EXPECTED=1 writes {} anew",
        path.display()
    );
}
