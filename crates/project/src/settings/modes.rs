//! How calls are to fail, checked against what the services speak.

use murphy_corpus::{FaultSet, System};
use murphy_model::{Faultload, Mode, ModeSet, Outcome, nearest};

use murphy_config::Usage;

/// The fault set of `--modes`, each mode once.
pub(crate) fn fault_set(text: &str, system: &System) -> Result<FaultSet, Usage> {
    let near_declared = nearest(text, ["declared"]).is_some();
    let faults: FaultSet = text.parse().map_err(|error| match near_declared {
        true => Usage::new(format!("there is no mode `{text}`"))
            .at("--modes", text, text, "not a mode")
            .hint("did you mean `declared`?"),
        false => Usage::syntax("--modes", &error),
    })?;
    let FaultSet::Listed(modes) = faults else {
        return Ok(faults);
    };
    if let Some((word, _)) = find(text, |mode| mode.tls().is_some()) {
        return Err(no_tls("--modes", text, word));
    }
    if let Some((word, mode)) = unfit(text, system) {
        return Err(does_not_fit("--modes", text, word, mode, system));
    }
    let mut once: Vec<Mode> = Vec::new();
    for mode in modes {
        if !once.contains(&mode) {
            once.push(mode);
        }
    }
    Ok(FaultSet::Listed(once))
}

/// The first word of a list of modes that the services cannot carry.
fn unfit<'t>(text: &'t str, system: &System) -> Option<(&'t str, Mode)> {
    let protocol = system.wire.protocol();
    find(text, |mode| !mode.fits(protocol))
}

/// The first word of a list of modes with one that is looked for.
fn find(text: &str, is_wanted: impl Fn(&Mode) -> bool) -> Option<(&str, Mode)> {
    let modes = |word| Mode::parse_list(word).unwrap_or_default();
    text.split(',').map(str::trim).find_map(|word| {
        let found = modes(word).into_iter().find(&is_wanted);
        found.map(|mode| (word, mode))
    })
}

/// Example systems speak no TLS.
fn no_tls(argument: &str, text: &str, word: &str) -> Usage {
    Usage::new(format!(
        "`{word}` needs a TLS handshake, and the example systems speak plain HTTP"
    ))
    .at(argument, text, word, "there is no handshake to fail")
    .hint("`tls:` modes are for your own system: `murphy modes tls:expired` says where they apply")
}

/// Checks that the services speak what the modes of a faultload need.
pub(crate) fn check_faultload(
    faultload: &Faultload,
    text: &str,
    system: &System,
) -> Result<(), Usage> {
    if let Some(mode) = faultload.modes().find(|mode| mode.tls().is_some()) {
        return Err(no_tls("FAULTLOAD", text, &mode.to_string()));
    }
    let protocol = system.wire.protocol();
    match faultload.modes().find(|mode| !mode.fits(protocol)) {
        None => Ok(()),
        Some(mode) => {
            let written = mode.to_string();
            Err(does_not_fit("FAULTLOAD", text, &written, mode, system))
        }
    }
}

/// All services of an example system speak the same protocol, here HTTP: gRPC
/// carries every mode.
fn does_not_fit(argument: &str, text: &str, word: &str, mode: Mode, system: &System) -> Usage {
    let services: Vec<&str> = system.services.iter().map(|service| service.name).collect();
    Usage::new(format!(
        "`{mode}` cannot be carried by HTTP, and no service here speaks gRPC"
    ))
    .at(argument, text, word, "a gRPC status")
    .hint(format!(
        "write `{}` instead; HTTP is spoken by {}",
        http_equivalent(word, mode),
        services.join(", ")
    ))
}

/// What to write for a word: the HTTP status that gRPC gateways use for a code.
fn http_equivalent(word: &str, mode: Mode) -> String {
    match word == ModeSet::GRPC.name {
        true => ModeSet::HTTP.name.to_owned(),
        false => http_status(mode).to_string(),
    }
}

fn http_status(mode: Mode) -> u16 {
    let Outcome::Grpc(code) = mode.outcome() else {
        return 500;
    };
    match code.name() {
        "UNAVAILABLE" => 503,
        "DEADLINE_EXCEEDED" => 504,
        "CANCELLED" => 499,
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "OUT_OF_RANGE" => 400,
        "UNAUTHENTICATED" => 401,
        "PERMISSION_DENIED" => 403,
        "NOT_FOUND" => 404,
        "ALREADY_EXISTS" | "ABORTED" => 409,
        "RESOURCE_EXHAUSTED" => 429,
        "UNIMPLEMENTED" => 501,
        _ => 500,
    }
}

/// The modes as they are reported.
pub(crate) fn names(faults: &FaultSet) -> Vec<String> {
    match faults {
        FaultSet::Declared => vec!["declared".to_owned()],
        FaultSet::Listed(modes) => modes.iter().map(Mode::to_string).collect(),
    }
}
