//! What a test's output says is wrong, in one line that is the same each time
//! the same thing is wrong.
//!
//! Findings are distinguished by their complaints, so a complaint must not hold
//! what changes from run to run. Owns the choice of the most telling line and
//! the masking of numbers, times, ids and paths in it.

/// The longest complaint, in characters.
const LONGEST: usize = 200;

/// What stands for what changes.
const MASK: &str = "*";

/// The most telling line of a test's output, masked; `None` if there is
/// nothing to tell.
pub fn telling_line(output: &str) -> Option<String> {
    let plain = without_colours(output);
    let lines: Vec<&str> = plain.lines().map(str::trim_end).collect();
    let line = chosen(&lines)?;
    let masked = mask(line.trim());
    let short: String = masked.chars().take(LONGEST).collect();
    Some(short)
}

/// What a test says is wrong, masked, in one line.
pub fn one_line(message: &str) -> String {
    let plain = without_colours(message);
    let line = plain.lines().map(str::trim).find(|line| !line.is_empty());
    let masked = mask(line.unwrap_or_default());
    masked.chars().take(LONGEST).collect()
}

/// The line of a test's output that this masked complaint was made from, with its
/// values; `None` where nothing is masked, or the output does not hold it.
pub fn with_values(masked: &str, output: &str) -> Option<String> {
    if !masked.contains(MASK) {
        return None;
    }
    let plain = without_colours(output);
    // pytest marks what it says of an assertion.
    let line = |line: &str| {
        let line = line.trim();
        let said = line.strip_prefix("E   ").unwrap_or(line);
        said.trim().to_owned()
    };
    let is_it = |line: &String| {
        let short: String = mask(line).chars().take(LONGEST).collect();
        short == masked
    };
    let found = plain.lines().map(line).find(is_it)?;
    Some(found.chars().take(LONGEST).collect())
}

/// Without the escape sequences that colour a terminal; some test runners
/// write them into pipes too.
fn without_colours(output: &str) -> String {
    let mut plain = String::with_capacity(output.len());
    let mut rest = output;
    while let Some((before, sequence)) = rest.split_once("\x1b[") {
        plain.push_str(before);
        let end = sequence.find(|c: char| c.is_ascii_alphabetic());
        rest = end.map_or("", |at| &sequence[at + 1..]);
    }
    plain + rest
}

/// The first rule that finds a line wins; within a rule it is the first line
/// or the last, whichever the tools that print it mean.
fn chosen(lines: &[&str]) -> Option<String> {
    let first = |is: fn(&str) -> bool| lines.iter().position(|line| is(line));
    let last = |is: fn(&str) -> bool| lines.iter().rposition(|line| is(line));
    let text = |at: usize| lines[at].to_owned();
    // pytest: what it says of an assertion, with the marker taken off.
    if let Some(at) = first(|line| line.starts_with("E   ") && line.len() > 4) {
        return Some(lines[at][1..].to_owned());
    }
    if let Some(at) = first(|line| line.contains("panicked at")) {
        // The message is on the line below.
        let below = lines.get(at + 1).copied().unwrap_or_default();
        return Some(format!("{} {below}", lines[at]));
    }
    let tests = |line: &str| {
        let line = line.trim_start();
        let marks = ["FAILED ", "not ok ", "--- FAIL:", "FAIL:", "✕ ", "✗ ", "× "];
        marks.iter().any(|mark| line.starts_with(mark))
    };
    let errors = |line: &str| {
        let words = [
            "AssertionError",
            "Error:",
            "Exception",
            "error:",
            "assertion",
        ];
        words.iter().any(|word| line.contains(word))
    };
    let test = first(tests).map(text);
    let error = last(errors).map(text);
    // Node's and Go's runners name the test; the error says more, and the
    // last one of a traceback is the one that was raised.
    let named = test.or(error);
    named.or_else(|| last(|line| !line.trim().is_empty()).map(text))
}

/// A text without what changes from run to run.
pub fn mask(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = None;
    while let Some(next) = rest.chars().next() {
        let within_word = before.is_some_and(|c: char| c.is_alphanumeric());
        let length = match within_word {
            true => None,
            false => volatile(rest),
        };
        match length {
            Some(length) => {
                masked.push_str(MASK);
                before = rest[..length].chars().last();
                rest = &rest[length..];
            }
            None => {
                masked.push(next);
                before = Some(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    masked
}

/// How many bytes at the beginning of a text change from run to run.
fn volatile(text: &str) -> Option<usize> {
    if text.starts_with("/tmp/") || text.starts_with("/var/folders/") {
        let end = text.find(|c: char| c.is_whitespace() || "'\"`,;)".contains(c));
        return Some(end.unwrap_or(text.len()));
    }
    if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let shapes = [
        "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh",
        "dddd-dd-ddTdd:dd:dd",
        "dddd-dd-dd",
        "dd:dd:dd",
    ];
    let shaped = shapes.iter().find(|shape| has_shape(text, shape));
    if let Some(shape) = shaped {
        return Some(with_fraction(text, shape.len()));
    }
    number(text).or_else(|| hexadecimal(text))
}

fn has_shape(text: &str, shape: &str) -> bool {
    let fits = |(byte, want): (u8, u8)| match want {
        b'd' => byte.is_ascii_digit(),
        b'h' => byte.is_ascii_hexdigit(),
        _ => byte == want,
    };
    text.len() >= shape.len() && text.bytes().zip(shape.bytes()).all(fits)
}

/// A time may go on with parts of a second.
fn with_fraction(text: &str, length: usize) -> usize {
    let rest = &text[length..];
    let fraction = rest.strip_prefix(['.', ',']);
    let digits = fraction.map_or(0, digits_at_start);
    match digits {
        0 => length,
        digits => length + 1 + digits,
    }
}

fn digits_at_start(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Long numbers, as ports and ids are, and durations. Short ones stay: they
/// are statuses and amounts, which is what a complaint is about.
fn number(text: &str) -> Option<usize> {
    let whole = digits_at_start(text);
    if whole == 0 {
        return None;
    }
    let fraction = text[whole..].strip_prefix('.').map_or(0, digits_at_start);
    let length = match fraction {
        0 => whole,
        fraction => whole + 1 + fraction,
    };
    let unit: String = text[length..]
        .trim_start()
        .chars()
        .take_while(|c| c.is_alphabetic())
        .collect();
    let space = text[length..].len() - text[length..].trim_start().len();
    let is_duration = match unit.as_str() {
        "ns" | "us" | "µs" | "ms" | "s" => space == 0 || unit.len() > 1,
        "sec" | "secs" | "seconds" | "second" | "milliseconds" => true,
        _ => false,
    };
    if is_duration {
        return Some(length + space + unit.len());
    }
    if !unit.is_empty() && space == 0 {
        // The beginning of a word.
        return None;
    }
    // Rust tells the number of the thread, which is short in a container.
    let is_thread = text[length..].starts_with(") panicked at");
    (whole > 3 || fraction > 2 || is_thread).then_some(length)
}

/// Addresses in memory, and ids: long, and not a word.
fn hexadecimal(text: &str) -> Option<usize> {
    let word = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let digits = text[..word].strip_prefix("0x");
    if digits.is_some_and(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_hexdigit())) {
        return Some(word);
    }
    let is_id = word >= 8
        && text[..word].bytes().all(|byte| byte.is_ascii_hexdigit())
        && text[..word].bytes().any(|byte| byte.is_ascii_digit());
    is_id.then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_output_has_a_short_line_or_none(output in "(E   |[\\PC\\n\x1b\\[0-9a-f:.-]){0,80}") {
            let line = telling_line(&output);
            prop_assert!(line.is_none_or(|line| line.chars().count() <= LONGEST));
        }

        #[test]
        fn ports_and_ids_do_not_matter(port in 1024u16.., id in 1u128 << 64.., took in 0.0f64..100.0) {
            let text = format!("http://127.0.0.1:{port}/{id:032x} took {took:.4}s");
            prop_assert_eq!(mask(&text), "http://127.0.0.1:*/* took *");
        }
    }

    #[test]
    fn what_changes_is_masked_and_what_matters_stays() {
        let cases = [
            ("assert 500 == 200", "assert 500 == 200"),
            ("http://127.0.0.1:41233/cart", "http://127.0.0.1:*/cart"),
            (
                "order 018f3a2b-7c1d-7e2f-8a3b-1234567890ab lost",
                "order * lost",
            ),
            ("at 2026-11-16T03:20:47.123Z", "at *Z"),
            ("at 2026-11-16 03:20:47,5", "at * *"),
            ("failed in 0.34s", "failed in *"),
            ("took 1234 ms, 12ms or 1.5 seconds", "took *, * or *"),
            ("<Shop object at 0x7f3a2c>", "<Shop object at *>"),
            ("id deadbeef01 of cafe", "id * of cafe"),
            (
                "deadline exceeded, 3 items, 9.99 EUR",
                "deadline exceeded, 3 items, 9.99 EUR",
            ),
            ("in /tmp/pytest-of-me/pytest-12/x0: gone", "in * gone"),
            ("ratio 0.33333", "ratio *"),
            ("v2 of http2, 5xx", "v2 of http2, 5xx"),
            ("é 12345 é", "é * é"),
            ("'a' (843) panicked at b.rs:5", "'a' (*) panicked at b.rs:5"),
        ];
        for (text, masked) in cases {
            assert_eq!(mask(text), masked);
        }
    }

    #[test]
    fn the_most_telling_line_is_found() {
        let pytest = "\
=== FAILURES ===
    def test_checkout():
>       assert response.status_code == 200
E       assert 500 == 200
E        +  where 500 = <Response [500]>.status_code

tests/test_shop.py:12: AssertionError
=== short test summary info ===
FAILED tests/test_shop.py::test_checkout - assert 500 == 200
=== 1 failed in 0.34s ===
";
        let python = "\
Traceback (most recent call last):
  File \"t.py\", line 3, in <module>
    raise KeyError('x')
AssertionError: no answer from http://127.0.0.1:41233
";
        let rust = "\
running 1 test
thread 'main' panicked at src/lib.rs:5:9:
assertion failed: ok
note: run with RUST_BACKTRACE=1
";
        let cases = [
            (pytest, Some("assert 500 == 200")),
            (
                python,
                Some("AssertionError: no answer from http://127.0.0.1:*"),
            ),
            (
                rust,
                Some("thread 'main' panicked at src/lib.rs:5:9: assertion failed: ok"),
            ),
            (
                "ok 1 - a\nnot ok 2 - buys\n# done\n",
                Some("not ok 2 - buys"),
            ),
            (
                "--- FAIL: TestBuy (0.05s)\nFAIL\n",
                Some("--- FAIL: TestBuy (*)"),
            ),
            (
                "\x1b[1m\x1b[31mE       assert 1 == 2\x1b[0m\nlast",
                Some("assert 1 == 2"),
            ),
            ("first\nlast\n\n", Some("last")),
            ("\n \n", None),
        ];
        for (output, line) in cases {
            assert_eq!(telling_line(output).as_deref(), line);
        }
    }
}
