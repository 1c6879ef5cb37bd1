//! One simulated execution: who calls whom, and what faults do to it.
//!
//! Owns the trace in the making and the meaning of each mode in memory. Every
//! call runs as a task of its own, so that a callee works on after its caller
//! has given up, as a real server does.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use murphy_model::{
    Armed, Arrival, Call, CallId, Faultload, Identifier, Identity, Mode, Outcome, Phase, Reply,
    Trace,
};

use crate::app::{Service, System};
use crate::net::{Body, BoxFuture, CallError, Ctx, Net, Outgoing, Request, Response};

use super::Timeouts;
use super::executor::Handle;

/// What a caller gets: an answer, or none.
type Answer = Result<Response, CallError>;

pub(super) struct World(Arc<Inner>);

struct Inner {
    system: Arc<System>,
    armed: Armed,
    timeouts: Timeouts,
    executor: Handle,
    record: Mutex<Record>,
}

struct Record {
    identifier: Identifier,
    calls: Vec<Call>,
    events: u32,
}

impl World {
    pub(super) fn new(
        system: Arc<System>,
        identity: Arc<Identity>,
        faultload: &Faultload,
        timeouts: Timeouts,
        executor: Handle,
    ) -> Self {
        World(Arc::new(Inner {
            system,
            armed: Armed::new(faultload),
            timeouts,
            executor,
            record: Mutex::new(Record {
                identifier: Identifier::new(identity),
                calls: Vec::new(),
                events: 0,
            }),
        }))
    }

    pub(super) fn scenario_ctx(&self) -> Ctx {
        ctx(&self.0, None)
    }

    pub(super) fn into_trace(self) -> Trace {
        Trace::new(std::mem::take(&mut self.0.record().calls))
    }
}

/// The world as seen by whoever serves `current` (`None`: the scenario).
struct SimNet {
    world: Arc<Inner>,
    current: Option<CallId>,
}

fn ctx(world: &Arc<Inner>, current: Option<CallId>) -> Ctx {
    Ctx::new(Arc::new(SimNet {
        world: world.clone(),
        current,
    }))
}

impl Net for SimNet {
    fn send(&self, outgoing: Outgoing) -> BoxFuture<Answer> {
        Box::pin(send(self.world.clone(), self.current, outgoing))
    }

    fn sleep(&self, time: Duration) -> BoxFuture<()> {
        Box::pin(self.world.executor.sleep(time))
    }

    fn now(&self) -> Duration {
        self.world.executor.now()
    }

    fn injected(&self) -> Vec<(String, Mode)> {
        let record = self.world.record();
        let struck = record.calls.iter().filter_map(|call| {
            let mode = call.mode()?;
            Some((call.point.frame().destination.to_string(), mode))
        });
        struck.collect()
    }
}

async fn send(world: Arc<Inner>, caller: Option<CallId>, outgoing: Outgoing) -> Answer {
    let timeout = outgoing.timeout;
    let started = Arc::new(Mutex::new(None));
    let on_its_way = world.executor.run_apart(Box::pin(deliver(
        world.clone(),
        caller,
        outgoing,
        started.clone(),
    )));
    let Some(timeout) = timeout else {
        return on_its_way.await;
    };
    match within(on_its_way, world.executor.sleep(timeout)).await {
        Some(answer) => answer,
        None => {
            let call = *started.lock().expect("no panic while starting");
            if let Some(call) = call {
                world.record().finish(call, Reply::TimedOut);
            }
            Err(CallError::Timeout)
        }
    }
}

/// The first future's answer, or `None` if the second is done before.
async fn within<T>(answer: impl Future<Output = T>, limit: impl Future<Output = ()>) -> Option<T> {
    let (mut answer, mut limit) = (std::pin::pin!(answer), std::pin::pin!(limit));
    std::future::poll_fn(move |cx| {
        use std::task::Poll::{Pending, Ready};
        if let Ready(value) = answer.as_mut().poll(cx) {
            return Ready(Some(value));
        }
        match limit.as_mut().poll(cx) {
            Ready(()) => Ready(None),
            Pending => Pending,
        }
    })
    .await
}

async fn deliver(
    world: Arc<Inner>,
    caller: Option<CallId>,
    outgoing: Outgoing,
    started: Arc<Mutex<Option<CallId>>>,
) -> Answer {
    let Some(service) = world.system.service(outgoing.to).cloned() else {
        return Err(CallError::Connection);
    };
    if !service.proxied {
        return Ok(serve(&world, &service, caller, outgoing.request).await);
    }
    let (call, fault) = world.arrive(caller, &outgoing);
    *started.lock().expect("no panic while starting") = Some(call);
    let (answer, reply) = match fault {
        None => {
            let response = serve(&world, &service, Some(call), outgoing.request).await;
            let reply = Reply::Status(response.status);
            (Ok(response), reply)
        }
        Some(mode) => fail(&world, &service, call, outgoing.request, mode).await,
    };
    world.record().finish(call, reply);
    answer
}

async fn serve(
    world: &Arc<Inner>,
    service: &Service,
    call: Option<CallId>,
    request: Request,
) -> Response {
    (service.handler)(ctx(world, call), request)
        .await
        .unwrap_or_else(Response::from)
}

/// What becomes of a call that a fault strikes.
async fn fail(
    world: &Arc<Inner>,
    service: &Service,
    call: CallId,
    request: Request,
    mode: Mode,
) -> (Answer, Reply) {
    if mode.phase() == Phase::Before {
        return replace(world, mode).await;
    }
    let again = request.clone();
    let response = serve(world, service, Some(call), request).await;
    let organic = Reply::Status(response.status);
    match mode.outcome() {
        Outcome::Delay(time) => world.executor.sleep(time).await,
        Outcome::Slow(rate) => {
            let time = Duration::from_secs_f64(size(&response) as f64 / rate.max(1) as f64);
            world.executor.sleep(time).await;
        }
        Outcome::Duplicate => {
            serve(world, service, Some(call), again).await;
        }
        Outcome::Malformed => return (Ok(injected_page(response.status)), organic),
        _ => return replace(world, mode).await,
    }
    (Ok(response), organic)
}

/// The answer that takes the place of the callee's.
async fn replace(world: &Arc<Inner>, mode: Mode) -> (Answer, Reply) {
    let reply = mode
        .reply()
        .expect("only answers that are lost are replaced");
    let answer = match mode.outcome() {
        Outcome::Status(status) => Ok(injected_page(status)),
        Outcome::Hang if world.timeouts == Timeouts::AtOnce => Err(CallError::Timeout),
        Outcome::Hang => {
            world.executor.sleep(Duration::MAX / 2).await;
            Err(CallError::Timeout)
        }
        _ => Err(CallError::Connection),
    };
    (answer, reply)
}

/// Plain text, never JSON: a caller that takes any body for its data would
/// otherwise be told that all is well.
fn injected_page(status: u16) -> Response {
    Response {
        status,
        body: Body::Text("Injected fault".to_owned()),
    }
}

fn size(response: &Response) -> usize {
    match &response.body {
        Body::Empty => 0,
        Body::Text(text) => text.len(),
        Body::Json(json) => json.to_string().len(),
    }
}

impl Inner {
    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().expect("no panic while recording")
    }

    fn arrive(&self, caller: Option<CallId>, outgoing: &Outgoing) -> (CallId, Option<Mode>) {
        let mut guard = self.record();
        let record = &mut *guard;
        let parent = caller.map(|id| &record.calls[id.0 as usize].point);
        let request = &outgoing.request;
        let point = record.identifier.arrive(
            parent,
            Arrival {
                destination: outgoing.to,
                interface: &request.interface,
                query: &request.query,
                body: &request.body,
                site: outgoing.site,
            },
        );
        // The scenario's own requests are observed, never failed.
        let injected = caller.and_then(|_| self.armed.strike(&point).cloned());
        let mode = injected.as_ref().map(|fault| fault.mode);
        let id = CallId(record.calls.len() as u32);
        let arrived = record.tick();
        record.calls.push(Call {
            point,
            parent: caller,
            arrived,
            finished: None,
            reply: None,
            injected,
        });
        (id, mode)
    }
}

impl Record {
    fn tick(&mut self) -> u32 {
        self.events += 1;
        self.events
    }

    /// Notes the answer to a call, unless its caller has given up already.
    fn finish(&mut self, id: CallId, reply: Reply) {
        if self.calls[id.0 as usize].finished.is_some() {
            return;
        }
        let finished = self.tick();
        let call = &mut self.calls[id.0 as usize];
        call.finished = Some(finished);
        call.reply = Some(reply);
        self.identifier.finish(&call.point);
    }
}
