//! The raw numbers, for those who want to calculate themselves.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::rounds::{Results, Row, Sample};

/// Writes every sample of every round.
pub fn write(path: &Path, versions: &[String], all: &[Results]) -> Result<()> {
    let shapes: Vec<Value> = all.iter().map(results).collect();
    let document = json!({"versions": versions, "results": shapes});
    let text = serde_json::to_string_pretty(&document)?;
    std::fs::write(path, text + "\n")
        .with_context(|| format!("{} cannot be written", path.display()))
}

fn results(results: &Results) -> Value {
    let rows: Vec<Value> = results.rows.iter().map(row).collect();
    json!({
        "protocol": results.shape.protocol.key(),
        "connections": results.shape.connections,
        "streams_per_connection": results.shape.streams(),
        "subjects": rows,
    })
}

fn row(row: &Row) -> Value {
    let rounds: Vec<Value> = row.samples.iter().map(sample).collect();
    json!({"subject": row.kind.key(), "rounds": rounds})
}

fn sample(sample: &Sample) -> Value {
    json!({
        "requests": sample.requests,
        "requests_per_second": sample.per_second,
        "p50_us": sample.p50_us,
        "p99_us": sample.p99_us,
        "cpu_us_per_request": sample.cpu_us,
    })
}
