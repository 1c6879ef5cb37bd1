//! What is known of a system before there is a file about it.

use crate::code::FixedAddress;

/// What a first `murphy.toml` is made from.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The services, in the order in which they are written.
    pub services: Vec<Service>,
    /// Services of a compose file that Murphy can do nothing with, and why.
    pub left_out: Vec<(String, String)>,
    /// The compose file that services were read from.
    pub compose: Option<String>,
    /// The test, if one is known.
    pub test: Option<Test>,
    /// Files of tests that have a scenario each, in place of the test.
    pub files: Vec<TestFile>,
    /// How many files the test runs, where that is too many for one.
    pub many_files: Option<usize>,
    /// Where commands of services were found that nobody named.
    pub found_in: Vec<String>,
    /// Addresses of this machine that are written into code.
    pub fixed: Vec<FixedAddress>,
    /// Services that variables in code are named after: the name, the variable,
    /// and the place.
    pub named_by_variables: Vec<(String, String, String)>,
    /// The service that the test calls, if that was said.
    pub entry: Option<String>,
    /// The statuses of honest refusals, as they are written in the file.
    pub refusals: Vec<String>,
    /// Variables that lead callers through Murphy.
    pub wires: Vec<Wire>,
}

/// A service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Whether it runs in a container, where `127.0.0.1` is the container.
    pub in_container: bool,
    /// The port of the container that has to be published first.
    pub unpublished: Option<u16>,
    /// The port that its command named, where that is `{port}` now.
    pub usual_port: Option<u16>,
    /// What starts it in its container.
    pub container_command: Option<String>,
    /// Variables that stood before its command.
    pub assigned: Vec<(String, String)>,
    /// The services whose addresses in its command became placeholders.
    pub led: Vec<String>,
}

/// Where a service comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It runs already, at `host:port`.
    Running(String),
    /// This command starts it, listening on the port that it names, if any.
    Started {
        /// The command line, without variables.
        command: String,
        /// The port that it names, if it cannot be told one.
        port: Option<u16>,
    },
}

/// The command that tests the system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Test {
    /// The command.
    pub command: String,
    /// Variables that stood before it.
    pub assigned: Vec<(String, String)>,
}

/// A file of tests, and the scenario for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFile {
    /// The scenario's name.
    pub name: String,
    /// The command that runs the file.
    pub command: String,
    /// The file, relative to the project.
    pub file: String,
}

/// A variable that tells somebody where a service is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Whose variable it is.
    pub owner: Owner,
    /// The variable.
    pub variable: String,
    /// What it must hold; a template.
    pub value: String,
    /// The service that it leads to.
    pub callee: String,
    /// Where that was learnt.
    pub learnt: String,
}

/// Who reads a variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// A service, by its name.
    Service(String),
    /// The test.
    Test,
}

impl Service {
    /// A service of which nothing more is known.
    pub fn of(name: &str, origin: Origin) -> Self {
        Service {
            name: name.to_owned(),
            origin,
            in_container: false,
            unpublished: None,
            usual_port: None,
            container_command: None,
            assigned: Vec::new(),
            led: Vec::new(),
        }
    }

    /// Whether Murphy starts it.
    pub fn is_started(&self) -> bool {
        matches!(self.origin, Origin::Started { .. })
    }

    /// The port of this machine at which it listens, where that is known.
    pub fn local_port(&self) -> Option<u16> {
        match &self.origin {
            Origin::Started { port, .. } => *port,
            Origin::Running(at) => {
                let (host, port) = at.rsplit_once(':')?;
                let is_here = ["127.0.0.1", "localhost", "0.0.0.0", "[::1]"].contains(&host);
                port.parse().ok().filter(|_| is_here)
            }
        }
    }
}

impl Plan {
    /// The service with this name.
    pub fn service(&self, name: &str) -> Option<&Service> {
        self.services.iter().find(|it| it.name == name)
    }

    /// The variables that somebody is to be given.
    pub fn wires_of(&self, owner: &Owner) -> Vec<&Wire> {
        self.wires.iter().filter(|it| it.owner == *owner).collect()
    }

    /// The service that the test calls: as it was said, or as the test itself
    /// shows, or else the first that no other service calls.
    pub fn entry(&self) -> Option<&str> {
        let of_test = self.wires.iter().find(|it| it.owner == Owner::Test);
        let is_called = |name: &str| {
            let by_service = |it: &&Wire| it.owner != Owner::Test;
            let mut wires = self.wires.iter().filter(by_service);
            wires.any(|it| it.callee == name)
        };
        let alone = self.services.iter().find(|it| !is_called(&it.name));
        let said = self.entry.as_deref();
        said.or(of_test.map(|it| it.callee.as_str()))
            .or(alone.or(self.services.first()).map(|it| it.name.as_str()))
    }

    /// Where the proxy of a service must listen: where somebody calls it that
    /// runs already, and so cannot be handed the address of any other port.
    pub fn listen(&self, name: &str) -> Option<Listen> {
        let callers: Vec<&Service> = self
            .wires
            .iter()
            .filter(|it| it.callee == name)
            .filter_map(|it| match &it.owner {
                Owner::Service(caller) => self.service(caller),
                Owner::Test => None,
            })
            .filter(|caller| !caller.is_started())
            .collect();
        let at = self.services.iter().position(|it| it.name == name)?;
        let taken: Vec<u16> = self
            .services
            .iter()
            .filter_map(Service::local_port)
            .collect();
        // Beyond those of services that count up from 15001 themselves.
        let mut free = (FIRST_PORT..).filter(|port| !taken.contains(port));
        (!callers.is_empty()).then(|| Listen {
            port: free.nth(at).unwrap_or(FIRST_PORT),
            for_containers: callers.iter().any(|it| it.in_container),
        })
    }
}

/// Below the ports that systems hand out by themselves.
const FIRST_PORT: u16 = 15001;

/// Where a proxy listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listen {
    /// The port.
    pub port: u16,
    /// Whether callers come from containers, to whom this machine has another
    /// address.
    pub for_containers: bool,
}

impl Listen {
    /// The address to listen at.
    pub fn address(self) -> String {
        let host = match self.for_containers {
            true => "0.0.0.0",
            false => "127.0.0.1",
        };
        format!("{host}:{}", self.port)
    }

    /// The host by which callers reach it.
    pub fn host(self) -> &'static str {
        match self.for_containers {
            true => "host.docker.internal",
            false => "127.0.0.1",
        }
    }
}
