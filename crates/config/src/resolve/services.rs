//! `[services]`: what runs already and what Murphy starts.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};

use murphy_system::spec::{Callers, Health, ManagedSpec, ServiceSpec, Source, Unused};
use murphy_system::{CONTROL_VARIABLE, STOP_WITHIN, url_variable};

use super::checker::{Checker, Filler};
use super::{hosts, tls};
use crate::Span;
use crate::raw::{At, Service, Text, TrueOrNames, Words};

/// The services that make sense.
pub(super) fn services(
    checker: &mut Checker<'_>,
    raw: Vec<(Text, Service)>,
    scenarios: &[String],
) -> Vec<ServiceSpec> {
    let mut listeners: Vec<Listener> = Vec::new();
    let mut all: Vec<ServiceSpec> = Vec::new();
    check_processes(checker, &raw);
    for (name, service) in raw {
        check_variable(checker, &name, &all);
        let places = Places::of(&service);
        let hosts = service.hosts.as_ref().map(|hosts| hosts.span.clone());
        let Some(spec) = one(checker, &name, service, scenarios) else {
            continue;
        };
        check_hosts(checker, &spec, &hosts, &all);
        for (listener, place) in places.listeners(&spec) {
            check_free(checker, &place, &listener, &listeners);
            listeners.push(listener);
        }
        all.push(spec);
    }
    all
}

/// Whether services are restarted before every execution.
pub(super) fn restart(
    checker: &mut Checker<'_>,
    raw: Option<Text>,
    services: &[ServiceSpec],
) -> bool {
    let Some(raw) = raw else { return false };
    let times = [("never", false), ("execution", true)];
    let restart = checker.named("time to restart", &raw, &times) == Some(true);
    let is_managed = |service: &ServiceSpec| matches!(service.source, Source::Managed(_));
    if restart && !services.iter().any(is_managed) {
        let message = "no service can be restarted: Murphy starts none of them";
        let hint = "give services a `command`, or use a `reset` step with `cold = true`";
        checker.refuse(&raw.span, message, "nothing to restart", hint);
    }
    restart
}

/// Who listens where.
struct Listener {
    who: String,
    /// The service whose process listens, if it is one that Murphy starts.
    process: Option<String>,
    at: SocketAddr,
    /// Whether it runs without us.
    foreign: bool,
}

/// Where in the file it stands where a service and its proxy listen.
struct Places {
    service: Option<Span>,
    proxy: Option<Span>,
}

impl Places {
    fn of(raw: &Service) -> Self {
        let upstream = raw.upstream.as_ref().map(|text| text.span.clone());
        let port = raw.port.as_ref().map(|port| port.span.clone());
        Places {
            service: port.or(upstream),
            proxy: raw.listen.as_ref().map(|text| text.span.clone()),
        }
    }

    /// The service itself, where its address is known, and its proxy.
    fn listeners(self, spec: &ServiceSpec) -> Vec<(Listener, Span)> {
        let name = &spec.name;
        let own = match &spec.source {
            Source::Running { upstream } => upstream.parse().ok(),
            Source::Hosts | Source::Test => None,
            Source::Managed(managed) => managed.port.map(|port| (Ipv4Addr::LOCALHOST, port).into()),
        };
        let foreign = matches!(spec.source, Source::Running { .. });
        let process = spec.process.clone().or_else(|| {
            let is_managed = matches!(spec.source, Source::Managed(_));
            is_managed.then(|| name.clone())
        });
        let listener = |who, foreign, process, at: Option<SocketAddr>, place: Option<Span>| {
            let listener = Listener {
                who,
                process,
                at: at?,
                foreign,
            };
            Some((listener, place?))
        };
        let service = listener(
            format!("service `{name}`"),
            foreign,
            process,
            own,
            self.service,
        );
        let proxy = format!("the proxy of `{name}`");
        let proxy = listener(proxy, false, None, spec.listen, self.proxy);
        service.into_iter().chain(proxy).collect()
    }
}

fn one(
    checker: &mut Checker<'_>,
    name: &Text,
    mut raw: Service,
    scenarios: &[String],
) -> Option<ServiceSpec> {
    let plain = checker.name("service", name);
    let door = raw
        .listen
        .as_ref()
        .is_some_and(|text| has_door(&text.value));
    let listen = raw.listen.take().and_then(|text| listen(checker, &text));
    let has_hosts = raw.hosts.is_some();
    let hosts = hosts::hosts(checker, raw.hosts.take());
    let proxied = raw.proxied.unwrap_or(true);
    let calls = raw.calls.take().map(|words| calls(checker, words));
    let unused = raw.unused.take();
    let unused = unused.map(|value| unused_in(checker, value.value, scenarios));
    let health = health(checker, &raw);
    let started_by = raw.started_by.take();
    if let Some(started_by) = &started_by {
        check_started_by(checker, started_by, &raw, door)?;
    }
    let process = raw.process.take();
    let process = process.map(|it| process_at(checker, &it, &mut raw));
    let (tls, hosts_tls) = tls::of(checker, name, &mut raw, &hosts).ok()?;
    let source = match started_by {
        Some(_) => Source::Test,
        None => source(checker, name, raw, has_hosts)?,
    };
    let callers = Callers {
        speak_tls: door,
        hosts: hosts.into_iter().map(|text| text.value).collect(),
        hosts_tls,
    };
    Some(ServiceSpec {
        name: plain?,
        source,
        tls,
        callers,
        process: process.flatten(),
        listen,
        proxied,
        calls,
        unused: unused.unwrap_or_default(),
        health,
        place: Some(checker.place(&name.span)),
    })
}

/// The services that one calls.
fn calls(checker: &mut Checker<'_>, words: Words) -> BTreeSet<String> {
    let names = words.items().into_iter();
    names.filter_map(|name| checker.service(&name)).collect()
}

/// The scenarios that do not call one.
fn unused_in(checker: &mut Checker<'_>, value: TrueOrNames, scenarios: &[String]) -> Unused {
    let names = match value {
        TrueOrNames::All(true) => return Unused::Always,
        TrueOrNames::All(false) => return Unused::Never,
        TrueOrNames::Names(names) => names,
    };
    for name in names.iter().filter(|it| !scenarios.contains(&it.value)) {
        let known = scenarios.iter().map(String::as_str);
        checker.refuse_unknown(&name.span, "scenario", &name.value, known);
    }
    Unused::In(names.into_iter().map(|name| name.value).collect())
}

/// The process that serves this service too, where there is one of that name.
/// Its `port` is where that listens.
fn process_at(checker: &mut Checker<'_>, process: &Text, raw: &mut Service) -> Option<String> {
    if let Some(command) = &raw.command {
        let message = "a service has a process of its own or shares one, not both";
        let hint = "leave out `command` or `process`";
        checker.refuse(&command.span, message, "`process` is there too", hint);
        return None;
    }
    if raw.upstream.is_none() {
        let Some(port) = raw.port.take() else {
            let message = "nothing says where the process serves this service";
            let hint = "add `port = …`, the other port that its command listens on";
            checker.refuse(
                &process.span,
                message,
                "neither `port` nor `upstream`",
                hint,
            );
            return None;
        };
        raw.upstream = Some(At {
            value: format!("127.0.0.1:{}", port.value.0),
            span: port.span,
        });
    }
    checker.service(process)
}

/// A process is shared only by services of which one has a command.
fn check_processes(checker: &mut Checker<'_>, raw: &[(Text, Service)]) {
    let has_command = |name: &str| {
        let mut services = raw.iter();
        services.any(|(other, service)| other.value == name && service.command.is_some())
    };
    let shared = raw
        .iter()
        .filter_map(|(_, service)| service.process.clone());
    for process in shared {
        let is_service = checker.services().contains(&process.value);
        if is_service && !has_command(&process.value) {
            let message = format!("Murphy does not start `{}`", process.value);
            let hint = "name a service with a `command`, or leave `process` out";
            checker.refuse(&process.span, message, "no process of ours", hint);
        }
    }
}

/// What the test starts is known by its name alone.
fn check_started_by(
    checker: &mut Checker<'_>,
    started_by: &Text,
    raw: &Service,
    has_door: bool,
) -> Option<()> {
    if started_by.value != "test" {
        let message = format!("`{}` starts no services", started_by.value);
        let hint = "write `started_by = \"test\"`; what Murphy starts has a `command`";
        checker.refuse(&started_by.span, message, "\"test\" is expected", hint);
        return None;
    }
    fn span<T>(value: &Option<At<T>>) -> Option<Span> {
        value.as_ref().map(|it| it.span.clone())
    }
    let others = [
        ("command", span(&raw.command)),
        ("upstream", span(&raw.upstream)),
        ("process", span(&raw.process)),
        ("hosts", span(&raw.hosts)),
        ("tls", span(&raw.tls)),
        ("directory", span(&raw.directory)),
        ("env", span(&raw.env)),
        ("port", span(&raw.port)),
        ("stop_within", span(&raw.stop_within)),
        ("health", span(&raw.health)),
        ("start_within", span(&raw.start_within)),
    ];
    let mut fits = true;
    for (key, span) in others {
        if let Some(span) = span {
            let message = format!("`{key}` means nothing for a service that the test starts");
            let hint = "leave it out, or leave out `started_by`";
            checker.refuse(&span, message, "`started_by` is there too", hint);
            fits = false;
        }
    }
    if has_door || raw.proxied == Some(false) {
        let message = "a service that the test starts has a proxy without TLS";
        let hint = "leave out `proxied`, and `https://` in `listen`";
        checker.refuse(&started_by.span, message, "started by the test", hint);
        fits = false;
    }
    fits.then_some(())
}

fn source(checker: &mut Checker<'_>, name: &Text, raw: Service, has_hosts: bool) -> Option<Source> {
    match (&raw.command, &raw.upstream) {
        (Some(_), None) => managed(checker, raw).map(Source::Managed),
        (None, Some(_)) => running(checker, raw),
        (None, None) if has_hosts => hosts_alone(checker, raw),
        (None, None) => {
            let message = format!("service `{}` needs `command` or `upstream`", name.value);
            let hint = "add `upstream = \"127.0.0.1:5001\"` if it runs already, `command = \"…\"` to have it started, or `started_by = \"test\"` if the test starts it";
            let label = "neither `command` nor `upstream`";
            checker.refuse(&name.span, message, label, hint);
            None
        }
        (Some(command), Some(_)) => {
            let message = format!(
                "service `{}` cannot both run already and be started",
                name.value
            );
            let hint =
                "leave out `command` or `upstream`; the port that a command listens on is `port`";
            let label = "`upstream` is there too";
            checker.refuse(&command.span, message, label, hint);
            None
        }
    }
}

/// A service without an address of its own.
fn hosts_alone(checker: &mut Checker<'_>, raw: Service) -> Option<Source> {
    let needs_address = [
        ("directory", raw.directory.map(|text| text.span)),
        ("env", raw.env.map(|env| env.span)),
        ("port", raw.port.map(|port| port.span)),
        ("stop_within", raw.stop_within.map(|text| text.span)),
        ("health", raw.health.map(|text| text.span)),
    ];
    for (key, span) in needs_address {
        if let Some(span) = span {
            let message =
                format!("`{key}` means nothing for a service that is reached by its hosts");
            let label = "only for services with a `command` or an `upstream`";
            checker.refuse(&span, message, label, "leave it out, or add an `upstream`");
        }
    }
    Some(Source::Hosts)
}

fn managed(checker: &mut Checker<'_>, raw: Service) -> Option<ManagedSpec> {
    let command = checker.command(raw.command?, Filler::Managed);
    let directory = checker.folder(raw.directory.as_ref());
    let environment = checker.environment(raw.env, Filler::Managed);
    let stop_within = raw.stop_within.map(|text| checker.duration(&text));
    Some(ManagedSpec {
        command: command?,
        directory,
        environment,
        port: raw.port.map(|port| port.value.0 as u16),
        stop_within: stop_within.map_or(Some(STOP_WITHIN), |time| time)?,
    })
}

fn running(checker: &mut Checker<'_>, raw: Service) -> Option<Source> {
    let only_managed = [
        ("directory", raw.directory.map(|text| text.span)),
        ("env", raw.env.map(|env| env.span)),
        ("port", raw.port.map(|port| port.span)),
        ("stop_within", raw.stop_within.map(|text| text.span)),
    ];
    for (key, span) in only_managed {
        if let Some(span) = span {
            let message = format!("`{key}` means nothing for a service that runs already");
            let label = "only for services with a `command`";
            checker.refuse(&span, message, label, "leave it out");
        }
    }
    let upstream = raw.upstream?;
    match host_and_port(&upstream.value) {
        Ok(()) => Some(Source::Running {
            upstream: upstream.value,
        }),
        Err(hint) => {
            let message = format!("`{}` is not host:port", upstream.value);
            let label = "a host and a port are expected";
            checker.refuse(&upstream.span, message, label, hint);
            None
        }
    }
}

/// Whether a text is `host:port`; the error is the way out.
pub(super) fn host_and_port(text: &str) -> Result<(), String> {
    const EXAMPLE: &str = "write for example \"127.0.0.1:5001\"";
    if let Some((_, rest)) = text.split_once("://") {
        let bare = rest.split('/').next().unwrap_or(rest);
        return Err(match host_and_port(bare) {
            Ok(()) => format!("write \"{bare}\""),
            Err(_) => EXAMPLE.to_owned(),
        });
    }
    let (host, port) = text.rsplit_once(':').ok_or(EXAMPLE)?;
    let port_fits = port.parse::<u16>().is_ok_and(|port| port > 0);
    let bracketed = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let host_fits = match bracketed {
        Some(inner) => inner.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && !host.contains([':', '/', ' ', '[', ']', '@']),
    };
    match port_fits && host_fits {
        true => Ok(()),
        false => Err(EXAMPLE.to_owned()),
    }
}

/// Whether callers speak TLS where a proxy listens.
fn has_door(text: &str) -> bool {
    text.starts_with("https://")
}

fn listen(checker: &mut Checker<'_>, text: &Text) -> Option<SocketAddr> {
    let bare = text.value.strip_prefix("https://").unwrap_or(&text.value);
    if let Ok(address) = bare.trim_end_matches('/').parse() {
        return Some(address);
    }
    let port = text.value.rsplit(':').next().unwrap_or("");
    let port = port.parse::<u16>().unwrap_or(15001);
    checker.refuse(
        &text.span,
        format!("`{}` is no address to listen at", text.value),
        "an IP address and a port are expected",
        format!("write \"127.0.0.1:{port}\""),
    );
    None
}

fn health(checker: &mut Checker<'_>, raw: &Service) -> Health {
    let mut health = Health::default();
    if let Some(path) = &raw.health {
        if !path.value.starts_with('/') {
            let message = format!("`{}` is no path", path.value);
            let hint = format!("write \"/{}\"", path.value.trim_start_matches("GET "));
            checker.refuse(&path.span, message, "a path begins with `/`", hint);
        }
        health.path = Some(path.value.clone());
    }
    let within = raw.start_within.as_ref();
    if let Some(within) = within.and_then(|text| checker.duration(text)) {
        health.within = within;
    }
    health
}

/// A test must find each service under a variable of its own.
fn check_variable(checker: &mut Checker<'_>, name: &Text, others: &[ServiceSpec]) {
    let variable = url_variable(&name.value);
    let taken = match others.iter().find(|it| url_variable(&it.name) == variable) {
        Some(other) => format!("where service `{}` is", other.name),
        None if variable == CONTROL_VARIABLE => "where to ask about faults".to_owned(),
        None => return,
    };
    let message = format!(
        "a test could not tell where service `{}` is: {variable} says {taken}",
        name.value
    );
    let label = "the variable is made of this name";
    checker.refuse(&name.span, message, label, "choose another name");
}

/// A host is one service.
fn check_hosts(
    checker: &mut Checker<'_>,
    spec: &ServiceSpec,
    place: &Option<Span>,
    others: &[ServiceSpec],
) {
    let Some(place) = place else { return };
    for host in &spec.callers.hosts {
        let means = |other: &&ServiceSpec| {
            let mut hosts = other.callers.hosts.iter();
            hosts.any(|it| hosts::overlap(it, host))
        };
        if let Some(other) = others.iter().find(means) {
            let message = format!(
                "`{host}` may be service `{}` or `{}`",
                spec.name, other.name
            );
            let label = format!("`{}` has hosts that are among these", other.name);
            let hint = "choose patterns that no host fits twice";
            checker.refuse(place, message, label, hint);
        }
    }
}

/// Two cannot listen at one address.
fn check_free(checker: &mut Checker<'_>, place: &Span, listener: &Listener, others: &[Listener]) {
    if let Some(other) = others.iter().find(|other| clash(other, listener)) {
        let Listener { who, at, .. } = listener;
        let message = format!("{who} cannot listen at {at}");
        let label = format!("{} listens there", other.who);
        let hint = "choose another port; without `listen` a proxy takes any free one";
        checker.refuse(place, message, label, hint);
    }
}

/// What runs already may have two names, and may run on another machine.
fn clash(a: &Listener, b: &Listener) -> bool {
    let here = |listener: &Listener| !listener.foreign || listener.at.ip().is_loopback();
    let everywhere = a.at.ip().is_unspecified() || b.at.ip().is_unspecified();
    let same_machine = here(a) && here(b);
    // One process may be several services at one port, each with its own way in.
    if a.process.is_some() && a.process == b.process {
        return false;
    }
    a.at.port() == b.at.port()
        && a.at.port() != 0
        && !(a.foreign && b.foreign)
        && (a.at.ip() == b.at.ip() || (everywhere && same_machine))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_is_a_host_and_a_port() {
        for fits in [
            "127.0.0.1:5001",
            "cart:80",
            "[::1]:443",
            "a.b.example:65535",
        ] {
            assert_eq!(host_and_port(fits), Ok(()), "{fits}");
        }
        let cases = [
            "",
            "cart",
            ":80",
            "cart:",
            "cart:0",
            "cart:65536",
            "::1:80",
            "[::1]",
            "[x]:1",
            "a/b:1",
        ];
        for unfit in cases {
            assert!(host_and_port(unfit).is_err(), "{unfit}");
        }
        let with_scheme = host_and_port("http://cart:80/x");
        assert_eq!(with_scheme, Err("write \"cart:80\"".to_owned()));
    }
}
