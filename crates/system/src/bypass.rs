//! Services whose callers are led past Murphy.
//!
//! Owns what can be told of that from a description alone, before anything
//! runs. Where calls really went is for those to tell who watched them.

use super::spec::{CommandSpec, ScenarioKind, ScenarioSpec, ServiceSpec, Source, SystemSpec};
use super::template::names;

/// The proxied services whose address is given to no caller: no command and no
/// environment names it, no declared request enters by it, it does not listen at
/// an address that callers may know, and no test starts it and tells them. A test still finds it in
/// [`url_variable`](crate::url_variable), which shows only when it runs.
pub fn bypassed<'s>(system: &'s SystemSpec, scenarios: &[ScenarioSpec]) -> Vec<&'s ServiceSpec> {
    let may_be_bypassed = |service: &&ServiceSpec| {
        let is_unused = |it: &ScenarioSpec| service.unused.covers(&it.name);
        let is_expected = scenarios.is_empty() || !scenarios.iter().all(is_unused);
        service.proxied
            && service.listen.is_none()
            && service.callers.hosts.is_empty()
            && !service.is_started_by_test()
            && is_expected
    };
    let is_told = |service: &ServiceSpec| {
        let by_service = system.services.iter().any(|it| calls(it, &service.name));
        by_service || scenarios.iter().any(|it| enters(it, &service.name))
    };
    let services = system.services.iter().filter(may_be_bypassed);
    services.filter(|service| !is_told(service)).collect()
}

/// Whether a service that Murphy starts is told where another one is.
fn calls(caller: &ServiceSpec, callee: &str) -> bool {
    let Source::Managed(managed) = &caller.source else {
        return false;
    };
    let mut texts = managed.command.iter().chain(managed.environment.values());
    caller.name != callee && texts.any(|text| is_named(callee, text))
}

/// Whether a scenario is told where a service is, or asks it by itself.
fn enters(scenario: &ScenarioSpec, service: &str) -> bool {
    match &scenario.kind {
        ScenarioKind::Command(command) => is_told(command, service),
        ScenarioKind::Test(test) => is_told(&test.runner.command, service),
        ScenarioKind::Each(each) => is_told(&each.runner.command, service),
        ScenarioKind::Requests(requests) => requests.iter().any(|it| it.service == service),
        // It is handed the entries of all services.
        ScenarioKind::Function(_) => true,
    }
}

fn is_told(command: &CommandSpec, service: &str) -> bool {
    let mut texts = command.command.iter().chain(command.environment.values());
    texts.any(|text| is_named(service, text))
}

fn is_named(service: &str, text: &str) -> bool {
    names(text).is_ok_and(|names| names.contains(service))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::spec::{Health, ManagedSpec, Unused};
    use super::*;

    fn service(name: &str, command: Option<&str>) -> ServiceSpec {
        let source = match command {
            Some(word) => Source::Managed(ManagedSpec {
                command: vec![word.to_owned()],
                ..ManagedSpec::default()
            }),
            None => Source::Running {
                upstream: "127.0.0.1:1".to_owned(),
            },
        };
        ServiceSpec {
            name: name.to_owned(),
            source,
            process: None,
            tls: None,
            callers: Default::default(),
            listen: None,
            proxied: true,
            calls: None,
            unused: Unused::Never,
            health: Health::default(),
            place: None,
        }
    }

    fn test(word: &str) -> ScenarioSpec {
        ScenarioSpec {
            name: "test".to_owned(),
            kind: ScenarioKind::Command(CommandSpec {
                command: vec![word.to_owned()],
                ..CommandSpec::default()
            }),
            timeout: Duration::ZERO,
            entries: false,
            under_fault: Default::default(),
        }
    }

    fn of(services: Vec<ServiceSpec>, scenarios: &[ScenarioSpec]) -> Vec<String> {
        let system = SystemSpec {
            services,
            ..SystemSpec::default()
        };
        let found = bypassed(&system, scenarios).into_iter();
        found.map(|it| it.name.clone()).collect()
    }

    #[test]
    fn whoever_is_named_to_a_caller_is_not_bypassed() {
        let cart = || service("cart", None);
        let shop = |word| service("shop", Some(word));
        let entry = [test("{shop.url}")];
        assert_eq!(of(vec![shop("x"), cart()], &entry), ["cart"]);
        assert_eq!(
            of(vec![shop("--cart={cart.host}"), cart()], &entry),
            [""; 0]
        );
        // That a service knows itself leads nobody to it.
        assert_eq!(of(vec![shop("{shop.url}"), cart()], &[]), ["shop", "cart"]);
        assert_eq!(of(vec![shop("{{cart.url}}"), cart()], &entry), ["cart"]);
    }

    #[test]
    fn what_need_not_be_reached_by_its_proxy_is_not_bypassed() {
        let listen = ServiceSpec {
            listen: "127.0.0.1:5".parse().ok(),
            ..service("cart", None)
        };
        let direct = ServiceSpec {
            proxied: false,
            ..service("cart", None)
        };
        let unused = ServiceSpec {
            unused: Unused::In(["test".to_owned()].into()),
            ..service("cart", None)
        };
        for service in [listen, direct, unused] {
            assert_eq!(of(vec![service], &[test("x")]), [""; 0]);
        }
    }
}
