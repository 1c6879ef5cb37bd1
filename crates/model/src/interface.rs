//! What is being called: an HTTP method and path template, or a gRPC method.
//!
//! Owns the rule by which volatile path segments become `{}`. Which calls then
//! count as the same is the business of [`crate::identity`].

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The wire protocol of an interface; decides which modes it can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// HTTP/1.1 or HTTP/2 with ordinary status codes.
    Http,
    /// gRPC: status in `grpc-status`, carried by HTTP/2.
    Grpc,
}

/// The operation a call asks for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interface {
    /// `GET /cart/{}`
    Http {
        /// The request method, as sent.
        method: Arc<str>,
        /// The path, volatile segments replaced by `{}`.
        path: Arc<str>,
    },
    /// `shop.Cart/GetCart`
    Grpc {
        /// The full service name, `package.Service`.
        service: Arc<str>,
        /// The method name; never holds a `/`.
        method: Arc<str>,
    },
}

impl Interface {
    /// An HTTP interface; the path is taken as it is (see [`PathTemplates`]).
    pub fn http(method: &str, path: &str) -> Self {
        Interface::Http {
            method: method.into(),
            path: path.into(),
        }
    }

    /// A gRPC interface from `package.Service` and `Method`.
    ///
    /// A `/` inside `method` would make the text form ambiguous, so everything
    /// before the last one is counted to the service.
    pub fn grpc(service: &str, method: &str) -> Self {
        match method.rsplit_once('/') {
            None => Interface::Grpc {
                service: service.into(),
                method: method.into(),
            },
            Some((front, last)) => Interface::Grpc {
                service: format!("{service}/{front}").into(),
                method: last.into(),
            },
        }
    }

    /// Whether two interfaces are one, but for segments of the path that either
    /// leaves open (`{}`).
    pub fn is_alike(&self, other: &Interface) -> bool {
        let (Interface::Http { method, path }, Interface::Http { method: m, path: p }) =
            (self, other)
        else {
            return self == other;
        };
        let is_open = |(l, r): (&str, &str)| l == r || l == "{}" || r == "{}";
        let length = |path: &str| path.split('/').count();
        method == m && length(path) == length(p) && path.split('/').zip(p.split('/')).all(is_open)
    }

    /// The protocol this interface is spoken over.
    pub fn protocol(&self) -> Protocol {
        match self {
            Interface::Http { .. } => Protocol::Http,
            Interface::Grpc { .. } => Protocol::Grpc,
        }
    }
}

/// Turns concrete paths into templates.
///
/// A segment becomes `{}` when it looks generated: all digits, a UUID of any
/// version, a ULID, or at least sixteen hexadecimal digits. Paths given by the
/// user (`/users/{}/orders`) are tried first, for segments that look like words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub struct PathTemplates {
    own: Vec<Vec<String>>,
}

impl PathTemplates {
    /// Templates that win over the built-in rule; `{}` stands for one segment.
    pub fn with(own: impl IntoIterator<Item = String>) -> Self {
        let split = |path: String| path.split('/').map(str::to_owned).collect();
        PathTemplates {
            own: own.into_iter().map(split).collect(),
        }
    }

    /// The templates that win over the built-in rule, as they were given.
    pub fn own(&self) -> impl Iterator<Item = String> {
        self.own.iter().map(|segments| segments.join("/"))
    }

    /// The template of a concrete path (without its query).
    pub fn apply(&self, path: &str) -> Arc<str> {
        self.changed(path).unwrap_or_else(|| path.into())
    }

    /// The same; `None` where the template is the path itself.
    pub(crate) fn changed(&self, path: &str) -> Option<Arc<str>> {
        if self.own.is_empty() && !path.split('/').any(looks_generated) {
            return None;
        }
        let segments: Vec<&str> = path.split('/').collect();
        if let Some(own) = self.own.iter().find(|own| fits(own, &segments)) {
            return Some(own.join("/").into());
        }
        let masked: Vec<&str> = segments
            .iter()
            .map(|s| if looks_generated(s) { "{}" } else { s })
            .collect();
        Some(masked.join("/").into())
    }
}

impl From<Vec<String>> for PathTemplates {
    fn from(own: Vec<String>) -> Self {
        PathTemplates::with(own)
    }
}

impl From<PathTemplates> for Vec<String> {
    fn from(templates: PathTemplates) -> Self {
        templates.own().collect()
    }
}

fn fits(template: &[String], segments: &[&str]) -> bool {
    template.len() == segments.len()
        && template
            .iter()
            .zip(segments)
            .all(|(want, have)| want == "{}" || want == have)
}

fn looks_generated(segment: &str) -> bool {
    let bytes = segment.as_bytes();
    is_number(bytes) || is_uuid(bytes) || is_ulid(bytes) || is_long_hex(bytes)
}

fn is_number(segment: &[u8]) -> bool {
    !segment.is_empty() && segment.iter().all(u8::is_ascii_digit)
}

fn is_uuid(segment: &[u8]) -> bool {
    segment.len() == 36
        && segment.iter().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

/// Twenty-six Crockford base-32 digits; a digit must be among them, so that a
/// long upper-case word is not taken for one.
fn is_ulid(segment: &[u8]) -> bool {
    let crockford = |b: &u8| b.is_ascii_digit() || (b.is_ascii_uppercase() && !b"ILOU".contains(b));
    segment.len() == 26 && segment.iter().all(crockford) && segment.iter().any(u8::is_ascii_digit)
}

/// Sixteen digits is a 64-bit id; shorter ones may be words such as `facade`.
fn is_long_hex(segment: &[u8]) -> bool {
    segment.len() >= 16
        && segment.iter().all(u8::is_ascii_hexdigit)
        && segment.iter().any(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_segments_become_placeholders_and_words_stay() {
        let cases = [
            (
                "/users/chris_rivers/bookings",
                "/users/chris_rivers/bookings",
            ),
            ("/orders/10", "/orders/{}"),
            ("/movies/267eedb8-0f5d-42d5-8f43-72426b9fb3e6", "/movies/{}"),
            ("/v/018f3c2e-7b1a-7c3d-9e4f-123456789abc", "/v/{}"),
            ("/x/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/x/{}"),
            ("/l/745c723e03084d27553fb9d4037b08c1", "/l/{}"),
            ("/cafe/facade", "/cafe/facade"),
            ("/", "/"),
            ("", ""),
            ("//2/", "//{}/"),
        ];
        for (path, template) in cases {
            assert_eq!(&*PathTemplates::default().apply(path), template, "{path}");
        }
    }

    #[test]
    fn a_template_of_the_user_wins_over_the_built_in_rule() {
        let own = PathTemplates::with(["/users/{}/bookings/7".to_owned()]);
        assert_eq!(&*own.apply("/users/jim/bookings/7"), "/users/{}/bookings/7");
        assert_eq!(
            &*own.apply("/users/jim/bookings/8"),
            "/users/jim/bookings/{}"
        );
        assert_eq!(PathTemplates::with(own.own()), own);
    }

    #[test]
    fn a_slash_in_a_grpc_method_is_counted_to_the_service() {
        assert_eq!(Interface::grpc("a", "b/c"), Interface::grpc("a/b", "c"));
    }
}
