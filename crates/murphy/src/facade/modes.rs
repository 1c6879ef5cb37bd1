//! How calls fail where nothing more is said.

use murphy_model::{Mode, Protocol};
use murphy_search::ModeRules;

/// How HTTP calls fail by default: the four errors of the published
/// experiments.
pub const HTTP_MODES: &str = "500,502,503,504";

/// How gRPC calls fail by default: what such callees can really answer with.
pub const GRPC_MODES: &str =
    "grpc:UNAVAILABLE,grpc:INTERNAL,grpc:DEADLINE_EXCEEDED,grpc:RESOURCE_EXHAUSTED";

/// These modes for all calls that can carry them, or the default.
pub(super) fn rules(asked: Option<Vec<Mode>>) -> ModeRules {
    let usual = |default: &str| match &asked {
        Some(modes) => modes.clone(),
        None => Mode::parse_list(default).expect("our own defaults"),
    };
    let for_http = |mode: &Mode| mode.fits(Protocol::Http);
    ModeRules {
        http: usual(HTTP_MODES).into_iter().filter(for_http).collect(),
        grpc: usual(GRPC_MODES),
        ..ModeRules::default()
    }
}

/// All that calls may fail with, as it is reported.
pub(super) fn names(rules: &ModeRules) -> Vec<String> {
    let all = match rules.http.is_empty() {
        true => &rules.grpc,
        false => &rules.http,
    };
    all.iter().map(Mode::to_string).collect()
}
