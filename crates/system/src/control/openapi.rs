//! The description of the control API, in OpenAPI 3.1.
//!
//! Owns which paths there are and what they answer; the shapes are those of the
//! types that are read and written. docs/guide/control-api.json is this text.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::executions::{Begun, Phase, Shown};
use super::mailbox::{Listing, Order, TestResult};
use super::refusal::Refused;
use super::services::{ServiceProxy, StartedService};

/// The version of the API, which its paths begin with.
const VERSION: &str = "1";

/// Something that can be asked.
struct Operation {
    method: &'static str,
    path: &'static str,
    about: &'static str,
    body: Option<Value>,
    /// The status of success, what it means, and the answer.
    success: Vec<(u16, &'static str, Option<Value>)>,
    /// Statuses of refusals besides those that every path has.
    refusals: &'static [(u16, &'static str)],
}

const NO_TOKEN: (u16, &str) = (401, "No token, or another one");
const WRONG_BODY: (u16, &str) = (400, "The body is wrong; the error names the place");
const TOO_LONG: (u16, &str) = (413, "The body is longer than 1 MiB");
const NO_EXECUTION: (u16, &str) = (404, "The execution is not known, or over");
const NO_SERVICE: (u16, &str) = (404, "No service has this name in murphy.toml");
const NOT_THE_TESTS: (u16, &str) = (
    409,
    "The test does not start this service: it has no `started_by = \"test\"`",
);
const NO_WORKER: (u16, &str) = (403, "The token is a test's, not a worker's");
const NOT_WAITED_FOR: (u16, &str) = (409, "Nobody waits for it any more: ask for the next");

/// The description.
pub fn openapi() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut shapes = settings.into_generator();
    let mut paths = Map::new();
    for operation in operations(&mut shapes) {
        let described = paths.entry(operation.path).or_insert_with(|| json!({}));
        if operation.path.contains("{id}") {
            described["parameters"] = json!([{
                "name": "id", "in": "path", "required": true, "schema": {"type": "string"},
                "description": "The execution, as in MURPHY_EXECUTION",
            }]);
        }
        let method = operation.method;
        described[method] = operation.described();
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Murphy's control API",
            "version": VERSION,
            "description": "Where a running test, and a test runner, talk to Murphy: MURPHY_CONTROL_URL, on loopback. Every request brings the token in MURPHY_TOKEN.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": shapes.take_definitions(true),
        },
    })
}

fn operations(shapes: &mut SchemaGenerator) -> Vec<Operation> {
    let mut shape = |shape: fn(&mut SchemaGenerator) -> schemars::Schema| -> Option<Value> {
        Some(shape(shapes).to_value())
    };
    // Referred to by every path.
    shape(SchemaGenerator::subschema_for::<Refused>);
    vec![
        Operation {
            method: "get",
            path: "/v1/executions/{id}",
            about: "An execution that runs: what is planned, and what was injected so far",
            body: None,
            success: vec![(
                200,
                "The execution",
                shape(SchemaGenerator::subschema_for::<Shown>),
            )],
            refusals: &[NO_EXECUTION],
        },
        Operation {
            method: "put",
            path: "/v1/executions/{id}/phase",
            about: "The test begins a phase",
            body: shape(SchemaGenerator::subschema_for::<Phase>),
            success: vec![(200, "Taken", shape(SchemaGenerator::subschema_for::<Begun>))],
            refusals: &[WRONG_BODY, NO_EXECUTION, TOO_LONG],
        },
        Operation {
            method: "post",
            path: "/v1/services",
            about: "The test has started a service itself: where to call it instead",
            body: shape(SchemaGenerator::subschema_for::<StartedService>),
            success: vec![(
                200,
                "The proxy in front of it",
                shape(SchemaGenerator::subschema_for::<ServiceProxy>),
            )],
            refusals: &[WRONG_BODY, NO_SERVICE, NOT_THE_TESTS, TOO_LONG],
        },
        Operation {
            method: "get",
            path: "/v1/worker/next",
            about: "What the worker is to do next; a long poll",
            body: None,
            success: vec![
                (
                    200,
                    "What to do",
                    shape(SchemaGenerator::subschema_for::<Order>),
                ),
                (204, "Nothing yet: ask again", None),
            ],
            refusals: &[NO_WORKER],
        },
        Operation {
            method: "post",
            path: "/v1/worker/tests",
            about: "The tests that there are, when they were asked for",
            body: shape(SchemaGenerator::subschema_for::<Listing>),
            success: vec![(204, "Taken", None)],
            refusals: &[WRONG_BODY, NO_WORKER, NOT_WAITED_FOR, TOO_LONG],
        },
        Operation {
            method: "post",
            path: "/v1/worker/result",
            about: "How a test went",
            body: shape(SchemaGenerator::subschema_for::<TestResult>),
            success: vec![(204, "Taken", None)],
            refusals: &[WRONG_BODY, NO_WORKER, NOT_WAITED_FOR, TOO_LONG],
        },
    ]
}

impl Operation {
    fn described(self) -> Value {
        let refused = json!({"$ref": "#/components/schemas/Refused"});
        let mut answers = Map::new();
        for (status, about, shape) in self.success {
            answers.insert(status.to_string(), answer(about, shape));
        }
        for (status, about) in self.refusals.iter().chain(&[NO_TOKEN]) {
            answers.insert(status.to_string(), answer(about, Some(refused.clone())));
        }
        answers.sort_keys();
        let mut described = json!({"summary": self.about, "responses": answers});
        if let Some(shape) = self.body {
            described["requestBody"] = json!({"required": true, "content": as_json(shape)});
        }
        described
    }
}

fn answer(about: &str, shape: Option<Value>) -> Value {
    match shape {
        None => json!({"description": about}),
        Some(shape) => json!({"description": about, "content": as_json(shape)}),
    }
}

fn as_json(shape: Value) -> Value {
    json!({"application/json": {"schema": shape}})
}
