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
    let times = |other: Kind| row.cpu_us().zip(results.row(other)?.cpu_us()).map(ratio);
    format!(
        "{:<35} {:>8.0} {:>9} {:>7.0} {:>7.0} {:>8} {:>8} {:>8}",
        row.kind.to_string(),
        per_second,
        show(of_direct, 2),
        row.median(|sample| sample.p50_us),
        row.median(|sample| sample.p99_us),
        show(row.cpu_us(), 1),
        show(times(Kind::Nginx), 2),
        show(times(Kind::Envoy), 2),
    )
}

fn ratio((ours, theirs): (f64, f64)) -> f64 {
    ours / theirs
}

fn show(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}
