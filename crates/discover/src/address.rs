//! What variables and their values say about services: `CART_SERVICE_HOST`,
//! `http://localhost:5001/api`.
//!
//! Owns which service is meant, and what a variable must hold so that it leads
//! through Murphy: the same form as before, with the service's address replaced
//! by a placeholder. It knows neither where a variable was found nor whose it is.

use crate::plan::Service;

/// What a variable holds, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole URL.
    Url,
    /// `host:port`.
    Address,
    /// The host alone.
    Host,
    /// The port alone.
    Port,
}

/// The longer of two that fit comes first.
const ENDINGS: [(&str, Kind); 10] = [
    ("_BASE_URL", Kind::Url),
    ("_URL", Kind::Url),
    ("_URI", Kind::Url),
    ("_ENDPOINT", Kind::Url),
    ("_ADDRESS", Kind::Address),
    ("_ADDR", Kind::Address),
    ("_HOSTPORT", Kind::Address),
    ("_HOSTNAME", Kind::Host),
    ("_HOST", Kind::Host),
    ("_PORT", Kind::Port),
];

/// What frameworks put before the names of variables that browsers may see.
const PREFIXES: [&str; 6] = [
    "NEXT_PUBLIC_",
    "NUXT_PUBLIC_",
    "EXPO_PUBLIC_",
    "REACT_APP_",
    "VITE_",
    "MY_",
];

/// What is put behind a service's name without being part of it.
const FILLERS: [&str; 7] = [
    "service", "svc", "server", "api", "backend", "grpc", "internal",
];

/// What variables with addresses are named after that is no service of a system.
const OTHERS: [&str; 12] = [
    "base",
    "database",
    "db",
    "postgres",
    "mysql",
    "mongo",
    "mongodb",
    "redis",
    "cache",
    "broker",
    "otel_exporter_otlp",
    "public",
];

/// Schemes of what Murphy does not speak.
const FOREIGN: [&str; 12] = [
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "redis",
    "rediss",
    "mongodb",
    "mongodb+srv",
    "amqp",
    "amqps",
    "kafka",
    "nats",
];

/// What a variable's name says it holds; `None` for names of another kind.
/// Murphy's own are not for others to set.
pub fn kind(variable: &str) -> Option<Kind> {
    if variable.starts_with("MURPHY_") {
        return None;
    }
    ending(variable).map(|(_, kind)| kind)
}

fn ending(variable: &str) -> Option<(&str, Kind)> {
    let mut endings = ENDINGS.iter();
    endings.find_map(|(end, kind)| {
        let stem = variable.strip_suffix(end)?;
        (!stem.is_empty()).then_some((stem, *kind))
    })
}

/// The service that a variable is named after, if there is one and no other
/// that fits as well.
pub fn named_after<'s>(variable: &str, services: &'s [Service]) -> Option<&'s Service> {
    by_name(stem(variable)?, services)
}

/// A variable without what says how it holds an address.
fn stem(variable: &str) -> Option<&str> {
    let (stem, _) = ending(variable)?;
    let mut prefixes = PREFIXES.iter();
    let short = prefixes.find_map(|prefix| stem.strip_prefix(prefix));
    Some(short.unwrap_or(stem))
}

/// What a service may be called that a variable is named after. Not from a port
/// or host alone, which are a program's own as often.
pub fn service_name(variable: &str) -> Option<String> {
    let is_whole = matches!(kind(variable)?, Kind::Url | Kind::Address);
    let name = stem(variable)?.to_ascii_lowercase();
    let is_service = is_whole && !OTHERS.contains(&name.as_str());
    is_service.then(|| name.replace('_', "-"))
}

/// Whether a value is the address of something that speaks neither HTTP nor gRPC.
pub fn is_foreign(value: &str) -> bool {
    parts(value)
        .and_then(|it| it.scheme)
        .is_some_and(|it| FOREIGN.contains(&it))
}

/// The service with this name, however it is written: `cart`, `CART_SERVICE`,
/// `cartservice`.
pub fn by_name<'s>(name: &str, services: &'s [Service]) -> Option<&'s Service> {
    let joined = joined(name);
    let exact = services.iter().find(|it| self::joined(&it.name) == joined);
    if exact.is_some() {
        return exact;
    }
    let core = core(&joined);
    let mut alike = services.iter().filter(|it| {
        let own = self::joined(&it.name);
        self::core(&own) == core
    });
    let first = alike.next()?;
    alike.next().is_none().then_some(first)
}

fn joined(name: &str) -> String {
    let plain = name.chars().filter(char::is_ascii_alphanumeric);
    plain.map(|c| c.to_ascii_lowercase()).collect()
}

/// A name without what is put behind it; at least two letters stay.
fn core(joined: &str) -> &str {
    let mut fillers = FILLERS.iter();
    let short = fillers.find_map(|filler| joined.strip_suffix(filler));
    match short.filter(|short| short.len() >= 2) {
        Some(short) => core(short),
        None => joined,
    }
}

/// The parts of a value that is an address of some kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parts<'v> {
    scheme: Option<&'v str>,
    host: &'v str,
    port: Option<u16>,
    /// With its slash.
    path: &'v str,
}

fn parts(value: &str) -> Option<Parts<'_>> {
    let (scheme, rest) = match value.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest.trim_start_matches('/')),
        None => (None, value),
    };
    let (authority, path) = match rest.find(['/', '?']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) => (host, Some(port.parse().ok()?)),
        None => (authority, None),
    };
    let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let fits = !host.is_empty() && host.chars().all(is_host);
    fits.then_some(Parts {
        scheme,
        host,
        port,
        path,
    })
}

/// Whether a text may be where something is, rather than any other text.
pub fn is_address(value: &str) -> bool {
    let is_bare = |it: &Parts<'_>| it.port.is_some() || it.host == "localhost";
    parts(value).is_some_and(|it| it.scheme.is_some() || is_bare(&it))
}

/// The service at which a value points: by a port of this machine, or by its
/// name, which is its host among containers.
pub fn pointed_at<'s>(value: &str, services: &'s [Service]) -> Option<&'s Service> {
    let parts = parts(value)?;
    let is_here = ["localhost", "127.0.0.1", "0.0.0.0", "host.docker.internal"];
    match is_here.contains(&parts.host) {
        true => {
            let port = parts.port?;
            services.iter().find(|it| it.local_port() == Some(port))
        }
        false => services.iter().find(|it| it.name == parts.host),
    }
}

/// What a variable must hold to lead to the service through Murphy, in the form
/// that its value has now; `has_port` says whether a variable of its own holds
/// the port. `None` where it cannot.
pub fn template(service: &str, kind: Kind, value: Option<&str>, has_port: bool) -> Option<String> {
    let field = |field: &str| format!("{{{service}.{field}}}");
    let usual = match kind {
        Kind::Url => field("url"),
        Kind::Address => field("address"),
        Kind::Port => field("port"),
        Kind::Host if has_port => field("host"),
        // A host alone would lead to the port that is in the source, past
        // Murphy and unseen; a host with a port too many fails at once.
        Kind::Host => field("address"),
    };
    let Some(parts) = value.and_then(parts) else {
        return Some(usual);
    };
    let path = parts
        .path
        .trim_end_matches('/')
        .replace('{', "{{")
        .replace('}', "}}");
    match (parts.scheme, kind) {
        (Some(scheme), _) if FOREIGN.contains(&scheme) => None,
        (Some("http" | "https"), _) => Some(field("url") + &path),
        (Some(scheme), _) => Some(format!("{scheme}://{}{path}", field("address"))),
        (None, Kind::Host | Kind::Port) if parts.port.is_none() => Some(usual),
        (None, _) if parts.port.is_some() => Some(field("address") + &path),
        (None, _) => Some(usual),
    }
}

/// The text with every address of a service in it replaced by its placeholder;
/// `None` if there is none.
pub fn in_words(text: &str, own: &str, services: &[Service]) -> Option<(String, Vec<String>)> {
    let mut callees = Vec::new();
    let words = text.split(' ').map(|word| {
        let (before, value) = match word.split_once('=') {
            Some((option, value)) => (format!("{option}="), value),
            None => (String::new(), word),
        };
        let callee = Some(value)
            .filter(|it| is_address(it))
            .and_then(|it| pointed_at(it, services))
            .filter(|it| it.name != own);
        let template = callee.and_then(|it| template(&it.name, Kind::Address, Some(value), true));
        match (callee, template) {
            (Some(callee), Some(template)) => {
                callees.push(callee.name.clone());
                before + &template
            }
            _ => word.to_owned(),
        }
    });
    let text = words.collect::<Vec<_>>().join(" ");
    (!callees.is_empty()).then_some((text, callees))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Origin;

    fn services() -> Vec<Service> {
        let at = |name: &str, at: &str| Service::of(name, Origin::Running(at.to_owned()));
        vec![
            at("cart", "127.0.0.1:5001"),
            at("stockservice", "localhost:5002"),
            at("pay-api", "10.0.0.1:5003"),
            at("api", "127.0.0.1:5004"),
        ]
    }

    #[test]
    fn a_variable_is_named_after_a_service() {
        let cases = [
            ("CART_URL", Some("cart")),
            ("CART_SERVICE_HOST", Some("cart")),
            ("CARTSERVICE_ADDR", Some("cart")),
            ("NEXT_PUBLIC_CART_BASE_URL", Some("cart")),
            ("STOCK_URL", Some("stockservice")),
            ("STOCK_SERVICE_ADDRESS", Some("stockservice")),
            ("PAY_ENDPOINT", Some("pay-api")),
            ("PAY_API_URL", Some("pay-api")),
            ("API_URL", Some("api")),
            ("STRIPE_API_URL", None),
            ("DATABASE_URL", None),
            ("CART_NAME", None),
            ("CART", None),
            ("_URL", None),
        ];
        for (variable, service) in cases {
            let services = services();
            let found = named_after(variable, &services).map(|it| it.name.as_str());
            assert_eq!(found, service, "{variable}");
        }
        assert_eq!(kind("MURPHY_CART_URL"), None);
        let twins = ["cart-api", "cart-service"];
        let twins = twins.map(|it| Service::of(it, Origin::Running("a:1".to_owned())));
        assert_eq!(named_after("CART_URL", &twins), None);
    }

    #[test]
    fn a_value_points_at_a_service() {
        let cases = [
            ("http://localhost:5001/x", Some("cart")),
            ("127.0.0.1:5002", Some("stockservice")),
            ("http://cart:8080", Some("cart")),
            ("cart", Some("cart")),
            ("localhost:5003", None),
            ("http://localhost", None),
            ("https://api.example.com", None),
            ("not an address", None),
        ];
        for (value, service) in cases {
            let services = services();
            let found = pointed_at(value, &services).map(|it| it.name.as_str());
            assert_eq!(found, service, "{value}");
        }
    }

    #[test]
    fn a_template_has_the_form_of_the_value() {
        let cases = [
            (Kind::Url, None, false, Some("{cart.url}")),
            (
                Kind::Url,
                Some("http://a:1/v1/"),
                false,
                Some("{cart.url}/v1"),
            ),
            (Kind::Url, Some("https://a"), false, Some("{cart.url}")),
            (Kind::Url, Some("a:50051"), false, Some("{cart.address}")),
            (
                Kind::Url,
                Some("grpc://a:1"),
                false,
                Some("grpc://{cart.address}"),
            ),
            (Kind::Url, Some("postgres://a:1"), false, None),
            (Kind::Address, None, false, Some("{cart.address}")),
            (Kind::Host, None, true, Some("{cart.host}")),
            (Kind::Host, Some("cart"), true, Some("{cart.host}")),
            (Kind::Host, Some("cart"), false, Some("{cart.address}")),
            (Kind::Host, Some("cart:80"), true, Some("{cart.address}")),
            (Kind::Port, Some("5001"), true, Some("{cart.port}")),
        ];
        for (kind, value, has_port, expected) in cases {
            let found = template("cart", kind, value, has_port);
            assert_eq!(found.as_deref(), expected, "{kind:?} {value:?}");
        }
    }

    #[test]
    fn addresses_in_a_command_become_placeholders() {
        let found = in_words(
            "run --cart=http://localhost:5001 127.0.0.1:5004 x",
            "api",
            &services(),
        );
        let (text, callees) = found.unwrap();
        assert_eq!(text, "run --cart={cart.url} 127.0.0.1:5004 x");
        assert_eq!(callees, ["cart"]);
        assert_eq!(in_words("run -p 5001 cart", "shop", &services()), None);
    }
}
