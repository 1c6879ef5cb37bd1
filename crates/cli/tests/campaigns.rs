//! Whole campaigns on a system that Murphy starts itself: how they are
//! stopped, what they remember, and what their number at a time does not
//! change.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Trial};
use murphy_store::{CampaignState, Store};
use serde_json::Value;
use support::{Done, Project, processes_in, runs, signal, wait_until};

fn main() -> ExitCode {
    support::shop::serve_if_asked();
    let tests: Vec<(&str, fn())> = vec![
        ("one Ctrl-C finishes what runs and reports", one_ctrl_c),
        ("a second Ctrl-C stops at once", two_ctrl_c),
        ("SIGTERM stops at once and has its own exit code", sigterm),
        ("SIGHUP stops at once and cleans up, too", sighup),
        ("SIGTERM begins no other scenario", sigterm_among_several),
        ("nobody else may read what is kept", private_store),
        ("one file holds the store after a clean exit", one_file),
        (
            "secrets of the environment are never printed",
            hidden_secrets,
        ),
        ("jobs beyond the open files are refused", jobs_beyond_files),
        (
            "Ctrl-C while all is stopped takes no result away",
            ctrl_c_at_the_end,
        ),
        (
            "Ctrl-C while services start leaves none",
            ctrl_c_at_the_start,
        ),
        ("Ctrl-C stops commands that only look", ctrl_c_while_looking),
        (
            "what was found before a service went down is told",
            went_down,
        ),
        ("a result that was never told is told", never_told),
        (
            "killed in one scenario, none before it is run again",
            killed_among_several,
        ),
        ("jobs do not change results", jobs),
        (
            "a test that sleeps costs less than 1 % of a processor",
            nothing_to_do,
        ),
        (
            "the tests of a suite leave nothing open behind them",
            many_tests,
        ),
        (
            "who watches restarts only what may have read a saved file",
            watching,
        ),
        (
            "two campaigns at once do not disturb each other",
            two_at_once,
        ),
        ("nothing changed, nothing is run again", nothing_changed),
        ("what a changed service took part in is run again", changed),
        ("a version that is told counts, files then do not", told),
        ("verdicts of another test are not taken", another_test),
        ("nor are those of other faults", other_faults),
        ("known findings do not fail the build", baseline),
        (
            "that a bug is gone is told only by who looked everywhere",
            gone,
        ),
        ("why a campaign cannot be resumed is told", not_resumed),
        ("a store that cannot be written says so", no_store),
        (
            "a report that cannot be written keeps no other from it",
            full_disk,
        ),
        ("explanations come from the last campaign", explained),
        (
            "progress and report count the same failed executions",
            same_count_of_failed,
        ),
    ];
    let trial = |(name, test): (&str, fn())| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    libtest_mimic::run(
        &Arguments::from_args(),
        tests.into_iter().map(trial).collect(),
    )
    .exit_code()
}

const RUN: [&str; 3] = ["run", "--format", "json"];

/// A project whose shop is slow, so that a signal hits a campaign at work.
fn slow() -> Project {
    let project = Project::new();
    let config = fs::read_to_string(project.directory.join("murphy.toml")).unwrap();
    let reset = "[steps]\nreset = [\"sleep 0.05\"]\n";
    project.write("murphy.toml", &(config + reset));
    project
}

/// Starts a campaign and waits until it has made some executions.
fn at_work(project: &Project) -> Child {
    begin(project, Stdio::piped())
}

/// The same, with what it says going there.
fn begin(project: &Project, stderr: Stdio) -> Child {
    let events = "--report=events=events.ndjson";
    let mut murphy = project.murphy(&["run", "--format", "json", events]);
    let child = murphy.stderr(stderr).spawn();
    let path = project.directory.join("events.ndjson");
    wait_until("executions", || {
        let text = fs::read_to_string(&path).unwrap_or_default();
        text.matches("execution_ended").count() > 3
    });
    child.unwrap()
}

/// Where a child may say what is to be read while it runs.
fn messages(project: &Project) -> Stdio {
    fs::File::create(project.directory.join("messages"))
        .unwrap()
        .into()
}

/// What it has said there.
fn said(project: &Project) -> String {
    fs::read_to_string(project.directory.join("messages")).unwrap()
}

fn end(child: Child) -> Done {
    Done::of(child.wait_with_output().unwrap())
}

fn one_ctrl_c() {
    let project = slow();
    let child = at_work(&project);
    signal(child.id(), "INT");
    let done = end(child).exited(130);
    let result = done.result();
    assert_eq!(result["complete"], false);
    assert_eq!(result["incomplete"], "stopped");
    assert!(result["explored"].as_u64().unwrap() > 3);
    assert!(done.stderr.contains("finishing running executions"));
    assert!(done.stderr.contains("`--resume` with the same arguments"));
    project.check_nothing_is_left();
    // There is a result, and it can be resumed all the same.
    let events = "--report=events=events.ndjson";
    let resumed = ["run", "--format", "json", events, "--resume"];
    let resumed = project.run(&resumed).exited(1).result();
    let undisturbed = project.run(&RUN).exited(1).result();
    assert_eq!(resumed, undisturbed);
    let events = fs::read_to_string(project.directory.join("events.ndjson")).unwrap();
    let run_now = events.matches("\"stored\":false").count() as u64;
    assert!(run_now < resumed["explored"].as_u64().unwrap() - 3);
}

fn two_ctrl_c() {
    let project = slow();
    let config = fs::read_to_string(project.directory.join("murphy.toml")).unwrap();
    // An execution that is under way when the first one comes, and never ends.
    let hold = "sleep 0.05; if test -e hold; then touch held; sleep 600; fi";
    let hold = format!("[\"sh\", \"-c\", \"{hold}\"]");
    project.write("murphy.toml", &config.replace("\"sleep 0.05\"", &hold));
    let mut child = begin(&project, messages(&project));
    project.write("hold", "");
    let held = project.directory.join("held");
    wait_until("an execution that does not end", || held.exists());
    signal(child.id(), "INT");
    wait_until("one is heard", || {
        said(&project).contains("finishing running executions")
    });
    assert!(runs(&mut child), "one is not enough to stop at once");
    assert!(!said(&project).contains("stopping now"));
    signal(child.id(), "INT");
    let done = end(child).exited(130);
    assert_eq!(done.stdout, "");
    assert!(said(&project).contains("stopping now"));
    project.check_nothing_is_left();
    // It was interrupted, so it can be resumed.
    let store = Store::open(&project.state()).unwrap();
    let campaigns = store.campaigns().unwrap();
    assert_eq!(campaigns.len(), 1);
    assert_eq!(campaigns[0].state, CampaignState::Interrupted);
}

fn sigterm() {
    let project = slow();
    let child = at_work(&project);
    signal(child.id(), "TERM");
    let done = end(child).exited(143);
    assert_eq!(done.stdout, "", "there is no time for a report");
    assert!(done.stderr.contains("stopping now"), "{}", done.stderr);
    project.check_nothing_is_left();
}

fn sigterm_among_several() {
    let project = slow();
    let config = fs::read_to_string(project.directory.join("murphy.toml")).unwrap();
    let another = "\n[scenario.zzz]\ncommand = \"touch begun\"\n";
    project.write("murphy.toml", &(config + another));
    let mut murphy = project.murphy(&["run", "--report", "events=events.ndjson"]);
    let child = murphy.stderr(Stdio::piped()).spawn().unwrap();
    let events = project.directory.join("events-checkout.ndjson");
    wait_until("executions", || {
        let text = fs::read_to_string(&events).unwrap_or_default();
        text.matches("execution_ended").count() > 3
    });
    signal(child.id(), "TERM");
    let done = end(child).exited(143);
    let stopped = "stopped before there was a result";
    assert_eq!(done.stderr.matches(stopped).count(), 1, "{}", done.stderr);
    assert!(!project.directory.join("begun").exists());
    project.check_nothing_is_left();
}

fn sighup() {
    let project = slow();
    let child = at_work(&project);
    signal(child.id(), "HUP");
    let done = end(child).exited(129);
    assert_eq!(done.stdout, "", "nobody reads it");
    assert!(done.stderr.contains("stopping now"), "{}", done.stderr);
    project.check_nothing_is_left();
}

/// All that is below a directory, and itself, with its permissions.
fn permissions_below(path: &Path) -> Vec<(PathBuf, u32)> {
    let mode = fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    let mut all = vec![(path.to_owned(), mode)];
    for entry in fs::read_dir(path).into_iter().flatten() {
        all.extend(permissions_below(&entry.unwrap().path()));
    }
    all
}

fn private_store() {
    let project = Project::new();
    let command = [
        "-c",
        "umask 000; exec \"$0\" run",
        env!("CARGO_BIN_EXE_murphy"),
    ];
    let mut shell = Command::new("sh");
    let output = shell.args(command).current_dir(&project.directory).output();
    Done::of(output.unwrap()).exited(1);
    let all = permissions_below(&project.state());
    assert!(all.len() > 5, "store, logs and replays: {all:?}");
    for (path, mode) in all {
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, wanted, "{}: {mode:o}", path.display());
    }
    // One of an earlier version is closed too.
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(project.state(), open).unwrap();
    project.run(&RUN).exited(1);
    assert_eq!(permissions_below(&project.state())[0].1, 0o700);
}

fn one_file() {
    let project = Project::new();
    project.run(&RUN).exited(1);
    let entries = fs::read_dir(project.state()).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let store: Vec<String> = names.filter(|name| name.starts_with("store.db")).collect();
    assert_eq!(store, ["store.db"]);
}

fn hidden_secrets() {
    let project = Project::new();
    let says = "echo connecting to db:$DB_PASSWORD with $FILE_API_KEY; exit 1";
    let config = fs::read_to_string(project.directory.join("murphy.toml")).unwrap();
    let scenario = format!(
        "[scenario.says]\ncommand = [\"sh\", \"-c\", \"{says}\"]\nenv = {{ FILE_API_KEY = \"battery-staple\" }}\n"
    );
    project.write("murphy.toml", &(config + &scenario));
    let mut murphy = project.murphy(&["run", "says"]);
    let output = murphy.env("DB_PASSWORD", "correct-horse").output().unwrap();
    let done = Done::of(output).exited(3);
    let all = done.stdout + &done.stderr;
    let shown = "connecting to db:[redacted] with [redacted]";
    assert!(all.contains(shown), "{all}");
    assert!(!all.contains("correct-horse") && !all.contains("battery-staple"));
}

fn jobs_beyond_files() {
    let project = Project::new();
    let limited = |jobs: &str| {
        let script = format!("ulimit -n 256; exec \"$0\" run --format json --jobs {jobs}");
        let mut shell = Command::new("sh");
        let shell = shell.args(["-c", &script, env!("CARGO_BIN_EXE_murphy")]);
        Done::of(shell.current_dir(&project.directory).output().unwrap())
    };
    let refused = limited("500").exited(2);
    assert!(refused.stderr.contains("ulimit -n "), "{}", refused.stderr);
    let (_, fits) = refused.stderr.split_once("use `--jobs ").unwrap();
    let (fits, _) = fits.split_once('`').unwrap();
    // What is said to fit does.
    limited(fits).exited(1);
    assert!(processes_in(&project.directory).is_empty());
}

fn ctrl_c_at_the_end() {
    let project = Project::new();
    let config = fs::read_to_string(project.directory.join("murphy.toml")).unwrap();
    // Slow the first time only: what is interrupted is done again.
    let teardown =
        "[steps]\nteardown = [[\"sh\", \"-c\", \"rm slow && touch tearing && sleep 600; true\"]]\n";
    project.write("murphy.toml", &(config + teardown));
    project.write("slow", "");
    let mut murphy = project.murphy(&RUN);
    let mut child = murphy.stderr(messages(&project)).spawn().unwrap();
    let tearing = project.directory.join("tearing");
    wait_until("the teardown", || tearing.exists());
    signal(child.id(), "INT");
    wait_until("one is heard", || {
        said(&project).contains("shutting down what was started")
    });
    assert!(runs(&mut child), "one is not enough to stop at once");
    assert!(!said(&project).contains("stopping now"));
    signal(child.id(), "INT");
    let done = end(child).exited(130);
    assert_eq!(done.result()["findings"].as_array().unwrap().len(), 2);
    project.check_nothing_is_left();
}

fn ctrl_c_at_the_start() {
    let project = Project::new();
    let config = fs::read_to_string(project.directory.join("murphy.toml")).unwrap();
    let setup = "[steps]\nsetup = [\"sleep 60\"]\n";
    project.write("murphy.toml", &(config + setup));
    let child = project.murphy(&RUN).spawn().unwrap();
    // Itself, six services and the set-up.
    wait_until("all is up", || processes_in(&project.directory).len() == 8);
    signal(child.id(), "INT");
    let done = end(child).exited(130);
    assert!(done.stderr.contains("stopped before there was a result"));
    project.check_nothing_is_left();
}

fn ctrl_c_while_looking() {
    let project = Project::new();
    let config = fs::read_to_string(project.directory.join("murphy.toml")).unwrap();
    let setup = "[steps]\nsetup = [\"sleep 60\"]\n";
    project.write("murphy.toml", &(config + setup));
    let child = project.murphy(&["list"]).spawn().unwrap();
    wait_until("all is up", || processes_in(&project.directory).len() == 8);
    signal(child.id(), "TERM");
    end(child).exited(143);
    project.check_nothing_is_left();
}

/// A service that nobody starts again ends the campaign, but not what it has
/// found.
fn went_down() {
    let project = slow();
    let config = fs::read_to_string(project.directory.join("murphy.toml")).unwrap();
    let port = project.ports[1];
    let (before, rest) = config.split_once("[services.cart]").unwrap();
    let (_, after) = rest.split_once("[services.top]").unwrap();
    let cart = format!("[services.cart]\nupstream = \"127.0.0.1:{port}\"\n");
    project.write(
        "murphy.toml",
        &format!("{before}{cart}[services.top]{after}"),
    );
    let price = format!("127.0.0.1:{}", project.ports[0]);
    let mut cart = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["serve", "cart", &port.to_string(), &price])
        .spawn()
        .unwrap();
    wait_until("the cart", || {
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    });
    let child = at_work(&project);
    wait_until("a finding", || {
        let events = fs::read_to_string(project.directory.join("events.ndjson"));
        events.unwrap().contains("\"findings\":1")
    });
    cart.kill().unwrap();
    cart.wait().unwrap();
    // A finding counts, whatever else went wrong.
    let done = end(child).exited(1);
    let result = done.result();
    assert_eq!(result["incomplete"], "stopped");
    assert!(result["explored"].as_u64().unwrap() > 3);
    assert_ne!(result["findings"].as_array().unwrap().len(), 0);
    let says = format!(
        "service `cart` is down: nothing listens on 127.0.0.1:{port}; it went down while `"
    );
    assert!(done.stderr.contains(&says), "{}", done.stderr);
    project.check_nothing_is_left();
}

/// What is measured is processor time, so a busy machine changes nothing. A
/// thread that looks for work while there is none would show.
fn nothing_to_do() {
    let project = Project::new();
    let config = fs::read_to_string(project.directory.join("murphy.toml")).unwrap();
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = mute.local_addr().unwrap();
    let scenarios = format!(
        "[scenario.sleeps]\ncommand = [\"sh\", \"-c\", \"touch asleep; sleep 600\"]\n\
         [services.mute]\nupstream = \"{address}\"\n\
         [scenario.waits]\nrequest = \"GET /\"\nservice = \"mute\"\n"
    );
    project.write("murphy.toml", &(config + &scenarios));
    let asleep = project.directory.join("asleep");
    is_idle(&project, "sleeps", || asleep.exists());
    let is_asked = ask_in_vain(mute);
    is_idle(&project, "waits", || is_asked.is_finished());
}

/// Runs a scenario that ends only when it is stopped, and checks what Murphy
/// takes of the processors once it waits for that.
fn is_idle(project: &Project, scenario: &str, waits: impl FnMut() -> bool) {
    let child = project.murphy(&["run", scenario]).spawn().unwrap();
    wait_until(scenario, waits);
    let (before, began) = (processor_time(child.id()), Instant::now());
    std::thread::sleep(Duration::from_secs(3));
    let (used, passed) = (processor_time(child.id()) - before, began.elapsed());
    assert!(used <= passed / 100, "{scenario}: {used:?} in {passed:?}");
    signal(child.id(), "TERM");
    end(child).exited(143);
    project.check_nothing_is_left();
}

/// A scenario for each of so many tests, which ask for the same.
fn suite(project: &Project, tests: usize) {
    let config = fs::read_to_string(project.directory.join("murphy.toml")).unwrap();
    let ask = "exec 3<>/dev/tcp/${SHOP/://}\n\
               printf 'GET /checkout HTTP/1.0\\r\\nhost: shop\\r\\n\\r\\n' >&3\n\
               cat <&3 | grep -q ' 200 '\n";
    project.write("ask.sh", ask);
    let scenario = format!(
        "[scenario.suite]\nlist_command = \"seq {tests}\"\n\
         one_command = \"bash ask.sh {{id}}\"\n\
         env = {{ SHOP = \"{{shop.address}}\" }}\n"
    );
    project.write("murphy.toml", &(config + &scenario));
}

const SINGLE: [&str; 4] = ["--max-faults", "1", "--modes", "503"];

/// Each of them has a campaign in the store.
fn many_tests() {
    let project = Project::new();
    suite(&project, 24);
    let mut murphy = project.murphy(&["run", "suite"]);
    let messages = project.directory.join("messages");
    let file = fs::File::create(&messages).unwrap();
    let mut child = murphy.args(SINGLE).stderr(file).spawn().unwrap();
    let begun = || {
        let text = fs::read_to_string(&messages).unwrap_or_default();
        text.matches("scenario `").count()
    };
    let open = |pid: u32| fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
    wait_until("the fourth test", || begun() >= 4);
    let early = open(child.id());
    let mut most = 0;
    while runs(&mut child) {
        if begun() >= 20 {
            most = most.max(open(child.id()));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    end(child).exited(1);
    assert!(most > 0, "the last tests were seen");
    assert!(most < early + 16, "{early} open files, then {most}");
    project.check_nothing_is_left();
}

/// What is printed goes to a file that is watched, too.
fn watching() {
    let project = Project::new();
    suite(&project, 1);
    let messages = project.directory.join("messages");
    let file = fs::File::create(&messages).unwrap();
    let mut murphy = project.murphy(&["watch", "suite"]);
    let child = murphy.args(SINGLE).stderr(file).spawn().unwrap();
    let passes = |count: usize| {
        wait_until("a pass", || {
            let text = fs::read_to_string(&messages).unwrap_or_default();
            text.matches("; Ctrl-C ends").count() >= count
        });
    };
    passes(1);
    let before = services(&project);
    assert_eq!(before.len(), 6, "{before:?}");
    project.write("test_checkout.py", "saved");
    passes(2);
    let text = fs::read_to_string(&messages).unwrap();
    assert_eq!(services(&project), before, "{text}");
    project.write("cart/cart.py", "saved");
    passes(3);
    let mut after = services(&project);
    assert_ne!(
        after.insert("cart".to_owned(), 0),
        before.get("cart").copied()
    );
    let other = |it: &BTreeMap<String, u32>| {
        let others = it.iter().filter(|(name, _)| *name != "cart");
        others.map(|(_, pid)| *pid).collect::<Vec<_>>()
    };
    assert_eq!(other(&after), other(&before));
    signal(child.id(), "INT");
    end(child).exited(130);
    let text = fs::read_to_string(&messages).unwrap();
    assert_eq!(text.matches("saved: ").count(), 2, "{text}");
    project.check_nothing_is_left();
}

/// The processes of a project's services.
fn services(project: &Project) -> BTreeMap<String, u32> {
    let name = |pid: u32| {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
        let mut words = line.split('\0').skip_while(|word| *word != "serve");
        words.nth(1).map(str::to_owned)
    };
    let all = processes_in(&project.directory).into_iter();
    all.filter_map(|pid| Some((name(pid)?, pid))).collect()
}

/// Takes requests and answers none; over when the first has come.
fn ask_in_vain(mute: TcpListener) -> JoinHandle<Vec<TcpStream>> {
    std::thread::spawn(move || {
        let mut held = Vec::new();
        loop {
            let (mut stream, _) = mute.accept().unwrap();
            // Nothing is asked by who only looks whether it is there.
            let is_asked = stream.read(&mut [0; 1024]).unwrap() > 0;
            held.push(stream);
            if is_asked {
                return held;
            }
        }
    })
}

/// What a process has had of the processors so far.
fn processor_time(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    // For itself and in the kernel, in hundredths of a second.
    let ticks: u64 = fields[11..13]
        .iter()
        .map(|it| it.parse::<u64>().unwrap())
        .sum();
    Duration::from_millis(10 * ticks)
}

/// Whether the store has a campaign on this scenario in this state.
fn is_kept(project: &Project, scenario: &str, state: CampaignState) -> bool {
    let store = Store::open(&project.state()).unwrap();
    let campaigns = store.campaigns().unwrap();
    let mut campaigns = campaigns.iter();
    campaigns.any(|it| it.scenario == scenario && it.state == state)
}

/// As `kill -9` does it; what was left running besides is stopped, too.
fn kill(project: &Project, mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
    for pid in processes_in(&project.directory) {
        signal(pid, "KILL");
    }
}

/// Killed between the end of the campaign and its reports. Without what the
/// store knows of that, everything would be run again.
fn never_told() {
    let project = Project::new();
    let config = fs::read_to_string(project.directory.join("murphy.toml")).unwrap();
    // A hidden file is none of the test's.
    let teardown = "[steps]\nteardown = [\"sh -c 'test -e .quick || sleep 60'\"]\n";
    project.write("murphy.toml", &(config + teardown));
    let child = project.murphy(&RUN).spawn().unwrap();
    wait_until("its end", || {
        is_kept(&project, "checkout", CampaignState::Ended)
    });
    kill(&project, child);
    project.write(".quick", "");
    // The events are all there, so that it can also be reported as it is; the
    // replay files that were never written are then.
    let reported = project.run(&["report", "json"]).exited(1).result();
    // The kill may have left a draft of one.
    let replays = fs::read_dir(project.state().join("replays")).unwrap();
    let is_file = |path: &std::path::Path| path.extension().is_some_and(|it| it == "json");
    let replays = replays.filter(|entry| is_file(&entry.as_ref().unwrap().path()));
    assert_eq!(
        replays.count(),
        reported["findings"].as_array().unwrap().len()
    );
    let resumed = project.run(&["run", "--format", "json", "--resume"]);
    let resumed = resumed.exited(1);
    let result = resumed.result();
    assert_eq!(
        resumed.remembered(),
        under_faults(&result),
        "{}",
        resumed.stderr
    );
    assert_eq!(result, project.run(&RUN).exited(1).result());
    assert_eq!(reported, result);
    // Now it was told.
    let afresh = project.run(&["run", "--resume"]).exited(1);
    assert!(afresh.stderr.contains("starts afresh"), "{}", afresh.stderr);
}

fn killed_among_several() {
    let project = slow();
    let config = fs::read_to_string(project.directory.join("murphy.toml")).unwrap();
    let late = "[scenario.late]\nrequest = \"GET /checkout\"\nservice = \"shop\"\n";
    project.write("murphy.toml", &(config + late));
    let child = project.murphy(&["run"]).spawn().unwrap();
    wait_until("the second", || {
        is_kept(&project, "late", CampaignState::UnderWay)
    });
    kill(&project, child);
    let resume = ["run", "--resume", "--report=events=events.ndjson"];
    let resumed = project.run(&resume).exited(1);
    let afresh = resumed.stderr.matches("starts afresh").count();
    assert!(afresh <= 1, "{}", resumed.stderr);
    assert!(resumed.remembered() > 3, "{}", resumed.stderr);
    let events = fs::read_to_string(project.directory.join("events-checkout.ndjson")).unwrap();
    assert!(events.contains("\"stored\":true"), "{events}");
    assert!(!events.contains("\"stored\":false"), "{events}");
}

fn jobs() {
    let project = Project::new();
    let alone = project.run(&["run", "--format", "json"]).exited(1);
    let together = project
        .run(&["run", "--format", "json", "--jobs", "4"])
        .exited(1);
    assert_eq!(alone.result(), together.result());
    project.check_nothing_is_left();
}

fn two_at_once() {
    let project = Project::new();
    // Each on ports of its own, but in one directory.
    let config = fs::read_to_string(project.directory.join("murphy.toml")).unwrap();
    let other = Project::new();
    let elsewhere = project.ports.iter().zip(&other.ports);
    let config = elsewhere.fold(config, |text, (from, to)| {
        text.replace(&from.to_string(), &to.to_string())
    });
    project.write("other.toml", &config);
    let first = project.murphy(&RUN).spawn().unwrap();
    let second = ["run", "--format", "json", "--config", "other.toml"];
    let second = project.murphy(&second).spawn().unwrap();
    let (first, second) = (end(first).exited(1), end(second).exited(1));
    assert_eq!(first.result(), second.result());
    let store = Store::open(&project.state()).unwrap();
    let campaigns = store.campaigns().unwrap();
    assert_eq!(campaigns.len(), 2);
    for campaign in campaigns {
        assert_eq!(campaign.state, CampaignState::Ended);
        assert_eq!(campaign.findings, 2);
    }
    project.check_nothing_is_left();
}

const SINCE_LAST: [&str; 4] = ["run", "--format", "json", "--since-last"];

/// All that counts but the first: the reference is always run.
fn under_faults(result: &Value) -> usize {
    result["explored"].as_u64().unwrap() as usize - 1
}

fn nothing_changed() {
    let project = Project::new();
    let first = project.run(&RUN).exited(1).result();
    // A second time, because what was not run again must be remembered, too.
    for _ in 0..2 {
        let again = project.run(&SINCE_LAST).exited(1);
        assert!(
            again.stderr.contains("no service has changed"),
            "{}",
            again.stderr
        );
        assert_eq!(again.remembered(), under_faults(&first));
        let mut result = again.result();
        // It says what it relies on.
        let assumptions = result["assumptions"].as_array().unwrap().len();
        assert_eq!(
            assumptions,
            first["assumptions"].as_array().unwrap().len() + 1
        );
        result["assumptions"] = first["assumptions"].clone();
        assert_eq!(result, first);
    }
}

fn changed() {
    let project = Project::new();
    let first = project.run(&RUN).exited(1).result();
    // `top` is at work only where `recs` fails.
    project.write("top/notes.txt", "another version");
    let again = project.run(&SINCE_LAST).exited(1);
    assert!(
        again
            .stderr
            .contains("changed since the last campaign: top"),
        "{}",
        again.stderr
    );
    let remembered = again.remembered();
    assert!(remembered > 0 && remembered < under_faults(&first));
    assert_eq!(again.result()["explored"], first["explored"]);
    // `shop` is at work in all of them.
    project.write("shop/notes.txt", "another version");
    let again = project.run(&SINCE_LAST).exited(1);
    assert_eq!(again.remembered(), 0, "{}", again.stderr);
}

fn told() {
    let project = Project::new();
    let config = fs::read_to_string(project.directory.join("murphy.toml")).unwrap();
    let table = "[services.top]\n";
    assert!(config.contains(table));
    let version = format!("{table}version = \"${{TOP_IMAGE:-v1}}\"\n");
    project.write("murphy.toml", &config.replace(table, &version));
    let first = project.run(&RUN).exited(1).result();
    project.write("top/notes.txt", "another version");
    let again = project.run(&SINCE_LAST).exited(1);
    assert_eq!(again.remembered(), under_faults(&first), "{}", again.stderr);
    let newer = project.murphy(&SINCE_LAST).env("TOP_IMAGE", "v2").output();
    let newer = Done::of(newer.unwrap()).exited(1);
    assert!(
        newer.stderr.contains("last campaign: top"),
        "{}",
        newer.stderr
    );
    assert!(newer.remembered() < under_faults(&first));
}

fn another_test() {
    let project = Project::new();
    project.run(&RUN).exited(1);
    let config = fs::read_to_string(project.directory.join("murphy.toml")).unwrap();
    let expected = "under_fault = [503]";
    assert!(config.contains(expected));
    let content = config.replace(expected, "under_fault = [500, 503]");
    project.write("murphy.toml", &content);
    let again = project.run(&SINCE_LAST);
    assert!(
        again.stderr.contains("the test has changed"),
        "{}",
        again.stderr
    );
    assert_eq!(again.remembered(), 0);
}

fn other_faults() {
    let project = Project::new();
    project.run(&RUN).exited(1);
    let config = fs::read_to_string(project.directory.join("murphy.toml")).unwrap();
    project.write("murphy.toml", &(config + "[inject]\nmarker = false\n"));
    let again = project.run(&SINCE_LAST);
    assert!(
        again.stderr.contains("`[inject]` has changed"),
        "{}",
        again.stderr
    );
    assert_eq!(again.remembered(), 0);
}

/// How many executions failed, as the last progress of a run has it and as its
/// report does.
fn failed_in_progress_and_report(project: &Project, run: &[&str]) -> (Value, Value) {
    let reported = ["--format", "json", "--report", "events=events.ndjson"];
    let run = [run, &reported].concat();
    let result = project.run(&run).exited(1).result();
    let events = fs::read_to_string(project.directory.join("events.ndjson")).unwrap();
    let events = events
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let mut learned = events.filter(|event: &Value| event["event"] == "learned");
    let last = learned.next_back().unwrap();
    (last["failed"].clone(), result["failed_executions"].clone())
}

/// The shop's honest 503 passes the test and breaks a rule about responses:
/// what fails the build is counted as failed. What fails in an audit is not
/// among the executions that are told, and not among those that failed.
fn same_count_of_failed() {
    let project = Project::new();
    let (_, without_rule) = failed_in_progress_and_report(&project, &["run"]);
    let text = fs::read_to_string(project.directory.join("murphy.toml")).unwrap();
    project.write("murphy.toml", &(text + "[response]\nstatus = [\"2xx\"]\n"));
    let (progress, report) = failed_in_progress_and_report(&project, &["run"]);
    assert_eq!(progress, report);
    assert!(report.as_u64() > without_rule.as_u64(), "{report}");
    let audited = ["demo", "mailchimp", "--simulate", "--audit", "10"];
    let (progress, report) = failed_in_progress_and_report(&project, &audited);
    assert_eq!(progress, report);
}

fn baseline() {
    let project = Project::new();
    project.run(&RUN).exited(1);
    let reason = ["baseline", "write", "--reason", "until the rewrite"];
    project.run(&reason).exited(0);
    let known = project.run(&RUN).exited(0).result();
    let findings = known["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 2);
    for finding in findings {
        assert_eq!(finding["known"]["reason"], "until the rewrite");
        assert_eq!(finding["known"]["expired"], false);
    }
    let reported = ["run", "--report", "junit=junit.xml"];
    let told = project.run(&reported).exited(0).stdout;
    let junit = fs::read_to_string(project.directory.join("junit.xml")).unwrap();
    assert!(junit.contains(" failures=\"0\""), "{junit}");
    assert!(told.contains("known: until the rewrite ("), "{told}");
    let tally = |line: &str| line.starts_with("2 findings (2 known) in ");
    assert!(told.lines().any(tally), "{told}");

    let file = project.directory.join("murphy-baseline.toml");
    let _ = fs::remove_file(&file);
    let expires = ["--reason", "until then", "--expires", "2999-01-31"];
    let expires = [&["baseline", "write"][..], &expires[..]].concat();
    project.run(&expires).exited(0);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("2999", "2020")).unwrap();
    let again = project.run(&RUN).exited(1).result();
    assert_eq!(again["findings"][0]["known"]["expired"], true);
    assert_eq!(again["findings"][0]["known"]["reason"], Value::Null);
    let told = project.run(&["run"]).exited(1).stdout;
    assert!(told.contains("no longer excused"), "{told}");
}

fn gone() {
    let project = Project::new();
    project.write(
        "murphy-baseline.toml",
        "[[finding]]\nid = \"M-000000\"\nscenario = \"checkout\"\nreason = \"old\"\n",
    );
    let says_gone = |arguments: &[&str]| {
        let told = project.run(&[&["run"], arguments].concat()).stdout;
        assert!(told.contains(" can fail, in modes "), "{told}");
        told.contains("Not found any more")
    };
    assert!(says_gone(&[]));
    for narrowed in [
        ["--only", "** > cart *"],
        ["--except", "** > recs *"],
        ["--modes", "503"],
        ["--max-faults", "1"],
        ["--max-cases", "20"],
    ] {
        assert!(!says_gone(&narrowed), "{narrowed:?}");
    }
}

fn not_resumed() {
    let project = slow();
    let says = |change: &dyn Fn(), arguments: &[&str], why: &str| {
        let child = at_work(&project);
        signal(child.id(), "INT");
        end(child).exited(130);
        change();
        let same = ["run", "--resume", "--report=events=events.ndjson"];
        let resumed = [&same[..], arguments].concat();
        let told = project.run(&resumed).stderr;
        assert!(told.contains(why), "{why:?} is not in {told}");
        assert!(told.contains("; this one starts afresh"), "{told}");
        fs::remove_file(project.directory.join("events.ndjson")).unwrap();
    };
    let other = "interrupted, but used different options";
    says(&|| {}, &["--max-cases", "2"], other);
    says(&|| {}, &["--max-cases", "2", "--seed", "7"], other);
    let changed = || project.write("cart/new.py", "# changed");
    says(
        &changed,
        &["--max-cases", "2"],
        "service `cart` has changed since campaign ",
    );
}

fn no_store() {
    let project = Project::new();
    // Unlike a directory without permissions, this stops even root.
    project.write(".murphy", "not a directory");
    let done = project.run(&RUN).exited(2);
    assert!(done.stderr.contains(".murphy"), "{}", done.stderr);
    assert!(done.stderr.contains("hint: "), "{}", done.stderr);
    assert!(processes_in(&project.directory).is_empty());
}

fn full_disk() {
    let project = Project::new();
    let reports = ["--report", "json=/dev/full", "--report", "junit=out.xml"];
    let done = project
        .run(&[&["run"][..], &reports[..]].concat())
        .exited(1);
    assert!(done.stderr.contains("cannot write the report /dev/full"));
    assert!(done.stdout.contains("2 findings in "), "{}", done.stdout);
    let junit = fs::read_to_string(project.directory.join("out.xml")).unwrap();
    assert!(junit.ends_with("</testsuites>\n"), "{junit}");
}

fn explained() {
    let project = Project::new();
    project.run(&RUN).exited(1);
    let asked = ["explain", "** > stock * = 503"];
    let told = project.run(&asked).exited(0).stdout;
    assert!(told.contains("failed"), "{told}");
    assert!(processes_in(&project.directory).is_empty());
}
