//! The services, each with its state.

use std::io::{self, Write};
use std::time::SystemTime;

use murphy_system::spec::{Health, Source};
use murphy_system::{LiveWorld, ServiceState};

use super::Room;
use crate::error::{self, Error};
use crate::project::Project;

/// The services of a world, which are up: otherwise there were none.
pub(super) fn of(world: &LiveWorld, project: &Project) -> Vec<ServiceState> {
    let services = project.config.system.services.iter();
    let mut ending = world.system().certificates_ending();
    let state = services.map(|service| ServiceState {
        direct: world.system().direct(&service.name),
        proxied: world.system().proxied(&service.name),
        entry: world.entry(0, &service.name),
        comes_with_others: world.system().comes_with_others(&service.name),
        certificate_ends: ending.remove(&service.name),
        trouble: None,
        name: service.name.clone(),
    });
    state.collect()
}

/// Writes a line for each.
pub(super) fn write(
    project: &Project,
    states: &[ServiceState],
    room: Room,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "Services")?;
    let names = states.iter().map(|it| it.name.chars().count());
    let width = names.max().unwrap_or(0);
    for (service, state) in project.config.system.services.iter().zip(states) {
        let name = &service.name;
        let source = match (&service.source, &service.process) {
            (_, Some(process)) => format!("served by the process of `{process}`"),
            (Source::Running { .. }, None) if state.comes_with_others => {
                "served by a process that Murphy starts (say which with `process`)".to_owned()
            }
            (Source::Running { .. }, None) => "runs already".to_owned(),
            (Source::Hosts, None) => "called as its hosts".to_owned(),
            (Source::Test, None) => "started by the test".to_owned(),
            (Source::Managed(_), None) => "started by Murphy".to_owned(),
        };
        if let Some(why) = why_down(state) {
            writeln!(out, "  {name:<width$}  DOWN: {why}")?;
            continue;
        }
        if service.is_started_by_test() {
            let entry = state.entry.as_deref().unwrap_or("-");
            writeln!(
                out,
                "  {name:<width$}  {source}, when it runs; its proxy for the test: {entry}"
            )?;
            continue;
        }
        let place = |place: &Option<String>| place.clone().unwrap_or_else(|| "-".to_owned());
        writeln!(
            out,
            "  {name:<width$}  up ({}), {source}, at {}",
            told_by(&service.health),
            place(&state.direct) + service.tls.as_ref().map_or("", |_| ", over TLS")
        )?;
        if let Some(end) = state.certificate_ends {
            let day = humantime::format_rfc3339_seconds(end).to_string();
            let days = end
                .duration_since(SystemTime::now())
                .map_or(0, |it| it.as_secs() / 86_400);
            let day = day.split('T').next().unwrap_or_default();
            writeln!(
                out,
                "  {:<width$}  its certificate ends on {day}, in {days} days: its callers will refuse it then",
                ""
            )?;
        }
        if room == Room::Page {
            continue;
        }
        writeln!(
            out,
            "  {:<width$}  proxies: for other services {}, for the test {}",
            "",
            place(&state.proxied),
            place(&state.entry)
        )?;
    }
    Ok(())
}

/// Says of each that is down what to do about it; says whether any is.
pub(super) fn complain(states: &[ServiceState]) -> bool {
    let troubles: Vec<_> = states.iter().filter_map(|it| it.trouble.clone()).collect();
    let any = !troubles.is_empty();
    for trouble in troubles {
        error::report(&Error::Broken(trouble));
    }
    any
}

/// Why a service is down, without what its line says already.
fn why_down(state: &ServiceState) -> Option<&str> {
    let message = state.trouble.as_ref()?.message.as_str();
    let about = format!("service `{}` ", state.name);
    let why = message.strip_prefix(&about).unwrap_or(message);
    Some(why.strip_prefix("is down: ").unwrap_or(why))
}

fn told_by(health: &Health) -> String {
    match &health.path {
        Some(path) => format!("{path} answers"),
        None => "its port accepts connections".to_owned(),
    }
}
