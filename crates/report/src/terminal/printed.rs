//! What the execution that shows a bug printed, shortly.
//!
//! Owns how much of it is shown. It comes in parts, the test's own and those of
//! the services, each under a line with its name; a part's last lines say most,
//! and one that is long must not hide the others.

use std::io::{self, Write};

use murphy_model::Finding;

use super::number::counted;
use super::style::QUIET;
use super::visible;
use crate::{Summary, redact};

/// Lines shown of a part, without the one that names it.
const MOST_OF_PART: usize = 3;

/// Lines shown of all parts together: a finding stays on one screen.
pub(super) const MOST: usize = 12;

/// Longer lines wrap too often to be read.
const LONGEST: usize = 160;

/// Writes the end of what was printed, if anything was; once for all findings
/// of the same execution, under the `first` of them.
pub(super) fn write(
    finding: &Finding,
    first: &Finding,
    summary: &Summary,
    most: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    // Cases are in order, and there may be as many as findings.
    let number = |case: &crate::Case| case.number;
    let case = summary
        .cases
        .binary_search_by_key(&finding.execution, number);
    let case = case.ok().map(|at| &summary.cases[at]);
    let Some(output) = case.and_then(|case| case.output.as_deref()) else {
        return Ok(());
    };
    let output = redact::owned(&redact::plain(output));
    let (lines, hidden) = ends(&output, most);
    if lines.is_empty() {
        return Ok(());
    }
    if first.id != finding.id {
        return writeln!(out, "    printed: as shown under {}", first.id);
    }
    writeln!(out, "    printed:")?;
    for line in lines {
        writeln!(out, "      | {}", short(line))?;
    }
    match hidden {
        0 => Ok(()),
        hidden => writeln!(
            out,
            "      {QUIET}| … {} more; {} shows all{QUIET:#}",
            counted(hidden, "line"),
            whole(finding, summary)
        ),
    }
}

/// Where all of it can be read.
fn whole(finding: &Finding, summary: &Summary) -> String {
    match summary.replay(finding) {
        Some(replay) => format!("`{replay}`"),
        None => "a JUnit report".to_owned(),
    }
}

/// The last lines of every part, and how many are left out. Blank ones do not
/// count.
fn ends(output: &str, most: usize) -> (Vec<&str>, usize) {
    let lines = output.lines().filter(|line| !line.trim().is_empty());
    let lines: Vec<&str> = lines.collect();
    let mut shown = Vec::new();
    for part in lines.chunk_by(|_, next| !is_name(next)) {
        let (name, rest) = part.split_at(usize::from(is_name(part[0])));
        shown.extend(name);
        shown.extend(&rest[rest.len().saturating_sub(MOST_OF_PART)..]);
    }
    shown.truncate(most);
    let hidden = lines.len() - shown.len();
    (shown, hidden)
}

/// Whether a line says whose lines follow.
fn is_name(line: &str) -> bool {
    line.starts_with("--- `") && line.ends_with(" ---")
}

/// The line as far as it can be read, without what cannot be seen.
fn short(line: &str) -> String {
    let seen = visible(line.trim_end());
    match seen.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &seen[..end]),
        None => seen,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use murphy_model::{Faultload, Verdict};

    use super::super::style;
    use super::*;
    use crate::{Case, summary};

    fn finding(id: &str) -> Finding {
        Finding {
            id: id.to_owned(),
            ..summary::finding("")
        }
    }

    /// Two findings of the same execution, which printed this.
    fn written(output: Option<&str>) -> [String; 2] {
        let case = |number: usize, output: Option<&str>| Case {
            number,
            faultload: Faultload::none(),
            verdict: Verdict::Passed,
            took: Duration::ZERO,
            findings: Vec::new(),
            output: output.map(str::to_owned),
        };
        let summary = Summary {
            findings: vec![finding("M-1"), finding("M-2")],
            cases: vec![case(1, Some("another one")), case(2, output)],
            replay_command: Some("murphy replay".to_owned()),
            ..summary::empty()
        };
        [0, 1].map(|i| {
            let mut out = Vec::new();
            write(
                &summary.findings[i],
                &summary.findings[0],
                &summary,
                MOST,
                &mut out,
            )
            .unwrap();
            style::plain(&out)
        })
    }

    #[test]
    fn every_part_shows_its_end() {
        let output = "one\ntwo\n\u{1b}[31mthree\u{1b}[0m\n\nfour\r
\n--- `shop` logged during this execution ---\nPOST /?token=s3cr3t\n
\n--- `cart` ended: exit status: 1 ---\n";
        let expected = "    printed:
      | two
      | three
      | four
      | --- `shop` logged during this execution ---
      | POST /?token=[redacted]
      | --- `cart` ended: exit status: 1 ---
      | … 1 line more; `murphy replay M-1` shows all
";
        let [first, second] = written(Some(output));
        assert_eq!(first, expected);
        assert_eq!(second, "    printed: as shown under M-1\n");
    }

    #[test]
    fn what_is_long_is_cut() {
        let part = format!("--- `a` logged ---\n{}\n", "x".repeat(LONGEST + 1));
        let [text, _] = written(Some(&part.repeat(10)));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + MOST + 1);
        assert_eq!(lines[2].chars().filter(|c| *c == 'x').count(), LONGEST);
        assert!(lines[2].ends_with("x…"));
        assert!(lines[13].contains("… 8 lines more"), "{}", lines[13]);
    }

    #[test]
    fn where_nothing_was_printed_nothing_is_told() {
        assert_eq!(written(None), ["", ""]);
        assert_eq!(written(Some("\n \n")), ["", ""]);
    }
}
