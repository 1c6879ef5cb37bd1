//! How calls fail where nothing more is said, and how that is told.

use murphy_model::{Mode, Protocol};
use murphy_search::ModeRules;

/// How HTTP calls fail by default: the four errors of the published
/// experiments.
pub const HTTP_MODES: &str = "500,502,503,504";

/// How gRPC calls fail by default: what such callees can really answer with.
pub const GRPC_MODES: &str =
    "grpc:UNAVAILABLE,grpc:INTERNAL,grpc:DEADLINE_EXCEEDED,grpc:RESOURCE_EXHAUSTED";

/// These modes for all calls that can carry them, or the default.
pub fn mode_rules(asked: Option<Vec<Mode>>) -> ModeRules {
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

/// All that calls may fail with, each once, as it is reported.
pub fn mode_names(rules: &ModeRules) -> Vec<String> {
    let usual = match rules.http.is_empty() {
        true => &rules.grpc,
        false => &rules.http,
    };
    let of_calls = rules.calls.iter().map(|(_, modes)| modes);
    let lists = std::iter::once(usual).chain(of_calls);
    let mut names: Vec<String> = Vec::new();
    for mode in lists.chain(rules.services.values()).flatten() {
        let name = mode.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
