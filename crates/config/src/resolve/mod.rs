//! From what was written to what is meant.
//!
//! Owns every check that needs more than one key, one module per part of the
//! file. All parts are looked at before giving up, so that several mistakes
//! are told at once.

mod checker;
pub(crate) mod each;
mod environment;
mod harden;
mod hosts;
mod outputs;
mod requests;
mod scenarios;
mod search;
mod services;
mod tls;
mod traffic;

use std::collections::BTreeMap;
use std::sync::Arc;

use murphy_system::spec::SystemSpec;

use super::Config;
use super::file::File;
use super::raw::{At, Modes, Root};
use crate::usage::Usage;
use checker::{Checker, Filler};

/// The configuration, or all that is wrong with it.
pub(super) fn resolve(file: File, mut raw: Root) -> Result<Config, Vec<Usage>> {
    let names = raw.services.0.iter().map(|(name, _)| name.value.clone());
    let without_address = raw.services.0.iter().filter(|(_, service)| {
        service.hosts.is_some() && service.command.is_none() && service.upstream.is_none()
    });
    let without_address = without_address.map(|(name, _)| name.value.clone());
    let without_address = without_address.collect();
    let mut collected = Checker::new(&file, names.collect(), without_address);
    let checker = &mut collected;
    if raw.services.0.is_empty() {
        return Err(vec![no_service(&file)]);
    }
    let of_services = modes_of_services(&mut raw);
    let versions = versions_of_services(&mut raw);
    let modes = search::modes(checker, raw.search.modes.take(), of_services, raw.modes);
    let scenario_names = raw.scenario.0.iter().map(|(name, _)| name.value.clone());
    let scenario_names: Vec<String> = scenario_names.collect();
    let is_cold = scenarios::is_cold(checker, &raw.steps);
    let services = services::services(checker, raw.services.0, &scenario_names);
    // `{port}` is somebody's own, and this is everybody's.
    let environment = checker.environment(raw.env, Filler::Scenario);
    let egress = raw.egress;
    let forward_proxy = egress.is_some();
    let allow = egress.and_then(|egress| egress.allow);
    let allowed = [("all", false), ("named", true)];
    let only_named = allow.and_then(|text| checker.named("choice of hosts", &text, &allowed));
    let mut system = SystemSpec {
        forward_proxy,
        only_named_hosts: only_named == Some(true),
        restart: services::restart(checker, raw.system.restart, &services),
        is_cold,
        services,
        setup: scenarios::steps(checker, raw.steps.setup),
        reset: scenarios::steps(checker, raw.steps.reset),
        teardown: scenarios::steps(checker, raw.steps.teardown),
    };
    let mut scenarios = scenarios::scenarios(checker, raw.scenario.0);
    environment::share(&environment, &mut system, &mut scenarios);
    let search = search::search(checker, raw.search);
    let identity = traffic::identity(checker, raw.identity);
    let context = traffic::context(checker, &raw.context);
    let mut proxy = traffic::proxy(checker, raw.context.carriers, raw.inject);
    if let Some(dialects) = traffic::dialects(checker, raw.dialects) {
        proxy.dialects = Arc::new(dialects);
    }
    let keys = traffic::header_names(checker, raw.retries.idempotency_key.take());
    proxy.idempotency_keys.extend(keys);
    let fields = raw.retries.idempotency_field.take();
    let fields = fields.map(At::items).unwrap_or_default().into_iter();
    proxy.idempotency_fields = fields.map(|field| field.value).collect();
    let oracles = outputs::oracles(checker, raw.oracles);
    let rules = outputs::rules(checker, raw.response, raw.retries);
    scenarios::look_for(&rules.response.keywords, &mut scenarios);
    let reports = outputs::reports(checker, raw.report);
    let store = outputs::store(checker, raw.store);
    let harden = harden::rules(checker, raw.harden, &scenarios);
    let problems = collected.into_problems();
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Config {
        system,
        environment,
        versions,
        scenarios,
        modes,
        search,
        identity,
        context,
        proxy,
        oracles,
        rules,
        reports,
        store,
        harden,
        file,
    })
}

fn modes_of_services(raw: &mut Root) -> Vec<(String, Modes)> {
    let services = raw.services.0.iter_mut();
    let modes =
        services.filter_map(|(name, service)| Some((name.value.clone(), service.modes.take()?)));
    modes.collect()
}

fn versions_of_services(raw: &mut Root) -> BTreeMap<String, String> {
    let services = raw.services.0.iter_mut();
    let versions = services.filter_map(|(name, service)| {
        let version = service.version.take()?;
        Some((name.value.clone(), version.value))
    });
    versions.collect()
}

fn no_service(file: &File) -> Usage {
    let end = file.text().trim_end().len();
    file.refusal(
        &(end..end),
        "the file names no service",
        "nothing to test so far",
    )
    .hint("add `[services.NAME]` with `upstream = \"127.0.0.1:5001\"` or `command = \"…\"`")
}
