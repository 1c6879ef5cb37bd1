//! A call is reported as answered before the end of its answer is sent, so
//! that whatever the caller does next comes after it. Reported afterwards, as
//! it would be if nobody took care, the end would not wait for the report.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use murphy_proxy::Settings;
use murphy_registry::Ending;

use crate::tap::Tap;
use crate::wire::Wire;

/// How long the control plane takes over a report, once it is told to.
const REPORT: Duration = Duration::from_millis(150);

#[test]
fn the_end_of_an_answer_waits_for_the_report() {
    let head = "HTTP/1.1 200 OK\r\n";
    // What passes before the report, what comes after it, and whether that is
    // a close.
    let cases = [
        ("", "Content-Length: 2\r\n\r\nok", false),
        ("Content-Length: 5\r\n\r\nok", "end", false),
        (
            "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
            "0\r\n\r\n",
            false,
        ),
        ("\r\nok", "", true),
    ];
    for (before, after, closes) in cases {
        let slow = Arc::new(AtomicBool::new(false));
        let wire = Wire::controlled(Settings::default(), |registry| {
            let slow = slow.clone();
            let see = move |_: &Ending| {
                if slow.load(Ordering::Relaxed) {
                    std::thread::sleep(REPORT);
                }
            };
            Arc::new(Tap { registry, see })
        });
        let execution = wire.begin("none");
        slow.store(true, Ordering::Relaxed);
        let mut caller = wire.caller();
        caller.send(format!("GET / HTTP/1.1\r\n{}\r\n", execution.context()));
        let mut callee = wire.callee();
        callee.read_head();
        let mut rest = format!("{head}{after}");
        if !before.is_empty() {
            callee.send(format!("{head}{before}"));
            caller.expect(format!("{head}{before}"));
            rest = after.to_owned();
        }
        callee.send(&rest);
        if closes {
            drop(callee);
        }
        caller.expect_silence();
        caller.expect(rest);
        if closes {
            caller.expect_close();
        }
    }
}
