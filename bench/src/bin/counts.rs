//! Prints every published count next to ours.

use murphy_bench::published::{all, run};

fn main() {
    let mut differ = 0;
    println!(
        "{:<16} {:<18} {:<26} {:<9} {:<4} {:<6} {:>9} {:>9} {:>10}",
        "app", "settings", "identity", "faults", "SER", "retry", "published", "ours", "considered"
    );
    for row in all() {
        if murphy_corpus::find(row.app).is_none() {
            println!("{} missing", row.app);
            continue;
        }
        let certificate = run(&row);
        let same = certificate.explored == row.explored;
        differ += usize::from(!same);
        let faults = row.faults;
        println!(
            "{:<16} {:<18} {:<26} {:<9} {:<4} {:<6} {:>9} {:>9} {:>10} {} {} {:?}",
            row.app,
            row.settings,
            row.identity,
            faults,
            if row.encapsulation { "on" } else { "off" },
            if row.retry { "on" } else { "off" },
            row.explored,
            certificate.explored,
            certificate.considered,
            if same { "same" } else { "DIFFERENT" },
            certificate.points,
            certificate.skips.map(|s| (
                s.possible.to_string(),
                s.by_policy
                    .values()
                    .map(|v| v.to_string())
                    .collect::<Vec<_>>()
            ))
        );
    }
    std::process::exit(i32::from(differ > 0));
}
