//! Texts that name places not known before a system starts: `{cart.url}`.
//!
//! Owns how such texts are read and filled in; where the places are depends
//! on who asks, and is for the wiring to say. Pure, so that a configuration
//! can be checked before anything runs.

use std::collections::{BTreeMap, BTreeSet};

use murphy_model::nearest;

/// Where a service can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its host, without the brackets of an IPv6 address.
    pub host: String,
    /// Its port.
    pub port: u16,
}

impl Place {
    /// Reads `host:port`.
    pub fn parse(address: &str) -> Option<Self> {
        let (host, port) = address.rsplit_once(':')?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let port = port.parse().ok()?;
        (!host.is_empty()).then(|| Place {
            host: host.to_owned(),
            port,
        })
    }

    /// `host:port`.
    pub fn address(&self) -> String {
        let Place { host, port } = self;
        match host.contains(':') {
            true => format!("[{host}]:{port}"),
            false => format!("{host}:{port}"),
        }
    }

    /// `http://host:port`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }
}

impl From<std::net::SocketAddr> for Place {
    fn from(address: std::net::SocketAddr) -> Self {
        Place {
            host: address.ip().to_string(),
            port: address.port(),
        }
    }
}

/// Where each service can be reached, as one of them sees it.
pub type Places = BTreeMap<String, Place>;

/// What of a place a template asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Url,
    Address,
    Host,
    Port,
}

const FIELDS: [(&str, Field); 4] = [
    ("url", Field::Url),
    ("address", Field::Address),
    ("host", Field::Host),
    ("port", Field::Port),
];

/// A template that cannot be read or filled in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A brace that is neither part of a name nor doubled.
    #[error("a lone `{brace}` in `{text}`; write `{brace}{brace}` for the character itself")]
    LoneBrace {
        /// Which one.
        brace: char,
        /// The whole text.
        text: String,
    },
    /// Something else than the few forms there are.
    #[error(
        "`{{{inside}}}` is no template: there are {{NAME.url}}, {{NAME.address}}, {{NAME.host}}, {{NAME.port}} and {{port}}; write `{{{{` and `}}}}` for braces"
    )]
    Unreadable {
        /// What is between the braces.
        inside: String,
    },
    /// No service has this name.
    #[error("`{{{name}.{field}}}`: no service is called `{name}`{}; there are {}", meant(.name, .known), .known.join(", "))]
    UnknownService {
        /// The name.
        name: String,
        /// What is asked of it.
        field: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// Only what Murphy starts has a port of its own.
    #[error(
        "`{{port}}` is the port of a service that Murphy starts; here it is nobody's: name the service, as in `{{NAME.port}}`"
    )]
    NoOwnPort,
}

fn meant(name: &str, known: &[String]) -> String {
    let nearest = nearest(name, known.iter().map(String::as_str));
    nearest.map_or_else(String::new, |it| format!("; did you mean `{it}`?"))
}

/// A piece of a template.
enum Part<'t> {
    Text(&'t str),
    OwnPort,
    Of(&'t str, &'t str, Field),
}

/// Fills in a template. `own` is the port of the service it is for, if Murphy
/// starts it.
pub fn expand(text: &str, places: &Places, own: Option<u16>) -> Result<String, TemplateError> {
    let mut filled = String::with_capacity(text.len());
    for part in parts(text)? {
        match part {
            Part::Text(piece) => filled.push_str(piece),
            Part::OwnPort => filled.push_str(&own.ok_or(TemplateError::NoOwnPort)?.to_string()),
            Part::Of(name, word, field) => {
                let place = places.get(name);
                let place = place.ok_or_else(|| unknown(name, word, places.keys()))?;
                filled.push_str(&field.of(place));
            }
        }
    }
    Ok(filled)
}

/// The services that a template names.
pub fn names(text: &str) -> Result<BTreeSet<String>, TemplateError> {
    let named = |part: &Part<'_>| match part {
        Part::Of(name, ..) => Some((*name).to_owned()),
        Part::Text(_) | Part::OwnPort => None,
    };
    Ok(parts(text)?.iter().filter_map(named).collect())
}

/// Whether a template can be filled in once the places of the `known`
/// services are; `own`: whether it is for a service that Murphy starts.
pub fn check<'n>(
    text: &str,
    known: impl IntoIterator<Item = &'n str>,
    own: bool,
) -> Result<(), TemplateError> {
    let nowhere = Place {
        host: String::new(),
        port: 0,
    };
    let known = known.into_iter();
    let places = known.map(|name| (name.to_owned(), nowhere.clone()));
    expand(text, &places.collect(), own.then_some(0)).map(drop)
}

fn unknown<'k>(name: &str, field: &str, known: impl Iterator<Item = &'k String>) -> TemplateError {
    TemplateError::UnknownService {
        name: name.to_owned(),
        field: field.to_owned(),
        known: known.cloned().collect(),
    }
}

impl Field {
    fn of(self, place: &Place) -> String {
        match self {
            Field::Url => place.url(),
            Field::Address => place.address(),
            Field::Host => place.host.clone(),
            Field::Port => place.port.to_string(),
        }
    }
}

fn parts(text: &str) -> Result<Vec<Part<'_>>, TemplateError> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        parts.push(Part::Text(before));
        if from.starts_with("{{") || from.starts_with("}}") {
            parts.push(Part::Text(&from[..1]));
            rest = &from[2..];
            continue;
        }
        let inside = from.strip_prefix('{');
        let inside = inside.and_then(|inside| inside.split_once('}'));
        let lone = || TemplateError::LoneBrace {
            brace: if from.starts_with('{') { '{' } else { '}' },
            text: text.to_owned(),
        };
        let (inside, after) = inside.ok_or_else(lone)?;
        parts.push(reference(inside)?);
        rest = after;
    }
    parts.push(Part::Text(rest));
    Ok(parts)
}

fn reference(inside: &str) -> Result<Part<'_>, TemplateError> {
    if inside == "port" {
        return Ok(Part::OwnPort);
    }
    let unreadable = || TemplateError::Unreadable {
        inside: inside.to_owned(),
    };
    // Names of services may hold dots themselves.
    let (name, word) = inside.rsplit_once('.').ok_or_else(unreadable)?;
    let field = FIELDS.iter().find(|(known, _)| *known == word);
    let (_, field) = field.ok_or_else(unreadable)?;
    Ok(Part::Of(name, word, *field))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn places() -> Places {
        let place = |address: &str| Place::parse(address).unwrap();
        let all = [
            ("cart", "127.0.0.1:4711"),
            ("cart.v2", "[::1]:80"),
            ("payment", "payment.local:8080"),
        ];
        all.map(|(name, address)| (name.to_owned(), place(address)))
            .into()
    }

    #[test]
    fn templates_are_filled_in() {
        let cases = [
            ("", ""),
            ("plain", "plain"),
            ("{cart.url}/items", "http://127.0.0.1:4711/items"),
            ("{cart.address}", "127.0.0.1:4711"),
            ("{payment.host}:{payment.port}", "payment.local:8080"),
            ("{cart.v2.url} {cart.v2.host}", "http://[::1]:80 ::1"),
            ("--port={port}", "--port=99"),
            ("{{\"a\": {port}}}", "{\"a\": 99}"),
            ("{{cart.url}}", "{cart.url}"),
            ("é{port}é", "é99é"),
        ];
        for (text, filled) in cases {
            assert_eq!(expand(text, &places(), Some(99)).as_deref(), Ok(filled));
        }
    }

    #[test]
    fn what_cannot_be_filled_in_is_refused_with_a_way_out() {
        let cases = [
            (
                "{carts.url}",
                "no service is called `carts`; did you mean `cart`?",
            ),
            ("{zebra.url}", "there are cart, cart.v2, payment"),
            ("{cart.ulr}", "`{cart.ulr}` is no template"),
            ("{\"a\": 1}", "write `{{` and `}}` for braces"),
            ("{cart.url", "a lone `{` in `{cart.url`"),
            ("cart.url}", "write `}}` for the character itself"),
            ("{port}", "is the port of a service that Murphy starts"),
        ];
        for (text, says) in cases {
            let error = expand(text, &places(), None).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn names_are_found_and_checked_without_places() {
        let text = "{cart.url} {port} {cart.port} {payment.host} {{x.url}}";
        let found: Vec<_> = names(text).unwrap().into_iter().collect();
        assert_eq!(found, ["cart", "payment"]);
        assert_eq!(check(text, ["cart", "payment"], true), Ok(()));
        assert!(check(text, ["cart"], true).is_err());
        assert_eq!(
            check(text, ["cart", "payment"], false),
            Err(TemplateError::NoOwnPort)
        );
    }

    #[test]
    fn places_need_a_host_and_a_port() {
        for text in ["cart", ":80", "cart:", "cart:x", "cart:70000"] {
            assert_eq!(Place::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_survives_with_its_braces_doubled(text in ".{0,60}") {
            let doubled = text.replace('{', "{{").replace('}', "}}");
            prop_assert_eq!(expand(&doubled, &places(), None), Ok(text));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[{}a-z.é]{0,30}") {
            let known = names(&text).is_ok_and(|names| names.iter().all(|n| places().contains_key(n)));
            prop_assert_eq!(expand(&text, &places(), Some(1)).is_ok(), known);
        }
    }
}
