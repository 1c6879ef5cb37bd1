//! What families hold to be right: of one answer, and of a whole search.
//!
//! Owns the words scenarios complain in, so that the same complaint reads the
//! same in every family, and the usual shapes of [`Expected`].

use crate::net::{Ctx, PendingCall, Response};
use crate::{Expected, Outcome};

/// The four HTTP errors of the published experiments.
pub(super) const HTTP: &str = "500,502,503,504";
/// What each service declares it can raise.
pub(super) const DECLARED: &str = "declared";

/// The answer to a scenario's request; a request without one is a complaint.
pub(super) async fn answer(call: PendingCall) -> Result<Response, String> {
    call.send()
        .await
        .map_err(|error| format!("expected an answer, but: {error}"))
}

/// Complains about an answer unless it is as wanted.
pub(super) fn that(as_wanted: bool, wanted: &str, response: &Response) -> Result<(), String> {
    if as_wanted {
        return Ok(());
    }
    Err(format!("expected {wanted}, got {}", response.status))
}

/// Without faults 200, with faults one of these statuses.
pub(super) fn ok_or(ctx: &Ctx, response: &Response, under_faults: &[u16]) -> Result<(), String> {
    if !ctx.any_fault() {
        return that(response.status == 200, "200 without faults", response);
    }
    let allowed: Vec<String> = under_faults.iter().map(u16::to_string).collect();
    that(
        under_faults.contains(&response.status),
        &format!("{} under faults", allowed.join(" or ")),
        response,
    )
}

/// A search with these modes finds exactly these minimal faultloads.
pub(super) fn fails(
    settings: &'static str,
    modes: &'static str,
    faultloads: &'static [&'static str],
) -> Expected {
    Expected {
        settings,
        modes,
        outcome: Outcome::Fails(faultloads),
    }
}

/// A search with these modes is refused: the reference fails.
pub(super) fn refused(settings: &'static str, modes: &'static str) -> Expected {
    Expected {
        settings,
        modes,
        outcome: Outcome::ReferenceFails,
    }
}

/// Neither HTTP errors nor declared ones make the scenario fail.
pub(super) fn nothing_fails() -> Vec<Expected> {
    vec![fails("", HTTP, &[]), fails("", DECLARED, &[])]
}

/// The same, over gRPC too.
pub(super) fn nothing_fails_on_either_wire() -> Vec<Expected> {
    let over_grpc = [HTTP, DECLARED].map(|modes| fails("wire=grpc", modes, &[]));
    nothing_fails().into_iter().chain(over_grpc).collect()
}
