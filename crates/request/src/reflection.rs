//! What gRPC servers tell of themselves.
//!
//! Owns the asking, by `grpc.reflection.v1` and where that is not served by
//! its predecessor `v1alpha`, which has the same messages; and the memory of
//! what was told, so that each server is asked once. Servers are asked
//! directly, never through a proxy: it is none of the test's calls.

use std::collections::{BTreeMap, BTreeSet};

use http::HeaderMap;
use prost::Message;
use prost_reflect::prost_types::FileDescriptorProto;
use prost_reflect::{DescriptorPool, MethodDescriptor};

use crate::grpc::{Line, Lost, framed};
use crate::place::Place;

/// A method of which the server does not tell enough.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Undescribed {
    #[error("it is written `package.Service/Method`")]
    Name,
    #[error("the server at {0} serves no reflection")]
    NoReflection(String),
    #[error("the server at {address} could not be asked: {lost}")]
    Lost { address: String, lost: Lost },
    #[error("the server knows no service `{service}`: {why}")]
    NoService { service: String, why: String },
    #[error("service `{service}` has no method `{method}`; it has {}", .known.join(", "))]
    NoMethod {
        service: String,
        method: String,
        known: Vec<String>,
    },
    #[error("what the server tells of `{service}` makes no sense: {why}")]
    Nonsense { service: String, why: String },
}

/// What servers told so far, by address and service.
#[derive(Default)]
pub struct Schemas(BTreeMap<(String, String), DescriptorPool>);

impl Schemas {
    /// A method of a server, `package.Service/Method`.
    pub(crate) async fn method(
        &mut self,
        server: &Place,
        name: &str,
    ) -> Result<MethodDescriptor, Undescribed> {
        let name = name.trim_start_matches('/');
        let (service, method) = name.split_once('/').ok_or(Undescribed::Name)?;
        let key = (server.address(), service.to_owned());
        let pool = match self.0.get(&key) {
            Some(known) => known.clone(),
            None => ask(&key.0, service).await?,
        };
        self.0.insert(key, pool.clone());
        find(&pool, service, method)
    }
}

fn find(
    pool: &DescriptorPool,
    service: &str,
    method: &str,
) -> Result<MethodDescriptor, Undescribed> {
    let described = pool.get_service_by_name(service);
    let described = described.ok_or_else(|| Undescribed::Nonsense {
        service: service.to_owned(),
        why: "the service is not in it".to_owned(),
    })?;
    let found = described.methods().find(|it| it.name() == method);
    found.ok_or_else(|| Undescribed::NoMethod {
        service: service.to_owned(),
        method: method.to_owned(),
        known: described.methods().map(|it| it.name().to_owned()).collect(),
    })
}

/// Everything a server tells of a service and of what its messages are made.
async fn ask(address: &str, service: &str) -> Result<DescriptorPool, Undescribed> {
    let mut server = Server::new(address);
    let nonsense = |why: String| Undescribed::Nonsense {
        service: service.to_owned(),
        why,
    };
    let first = server.files(Wanted::Symbol(service.to_owned())).await?;
    let mut files = first.map_err(|why| Undescribed::NoService {
        service: service.to_owned(),
        why,
    })?;
    while let Some(missing) = missing(&files) {
        let more = match server.files(Wanted::Name(missing.clone())).await? {
            Ok(more) => more,
            // Some servers do not tell of what everybody knows.
            Err(why) => vec![well_known(&missing).ok_or_else(|| nonsense(why))?],
        };
        if !more.iter().any(|file| file.name() == missing) {
            return Err(nonsense(format!("it does not tell of `{missing}`")));
        }
        files.extend(more);
    }
    let mut seen = BTreeSet::new();
    files.retain(|file| seen.insert(file.name().to_owned()));
    let mut pool = DescriptorPool::new();
    let added = pool.add_file_descriptor_protos(files);
    added.map_err(|error| nonsense(error.to_string()))?;
    Ok(pool)
}

/// The methods that a server offers, as far as it tells of itself: the service
/// with its package, and the method. Those by which it tells, and says how it
/// is, are none of the application's.
pub async fn grpc_methods(server: &Place) -> Option<BTreeSet<(String, String)>> {
    let mut server = Server::new(&server.address());
    let mut all = BTreeSet::new();
    for service in server.services().await.ok()? {
        if service.starts_with("grpc.") {
            continue;
        }
        let files = server.files(Wanted::Symbol(service.clone())).await;
        let Ok(Ok(files)) = files else { continue };
        for file in &files {
            let methods = methods_of(file, &service);
            all.extend(methods.map(|method| (service.clone(), method)));
        }
    }
    Some(all)
}

/// The methods of a service, if it is in this file.
fn methods_of(file: &FileDescriptorProto, service: &str) -> impl Iterator<Item = String> {
    let is_it = |name: &str| match file.package() {
        "" => name == service,
        package => service.strip_prefix(package) == Some(&format!(".{name}")),
    };
    let described = file.service.iter().find(|it| is_it(it.name()));
    let methods = described.into_iter().flat_map(|it| &it.method);
    methods.map(|method| method.name().to_owned())
}

/// A file that another one needs.
fn missing(files: &[FileDescriptorProto]) -> Option<String> {
    let there: BTreeSet<&str> = files.iter().map(FileDescriptorProto::name).collect();
    let needed = files.iter().flat_map(|file| &file.dependency);
    let mut missing = needed.filter(|name| !there.contains(name.as_str()));
    missing.next().cloned()
}

fn well_known(name: &str) -> Option<FileDescriptorProto> {
    let file = DescriptorPool::global().get_file_by_name(name)?;
    Some(file.file_descriptor_proto().clone())
}

/// The versions of reflection, newest first.
const VERSIONS: [&str; 2] = ["v1", "v1alpha"];

struct Server {
    line: Line,
    address: String,
    version: usize,
}

enum Wanted {
    Services,
    Name(String),
    Symbol(String),
}

impl Server {
    fn new(address: &str) -> Self {
        Server {
            line: Line::new(address.to_owned()),
            address: address.to_owned(),
            version: 0,
        }
    }

    /// The names of its services; none where it does not tell.
    async fn services(&mut self) -> Result<Vec<String>, Undescribed> {
        let told = self.ask(&Wanted::Services.into()).await?;
        let services = told.services.unwrap_or_default().services;
        Ok(services.into_iter().map(|it| it.name).collect())
    }

    /// The files it tells, or why it does not.
    async fn files(
        &mut self,
        wanted: Wanted,
    ) -> Result<Result<Vec<FileDescriptorProto>, String>, Undescribed> {
        let told = self.ask(&wanted.into()).await?;
        if let Some(error) = told.error {
            return Ok(Err(error.message));
        }
        let files = told.files.unwrap_or_default().files;
        let read = files
            .iter()
            .map(|file| FileDescriptorProto::decode(&file[..]));
        let read: Result<Vec<_>, _> = read.collect();
        Ok(read.map_err(|error| error.to_string()))
    }

    async fn ask(&mut self, ask: &Ask) -> Result<Told, Undescribed> {
        let lost = |address: &str, lost| Undescribed::Lost {
            address: address.to_owned(),
            lost,
        };
        while let Some(version) = VERSIONS.get(self.version) {
            let path = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
            let message = framed(&ask.encode_to_vec());
            let raw = self.line.call(&path, HeaderMap::new(), message).await;
            let raw = raw.map_err(|it| lost(&self.address, it))?;
            let (code, message) = raw.code().map_err(|it| lost(&self.address, it))?;
            match code {
                "OK" => {}
                "UNIMPLEMENTED" => {
                    self.version += 1;
                    continue;
                }
                // Some say so instead of sending a message that says it.
                _ => return Ok(Told::refusing(message)),
            }
            let messages = raw.messages().map_err(|it| lost(&self.address, it))?;
            let first = messages.first().map(|it| Told::decode(it.clone()));
            let Some(Ok(told)) = first else {
                return Err(lost(&self.address, Lost::Unreadable));
            };
            return Ok(told);
        }
        Err(Undescribed::NoReflection(self.address.clone()))
    }
}

/// `ServerReflectionRequest`; of its `oneof` at most one is set.
#[derive(Clone, PartialEq, Message)]
struct Ask {
    #[prost(string, tag = "1")]
    host: String,
    #[prost(string, optional, tag = "3")]
    file_by_filename: Option<String>,
    #[prost(string, optional, tag = "4")]
    file_containing_symbol: Option<String>,
    #[prost(string, optional, tag = "7")]
    list_services: Option<String>,
}

impl From<Wanted> for Ask {
    fn from(wanted: Wanted) -> Self {
        match wanted {
            Wanted::Services => Ask {
                list_services: Some(String::new()),
                ..Ask::default()
            },
            Wanted::Name(name) => Ask {
                file_by_filename: Some(name),
                ..Ask::default()
            },
            Wanted::Symbol(name) => Ask {
                file_containing_symbol: Some(name),
                ..Ask::default()
            },
        }
    }
}

/// `ServerReflectionResponse`, as far as it matters.
#[derive(Clone, PartialEq, Message)]
struct Told {
    #[prost(message, optional, tag = "4")]
    files: Option<Files>,
    #[prost(message, optional, tag = "6")]
    services: Option<Services>,
    #[prost(message, optional, tag = "7")]
    error: Option<Refusal>,
}

impl Told {
    fn refusing(message: String) -> Self {
        Told {
            files: None,
            services: None,
            error: Some(Refusal { message }),
        }
    }
}

/// `FileDescriptorResponse`.
#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    files: Vec<Vec<u8>>,
}

/// `ListServiceResponse`.
#[derive(Clone, PartialEq, Message)]
struct Services {
    #[prost(message, repeated, tag = "1")]
    services: Vec<Named>,
}

/// `ServiceResponse`.
#[derive(Clone, PartialEq, Message)]
struct Named {
    #[prost(string, tag = "1")]
    name: String,
}

/// `ErrorResponse`, as far as it matters.
#[derive(Clone, PartialEq, Message)]
struct Refusal {
    #[prost(string, tag = "2")]
    message: String,
}
