//! Prints what searching costs, next to the predecessor's way of exploring,
//! both on the same simulator in the same run.

use murphy_bench::measure::{measured, show};
use murphy_bench::predecessor;
use murphy_corpus::generated::{hard_dependencies, system};
use murphy_corpus::{FaultSet, Simulator, find};
use murphy_model::{Certificate, Mode, Point};
use murphy_search::{Modes, Options, Reduction, Tree, explore};

struct Row {
    name: &'static str,
    make: fn() -> Simulator,
    reduce: &'static [Reduction],
    /// Whether the predecessor's way ends in reasonable time here.
    comparable: bool,
}

const ROWS: [Row; 6] = [
    Row {
        name: "netflix",
        make: || app("netflix", ""),
        reduce: &[],
        comparable: true,
    },
    Row {
        name: "netflix, bugs=on",
        make: || app("netflix", "bugs=on"),
        reduce: &[],
        comparable: true,
    },
    Row {
        name: "netflix, mode equivalence",
        make: || app("netflix", ""),
        reduce: &[Reduction::Modes],
        comparable: false,
    },
    Row {
        name: "register, 4 retries, retry reduction",
        make: || app("register", "retries=4"),
        reduce: &[Reduction::Retry],
        comparable: false,
    },
    Row {
        name: "micro",
        make: || app("micro", ""),
        reduce: &[],
        comparable: true,
    },
    Row {
        name: "60 hard dependencies",
        make: || Simulator::of(system(hard_dependencies(60))),
        reduce: &[],
        comparable: true,
    },
];

fn app(name: &str, settings: &str) -> Simulator {
    let app = find(name).expect("an app of the corpus");
    let settings = app.settings_from_text(settings).expect("valid settings");
    Simulator::new(app, settings)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [] => print_table(),
        [row, by] => measure_one(&ROWS[row.parse::<usize>().expect("a row number")], by),
        _ => panic!("usage: search"),
    }
}

/// Every measurement is made in a process of its own, so that none inherits
/// the memory of another.
fn print_table() {
    println!("Modes 500, 502, 503, 504; simulated end to end; CPU time of one thread.");
    println!("The predecessor's way of exploring is re-implemented in bench/src/predecessor.rs.");
    println!();
    println!(
        "{:<37} {:<11} {:>8} {:>10} {:>7} {:>9} {:>9}",
        "system", "by", "explored", "considered", "ratio", "CPU ms", "peak MiB"
    );
    for (index, row) in ROWS.iter().enumerate() {
        let ours = in_own_process(index, "murphy");
        print!("{:<37} {ours}", row.name);
        if row.comparable {
            let theirs = in_own_process(index, "predecessor");
            print!("{:<37} {theirs}", "");
        }
    }
}

fn in_own_process(row: usize, by: &str) -> String {
    let program = std::env::current_exe().expect("this program has a path");
    let output = std::process::Command::new(program)
        .args([&row.to_string(), by])
        .output()
        .expect("this program can be started again");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn measure_one(row: &Row, by: &str) {
    let ((explored, considered), cost) = measured(|| match by {
        "murphy" => {
            let certificate = ours(row);
            (certificate.explored, certificate.considered)
        }
        _ => {
            let outcome = theirs(row);
            (outcome.explored, outcome.considered)
        }
    });
    println!(
        "{:<11} {:>8} {:>10} {:>7.2} {:>9} {:>9}",
        by,
        explored,
        considered,
        considered as f64 / explored as f64,
        show(cost.cpu_ms),
        show(cost.peak_mib)
    );
}

fn ours(row: &Row) -> Certificate {
    let mut simulator = (row.make)();
    let modes = FaultSet::http_errors().by_service(simulator.system());
    let mut options = Options::new(Modes::ByService(modes));
    options.reduce.extend(row.reduce);
    explore(&mut Tree::new(options), 1, |faultload| {
        simulator.run(faultload)
    })
}

fn theirs(row: &Row) -> predecessor::Outcome {
    let modes = |_: &Point| [500, 502, 503, 504].map(Mode::status).to_vec();
    predecessor::explore(&mut (row.make)(), &modes)
}
