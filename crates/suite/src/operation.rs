//! What a request asks its service for, where no library says so.
//!
//! AWS names the operation in a header or a parameter; elsewhere the method and
//! the path are all there is.

use murphy_model::PathTemplates;

use crate::attempt::Request;

/// The name of the operation: the library's, that of `x-amz-target` or
/// `Action=`, or `METHOD path-template`.
pub fn operation(request: &Request) -> String {
    let named = request.caller.operation.as_deref();
    let target = request.headers.target.as_deref().map(after_last_dot);
    let action = request.action.as_deref();
    let in_query = || parameters(&request.query).find_map(action_of);
    match named.or(target).or(action).or_else(in_query) {
        Some(name) => name.to_owned(),
        None => interface(request),
    }
}

/// `DynamoDB_20120810.PutItem` names `PutItem`.
fn after_last_dot(target: &str) -> &str {
    target.rsplit('.').next().unwrap_or(target)
}

fn action_of<'r>((name, value): (&'r str, Option<&'r str>)) -> Option<&'r str> {
    value.filter(|_| name == "Action")
}

/// The method and path; S3 and Azure name some operations by parameters
/// (`?uploads`, `?comp=block`), which then belong to it.
fn interface(request: &Request) -> String {
    let path = PathTemplates::default().apply(&request.path);
    let naming: Vec<String> = parameters(&request.query)
        .filter_map(|(name, value)| match (name, value) {
            ("comp" | "restype", Some(value)) => Some(format!("{name}={value}")),
            (name, None | Some("")) => Some(name.to_owned()),
            _ => None,
        })
        .collect();
    let mark = if naming.is_empty() { "" } else { "?" };
    format!("{} {path}{mark}{}", request.method, naming.join("&"))
}

fn parameters(query: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let fields = query.split('&').filter(|field| !field.is_empty());
    fields.map(|field| match field.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (field, None),
    })
}

/// Names of headers, parameters and fields by which a service recognises a
/// repeated request, so that a retry does not repeat the effect.
const TOKENS: [&str; 6] = [
    "clientrequesttoken",
    "clienttoken",
    "idempotency-key",
    "idempotencytoken",
    "messagededuplicationid",
    "x-ms-client-idempotency-key",
];

/// Whether a header, parameter or field with this name is an idempotency token.
pub fn is_token_name(name: &str) -> bool {
    TOKENS.contains(&name.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::{Caller, RetryHeaders};

    #[test]
    fn an_operation_is_named_by_the_best_there_is() {
        let request = |operation: Option<&str>, target: Option<&str>, url: &str| {
            let (path, query) = url.split_once('?').unwrap_or((url, ""));
            Request {
                method: "PUT".to_owned(),
                path: path.to_owned(),
                query: query.to_owned(),
                headers: RetryHeaders {
                    target: target.map(str::to_owned),
                    ..RetryHeaders::default()
                },
                caller: Caller {
                    operation: operation.map(str::to_owned),
                    ..Caller::default()
                },
                ..Request::default()
            }
        };
        let cases = [
            (Some("s3.PutObject"), Some("X.Y"), "/b/k", "s3.PutObject"),
            (None, Some("DynamoDB_20120810.PutItem"), "/", "PutItem"),
            (None, Some("AmazonSQS"), "/", "AmazonSQS"),
            (None, None, "/?Version=1&Action=Publish", "Publish"),
            (None, None, "/b/17?partNumber=2", "PUT /b/{}"),
            (None, None, "/b/k?uploads", "PUT /b/k?uploads"),
            (None, None, "/b/k?uploads=", "PUT /b/k?uploads"),
            (
                None,
                None,
                "/c?restype=container&timeout=5",
                "PUT /c?restype=container",
            ),
        ];
        for (named, target, url, expected) in cases {
            assert_eq!(operation(&request(named, target, url)), expected, "{url}");
        }
        let form = Request {
            action: Some("SendMessage".to_owned()),
            ..request(None, None, "/q")
        };
        assert_eq!(operation(&form), "SendMessage");
    }

    #[test]
    fn tokens_are_known_in_any_case() {
        assert!(is_token_name("ClientRequestToken"));
        assert!(is_token_name("Idempotency-Key"));
        assert!(!is_token_name("x-ms-client-request-id"));
    }
}
