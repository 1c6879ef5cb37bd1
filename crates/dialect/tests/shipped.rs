//! The shipped dialects: which requests each of them recognises, and what comes
//! of it. Without this an order in the file that hides a dialect, or a body that
//! is no JSON, would only show in somebody's SDK.

use murphy_dialect::{Answer, DialectTable, Dialects, Request};

/// The name of the dialect of a request with these headers.
fn recognised(headers: &[(&str, &str)], query: &str) -> Option<String> {
    let dialects = Dialects::shipped();
    dialect(&dialects, headers, query).map(|dialect| dialect.name().to_owned())
}

fn dialect<'d>(
    dialects: &'d Dialects,
    headers: &[(&str, &str)],
    query: &str,
) -> Option<&'d murphy_dialect::Dialect> {
    let header = |name: &str| {
        let mut headers = headers.iter();
        headers.find(|(it, _)| *it == name).map(|(_, value)| *value)
    };
    dialects.of(&Request {
        query,
        header: &header,
    })
}

fn signed(service: &str) -> String {
    format!(
        "AWS4-HMAC-SHA256 Credential=AKID/20260101/eu-central-1/{service}/aws4_request, SignedHeaders=host, Signature=00"
    )
}

fn answer(headers: &[(&str, &str)], status: u16) -> Option<Answer> {
    dialect(&Dialects::shipped(), headers, "")?.answer(status, "murphy-1")
}

fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    let mut headers = answer.headers.iter();
    let (_, value) = headers.find(|(it, _)| it == name)?;
    value.to_str().ok()
}

#[test]
fn each_service_is_recognised_by_its_requests() {
    let form = (
        "content-type",
        "application/x-www-form-urlencoded; charset=utf-8",
    );
    let json = ("content-type", "application/x-amz-json-1.1");
    let version = ("x-ms-version", "2025-01-05");
    let [s3, sqs, sns, sts, kinesis] = ["s3", "sqs", "sns", "sts", "kinesis"].map(signed);
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("authorization", &s3)], "s3"),
        (
            &[
                ("authorization", &sqs),
                ("x-amz-target", "AmazonSQS.SendMessage"),
            ],
            "sqs-json",
        ),
        (&[("authorization", &sqs), form], "aws-query"),
        (&[("authorization", &sns), form], "aws-query"),
        (&[("authorization", &sts), form], "aws-query"),
        (&[("x-amz-target", "DynamoDB_20120810.GetItem")], "dynamodb"),
        (
            &[
                ("authorization", &kinesis),
                ("x-amz-target", "Kinesis_20131202.PutRecord"),
                json,
            ],
            "aws-json",
        ),
        (
            &[version, ("authorization", "SharedKey account:00")],
            "azure-storage",
        ),
        (&[version, ("dataserviceversion", "3.0")], "azure-table"),
        (
            &[
                version,
                ("authorization", "type%3dmaster%26ver%3d1.0%26sig%3d00"),
            ],
            "azure-cosmos",
        ),
        (
            &[("x-goog-api-client", "gl-python/3.11 gccl/2.0")],
            "google",
        ),
    ];
    for (headers, name) in cases {
        assert_eq!(
            recognised(headers, "").as_deref(),
            Some(*name),
            "{headers:?}"
        );
    }
    let presigned = "X-Amz-Credential=AKID%2F20260101%2Feu-central-1%2Fs3%2Faws4_request";
    assert_eq!(recognised(&[], presigned).as_deref(), Some("s3"));
}

#[test]
fn other_requests_are_nobodys() {
    let lambda = signed("lambda");
    for headers in [
        &[][..],
        &[("authorization", "Bearer s3/aws4_request")],
        &[("authorization", lambda.as_str())],
        &[("content-type", "application/x-www-form-urlencoded")],
        &[
            ("x-amz-target", "Any.Thing"),
            ("content-type", "application/json"),
        ],
    ] {
        assert_eq!(recognised(headers, "a=b"), None, "{headers:?}");
    }
}

#[test]
fn errors_are_in_the_words_of_the_service() {
    let s3 = signed("s3");
    let said = answer(&[("authorization", &s3)], 503).unwrap();
    assert_eq!(
        said.body,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message><RequestId>murphy-1</RequestId><HostId>murphy-1</HostId></Error>"
    );
    assert_eq!(header(&said, "x-amz-request-id"), Some("murphy-1"));
    assert_eq!(header(&said, "retry-after"), None);

    let sqs = [("x-amz-target", "AmazonSQS.SendMessage")];
    let said = answer(&sqs, 400).unwrap();
    assert_eq!(
        header(&said, "x-amzn-query-error"),
        Some("RequestThrottled;Sender")
    );

    let cosmos = [("x-ms-version", "1"), ("authorization", "type%3Dmaster")];
    let said = answer(&cosmos, 429).unwrap();
    assert_eq!(header(&said, "x-ms-retry-after-ms"), Some("10"));
    let said = answer(&cosmos, 503).unwrap();
    assert_eq!(header(&said, "x-ms-retry-after-ms"), None);
}

#[test]
fn a_status_that_a_service_does_not_use_has_no_answer() {
    let s3 = signed("s3");
    assert_eq!(answer(&[("authorization", &s3)], 418), None);
}

/// Every answer of every dialect names the request by our id, and is of the
/// kind that its content type says.
#[test]
fn all_answers_are_well_formed() {
    let own = Dialects::with_own([]).unwrap();
    let mut answers = 0;
    for name in own.names() {
        let dialect = own.named(name).unwrap();
        for status in 100..600 {
            let Some(said) = dialect.answer(status, "murphy-1") else {
                continue;
            };
            answers += 1;
            let kind = header(&said, "content-type").unwrap();
            match kind.contains("json") {
                true => assert!(is_json(&said.body), "{name} {status}: {}", said.body),
                false => assert!(said.body.starts_with("<?xml") && said.body.ends_with('>')),
            }
            let of_ours = |(_, value): &(_, http::HeaderValue)| value == "murphy-1";
            assert!(said.headers.iter().any(of_ours), "{name} {status}");
        }
    }
    assert!(answers > 20, "{answers}");
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok()
}

fn written(text: &str) -> DialectTable {
    toml::from_str(text).unwrap()
}

#[test]
fn a_users_own_extend_those_that_are_shipped() {
    let kinesis = "request_headers = { x-amz-target = 'Kinesis_*' }\nerrors.418 = { code = 'Teapot' }\nbody = '{code}'";
    let own = [
        (
            "s3".to_owned(),
            written("errors.502 = { code = 'BadGateway' }"),
        ),
        ("kinesis".to_owned(), written(kinesis)),
    ];
    let dialects = Dialects::with_own(own).unwrap();
    let s3 = dialects.named("s3").unwrap();
    assert!(
        s3.answer(502, "")
            .unwrap()
            .body
            .contains("<Code>BadGateway</Code>")
    );
    assert!(
        s3.answer(503, "")
            .unwrap()
            .body
            .contains("<Code>SlowDown</Code>")
    );
    // Before `aws-json`, which recognises it, too.
    let request = [
        ("x-amz-target", "Kinesis_20131202.PutRecord"),
        ("content-type", "application/x-amz-json-1.1"),
    ];
    let recognised = dialect(&dialects, &request, "").unwrap();
    assert_eq!(recognised.name(), "kinesis");
    assert_eq!(recognised.answer(418, "").unwrap().body, "Teapot");
}

#[test]
fn a_new_one_must_recognise_something() {
    let own = [("kinesis".to_owned(), written("body = ''"))];
    let refused = Dialects::with_own(own).unwrap_err();
    assert_eq!(refused, ["kinesis"]);
}

#[test]
fn what_cannot_be_is_refused() {
    for (text, why) in [
        ("bdy = ''", "unknown field `bdy`"),
        ("body = '{cod}'", "`{cod}` is not a placeholder"),
        (
            "headers = { 'a b' = '' }",
            "`a b` cannot be the name of a header",
        ),
        ("errors.99 = { code = '' }", "`99` is no status of HTTP"),
        ("errors.503 = { message = '' }", "missing field `code`"),
    ] {
        let refused = toml::from_str::<DialectTable>(text)
            .unwrap_err()
            .to_string();
        assert!(refused.contains(why), "{refused}");
    }
}
