//! One simulated execution: who calls whom, and what faults do to it.
//!
//! Owns the trace in the making and the meaning of each mode in memory. Every
//! call runs as a task of its own, so that a callee works on after its caller
//! has given up, as a real server does.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use murphy_model::{
    Armed, Arrival, Call, CallId, Fault, Faultload, Identifier, Identity, Mode, Outcome, Phase,
    Reply, Trace,
};

use crate::app::{Service, System};
use crate::net::{Body, BoxFuture, CallError, Ctx, Net, Outgoing, Request, Response};
use crate::wire::{self, Wire};

use super::Timeouts;
use super::executor::Handle;

/// What a caller gets: an answer, or none.
type Answer = Result<Response, CallError>;

pub(super) struct World(Arc<Inner>);

struct Inner {
    system: Arc<System>,
    armed: Armed,
    /// Whether the scenario's own requests may fail.
    entries: bool,
    timeouts: Timeouts,
    executor: Handle,
    record: Mutex<Record>,
}

struct Record {
    identifier: Identifier,
    calls: Vec<Call>,
    /// Whether the fault injected into a call took effect, call by call.
    landed: Vec<bool>,
    events: u32,
}

impl World {
    pub(super) fn new(
        system: Arc<System>,
        identity: Arc<Identity>,
        faultload: &Faultload,
        entries: bool,
        timeouts: Timeouts,
        executor: Handle,
    ) -> Self {
        World(Arc::new(Inner {
            system,
            armed: Armed::new(faultload),
            entries,
            timeouts,
            executor,
            record: Mutex::new(Record {
                identifier: Identifier::new(identity),
                calls: Vec::new(),
                landed: Vec::new(),
                events: 0,
            }),
        }))
    }

    pub(super) fn scenario_ctx(&self) -> Ctx {
        ctx(&self.0, None)
    }

    /// The planned faults that were injected into no call, or took no effect where they
    /// did: the caller had given up, or there was nothing to spoil.
    pub(super) fn not_exercised(&self, planned: &Faultload) -> Vec<Fault> {
        let record = self.0.record();
        let landed = |fault: &Fault| {
            let mut calls = record.calls.iter().zip(&record.landed);
            calls.any(|(call, landed)| *landed && call.injected.as_ref() == Some(fault))
        };
        planned.faults().filter(|fault| !landed(fault)).collect()
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
        let took_effect = |call: &Call, landed: bool| landed || call.finished.is_none();
        let injected = record.calls.iter().zip(&record.landed);
        let injected = injected.filter_map(|(call, landed)| {
            let mode = call.mode().filter(|_| took_effect(call, *landed))?;
            Some((call.point.frame().destination.to_string(), mode))
        });
        injected.collect()
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
                world.record().finish(call, Reply::TimedOut, None);
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
    let injected = Injection {
        world: &world,
        service: &service,
        call,
    };
    let fault = fault.filter(|mode| mode.fits(world.wire().protocol()));
    // An answer to HEAD has no body, and of one that was spoiled nothing is known.
    let has_body = outgoing.request.method() != "HEAD" && fault.is_none_or(|it| it.keeps_body());
    let (answer, reply) = match fault {
        None => injected.spare(outgoing.request).await,
        Some(mode) => injected.fail(outgoing.request, mode).await,
    };
    let body = match &answer {
        Ok(response) if has_body && reply.is_ok() => Some(world.wire().body(response)),
        _ => None,
    };
    world.record().finish(call, reply, body);
    answer
}

async fn serve(
    world: &Arc<Inner>,
    service: &Service,
    call: Option<CallId>,
    request: Request,
) -> Response {
    let is_head = request.method() == "HEAD";
    let answer = (service.handler)(ctx(world, call), request).await;
    let response = answer.unwrap_or_else(Response::from);
    match is_head {
        true => Response {
            body: Body::Empty,
            ..response
        },
        false => response,
    }
}

/// A call on its way to a service, and what may become of it there.
struct Injection<'a> {
    world: &'a Arc<Inner>,
    service: &'a Service,
    call: CallId,
}

impl Injection<'_> {
    async fn serve(&self, request: Request) -> Response {
        serve(self.world, self.service, Some(self.call), request).await
    }

    /// The callee's answer reaches the caller.
    async fn spare(&self, request: Request) -> (Answer, Reply) {
        let response = self.serve(request).await;
        let (response, reply) = self.world.wire().answered(response);
        (Ok(response), reply)
    }

    async fn fail(&self, request: Request, mode: Mode) -> (Answer, Reply) {
        if mode.phase() == Phase::Before {
            return self.replace(mode).await;
        }
        let wire = self.world.wire();
        let again = request.clone();
        let response = self.serve(request).await;
        let spoilable = wire.has_body(&response);
        let size = wire::size(&response);
        let (response, organic) = wire.answered(response);
        match mode.outcome() {
            Outcome::Delay(time) => {
                self.land();
                self.world.executor.sleep(time).await;
            }
            Outcome::Duplicate => {
                self.serve(again).await;
                self.land();
            }
            Outcome::Slow(_) | Outcome::Malformed | Outcome::Truncate(_) if !spoilable => {}
            Outcome::Slow(rate) => {
                self.land();
                let time = Duration::from_secs_f64(size as f64 / rate.max(1) as f64);
                self.world.executor.sleep(time).await;
            }
            Outcome::Malformed => {
                self.land();
                return (Ok(wire.malformed(&response)), organic);
            }
            _ => return self.replace(mode).await,
        }
        (Ok(response), organic)
    }

    /// The answer that takes the place of the callee's.
    async fn replace(&self, mode: Mode) -> (Answer, Reply) {
        self.land();
        let world = self.world;
        let reply = mode
            .reply()
            .expect("only answers that are lost are replaced");
        let answer = match mode.outcome() {
            Outcome::Status(status) => Ok(world.wire().injected_status(status)),
            Outcome::Grpc(code) => Ok(Wire::injected_code(code)),
            Outcome::Hang if world.timeouts == Timeouts::AtOnce => Err(CallError::Timeout),
            Outcome::Hang => {
                world.executor.sleep(Duration::MAX / 2).await;
                Err(CallError::Timeout)
            }
            _ => Err(CallError::Connection),
        };
        (answer, reply)
    }

    /// The fault takes effect, if there is still someone to feel it.
    fn land(&self) {
        let mut record = self.world.record();
        let at = self.call.0 as usize;
        record.landed[at] = record.calls[at].finished.is_none();
    }
}

impl Inner {
    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().expect("no panic while recording")
    }

    fn wire(&self) -> Wire {
        self.system.wire
    }

    fn arrive(&self, caller: Option<CallId>, outgoing: &Outgoing) -> (CallId, Option<Mode>) {
        let mut guard = self.record();
        let record = &mut *guard;
        let parent = caller.map(|id| &record.calls[id.0 as usize].point);
        let asked = self.wire().asked(outgoing.to, &outgoing.request);
        let point = record.identifier.arrive(
            parent,
            Arrival {
                destination: &outgoing.to.into(),
                interface: &asked.interface,
                query: asked.query,
                body: &asked.body,
                site: outgoing.site,
            },
        );
        let may_fail = caller.is_some() || self.entries;
        let injected = may_fail.then(|| self.armed.fault_at(&point).cloned());
        let injected = injected.flatten();
        let mode = injected.as_ref().map(|fault| fault.mode);
        let id = CallId(record.calls.len() as u32);
        let arrived = record.tick();
        record.landed.push(false);
        record.calls.push(Call {
            point,
            parent: caller,
            arrived,
            finished: None,
            reply: None,
            injected,
            body: None,
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
    fn finish(&mut self, id: CallId, reply: Reply, body: Option<Vec<u8>>) {
        if self.calls[id.0 as usize].finished.is_some() {
            return;
        }
        let finished = self.tick();
        let call = &mut self.calls[id.0 as usize];
        call.finished = Some(finished);
        call.reply = Some(reply);
        call.body = body.and_then(|body| self.identifier.answer(&call.point, &body));
        self.identifier.finish(&call.point);
    }
}
