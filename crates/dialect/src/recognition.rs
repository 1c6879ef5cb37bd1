//! Which requests are for a service.
//!
//! Owns how AWS signatures are read. A request without a mark of any service is
//! nobody's, however its host is called: emulators have any host.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

use crate::answer::Name;
use crate::glob::Glob;

/// A request, as far as it is looked at.
#[derive(Clone, Copy)]
pub struct Request<'r> {
    /// The query, without its `?`.
    pub query: &'r str,
    /// The first value of a header with this name (lower case).
    pub header: &'r dyn Fn(&str) -> Option<&'r str>,
}

impl<'r> Request<'r> {
    /// The service in the scope of an AWS signature:
    /// `Credential=AKID/20260101/eu-central-1/s3/aws4_request`.
    fn aws_service(&self) -> Option<String> {
        let credential = match self.signed_header() {
            Some(credential) => credential.to_owned(),
            None => self.signed_query()?,
        };
        let mut from_the_end = credential.rsplit('/');
        let terminator = from_the_end.next()?;
        let service = from_the_end.next()?;
        (terminator == "aws4_request").then(|| service.to_owned())
    }

    fn signed_header(&self) -> Option<&'r str> {
        let authorization = (self.header)("authorization")?;
        let signature = authorization.strip_prefix("AWS4-")?;
        let (_, credential) = signature.split_once("Credential=")?;
        let end = credential.find([',', ' ']).unwrap_or(credential.len());
        Some(&credential[..end])
    }

    /// Of a URL that was signed for somebody else.
    fn signed_query(&self) -> Option<String> {
        let mut fields = self.query.split('&');
        let credential = fields.find_map(|field| field.strip_prefix("X-Amz-Credential="))?;
        let decoded = percent_decode_str(credential).decode_utf8();
        decoded.ok().map(|credential| credential.into_owned())
    }
}

/// What must hold of a request: all of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recognition {
    /// The service its AWS signature is for is one of these.
    pub(crate) aws_services: Vec<String>,
    /// It has these headers.
    pub(crate) headers: BTreeMap<Name, Glob>,
}

impl Recognition {
    pub(crate) fn is_empty(&self) -> bool {
        self.aws_services.is_empty() && self.headers.is_empty()
    }

    pub(crate) fn matches(&self, request: &Request<'_>) -> bool {
        !self.is_empty() && self.is_signed_for(request) && self.has_headers(request)
    }

    fn is_signed_for(&self, request: &Request<'_>) -> bool {
        self.aws_services.is_empty()
            || request
                .aws_service()
                .is_some_and(|service| self.aws_services.contains(&service))
    }

    fn has_headers(&self, request: &Request<'_>) -> bool {
        let mut headers = self.headers.iter();
        headers.all(|(name, glob)| {
            let value = (request.header)(name.0.as_str());
            value.is_some_and(|value| glob.matches(value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(authorization: Option<&str>, query: &str) -> Option<String> {
        let header = |name: &str| authorization.filter(|_| name == "authorization");
        Request {
            query,
            header: &header,
        }
        .aws_service()
    }

    #[test]
    fn the_service_is_read_from_a_signature() {
        let signed = "AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=00";
        assert_eq!(service(Some(signed), ""), Some("s3".to_owned()));
        // Version 4A has no region.
        let regionless =
            "AWS4-ECDSA-P256-SHA256 Credential=AKID/20260101/sqs/aws4_request,Signature=00";
        assert_eq!(service(Some(regionless), ""), Some("sqs".to_owned()));
        let query =
            "a=b&X-Amz-Credential=AKID%2F20260101%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Expires=9";
        assert_eq!(service(None, query), Some("s3".to_owned()));
    }

    #[test]
    fn what_is_no_signature_names_no_service() {
        for authorization in [
            "Bearer s3/aws4_request",
            "AWS AKID:signature",
            "AWS4-HMAC-SHA256 Signature=00",
            "AWS4-HMAC-SHA256 Credential=aws4_request",
            "AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/s3/aws3_request",
        ] {
            assert_eq!(service(Some(authorization), ""), None, "{authorization}");
        }
        assert_eq!(service(None, "X-Amz-Credential=%ff/s3/aws4_request"), None);
        assert_eq!(service(None, "x=X-Amz-Credential"), None);
    }
}
