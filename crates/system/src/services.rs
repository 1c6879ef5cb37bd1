//! The services of a system: those that run already, and those that Murphy
//! starts and stops.
//!
//! Owns their lives: ports, start in order, health, logs, a new start after a
//! crash, the end. Where they call each other is the wiring's job.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use tokio::sync::Mutex as AsyncMutex;

use super::callers::CallingProcesses;
use super::health;
use super::ledger::{Ledger, MARK};
use super::listening;
use super::log::{self, Log};
use super::ports::Port;
use super::process::{Children, Exit, Process, Start};
use super::spec::{Health, ManagedSpec, ServiceSpec, Source, SystemSpec, TlsUpstream};
use super::template::{Place, Places, expand};
use super::wiring::Wiring;
use murphy_campaign::SetupError;
use murphy_report::shell::quoted;

/// How many lines of a log are shown with an error.
const LINES_SHOWN: usize = 20;

/// How much of each log is shown with a failing execution.
const SHOWN: usize = 16 * 1024;

/// How long the end of a process may take to be known, once its connections
/// are broken. Waited for only where connections break that no fault broke.
const ENDING: Duration = Duration::from_millis(50);

/// How long a service at another port of a process may take to come up once
/// that process is up, where nobody says that it belongs to it.
const WITH_OTHERS: Duration = Duration::from_secs(2);

/// The time between two looks for it.
const TICK: Duration = Duration::from_millis(1);

/// A start that did not work out.
pub(super) enum Failure {
    /// Another start with other ports may.
    PortLost,
    /// Another start would not.
    Broken(SetupError),
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        Failure::Broken(error)
    }
}

/// All services; those that Murphy started are killed when dropped.
pub(super) struct Services {
    running: Vec<Running>,
    managed: Vec<Managed>,
    /// The certificates that end soon, by the service.
    ending: Mutex<BTreeMap<String, SystemTime>>,
    ledger: Mutex<Ledger>,
    calling: Arc<CallingProcesses>,
}

/// A service that runs already.
struct Running {
    name: String,
    /// The managed service whose process serves it too, if that is said.
    process: Option<String>,
    /// Whether it came up only with what Murphy started.
    came_with_others: AtomicBool,
    upstream: Place,
    tls: Option<Arc<TlsUpstream>>,
    health: Health,
    place: Option<String>,
}

/// A service that Murphy starts.
struct Managed {
    name: String,
    spec: ManagedSpec,
    port: Port,
    tls: Option<Arc<TlsUpstream>>,
    health: Health,
    place: Option<String>,
    log: Arc<Log>,
    process: AsyncMutex<Option<Process>>,
    /// How earlier processes of it ended that had been up.
    ends: Mutex<Vec<Exit>>,
}

/// How far a managed service had come at some time.
pub(super) struct Mark {
    logged: u64,
    ends: usize,
}

impl Services {
    /// Makes ready to start; nothing is started yet, but all places are known.
    pub(super) fn prepare(
        system: &SystemSpec,
        logs: &Path,
        ledger: Ledger,
    ) -> Result<Self, SetupError> {
        let mut services = Services {
            calling: Arc::default(),
            running: Vec::new(),
            managed: Vec::new(),
            ending: Mutex::default(),
            ledger: Mutex::new(ledger),
        };
        for service in &system.services {
            match &service.source {
                Source::Running { upstream } => {
                    services.running.push(Running::new(service, upstream)?);
                }
                Source::Hosts | Source::Test => {}
                Source::Managed(spec) => {
                    services.managed.push(Managed::new(service, spec, logs)?);
                }
            }
        }
        Ok(services)
    }

    /// Where each listens, or is going to.
    pub(super) fn places(&self) -> Places {
        let running = self.running.iter();
        let running = running.map(|it| (it.name.clone(), it.upstream.clone()));
        let managed = self.managed.iter();
        let managed = managed.map(|it| (it.name.clone(), it.port.address().into()));
        running.chain(managed).collect()
    }

    /// The processes of those that Murphy starts.
    pub(super) fn calling(&self) -> &Arc<CallingProcesses> {
        &self.calling
    }

    /// The mark that every process must bear.
    pub(super) fn mark(&self) -> String {
        self.ledger().mark().to_owned()
    }

    fn ledger(&self) -> std::sync::MutexGuard<'_, Ledger> {
        self.ledger.lock().expect("no panic while it is written")
    }

    /// Starts what is to be started, in order, and checks the rest.
    pub(super) async fn start(&self, wiring: &Wiring) -> Result<(), Failure> {
        let later = self.check_before(wiring).await?;
        for service in &self.managed {
            if let Err(failure) = self.launch(service, wiring).await {
                // It may have failed for want of what is down.
                self.check_later(&later, wiring, Duration::ZERO).await?;
                return Err(failure);
            }
            self.wait_for_members(service, wiring).await?;
        }
        self.check_later(&later, wiring, WITH_OTHERS).await?;
        for service in &self.managed {
            if service.has_lost_its_port().await {
                return Err(Failure::PortLost);
            }
        }
        Ok(())
    }

    /// Checks what runs already; what may be served by a process that is still
    /// to be started is to be checked later.
    async fn check_before(&self, wiring: &Wiring) -> Result<Vec<&Running>, SetupError> {
        let mut later = Vec::new();
        let others = self.running.iter().filter(|it| it.process.is_none());
        for service in others {
            match self.check(service, wiring).await {
                Err(_) if service.is_local() && !self.managed.is_empty() => later.push(service),
                checked => checked?,
            }
        }
        Ok(later)
    }

    /// Checks services that were down before others were started.
    async fn check_later(
        &self,
        later: &[&Running],
        wiring: &Wiring,
        within: Duration,
    ) -> Result<(), SetupError> {
        for service in later {
            self.check_one_later(service, wiring, within).await?;
        }
        Ok(())
    }

    /// Checks a service that was down before others were started.
    async fn check_one_later(
        &self,
        service: &Running,
        wiring: &Wiring,
        within: Duration,
    ) -> Result<(), SetupError> {
        let health = Health {
            within,
            ..service.health.clone()
        };
        if !health::wait(&service.asked(wiring), &health).await {
            return self.check(service, wiring).await;
        }
        service.came_with_others.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Whether a service that runs already is up, and TLS with it works.
    async fn check(&self, service: &Running, wiring: &Wiring) -> Result<(), SetupError> {
        let Running {
            name,
            health,
            place,
            ..
        } = service;
        let address = service.upstream.address();
        if !health::is_up(&address, None).await {
            let message = format!("service `{name}` is down: nothing listens on {address}");
            return Err(SetupError::new(message)
                .of_service(name)
                .at(place)
                .hint("start it, or let Murphy start it with `command = …`"));
        }
        self.shake_hands(name, service.tls.as_deref(), &address, place)
            .await?;
        match &health.path {
            Some(path) if !health::wait(&service.asked(wiring), health).await => {
                let scheme = match service.tls {
                    Some(_) => "https",
                    None => "http",
                };
                Err(SetupError::new(format!(
                    "service `{name}` is not healthy: {scheme}://{address}{path} did not answer 2xx or 3xx within {:?}",
                    health.within
                ))
                .of_service(name)
                .at(place)
                .hint("look at its log, or correct the path of its health check"))
            }
            _ => Ok(()),
        }
    }

    /// Whether TLS with a service works, where it is spoken.
    async fn shake_hands(
        &self,
        name: &str,
        tls: Option<&TlsUpstream>,
        address: &str,
        place: &Option<String>,
    ) -> Result<(), SetupError> {
        let Some(tls) = tls else { return Ok(()) };
        let probed = tls.probe(address).await.map_err(|error| {
            let message =
                format!("service `{name}` cannot be reached over TLS at {address}: {error}");
            SetupError::new(message)
                .of_service(name)
                .at(place)
                .hint(error.hint(name))
        })?;
        let mut ending = self.ending.lock().expect("no panic while it is noted");
        match probed.ends_soon {
            Some(end) => ending.insert(name.to_owned(), end),
            None => ending.remove(name),
        };
        Ok(())
    }

    /// The certificates that end soon, by the service.
    pub(super) fn ending(&self) -> BTreeMap<String, SystemTime> {
        self.ending
            .lock()
            .expect("no panic while it is noted")
            .clone()
    }

    /// Waits for the other services that a process serves.
    async fn wait_for_members(&self, service: &Managed, wiring: &Wiring) -> Result<(), SetupError> {
        for member in self.members(service) {
            member.wait(&service.name, wiring).await?;
        }
        Ok(())
    }

    fn members(&self, service: &Managed) -> impl Iterator<Item = &Running> {
        let of = Some(service.name.clone());
        self.running.iter().filter(move |it| it.process == of)
    }

    /// Checks and starts them like [`Services::start`], but one that does not
    /// come up keeps no other from being tried. Why each of these does not; what
    /// is known of one already is not waited for again.
    pub(super) async fn survey(
        &self,
        wiring: &Wiring,
        known: Option<&SetupError>,
    ) -> BTreeMap<String, SetupError> {
        let mut troubles = BTreeMap::new();
        if let Some((name, known)) = known.and_then(|it| Some((it.service.clone()?, it.clone()))) {
            troubles.insert(name, known);
        }
        let mut down = Vec::new();
        for service in &self.running {
            let is_down = !health::is_up(&service.upstream.address(), None).await;
            down.extend(is_down.then_some(&service.name));
        }
        for service in &self.managed {
            if troubles.contains_key(&service.name) {
                continue;
            }
            let trouble = match self.launch(service, wiring).await {
                Ok(()) => continue,
                Err(Failure::PortLost) => service.port_taken(),
                Err(Failure::Broken(error)) => error,
            };
            troubles.insert(service.name.clone(), trouble);
        }
        for service in &self.running {
            if troubles.contains_key(&service.name) {
                continue;
            }
            let process = service.process.as_deref();
            let trouble = match process.filter(|process| !troubles.contains_key(*process)) {
                Some(process) => service.wait(process, wiring).await.err(),
                None if down.contains(&&service.name) => {
                    let checked = self.check_one_later(service, wiring, Duration::ZERO);
                    checked.await.err()
                }
                None => self.check(service, wiring).await.err(),
            };
            troubles.extend(trouble.map(|it| (service.name.clone(), it)));
        }
        troubles
    }

    /// Whether the services that Murphy did not start are up.
    pub(super) async fn check_running(&self, wiring: &Wiring) -> Result<(), SetupError> {
        for service in self.running.iter().filter(|it| !it.comes_with_others()) {
            self.check(service, wiring).await?;
        }
        Ok(())
    }

    /// Whether a service is served by a process of another that Murphy started.
    pub(super) fn comes_with_others(&self, name: &str) -> bool {
        let mut running = self.running.iter();
        running.any(|it| it.name == name && it.comes_with_others())
    }

    /// Starts again what has ended since; a crash under a fault must not fail
    /// the executions after it.
    pub(super) async fn revive(&self, wiring: &Wiring) -> Result<(), SetupError> {
        for service in &self.managed {
            // Another worker that holds it is starting it.
            let runs = match service.process.try_lock() {
                Ok(process) => process.as_ref().is_some_and(Process::runs),
                Err(_) => false,
            };
            if !runs {
                self.launch(service, wiring).await.map_err(|it| match it {
                    Failure::PortLost => service.port_taken(),
                    Failure::Broken(error) => error,
                })?;
                self.wait_for_members(service, wiring).await?;
            }
        }
        Ok(())
    }

    /// Stops what Murphy started and starts it again; false if there is
    /// nothing of that kind.
    pub(super) async fn restart(&self, wiring: &Wiring) -> Result<bool, SetupError> {
        self.stop_all().await;
        self.revive(wiring).await?;
        Ok(!self.managed.is_empty())
    }

    /// The same for those that may have read one of these files.
    pub(super) async fn restart_readers(
        &self,
        files: &[PathBuf],
        wiring: &Wiring,
    ) -> Result<bool, SetupError> {
        let reads = |service: &&Managed| {
            let directory = std::path::absolute(&service.spec.directory);
            directory.is_ok_and(|directory| files.iter().any(|file| file.starts_with(&directory)))
        };
        let readers: Vec<&Managed> = self.managed.iter().filter(reads).collect();
        self.stop_those(&readers).await;
        self.revive(wiring).await?;
        Ok(!readers.is_empty())
    }

    /// Starts a service, unless it runs, and waits until it is up.
    async fn launch(&self, service: &Managed, wiring: &Wiring) -> Result<(), Failure> {
        let mut slot = service.process.lock().await;
        if slot.as_ref().is_some_and(Process::runs) {
            return Ok(());
        }
        if let Some(process) = slot.take() {
            let exit = process.ended().await;
            service.ends().push(exit);
        }
        if !service.port.let_go().await {
            return Err(match service.port.picked {
                true => Failure::PortLost,
                false => service.port_taken().into(),
            });
        }
        let process = self.spawn(service, wiring)?;
        let process = slot.insert(process);
        let address = service.port.address().to_string();
        let asked = service.asked(wiring);
        let healthy = tokio::select! {
            biased;
            exit = process.ended() => Err(service.ended_early(&exit.to_string())),
            up = health::wait(&asked, &service.health) => match up {
                true => self.shake_hands(&service.name, service.tls.as_deref(), &address, &service.place).await,
                false => Err(service.not_up(&listening::ports_of(process.group()))),
            },
        };
        let Err(error) = healthy else { return Ok(()) };
        process.kill().await;
        *slot = None;
        // It may have met somebody else at its port.
        match service.port.picked && service.port.is_taken() {
            true => Err(Failure::PortLost),
            false => Err(Failure::Broken(error)),
        }
    }

    fn spawn(&self, service: &Managed, wiring: &Wiring) -> Result<Process, SetupError> {
        let Managed { name, spec, .. } = service;
        let places = wiring.seen_by(name);
        let command = service.fill_all(&spec.command, &places)?;
        let mut environment = service.environment(&places)?;
        environment.insert(MARK.to_owned(), self.mark());
        if let Some(egress) = wiring.egress_of(name) {
            egress.tell(&mut environment)?;
        }
        let start = Start {
            command: &command,
            directory: &spec.directory,
            environment: &environment,
            children: Children::EndWithIt,
        };
        let process = Process::start(&start, service.log.clone());
        let process = process.map_err(|error| {
            SetupError::new(format!("service `{name}` cannot be started: {error}"))
                .at(&service.place)
                .hint(error.hint())
        })?;
        let noted = self.ledger().add(name, process.group());
        noted.map_err(|error| SetupError::new(error.to_string()))?;
        // One that serves several services calls for any of them.
        if self.members(service).next().is_none() {
            self.calling.add(name, process.group());
        }
        Ok(process)
    }

    /// How far each has come by now.
    pub(super) fn marks(&self) -> Vec<Mark> {
        let mark = |service: &Managed| Mark {
            logged: service.log.mark(),
            ends: service.ends().len(),
        };
        self.managed.iter().map(mark).collect()
    }

    /// Whether Murphy started a service.
    pub(super) fn manages(&self, name: &str) -> bool {
        self.managed.iter().any(|it| it.name == name) || self.comes_with_others(name)
    }

    /// What is to be said of those that have ended since by themselves; empty
    /// if none has. A connection that `broke` may be the first that is seen of
    /// an end, which is then waited for.
    pub(super) async fn ended_since(&self, marks: &[Mark], broke: bool) -> Vec<String> {
        if broke {
            let some_end = async {
                while self.managed.iter().all(Managed::runs) {
                    tokio::time::sleep(TICK).await;
                }
            };
            let _ = tokio::time::timeout(ENDING, some_end).await;
        }
        let mut said = Vec::new();
        for (service, mark) in self.managed.iter().zip(marks) {
            let exit = service.exit_since(mark).await;
            said.extend(exit.map(|exit| {
                let name = &service.name;
                format!("service `{name}` ended ({exit}) while the scenario ran")
            }));
        }
        said
    }

    /// What was logged since, service by service, as text for a person.
    pub(super) fn logged_since(&self, marks: &[Mark], alone: bool) -> String {
        let mut text = String::new();
        let when = match alone {
            true => "during this execution",
            false => "meanwhile, other executions included",
        };
        for (service, mark) in self.managed.iter().zip(marks) {
            let logged = service.log.since(mark.logged);
            let logged = last(logged.trim_end(), SHOWN);
            if !logged.is_empty() {
                let _ = write!(
                    text,
                    "\n--- `{}` logged {when} ---\n{logged}\n",
                    service.name
                );
            }
            if let Some(exit) = service.exit() {
                let _ = write!(text, "\n--- `{}` ended: {exit} ---\n", service.name);
            }
        }
        text
    }

    /// All that is kept of a service's log; empty for one not started here.
    pub(super) fn log(&self, name: &str) -> String {
        let service = self.managed.iter().find(|it| it.name == name);
        service.map_or_else(String::new, |it| it.log.text())
    }

    /// Stops everything that was started.
    pub(super) async fn stop(self) {
        self.stop_all().await;
    }

    async fn stop_all(&self) {
        self.stop_those(&self.managed.iter().collect::<Vec<_>>())
            .await;
    }

    /// All at once: some take their time.
    async fn stop_those(&self, services: &[&Managed]) {
        let mut stopping = tokio::task::JoinSet::new();
        for service in services {
            if let Some(process) = service.process.lock().await.take() {
                let within = service.spec.stop_within;
                stopping.spawn(process.stop(within));
            }
        }
        stopping.join_all().await;
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        // Before the ledger goes, and with it the memory of what is ours.
        for service in &mut self.managed {
            service.process.get_mut().take();
        }
        self.ledger().sweep();
    }
}

impl Running {
    fn new(service: &ServiceSpec, upstream: &str) -> Result<Self, SetupError> {
        let name = service.name.clone();
        let place = Place::parse(upstream).ok_or_else(|| {
            SetupError::new(format!("service `{name}`: `{upstream}` is no address"))
                .at(&service.place)
                .hint("write `host:port`, as in `127.0.0.1:5001`")
        })?;
        Ok(Running {
            name,
            process: service.process.clone(),
            came_with_others: AtomicBool::new(service.process.is_some()),
            upstream: place,
            tls: service.tls.clone(),
            health: service.health.clone(),
            place: service.place.clone(),
        })
    }

    /// Whether a process on this machine may serve it.
    fn is_local(&self) -> bool {
        let address = self.upstream.address();
        let host = address.rsplit_once(':').map_or("", |(host, _)| host);
        ["127.0.0.1", "localhost", "[::1]", "0.0.0.0"].contains(&host)
    }

    fn comes_with_others(&self) -> bool {
        self.came_with_others.load(Ordering::Relaxed)
    }

    /// Where it is asked whether it is well: without TLS, where there is a
    /// request to be sent.
    fn asked(&self, wiring: &Wiring) -> String {
        asked(&self.name, &self.health, self.upstream.address(), wiring)
    }

    /// Waits until the process that serves it too has got so far.
    async fn wait(&self, process: &str, wiring: &Wiring) -> Result<(), SetupError> {
        let (name, address) = (&self.name, self.upstream.address());
        if health::wait(&self.asked(wiring), &self.health).await {
            return Ok(());
        }
        let within = self.health.within;
        let message = format!(
            "service `{name}` did not come up within {within:?}: the process of `{process}` runs, but does not answer at {address}"
        );
        let hint = format!("does `{process}` listen there too? `port` or `upstream` says where");
        Err(SetupError::new(message)
            .of_service(name)
            .at(&self.place)
            .hint(hint))
    }
}

impl Managed {
    fn new(service: &ServiceSpec, spec: &ManagedSpec, logs: &Path) -> Result<Self, SetupError> {
        let name = &service.name;
        let port = match spec.port {
            Some(number) => Port::fixed(number),
            None => Port::free().map_err(|error| {
                SetupError::new(format!("service `{name}`: no free port to be had: {error}"))
                    .at(&service.place)
            })?,
        };
        let path: PathBuf = logs.join(format!("{}.log", file_name(name)));
        let log = Log::with_file(log::KEPT, &path);
        let log = log.map_err(|error| {
            SetupError::new(format!("cannot write `{}`: {error}", path.display()))
        });
        Ok(Managed {
            name: name.clone(),
            spec: spec.clone(),
            port,
            tls: service.tls.clone(),
            health: service.health.clone(),
            place: service.place.clone(),
            log: Arc::new(log?),
            process: AsyncMutex::new(None),
            ends: Mutex::default(),
        })
    }

    fn asked(&self, wiring: &Wiring) -> String {
        let own = self.port.address().to_string();
        asked(&self.name, &self.health, own, wiring)
    }

    fn ends(&self) -> std::sync::MutexGuard<'_, Vec<Exit>> {
        self.ends.lock().expect("no panic while it is added to")
    }

    /// Whether it runs, or somebody sees to that.
    fn runs(&self) -> bool {
        let process = self.process.try_lock();
        process.map_or(true, |it| it.as_ref().is_some_and(Process::runs))
    }

    /// How it ended since, if it did; it may have been started again.
    async fn exit_since(&self, mark: &Mark) -> Option<Exit> {
        // Another worker that holds it is starting it.
        let process = self.process.lock().await;
        if let Some(exit) = self.ends().get(mark.ends) {
            return Some(*exit);
        }
        let process = process.as_ref().filter(|it| !it.runs())?;
        Some(process.ended().await)
    }

    fn environment(&self, places: &Places) -> Result<BTreeMap<String, String>, SetupError> {
        let mut all = BTreeMap::from([("PORT".to_owned(), self.port.number().to_string())]);
        for (key, value) in &self.spec.environment {
            all.insert(key.clone(), self.fill(value, places)?);
        }
        Ok(all)
    }

    fn fill_all(&self, texts: &[String], places: &Places) -> Result<Vec<String>, SetupError> {
        texts.iter().map(|text| self.fill(text, places)).collect()
    }

    fn fill(&self, text: &str, places: &Places) -> Result<String, SetupError> {
        let filled = expand(text, places, Some(self.port.number()));
        filled.map_err(|error| {
            SetupError::new(format!("service `{}`: {error}", self.name)).at(&self.place)
        })
    }

    /// How it ended; `None` while it runs or is being started again.
    fn exit(&self) -> Option<String> {
        let process = self.process.try_lock().ok()?;
        Some(process.as_ref()?.exit()?.to_string())
    }

    /// Whether somebody else answered when it was waited for, at a port that it
    /// then found taken. That shows a while later, when it has ended.
    async fn has_lost_its_port(&self) -> bool {
        let process = self.process.lock().await;
        let runs = process.as_ref().is_some_and(Process::runs);
        self.port.picked && !runs && self.port.is_taken()
    }

    fn port_taken(&self) -> SetupError {
        let (name, address) = (&self.name, self.port.address());
        SetupError::new(format!("service `{name}` cannot be started: {address} is taken already")).at(&self.place).hint(
            "stop what listens there (another copy of the service?), or let the service take its port from `{port}` or `PORT`",
        )
    }

    fn ended_early(&self, exit: &str) -> SetupError {
        let message = format!("service `{}` ended before it was up: {exit}", self.name);
        let command = self.spec.command.iter().map(|word| quoted(word));
        let command = command.collect::<Vec<_>>().join(" ");
        SetupError::new(message)
            .of_service(&self.name)
            .at(&self.place)
            .hint(format!("try it by hand: `{command}`"))
            .printed(&self.name, self.log.tail(LINES_SHOWN))
    }

    /// Why it is not up, though its process runs and listens on these ports.
    fn not_up(&self, ports: &[u16]) -> SetupError {
        let (name, address, within) = (&self.name, self.port.address(), self.health.within);
        let what = match (&self.health.path, ports) {
            (_, [first, ..]) if !ports.contains(&self.port.number()) => {
                format!("nothing listens on {address}; the service listens on port {first}")
            }
            (Some(path), _) => format!("http://{address}{path} did not answer 2xx or 3xx"),
            (None, _) => format!("nothing listens on {address}"),
        };
        let hint = match ports {
            [first, ..] if !ports.contains(&self.port.number()) => format!(
                "let it take its port from `{{port}}` in its `command`, or from the variable `PORT`; or write `port = {first}` in `[services.{name}]`"
            ),
            _ => format!(
                "it is told its port as `{{port}}` and as `PORT`; if it only starts slowly, give it more time: `start_within = \"60s\"` in `[services.{name}]`"
            ),
        };
        SetupError::new(format!(
            "service `{name}` did not come up within {within:?}: {what}"
        ))
        .of_service(name)
        .at(&self.place)
        .hint(hint)
        .printed(name, self.log.tail(LINES_SHOWN))
    }
}

/// Where a service is asked whether it is well. What is proxied accepts
/// connections whatever is behind it.
fn asked(name: &str, health: &Health, own: String, wiring: &Wiring) -> String {
    match (&health.path, wiring.direct().get(name)) {
        (Some(_), Some(place)) => place.address(),
        _ => own,
    }
}

/// A name as part of a path.
fn file_name(name: &str) -> String {
    let safe = |c: char| {
        if c.is_alphanumeric() || "-_.".contains(c) {
            c
        } else {
            '_'
        }
    };
    name.chars().map(safe).collect()
}

/// The last bytes of a text, from the beginning of a line.
fn last(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let from = text.ceil_char_boundary(text.len() - bytes);
    let text = &text[from..];
    text.split_once('\n').map_or(text, |(_, rest)| rest)
}

/// How long a service may take to stop, unless it is said.
pub const STOP_WITHIN: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_text_begins_with_a_line() {
        assert_eq!(last("one\ntwo\nthree", 8), "three");
        assert_eq!(last("one\ntwo", 80), "one\ntwo");
        assert_eq!(last("ééééé", 3), "é");
    }

    #[test]
    fn names_become_file_names() {
        assert_eq!(file_name("a/b c.d-é"), "a_b_c.d-é");
    }
}
