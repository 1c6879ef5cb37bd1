//! What surviving context means, and how to keep more of it alive.

use std::collections::BTreeSet;
use std::io::{self, Write};

use murphy_system::sightings::Row;

/// How calls are identified.
pub(super) struct Meaning {
    /// Whether one execution runs at a time.
    pub(super) solo: bool,
    /// Whether every call that was seen belongs to an execution.
    pub(super) is_all_seen: bool,
}

/// Says what the rows mean; `suspects` are the services whose own calls lack
/// our mark.
pub(super) fn write(
    meaning: Meaning,
    rows: &[Row],
    suspects: &BTreeSet<&str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lost = rows.iter().any(|row| !row.is_known());
    let meaning = match meaning.solo {
        false if !meaning.is_all_seen => {
            "Parallel executions (`--jobs`) can be distinguished where context survives; other calls were\n  seen that belong to no execution (below)."
        }
        true if lost => {
            "One execution runs at a time (solo), whatever `--jobs` says, and callers are inferred:\n  some calls bring nothing by which their execution can be told."
        }
        true => "One execution runs at a time (solo), as it is set.",
        false if suspects.is_empty() => {
            "Parallel executions (`--jobs`) can be distinguished, and every caller is certain."
        }
        false => {
            "Parallel executions (`--jobs`) can be distinguished. Where only ids survive, callers are\n  inferred, which is ambiguous while a service serves several calls of one execution."
        }
    };
    writeln!(out, "  {meaning}")?;
    if suspects.is_empty() {
        return Ok(());
    }
    let suspects: Vec<&str> = suspects.iter().copied().collect();
    writeln!(
        out,
        "\n  To keep the context alive, let {} hand on `traceparent` and `tracestate`:",
        suspects.join(", ")
    )?;
    HOW.iter()
        .try_for_each(|(stack, how)| writeln!(out, "    {stack:<8} {how}"))
}

/// Tried with real services; see docs/guide/parallel.md.
const HOW: [(&str, &str); 4] = [
    (
        "Python",
        "run it with `opentelemetry-instrument`; install opentelemetry-distro, the instrumentation of\n             every client in use and opentelemetry-instrumentation-threading; set\n             OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER and OTEL_LOGS_EXPORTER to none",
    ),
    (
        "Node",
        "NODE_OPTIONS=\"--require @opentelemetry/auto-instrumentations-node/register\", not with the\n             exporter none (some versions then hand on nothing); OTEL_NODE_RESOURCE_DETECTORS=none",
    ),
    (
        "Jaeger",
        "its clients hand on others: `[context] carriers = [\"header:uberctx-*\", \"uber-trace-id\"]`",
    ),
    (
        "others",
        "such as Java: copy the two headers from each request to the calls made for it, or name a\n             header that is handed on already: `carriers = [\"x-request-id\"]` or `[\"header:NAME\"]`",
    ),
];
