//! Who reaches whom through which proxy.
//!
//! Owns the listeners: which there are, whose traffic comes in at each, and
//! where everybody must call so that it does.
//!
//! - A scenario enters by listeners of its worker, one per service.
//! - A service that Murphy starts has a listener of its own for each service
//!   that its command or environment names. Whoever calls there is known,
//!   which is half of finding a parent where no context survives.
//! - Everybody else calls the common listener of a service, at `listen`.
//!
//! A test may know no other address than such a `listen`, written into its
//! source. What comes in there without any context is then the test's: it is
//! taken for an entry call if there is only one worker (else nobody could say
//! whose it is) and no service is known to call there. Any other service might.
//! Where they hand on our mark nothing goes wrong, since the mark is believed
//! first. Where nothing is handed on, in a solo execution, their calls must not
//! be taken for the test's: parents are inferred from what is in flight, of
//! which a test's call is simply the first. Requests that are declared are sent
//! from here, so there no test calls a fixed address.
//!
//! Listeners are bound once and do not depend on whether executions run one at
//! a time: services that run already keep their connections when that is
//! decided.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use murphy_proxy::{
    Authority, Door, Forward, Listener, NamedHosts, OtherHosts, Proxy, Refusals, Refuser, Settings,
    StartError,
};
use murphy_registry::{self as registry, CallGraph, Origin, Registry, WorkerId};

use super::egress::{AuthorityFiles, Egress};
use super::spec::{ServiceSpec, Source, SystemSpec, Unused};
use super::started_by_test::StartedByTest;
use super::template::{Place, Places};
use murphy_campaign::SetupError;

/// Who calls at a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Caller {
    Worker(u32),
    Service(String),
    /// Who was told by the test of a worker: services that it started, and the
    /// test itself.
    ToldBy(u32),
    Anyone,
    /// Who must reach it past all faults, and does not speak TLS: Murphy, and
    /// the steps around executions.
    Murphy,
}

/// Who calls besides the services.
#[derive(Clone, Copy)]
pub(super) struct Callers {
    /// How many workers run the scenario.
    pub(super) workers: u32,
    /// Whether the test is a program of its own, which may call any address
    /// that it knows.
    pub(super) test_is_foreign: bool,
}

/// The proxies of a system; stopped when dropped.
pub(super) struct Wiring {
    proxy: Proxy,
    /// Where each service can be asked without TLS, past all faults: mostly
    /// where it listens.
    direct: Places,
    /// Where those call that have no listener of their own.
    common: Places,
    /// What each worker's scenario calls.
    entries: Vec<Places>,
    /// Listeners of a single caller: who, whom, where.
    own: Vec<(String, String, Place)>,
    /// What processes are told who call doors of ours.
    egress: Option<Egress>,
    /// The forward proxy of each caller.
    forward: Vec<(Caller, SocketAddr)>,
    /// Who did not want our certificates, by who calls there.
    refusals: Vec<(Caller, Arc<Refusals>)>,
    /// The hosts that were asked for and belong to no service.
    other_hosts: Arc<OtherHosts>,
    /// What the tests start.
    started: Arc<StartedByTest>,
}

impl Wiring {
    /// Puts proxies in front of services, which need not be up yet.
    pub(super) fn new(
        system: &SystemSpec,
        direct: Places,
        callers: Callers,
        registry: Arc<Registry>,
        settings: Settings,
        authority: Option<&(Arc<Authority>, AuthorityFiles)>,
    ) -> Result<Self, SetupError> {
        let workers = callers.workers;
        let mut started = StartedByTest::of(system, workers);
        let mut wired = wired(system, &direct, callers);
        wired.extend(late(system, &started, callers));
        let other_hosts = Arc::default();
        let mut forward = forward(system, &direct, callers, &other_hosts);
        let mut refusals = Vec::new();
        if let Some((authority, _)) = authority {
            let doors = wired.iter_mut().filter(|it| it.secure);
            let doors = doors.map(|it| (&it.caller, &mut it.listener));
            let forward = forward.iter_mut();
            for (caller, listener) in doors.chain(forward.map(|it| (&it.0, &mut it.1))) {
                let door = Door {
                    authority: authority.clone(),
                    refusals: Arc::default(),
                };
                refusals.push((caller.clone(), door.refusals.clone()));
                listener.door = Some(door);
            }
        }
        let listeners = wired.iter().map(|it| it.listener.clone());
        let listeners = listeners.chain(forward.iter().map(|(_, listener)| listener.clone()));
        let proxy = Proxy::start(listeners.collect(), registry.clone(), settings);
        let proxy = proxy.map_err(|error| cannot_listen(system, &error))?;
        let mut wiring = Wiring {
            common: direct.clone(),
            entries: vec![direct.clone(); workers as usize],
            direct,
            own: Vec::new(),
            egress: authority.map(|(_, files)| Egress::new(files)),
            forward: Vec::new(),
            refusals,
            other_hosts,
            started: Arc::default(),
            proxy,
        };
        let addresses = wiring.proxy.addresses().to_vec();
        let (addresses, of_forward) = addresses.split_at(wired.len());
        let callers = forward.into_iter().map(|(caller, _)| caller);
        wiring.forward = callers.zip(of_forward.iter().copied()).collect();
        registry.listening(ports(system, &wiring.direct, &wired, addresses));
        registry.calling(call_graph(system));
        for (it, address) in wired.into_iter().zip(addresses) {
            let place = Place::from(*address);
            let place = match it.secure {
                true => place.over_tls(),
                false => place,
            };
            match it.caller {
                Caller::ToldBy(worker) => started.listens(worker, &it.service, place),
                caller => wiring.note(caller, it.service, place),
            }
        }
        wiring.started = Arc::new(started);
        Ok(wiring)
    }

    fn note(&mut self, caller: Caller, service: String, place: Place) {
        match caller {
            Caller::Worker(worker) => {
                self.entries[worker as usize].insert(service, place);
            }
            Caller::Anyone => {
                self.common.insert(service, place);
            }
            Caller::Service(name) => self.own.push((name, service, place)),
            // It is for the test to tell.
            Caller::ToldBy(_) => {}
            // All the others, too, unless they have a listener of their own.
            Caller::Murphy => {
                let entries = self.entries.iter_mut();
                for places in entries.chain([&mut self.common, &mut self.direct]) {
                    places.insert(service.clone(), place.clone());
                }
            }
        }
    }

    /// Where each service can be asked without TLS: no faults that way.
    pub(super) fn direct(&self) -> &Places {
        &self.direct
    }

    /// Where callers that Murphy does not start must call.
    pub(super) fn common(&self) -> &Places {
        &self.common
    }

    /// What the tests start.
    pub(super) fn started_by_test(&self) -> &Arc<StartedByTest> {
        &self.started
    }

    /// Where a worker's scenario enters.
    pub(super) fn entries(&self, worker: u32) -> &Places {
        &self.entries[worker as usize]
    }

    /// What a worker's scenario is told of the way out.
    pub(super) fn egress_of_worker(&self, worker: u32) -> Option<Egress> {
        self.egress_for(&Caller::Worker(worker))
    }

    /// What a service is told of the way out.
    pub(super) fn egress_of(&self, service: &str) -> Option<Egress> {
        self.egress_for(&Caller::Service(service.to_owned()))
    }

    fn egress_for(&self, caller: &Caller) -> Option<Egress> {
        let egress = self.egress.as_ref()?;
        let proxy = self.forward.iter().find(|(it, _)| it == caller);
        Some(proxy.map_or_else(|| egress.clone(), |(_, at)| egress.through(*at)))
    }

    /// Who broke handshakes with us off, for which host, and how often. Who
    /// calls at a listener that is anybody's is not known.
    pub(super) fn refused(&self) -> Vec<RefusedHandshake> {
        let all = self.refusals.iter().flat_map(|(caller, refusals)| {
            let caller = match caller {
                Caller::Worker(_) => Some("the test".to_owned()),
                Caller::ToldBy(_) => None,
                Caller::Service(name) => Some(format!("`{name}`")),
                Caller::Anyone | Caller::Murphy => None,
            };
            let noted = refusals.noted().into_iter();
            noted.map(move |(refuser, times)| {
                let found = refuser.caller.as_ref().map(|name| format!("`{name}`"));
                RefusedHandshake {
                    caller: caller.clone().or(found),
                    refuser,
                    times,
                }
            })
        });
        all.collect()
    }

    /// The hosts that were asked for and belong to no service.
    pub(super) fn other_hosts(&self) -> BTreeSet<String> {
        self.other_hosts.noted()
    }

    /// Where a service must call the others.
    pub(super) fn seen_by(&self, caller: &str) -> Places {
        let mut places = self.common.clone();
        let own = self.own.iter().filter(|(name, ..)| name == caller);
        places.extend(own.map(|(_, service, place)| (service.clone(), place.clone())));
        places
    }
}

/// What is wrong where a proxy cannot listen.
pub(super) fn cannot_listen(system: &SystemSpec, error: &StartError) -> SetupError {
    let service = system.services.iter().find(|it| it.name == error.service);
    SetupError::new(error.to_string())
        .at(&service.and_then(|service| service.place.clone()))
        .hint("change `listen` of this service, or stop what uses it")
}

/// Whose the ports are that may be others the next time: those of the proxies,
/// and of the services that are started.
fn ports(
    system: &SystemSpec,
    direct: &Places,
    wired: &[Wired],
    addresses: &[SocketAddr],
) -> registry::Places {
    let proxies = wired.iter().zip(addresses);
    let proxies = proxies.map(|(it, address)| (address.port(), it.service.as_str().into()));
    let started = system.services.iter().filter_map(|service| {
        let port = direct.get(&service.name)?.port;
        let is_started = matches!(service.source, Source::Managed(_));
        is_started.then(|| (port, service.name.as_str().into()))
    });
    proxies.chain(started).collect()
}

/// A caller that broke handshakes with us off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedHandshake {
    /// Who, in words, if that is known.
    pub caller: Option<String>,
    /// What it is, and what it asked for.
    pub refuser: Refuser,
    /// How often.
    pub times: usize,
}

/// A listener in front of a service, for some callers.
struct Wired {
    caller: Caller,
    service: String,
    listener: Listener,
    /// Whether they speak TLS there.
    secure: bool,
}

/// The forward proxies: one for every worker and for every service that Murphy
/// starts, so that it is known who calls.
fn forward(
    system: &SystemSpec,
    direct: &Places,
    who: Callers,
    others: &Arc<OtherHosts>,
) -> Vec<(Caller, Listener)> {
    if !system.has_forward_proxy() {
        return Vec::new();
    }
    let services = system.services.iter();
    let with_hosts = services.filter(|it| it.proxied && !it.callers.hosts.is_empty());
    let named = with_hosts.map(|service| NamedHosts {
        service: service.name.clone(),
        hosts: service.callers.hosts.clone(),
        upstream: direct
            .get(&service.name)
            .map(|place| (place.address(), service.tls.clone())),
        tls: service.callers.hosts_tls.clone(),
    });
    let rules = Forward {
        named: named.collect(),
        only_named: system.only_named_hosts,
        others: others.clone(),
    };
    let one = |caller, origin| {
        let anywhere = (Ipv4Addr::LOCALHOST, 0).into();
        (caller, Listener::forward(rules.clone(), anywhere, origin))
    };
    let workers = (0..who.workers).map(|worker| {
        let origin = Origin::Entry(WorkerId(worker));
        one(Caller::Worker(worker), origin)
    });
    let managed = system.services.iter();
    let managed = managed.filter(|it| matches!(it.source, Source::Managed(_)));
    let managed = managed.map(|service| {
        let origin = Origin::Service {
            caller: Some(service.name.as_str().into()),
        };
        one(Caller::Service(service.name.clone()), origin)
    });
    workers.chain(managed).collect()
}

/// All listeners that a system needs.
fn wired(system: &SystemSpec, direct: &Places, who: Callers) -> Vec<Wired> {
    let anywhere: SocketAddr = (Ipv4Addr::LOCALHOST, 0).into();
    // What is wherever its hosts are has no address of its own.
    let services = system.services.iter();
    let services = services.filter_map(|it| Some((it, direct.get(&it.name)?)));
    let all = services.flat_map(|(service, place)| {
        let upstream = place.address();
        let one = move |caller: Caller, listen, origin| Wired {
            secure: service.callers.speak_tls && caller != Caller::Murphy,
            caller,
            service: service.name.clone(),
            listener: Listener::of(&service.name, upstream.clone(), listen, origin)
                .over(service.tls.as_ref()),
        };
        let tls = service.tls.iter();
        let mut all: Vec<_> = tls
            .map(|_| one(Caller::Murphy, anywhere, Origin::Murphy))
            .collect();
        if !service.proxied {
            return all;
        }
        let common = one(
            Caller::Anyone,
            service.listen.unwrap_or(anywhere),
            common_origin(system, service, who),
        );
        let entries = (0..who.workers).map(|worker| {
            let origin = Origin::Entry(WorkerId(worker));
            one(Caller::Worker(worker), anywhere, origin)
        });
        let callers = callers(system, &service.name).into_iter().map(|caller| {
            let origin = Origin::Service {
                caller: Some(caller.as_str().into()),
            };
            one(Caller::Service(caller), anywhere, origin)
        });
        all.push(common);
        all.extend(entries);
        all.extend(callers);
        all
    });
    all.collect()
}

/// The listeners in front of services that the tests start. Each worker has its
/// own, since each starts its own; what all workers share leads to those of the
/// first, and then there is no other.
fn late(system: &SystemSpec, started: &StartedByTest, who: Callers) -> Vec<Wired> {
    let anywhere: SocketAddr = (Ipv4Addr::LOCALHOST, 0).into();
    let services = system.services.iter();
    let services = services.filter(|service| service.is_started_by_test());
    let all = services.flat_map(|service| {
        let one = move |caller, worker, listen, origin| Wired {
            caller,
            service: service.name.clone(),
            listener: Listener::late(
                &service.name,
                &started.address(worker, &service.name),
                listen,
                origin,
            ),
            secure: false,
        };
        let of_workers = (0..who.workers).flat_map(move |worker| {
            let id = WorkerId(worker);
            let told = Origin::Fixed { worker: Some(id) };
            [
                one(Caller::Worker(worker), worker, anywhere, Origin::Entry(id)),
                one(Caller::ToldBy(worker), worker, anywhere, told),
            ]
        });
        let common = one(
            Caller::Anyone,
            0,
            service.listen.unwrap_or(anywhere),
            common_origin(system, service, who),
        );
        let callers = callers(system, &service.name).into_iter();
        let callers = callers.map(move |caller| {
            let origin = Origin::Service {
                caller: Some(caller.as_str().into()),
            };
            one(Caller::Service(caller), 0, anywhere, origin)
        });
        of_workers.chain([common]).chain(callers)
    });
    all.collect()
}

/// Whose traffic comes in at the common listener; see the module's text.
fn common_origin(system: &SystemSpec, service: &ServiceSpec, who: Callers) -> Origin {
    if service.listen.is_none() || !who.test_is_foreign {
        return Origin::Service { caller: None };
    }
    let name = &service.name;
    let is_told = |other: &ServiceSpec| other.calls.as_ref().is_some_and(|it| it.contains(name));
    let is_called = system.services.iter().any(is_told) || !callers(system, name).is_empty();
    Origin::Fixed {
        worker: (who.workers == 1 && !is_called).then_some(WorkerId(0)),
    }
}

/// The services that each calls, and those that nobody calls, where the user
/// says so.
fn call_graph(system: &SystemSpec) -> CallGraph {
    let services = system.services.iter();
    let told = services.filter_map(|it| Some((it.name.clone(), it.calls.clone()?)));
    let services = system.services.iter();
    let uncalled = services.filter(|it| it.unused == Unused::Always);
    let told: CallGraph = told.collect();
    told.with_uncalled(uncalled.map(|it| it.name.clone()))
}

/// The managed services whose templates name a service.
fn callers(system: &SystemSpec, service: &str) -> BTreeSet<String> {
    let services = system.services.iter();
    let callers = services.filter(|other| other.names_in_templates(service));
    callers.map(|caller| caller.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::spec::{Health, ManagedSpec};
    use super::*;

    fn service(name: &str, source: Source, listen: bool) -> ServiceSpec {
        ServiceSpec {
            name: name.to_owned(),
            source,
            listen: listen.then(|| "127.0.0.1:5000".parse().unwrap()),
            proxied: true,
            calls: None,
            unused: Unused::default(),
            health: Health::default(),
            place: None,
            process: None,
            tls: None,
            callers: Default::default(),
        }
    }

    fn running() -> Source {
        Source::Running {
            upstream: "127.0.0.1:1".to_owned(),
        }
    }

    fn managed(calls: &str) -> Source {
        Source::Managed(ManagedSpec {
            environment: [("CALLS".to_owned(), calls.to_owned())].into(),
            ..ManagedSpec::default()
        })
    }

    fn system(services: Vec<ServiceSpec>) -> SystemSpec {
        SystemSpec {
            services,
            ..SystemSpec::default()
        }
    }

    /// Whose traffic comes in at the common listener of the first service.
    fn origin(others: Vec<ServiceSpec>, listen: bool, workers: u32) -> Origin {
        let mut all = vec![service("shop", running(), listen)];
        all.extend(others);
        let system = system(all);
        let who = Callers {
            workers,
            test_is_foreign: true,
        };
        common_origin(&system, &system.services[0], who)
    }

    #[test]
    fn a_fixed_address_is_an_entry_where_only_the_test_is_known_to_mean_it() {
        let runs = || vec![service("cart", running(), false)];
        let started = || vec![service("cart", managed(""), false)];
        let named = || vec![service("web", managed("{shop.url}"), false)];
        let told = || {
            vec![ServiceSpec {
                calls: Some(["shop".to_owned()].into()),
                ..service("web", managed(""), false)
            }]
        };
        let anyone = Origin::Service { caller: None };
        let fixed = |worker: Option<u32>| Origin::Fixed {
            worker: worker.map(WorkerId),
        };
        let cases = [
            (vec![], true, 1, fixed(Some(0))),
            (vec![], true, 2, fixed(None)),
            (vec![], false, 1, anyone),
            (runs(), true, 1, fixed(Some(0))),
            (started(), true, 1, fixed(Some(0))),
            (named(), true, 1, fixed(None)),
            (told(), true, 1, fixed(None)),
        ];
        for (number, (others, listen, workers, expected)) in cases.into_iter().enumerate() {
            assert_eq!(origin(others, listen, workers), expected, "{number}");
        }
    }

    #[test]
    fn declared_requests_come_by_no_fixed_address() {
        let system = system(vec![service("shop", running(), true)]);
        let who = Callers {
            workers: 1,
            test_is_foreign: false,
        };
        let origin = common_origin(&system, &system.services[0], who);
        assert_eq!(origin, Origin::Service { caller: None });
    }

    #[test]
    fn each_caller_that_murphy_starts_has_a_listener_of_its_own() {
        let system = system(vec![
            service("shop", managed("{cart.url} {shop.url}"), false),
            service("cart", managed("{pay.url}"), false),
            ServiceSpec {
                proxied: false,
                ..service("pay", running(), false)
            },
        ]);
        let direct = ["shop", "cart", "pay"].map(|name| {
            let place = Place::parse("127.0.0.1:1").unwrap();
            (name.to_owned(), place)
        });
        let wiring = Wiring::new(
            &system,
            direct.into(),
            Callers {
                workers: 2,
                test_is_foreign: true,
            },
            Arc::new(Registry::new(murphy_registry::Settings::default())),
            Settings::default(),
            None,
        );
        let wiring = wiring.unwrap();
        let (common, seen) = (wiring.common(), wiring.seen_by("shop"));
        assert_ne!(common["cart"], seen["cart"]);
        assert_eq!(common["shop"], seen["shop"]);
        let pay = &wiring.direct()["pay"];
        let not_proxied = [
            &common["pay"],
            &wiring.entries(1)["pay"],
            &wiring.seen_by("cart")["pay"],
        ];
        assert!(not_proxied.into_iter().all(|place| place == pay));
        assert_ne!(wiring.entries(0)["shop"], wiring.entries(1)["shop"]);
    }

    #[test]
    fn each_worker_has_its_own_proxies_of_what_its_test_starts() {
        let cart = || service("cart", Source::Test, false);
        let alone = system(vec![cart(), service("shop", Source::Test, false)]);
        assert_eq!(alone.shared_but_started_by_test(), None);
        let told = |caller: ServiceSpec| {
            let system = system(vec![cart(), caller]);
            let shared = system.shared_but_started_by_test();
            shared.map(|(service, caller)| format!("{service}: {caller}"))
        };
        let calling = service("shop", managed("{cart.url}"), false);
        assert_eq!(told(calling).as_deref(), Some("cart: `shop`"));
        let fixed = service("mail", Source::Test, true);
        assert_eq!(
            told(fixed).as_deref(),
            Some("mail: who calls at 127.0.0.1:5000")
        );
        let wiring = Wiring::new(
            &alone,
            Places::new(),
            Callers {
                workers: 2,
                test_is_foreign: true,
            },
            Arc::new(Registry::new(murphy_registry::Settings::default())),
            Settings::default(),
            None,
        );
        let wiring = wiring.unwrap();
        let upstream = "127.0.0.1:1";
        let told = |worker| {
            let started = wiring.started_by_test();
            started.set("test", worker, "cart", upstream).unwrap()
        };
        let all = [
            told(0),
            told(1),
            wiring.entries(0)["cart"].clone(),
            wiring.entries(1)["cart"].clone(),
            wiring.common()["cart"].clone(),
        ];
        let ports: BTreeSet<u16> = all.iter().map(|place| place.port).collect();
        assert_eq!(ports.len(), all.len(), "{all:?}");
    }
}
