//! Exit codes: the part of the outcome that scripts see.
//!
//! A stable contract. Where several apply, the first of this order wins:
//! [`INTERRUPTED`], [`TERMINATED`] and [`HUNG_UP`], [`INTERNAL`], [`USAGE`],
//! [`FINDINGS`], [`REFERENCE_FAILED`], [`NOTHING_INJECTED`], [`INCOMPLETE`],
//! [`OK`]. What was found counts, whatever else went wrong.

/// No findings.
pub(crate) const OK: u8 = 0;

/// At least one finding.
pub(crate) const FINDINGS: u8 = 1;

/// What was asked for makes no sense: arguments or configuration.
pub(crate) const USAGE: u8 = 2;

/// There is nothing to compare with: the scenario fails without any fault, is
/// not stable, or cannot be run at all because a service is down, a port is
/// taken or a command is not found. These show only when something is run, so
/// they say nothing against the arguments or the file. Also if that comes
/// later and nothing was found until then.
pub(crate) const REFERENCE_FAILED: u8 = 3;

/// There is nothing to inject, or no planned fault was injected: nothing was tested.
pub(crate) const NOTHING_INJECTED: u8 = 4;

/// The search ended before it was complete, and `--require-complete` was given.
pub(crate) const INCOMPLETE: u8 = 5;

/// A bug of Murphy (`EX_SOFTWARE` of sysexits.h).
pub(crate) const INTERNAL: u8 = 70;

/// Stopped by SIGINT, with or without a result (128 + 2, as shells do).
pub(crate) const INTERRUPTED: u8 = 130;

/// Stopped by SIGTERM, with or without a result (128 + 15).
pub(crate) const TERMINATED: u8 = 143;

/// Stopped by SIGHUP, which comes when the terminal or the connection to it is
/// closed, with or without a result (128 + 1).
pub(crate) const HUNG_UP: u8 = 129;

/// The code of several scenarios together: the first that applies to any of
/// them, in the order above.
pub(crate) fn worst(codes: &[u8]) -> u8 {
    let order = [
        INTERRUPTED,
        TERMINATED,
        HUNG_UP,
        INTERNAL,
        USAGE,
        FINDINGS,
        REFERENCE_FAILED,
        NOTHING_INJECTED,
        INCOMPLETE,
    ];
    let worst = order.into_iter().find(|code| codes.contains(code));
    worst.unwrap_or(OK)
}
