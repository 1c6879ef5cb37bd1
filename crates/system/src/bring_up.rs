//! How a system comes up: proxies bound, services started.
//!
//! Owns the order of that and what it leaves on disk, the ledger and the logs.
//! What is run once it is up is the world's business.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use murphy_proxy::{ClientOfSocket, Hello};
use murphy_registry::Registry;

use super::egress::{AuthorityFiles, Clients, open_authority};
use super::ledger::Ledger;
use super::options::LiveOptions;
use super::services::{Failure, Services};
use super::spec::{ScenarioKind, ScenarioSpec, SystemSpec};
use super::wiring::{Callers, Wiring};
use murphy_campaign::SetupError;

/// How often a start is tried whose ports somebody else took meanwhile.
const TRIES: usize = 4;

/// How many campaigns' logs are kept.
const LOGS_KEPT: usize = 10;

/// Binds the proxies and starts the services, again with other ports where
/// somebody else took one meanwhile.
pub(super) async fn bring_up(
    system: &SystemSpec,
    scenarios: &[ScenarioSpec],
    options: &LiveOptions,
    registry: &Arc<Registry>,
) -> Result<(Services, Wiring), SetupError> {
    let logs = logs_of(options);
    let callers = Callers {
        workers: options.workers,
        test_is_foreign: scenarios
            .iter()
            .any(|it| !matches!(it.kind, ScenarioKind::Requests(_))),
    };
    for _ in 0..TRIES {
        let (services, wiring) = prepare(system, callers, options, &logs, registry)?;
        if let Some(wired) = &options.wired {
            let places = wiring.common().iter();
            wired(&places.map(|(name, at)| (name.clone(), at.url())).collect());
        }
        match services.start(&wiring).await {
            Ok(()) => return Ok((services, wiring)),
            Err(Failure::Broken(error)) => return Err(error),
            Err(Failure::PortLost) => {}
        }
    }
    Err(SetupError::new(format!(
        "the ports picked for services were taken by others, {TRIES} times in a row"
    ))
    .hint("is this machine out of free ports?"))
}

/// Where the logs of services go; those of old campaigns are let go.
pub(super) fn logs_of(options: &LiveOptions) -> PathBuf {
    let folder = options.state.join("run");
    forget_old_logs(&folder);
    folder.join(&options.campaign).join("logs")
}

/// Binds the proxies; the services are known and none is started yet.
pub(super) fn prepare(
    system: &SystemSpec,
    callers: Callers,
    options: &LiveOptions,
    logs: &Path,
    registry: &Arc<Registry>,
) -> Result<(Services, Wiring), SetupError> {
    let ledger = Ledger::open(&options.state);
    let ledger = ledger.map_err(|error| SetupError::new(error.to_string()))?;
    let services = Services::prepare(system, logs, ledger)?;
    let authority = match system.has_doors() {
        true => Some(open_authority(&options.state)?),
        false => None,
    };
    let wiring = Wiring::new(
        system,
        services.places(),
        callers,
        registry.clone(),
        proxy_settings(
            options,
            &services,
            authority.as_ref().map(|(_, files)| files),
        ),
        authority.as_ref(),
    )?;
    Ok((services, wiring))
}

/// The proxies get half of the processors at most, since the services do most
/// of the work, and no more threads than executions run at once.
fn proxy_settings(
    options: &LiveOptions,
    services: &Services,
    authority: Option<&AuthorityFiles>,
) -> murphy_proxy::Settings {
    let mut settings = options.proxy.clone();
    let calling = services.calling().clone();
    settings.callers = Some(Arc::new(move |inode| calling.of_socket(inode)));
    settings.clients = authority.map(|files| {
        let clients = Clients::new(files);
        Arc::new(move |inode, hello: &Hello| clients.of_socket(inode, hello)) as ClientOfSocket
    });
    settings.threads = (settings.threads / 2).clamp(1, options.workers as usize);
    settings
}

/// Takes away the logs of all but the latest campaigns.
fn forget_old_logs(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let with_logs = entries.map(|it| it.path()).filter_map(|campaign| {
        let logs = campaign.join("logs");
        Some((logs.metadata().ok()?.modified().ok()?, campaign))
    });
    let mut all: Vec<_> = with_logs.collect();
    all.sort();
    let old = all.len().saturating_sub(LOGS_KEPT - 1);
    for (_, campaign) in &all[..old] {
        let _ = std::fs::remove_dir_all(campaign.join("logs"));
        // Only if nothing else is in it.
        let _ = std::fs::remove_dir(campaign);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_latest_logs_are_kept_and_nothing_else_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for number in 10..25 {
            let logs = folder.join(format!("campaign-{number}/logs"));
            std::fs::create_dir_all(&logs).unwrap();
        }
        std::fs::write(folder.join("campaign-10/replay.json"), "{}").unwrap();
        std::fs::create_dir_all(folder.join("other")).unwrap();
        forget_old_logs(folder);
        let names = std::fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<_> = names
            .map(|it| it.file_name().into_string().unwrap())
            .collect();
        names.sort();
        let mut expected = vec!["campaign-10".to_owned(), "other".to_owned()];
        expected.extend((16..25).map(|number| format!("campaign-{number}")));
        expected.sort();
        assert_eq!(names, expected);
        assert!(folder.join("campaign-10/replay.json").exists());
        assert!(!folder.join("campaign-10/logs").exists());
    }
}
