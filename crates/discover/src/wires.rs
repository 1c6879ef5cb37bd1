//! From variables that were seen to those that lead through Murphy.
//!
//! Owns whose a variable is, and which of several places counts. A variable
//! belongs to the services whose command, folder or container it was seen in,
//! or to the test; what belongs to nobody goes to all services that Murphy
//! starts, which does no harm to those that do not read it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::address::{self, Kind};
use crate::code::Mention;
use crate::compose::Compose;
use crate::plan::{Origin, Owner, Plan, Service, Wire};

/// A variable that was seen.
struct Sighting<'s> {
    variable: &'s str,
    value: Option<&'s str>,
    learnt: String,
    /// Whose it is; empty where that is not known.
    owners: BTreeSet<Owner>,
}

/// The variables that lead callers through Murphy, in the order of the services
/// that are told and of those that they lead to.
pub fn find(plan: &Plan, compose: Option<&Compose>, mentions: &[Mention]) -> Vec<Wire> {
    let mut all = assigned(plan);
    all.extend(compose.into_iter().flat_map(|it| in_compose(plan, it)));
    all.extend(mentions.iter().map(|it| in_file(plan, it)));
    let mut wires = Vec::new();
    let mut done = BTreeSet::new();
    for sighting in &all {
        if done.insert(sighting.variable) {
            wires.extend(of_variable(plan, sighting.variable, &all));
        }
    }
    let place = |name: &str| plan.services.iter().position(|it| it.name == name);
    wires.sort_by_key(|wire: &Wire| {
        let owner = match &wire.owner {
            Owner::Service(name) => place(name),
            Owner::Test => Some(usize::MAX),
        };
        (owner, place(&wire.callee))
    });
    wires
}

/// The services that variables are named after, each with the first of its
/// variables and where that is.
pub fn names(mentions: &[Mention]) -> Vec<(String, String, String)> {
    let mut names: Vec<(String, String, String)> = Vec::new();
    for mention in mentions {
        let is_foreign = mention.value.as_deref().is_some_and(address::is_foreign);
        let Some(name) = address::service_name(&mention.variable).filter(|_| !is_foreign) else {
            continue;
        };
        if !names.iter().any(|(known, ..)| *known == name) {
            let place = format!("{}:{}", mention.file, mention.line);
            names.push((name, mention.variable.clone(), place));
        }
    }
    names
}

/// What stood before commands.
fn assigned(plan: &Plan) -> Vec<Sighting<'_>> {
    let services = plan.services.iter();
    let services = services.map(|it| (Owner::Service(it.name.clone()), &it.assigned));
    let test = plan.test.iter().map(|it| (Owner::Test, &it.assigned));
    let sighting = |owner: &Owner, variable, value| Sighting {
        variable,
        value: Some(value),
        learnt: "it stood before the command".to_owned(),
        owners: [owner.clone()].into(),
    };
    let mut all = Vec::new();
    for (owner, assigned) in services.chain(test) {
        all.extend(
            assigned
                .iter()
                .map(|(name, value)| sighting(&owner, name, value)),
        );
    }
    all
}

/// What containers are told, for the services of their name.
fn in_compose<'s>(plan: &'s Plan, compose: &'s Compose) -> Vec<Sighting<'s>> {
    let mut all = Vec::new();
    for container in &compose.services {
        let Some(owner) = plan.service(&container.name) else {
            continue;
        };
        let learnt = format!("{}, `{}`", compose.file, container.name);
        let sighting = |(variable, value): &'s (String, String)| Sighting {
            variable,
            value: Some(value),
            learnt: learnt.clone(),
            owners: [Owner::Service(owner.name.clone())].into(),
        };
        all.extend(container.environment.iter().map(sighting));
    }
    all
}

fn in_file<'s>(plan: &Plan, mention: &'s Mention) -> Sighting<'s> {
    Sighting {
        variable: &mention.variable,
        value: mention.value.as_deref(),
        learnt: format!("{}:{}", mention.file, mention.line),
        owners: owners(plan, &mention.file),
    }
}

/// Whether a file is this service's own.
pub(crate) fn is_of(service: &str, file: &str, plan: &Plan) -> bool {
    owners(plan, file).contains(&Owner::Service(service.to_owned()))
}

/// Whose a file is.
fn owners(plan: &Plan, file: &str) -> BTreeSet<Owner> {
    let test = plan.test.iter().any(|it| names_file(&it.command, file))
        || plan.files.iter().any(|it| it.file == file);
    if test || is_test(file) {
        return [Owner::Test].into();
    }
    let is_its = |it: &&Service| match &it.origin {
        Origin::Started { command, .. } => names_file(command, file),
        Origin::Running(_) => false,
    };
    let named = plan.services.iter().filter(is_its);
    let named: BTreeSet<Owner> = named.map(|it| Owner::Service(it.name.clone())).collect();
    if !named.is_empty() {
        return named;
    }
    let folder = in_folder_of(file, &plan.services);
    folder
        .map(|it| Owner::Service(it.name.clone()))
        .into_iter()
        .collect()
}

/// Whether a command runs this file: by its path, or as a module
/// (`services.shop:app`, `--app shop`).
fn names_file(command: &str, file: &str) -> bool {
    let module = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let module = module.strip_suffix("/__init__").unwrap_or(module);
    command.split_whitespace().any(|word| {
        let word = word.trim_start_matches("./");
        let word = word.split(':').next().unwrap_or_default();
        word == file || (!word.is_empty() && word.replace('.', "/") == module)
    })
}

/// Folders and names of files that hold tests.
fn is_test(file: &str) -> bool {
    const FOLDERS: [&str; 6] = ["test", "tests", "spec", "specs", "__tests__", "e2e"];
    let name = file.rsplit('/').next().unwrap_or(file);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let mut folders = file.split('/').rev().skip(1);
    let endings = ["_test", ".test", "_spec", ".spec"];
    folders.any(|it| FOLDERS.contains(&it))
        || stem.starts_with("test_")
        || endings.iter().any(|it| stem.ends_with(it))
}

/// The service that a folder above the file, or the file itself, is named
/// after; the nearest counts.
fn in_folder_of<'s>(file: &str, services: &'s [Service]) -> Option<&'s Service> {
    let stem = Path::new(file).with_extension("");
    let mut parts = stem.iter().rev().filter_map(|it| it.to_str());
    parts.find_map(|part| address::by_name(part, services))
}

/// What comes of all sightings of one variable.
fn of_variable(plan: &Plan, variable: &str, all: &[Sighting<'_>]) -> Vec<Wire> {
    let here: Vec<&Sighting<'_>> = all.iter().filter(|it| it.variable == variable).collect();
    let owners: BTreeSet<Owner> = here.iter().flat_map(|it| it.owners.clone()).collect();
    let owners = match owners.is_empty() {
        true => everybody(plan),
        false => owners,
    };
    let wire = |owner: &Owner| wire(plan, variable, owner, &here, all);
    owners.iter().filter_map(wire).collect()
}

/// All that Murphy can hand a variable to.
fn everybody(plan: &Plan) -> BTreeSet<Owner> {
    let started = plan.services.iter().filter(|it| it.is_started());
    started.map(|it| Owner::Service(it.name.clone())).collect()
}

fn wire(
    plan: &Plan,
    variable: &str,
    owner: &Owner,
    here: &[&Sighting<'_>],
    all: &[Sighting<'_>],
) -> Option<Wire> {
    let own = here.iter().filter(|it| it.owners.contains(owner));
    let others = here.iter().filter(|it| !it.owners.contains(owner));
    let nearest_first: Vec<&&Sighting<'_>> = own.chain(others).collect();
    let value = nearest_first.iter().find_map(|it| it.value);
    let pointed_at = value.and_then(|it| address::pointed_at(it, &plan.services));
    let callee = pointed_at.or_else(|| address::named_after(variable, &plan.services))?;
    if *owner == Owner::Service(callee.name.clone()) {
        return None;
    }
    let stem = |ending: &str| variable.strip_suffix(ending);
    let has = |name: String| all.iter().any(|it| it.variable == name);
    let has_port = stem("_HOST").or(stem("_HOSTNAME"));
    let has_port = has_port.is_some_and(|it| has(format!("{it}_PORT")));
    let kind = match address::kind(variable) {
        // Alone it is rather where the service itself listens.
        Some(Kind::Port) => {
            let stem = stem("_PORT")?;
            let is_pair = has(format!("{stem}_HOST")) || has(format!("{stem}_HOSTNAME"));
            is_pair.then_some(Kind::Port)?
        }
        Some(kind) => kind,
        None if variable.starts_with("MURPHY_") => return None,
        // Its name says nothing, so its value must be more than a word.
        None => value
            .filter(|it| address::is_address(it))
            .map(|_| Kind::Url)?,
    };
    Some(Wire {
        owner: owner.clone(),
        variable: variable.to_owned(),
        value: address::template(&callee.name, kind, value, has_port)?,
        callee: callee.name.clone(),
        learnt: nearest_first.first()?.learnt.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Test;

    fn started(name: &str, command: &str) -> Service {
        let origin = Origin::Started {
            command: command.to_owned(),
            port: None,
        };
        Service::of(name, origin)
    }

    fn plan(services: Vec<Service>) -> Plan {
        Plan {
            services,
            test: Some(Test {
                command: "pytest -q".to_owned(),
                assigned: Vec::new(),
            }),
            ..Plan::default()
        }
    }

    fn mention(variable: &str, value: Option<&str>, file: &str) -> Mention {
        Mention {
            variable: variable.to_owned(),
            value: value.map(str::to_owned),
            file: file.to_owned(),
            line: 7,
        }
    }

    /// Each as `owner VARIABLE=value (where)`.
    fn found(plan: &Plan, mentions: &[Mention]) -> Vec<String> {
        let shown = |wire: Wire| {
            let owner = match wire.owner {
                Owner::Service(name) => name,
                Owner::Test => "test".to_owned(),
            };
            format!("{owner} {}={} ({})", wire.variable, wire.value, wire.learnt)
        };
        find(plan, None, mentions).into_iter().map(shown).collect()
    }

    fn shop_and_cart() -> Plan {
        plan(vec![
            started("shop", "flask --app services.shop run -p {port}"),
            started("cart", "node cart/index.js {port}"),
        ])
    }

    #[test]
    fn a_variable_goes_to_the_service_that_reads_it() {
        let plan = shop_and_cart();
        let cases = [
            (
                "services/shop.py",
                "shop CART_URL={cart.url} (services/shop.py:7)",
            ),
            (
                "src/shop/app.ts",
                "shop CART_URL={cart.url} (src/shop/app.ts:7)",
            ),
            (
                "shop-service/main.go",
                "shop CART_URL={cart.url} (shop-service/main.go:7)",
            ),
            (
                "lib/clients.py",
                "shop CART_URL={cart.url} (lib/clients.py:7)",
            ),
            (
                "tests/test_cart.py",
                "test CART_URL={cart.url} (tests/test_cart.py:7)",
            ),
        ];
        for (file, expected) in cases {
            let found = found(&plan, &[mention("CART_URL", None, file)]);
            assert_eq!(found, [expected], "{file}");
        }
        // Nobody is told where he is himself.
        assert_eq!(
            found(&plan, &[mention("CART_URL", None, "cart/index.js")]),
            [""; 0]
        );
    }

    #[test]
    fn the_form_comes_from_wherever_a_value_stands() {
        let plan = shop_and_cart();
        let mentions = [
            mention("CART_URL", Some("http://cart:5001/v1"), ".env"),
            mention("CART_URL", None, "services/shop.py"),
        ];
        let expected = ["shop CART_URL={cart.url}/v1 (services/shop.py:7)"];
        assert_eq!(found(&plan, &mentions), expected);
    }

    #[test]
    fn a_port_is_wired_beside_its_host_only() {
        let plan = shop_and_cart();
        let (host, port) = (
            mention("CART_HOST", None, "services/shop.py"),
            mention("CART_PORT", None, "services/shop.py"),
        );
        assert_eq!(found(&plan, std::slice::from_ref(&port)), [""; 0]);
        let alone = ["shop CART_HOST={cart.address} (services/shop.py:7)"];
        assert_eq!(found(&plan, std::slice::from_ref(&host)), alone);
        let both = [
            "shop CART_HOST={cart.host} (services/shop.py:7)",
            "shop CART_PORT={cart.port} (services/shop.py:7)",
        ];
        assert_eq!(found(&plan, &[host, port]), both);
    }

    #[test]
    fn what_stood_before_a_command_counts_by_its_value_too() {
        let mut plan = shop_and_cart();
        plan.services[0].assigned = vec![
            ("BACKEND".to_owned(), "http://localhost:5001".to_owned()),
            ("DEBUG".to_owned(), "cart".to_owned()),
        ];
        plan.services[1].origin = Origin::Running("127.0.0.1:5001".to_owned());
        let expected = ["shop BACKEND={cart.url} (it stood before the command)"];
        assert_eq!(found(&plan, &[]), expected);
    }

    #[test]
    fn one_file_may_be_run_as_several_services() {
        let plan = plan(vec![
            started("shop", "python3 service.py shop {port}"),
            started("cart", "python3 service.py cart {port}"),
            started("stock", "python3 other.py {port}"),
        ]);
        let found = found(&plan, &[mention("STOCK_URL", None, "service.py")]);
        let expected = [
            "shop STOCK_URL={stock.url} (service.py:7)",
            "cart STOCK_URL={stock.url} (service.py:7)",
        ];
        assert_eq!(found, expected);
    }
}
