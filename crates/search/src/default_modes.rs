//! How calls fail where nothing more is said, and how that is told.

use murphy_model::{Mode, Point, Protocol};

use crate::options::{ModeRules, Modes};

/// How HTTP calls fail by default: the callee refuses, cannot be reached, or
/// does its work and its answer is lost. Each leads callers down another path,
/// which four statuses of one class rarely do; `docs/measured.md` has both.
pub const HTTP_MODES: &str = "503,reset,after:reset";

/// How gRPC calls fail by default: a status that clients retry, one that they
/// do not, and the first after the work was done.
pub const GRPC_MODES: &str = "grpc:UNAVAILABLE,grpc:INTERNAL,after:grpc:UNAVAILABLE";

/// How calls over this protocol fail by default.
pub fn default_modes(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Http => HTTP_MODES,
        Protocol::Grpc => GRPC_MODES,
    }
}

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
    names_with(rules, &[usual])
}

/// The same of a campaign that saw calls at these points: what is usual for a
/// protocol is listed where calls speak it.
pub fn mode_names_at(modes: &Modes, asked: &[String], points: &[Point]) -> Vec<String> {
    let Modes::ByRule(rules) = modes else {
        return asked.to_owned();
    };
    let speaks_grpc = |point: &&Point| point.frame().interface.protocol() == Protocol::Grpc;
    let (grpc, http): (Vec<&Point>, Vec<&Point>) = points.iter().partition(speaks_grpc);
    let is_usual = grpc.iter().any(|point| rules.is_usual(point));
    match (is_usual, http.is_empty()) {
        (false, _) => asked.to_owned(),
        (true, true) => names_with(rules, &[&rules.grpc]),
        (true, false) => names_with(rules, &[&rules.http, &rules.grpc]),
    }
}

fn names_with(rules: &ModeRules, usual: &[&Vec<Mode>]) -> Vec<String> {
    let of_calls = rules.calls.iter().map(|(_, modes)| modes);
    let lists = usual.iter().copied().chain(of_calls);
    let mut names: Vec<String> = Vec::new();
    for mode in lists.chain(rules.services.values()).flatten() {
        let name = mode.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grpc_modes_are_listed_where_calls_speak_grpc() {
        let rules = mode_rules(None);
        let asked = mode_names(&rules);
        let by_rule = Modes::ByRule(rules);
        let listed = |points: &[&str]| {
            let points: Vec<Point> = points.iter().map(|text| text.parse().unwrap()).collect();
            mode_names_at(&by_rule, &asked, &points).join(",")
        };
        let (http, grpc) = ("a GET / > b GET /", "a GET / > c shop.Cart/Add");
        assert_eq!(listed(&[]), HTTP_MODES);
        assert_eq!(listed(&[http]), HTTP_MODES);
        assert_eq!(listed(&[grpc]), GRPC_MODES);
        assert_eq!(listed(&[http, grpc]), format!("{HTTP_MODES},{GRPC_MODES}"));
    }

    #[test]
    fn handshakes_fail_only_where_callers_speak_tls() {
        let asked = Mode::parse_list("503,tls:name").unwrap();
        let mut rules = mode_rules(Some(asked.clone()));
        rules.over_tls.insert("b".to_owned());
        let calls = vec![("** > c POST /".parse().unwrap(), asked.clone())];
        rules.calls = calls;
        let modes = Modes::ByRule(rules);
        let of = |point: &str| modes.of(&point.parse().unwrap()).into_owned();
        assert_eq!(of("a GET / > b GET /"), asked);
        assert_eq!(of("a GET / > b shop.Cart/Add"), asked);
        for point in [
            "a GET / > c GET /",
            "a GET / > c POST /",
            "b GET / > c GET /",
        ] {
            assert_eq!(of(point), asked[..1], "{point}");
        }
    }

    #[test]
    fn modes_are_for_what_can_carry_them() {
        let rules = mode_rules(Some(Mode::parse_list("503,grpc:UNAVAILABLE").unwrap()));
        assert_eq!(mode_names(&rules), ["503"]);
        assert_eq!(rules.grpc.len(), 2);
        assert_eq!(mode_names(&mode_rules(None)).join(","), HTTP_MODES);
    }
}
