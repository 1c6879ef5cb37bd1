//! What surviving context means, and how to keep more of it alive.

use std::collections::BTreeSet;
use std::io::{self, Write};

use murphy_system::sightings::Row;

use super::Room;

/// How calls are identified.
pub(super) struct Meaning {
    /// Whether one execution runs at a time.
    pub(super) solo: bool,
    /// Whether every call that was seen belongs to an execution.
    pub(super) is_all_seen: bool,
}

/// Says what the rows mean; `suspects` are the services whose own calls lack
/// our mark.
pub(super) fn write_meaning(
    meaning: Meaning,
    rows: &[Row],
    suspects: &BTreeSet<&str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lost = rows.iter().any(|row| !row.is_known());
    let meaning = match meaning.solo {
        false if !meaning.is_all_seen => {
            "Parallel executions (`--jobs`) can be distinguished where context survives;\n  other calls were seen that belong to no execution (below)."
        }
        true if lost => {
            "One execution runs at a time (solo), whatever `--jobs` says, and callers are\n  inferred: some calls bring nothing by which their execution can be told."
        }
        true => "One execution runs at a time (solo), as it is set.",
        false if suspects.is_empty() => {
            "Parallel executions (`--jobs`) can be distinguished; every caller is certain."
        }
        false => {
            "Parallel executions (`--jobs`) can be distinguished. Where only ids survive,\n  callers are inferred, which is ambiguous while a service serves several calls\n  of one execution."
        }
    };
    writeln!(out, "  {meaning}")
}

/// How to keep the context alive in these services.
pub(super) fn how_to_propagate(suspects: &BTreeSet<&str>, room: Room) -> String {
    let suspects: Vec<&str> = suspects.iter().copied().collect();
    let mut text = format!(
        "To keep the context alive, let {} hand on `traceparent` and `tracestate`:",
        suspects.join(", ")
    );
    if room == Room::Page {
        return text + "\n`--verbose` says how, for Python, Node and others.";
    }
    for (stack, how) in HOW {
        let mut lines = how.lines();
        let first = lines.next().unwrap_or_default();
        text += &format!("\n{stack:<8} {first}");
        text.extend(lines.map(|line| format!("\n         {line}")));
    }
    text
}

/// Tried with real services; see docs/guide/parallel.md.
const HOW: [(&str, &str); 4] = [
    (
        "Python",
        "run it with `opentelemetry-instrument`; install opentelemetry-distro,\nthe instrumentation of every client in use and\nopentelemetry-instrumentation-threading; set OTEL_TRACES_EXPORTER,\nOTEL_METRICS_EXPORTER and OTEL_LOGS_EXPORTER to none",
    ),
    (
        "Node",
        "NODE_OPTIONS=\"--require\n@opentelemetry/auto-instrumentations-node/register\", not with the\nexporter none (some versions then hand on nothing);\nOTEL_NODE_RESOURCE_DETECTORS=none",
    ),
    (
        "Jaeger",
        "its clients hand on others:\n`[context] carriers = [\"header:uberctx-*\", \"uber-trace-id\"]`",
    ),
    (
        "others",
        "such as Java: copy the two headers from each request to the calls\nmade for it, or name a header that is handed on already:\n`carriers = [\"x-request-id\"]` or `[\"header:NAME\"]`",
    ),
];
