//! The tables people read.

use super::rounds::{Results, Row};
use super::subject::Kind;

/// Prints one shape of load.
pub fn print(results: &Results) {
    println!();
    println!("{}", results.shape);
    println!(
        "  {:<35} {:>8} {:>9} {:>7} {:>7} {:>8} {:>8} {:>8}",
        "", "req/s", "of direct", "p50 us", "p99 us", "CPU us", "x nginx", "x Envoy"
    );
    for row in &results.rows {
        println!("  {}", line(row, results));
    }
}

fn line(row: &Row, results: &Results) -> String {
    let per_second = row.median(|sample| sample.per_second);
    let direct = results.row(Kind::Direct);
    let of_direct = direct.map(|direct| per_second / direct.median(|sample| sample.per_second));
    format!(
        "{:<35} {:>8.0} {:>9} {:>7.0} {:>7.0} {:>8} {:>8} {:>8}",
        row.kind.to_string(),
        per_second,
        show(of_direct, 2),
        row.median(|sample| sample.p50_us),
        row.median(|sample| sample.p99_us),
        show(row.cpu_us(), 1),
        show(results.times(row.kind, Kind::Nginx), 2),
        show(results.times(row.kind, Kind::Envoy), 2),
    )
}

fn show(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}
