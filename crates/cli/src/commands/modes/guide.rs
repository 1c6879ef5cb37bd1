//! The guide's page on modes, made from the same table as the command.
//!
//! Owns the page's text and the test that the file holds it. With
//! `UPDATE_EXPECTED=1` the test writes the file.

use std::fmt::Write;

use murphy_model::ModeSet;
use murphy_search::{GRPC_MODES, HTTP_MODES};

use super::table::{ENTRIES, Entry, PHASES, about_set};
use super::{is_in, spaced};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/modes.md");

const BEGIN: &str = "\
# All modes

A mode is how a call fails: when, relative to the work of the callee, and what the caller gets. This page holds what `murphy modes` prints;
`murphy modes after:reset` shows one. Each example is found by the command beside it: `murphy demo` runs on a system that comes with Murphy, `murphy run` on yours.

";

const END: &str = "
## Choosing
- `murphy run --modes 503,hang`, `modes` under `[search]` in [murphy.toml](configuration.md), for the calls to one service (`[services.NAME]`), or for
  particular calls (`[[modes]]`). `503` and `before:503` are the same; outcomes that need an answer to spoil (`truncate`, `slow`, `malformed`) come after
  the work anyway.
- `tls:` modes are for callers that speak TLS with Murphy ([HTTPS](https.md)), and are in no default. A caller that takes the certificate all the same is
  served, and the report says that the fault was not injected.
- Every mode is one more case for each call; modes that a caller treats alike are not combined ([mode equivalence](../design/decision-trees.md)).
- A report ends with *What else to try* where the traffic suggests it: `after:` modes where a POST, a PATCH or a gRPC method is retried, `hang` where no
  timeout was seen.
";

fn page() -> String {
    let mut page = BEGIN.to_owned();
    let [http, grpc] = [HTTP_MODES, GRPC_MODES].map(as_code);
    let defaults = format!("By default HTTP calls fail with {http}, gRPC calls with {grpc}.");
    let _ = writeln!(
        page,
        "{defaults} In a list, one word may stand for several:"
    );
    for set in ModeSet::ALL {
        let (name, modes) = (set.name, as_code(set.modes));
        let _ = writeln!(page, "- `{name}`: {modes}; {}.", about_set(set));
    }
    for (phase, name, about) in PHASES {
        let _ = writeln!(page, "\n## {name}: {about}\n");
        page += "| mode | what happens | an example of what it shows | what it costs |\n| --- | --- | --- | --- |\n";
        for entry in ENTRIES.iter().filter(|entry| is_in(entry, phase)) {
            page += &row(entry);
        }
    }
    page + END
}

fn row(entry: &Entry) -> String {
    let Entry {
        mode,
        happens,
        shows,
        costs,
        demo,
        ..
    } = entry;
    let others = match entry.others {
        "" => String::new(),
        others => format!("; {others}"),
    };
    format!("| `{mode}`{others} | {happens} | {shows}: `{demo}` | {costs} |\n")
}

fn as_code(list: &str) -> String {
    format!("`{}`", spaced(list).replace(", ", "`, `"))
}

#[test]
fn the_guide_says_what_the_command_says() {
    let page = page();
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let kept = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(
        kept == page,
        "docs/guide/modes.md is not what the table says; UPDATE_EXPECTED=1 writes it anew"
    );
}
