//! What is done around executions.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use murphy_system::spec::{
    CommandSpec, Expectations, RequestCall, RequestSpec, ServiceSpec, StepSpec,
};

use super::{Error, IntoTestResult};

/// Something done around executions, into which no fault is injected: see
/// [`Campaign::setup`](super::Campaign::setup) and the like.
#[derive(Clone)]
pub struct Step(StepSpec);

impl Step {
    /// A program with its arguments, which must exit with 0. `{cart.url}` and
    /// the like in them stand for where services are.
    pub fn command(command: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Step(StepSpec::Command(CommandSpec {
            command: command.into_iter().map(Into::into).collect(),
            directory: PathBuf::from("."),
            environment: BTreeMap::new(),
        }))
    }

    /// A request such as `POST /reset` to a service, which must be answered
    /// with 2xx.
    pub fn request(service: &str, method: &str, target: &str) -> Self {
        Step(StepSpec::Request(Box::new(RequestSpec {
            service: service.to_owned(),
            call: RequestCall::Http {
                method: method.to_owned(),
                target: target.to_owned(),
                body: Vec::new(),
            },
            headers: Vec::new(),
            expect: Expectations::default(),
        })))
    }

    /// A function, which fails by an `Err` or a panic. It is given the URL of
    /// each service: not of a proxy, so what it asks for is never failed.
    pub fn function<F, Fut>(function: F) -> Self
    where
        F: Fn(BTreeMap<String, String>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoTestResult> + Send + 'static,
    {
        Step(StepSpec::Function(Arc::new(move |services| {
            let running = function(services);
            Box::pin(async move { running.await.into_test_result() })
        })))
    }
}

/// With all details of commands and requests.
impl From<StepSpec> for Step {
    fn from(spec: StepSpec) -> Self {
        Step(spec)
    }
}

/// Steps that can be done with these services.
pub(super) fn specs(steps: &[Step], services: &[ServiceSpec]) -> Result<Vec<StepSpec>, Error> {
    let spec = |Step(spec): &Step| match spec {
        StepSpec::Request(request) if services.iter().all(|it| it.name != request.service) => {
            Err(Error::Nonsense(format!(
                "a step asks the service `{}`, and there is none: name it with `service` or `managed`",
                request.service
            )))
        }
        _ => Ok(spec.clone()),
    };
    steps.iter().map(spec).collect()
}
