//! Services that behave like a skeleton.
//!
//! Every edge is a call to a service of its own. A path is a chain of them: the
//! frontend calls the first, each calls the next, and one that fails fails all
//! before it, so that exactly the edges of a path that is taken to its end
//! answer well. Then the frontend tries the next path.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use murphy_model::Identity;
use serde_json::json;

use super::Skeleton;
use crate::app::{Service, System};
use crate::names::lasting;
use crate::net::{Abort, Ctx, Request, Response};

/// Where in the paths a request is.
#[derive(Clone, Copy)]
struct Place {
    path: usize,
    edge: usize,
}

/// The services along each path.
struct Paths(Vec<Vec<&'static str>>);

impl Skeleton {
    /// A system that behaves so: its scenario makes the request and wants 200.
    ///
    /// An edge is the same point on every path it is on, and a fault there
    /// is injected into all of its calls: edge 7 is `e0007 POST /`.
    pub fn system(&self) -> System {
        let names = |path: &BTreeSet<u32>| path.iter().map(name).collect();
        let paths = Arc::new(Paths(self.paths().map(names).collect()));
        let edges: BTreeSet<u32> = self.paths().flatten().copied().collect();
        let mut services: Vec<Service> = edges.iter().map(|edge| service(edge, &paths)).collect();
        services.push(Service::new("frontend", move |ctx, _| {
            let paths = paths.clone();
            async move { paths.any(&ctx).await }
        }));
        System {
            identity: Identity {
                path: false,
                payload: false,
                count: false,
                ..Identity::default()
            },
            ..System::new(services, scenario)
        }
    }
}

fn name(edge: &u32) -> &'static str {
    lasting(format!("e{edge:04}"))
}

fn service(edge: &u32, paths: &Arc<Paths>) -> Service {
    let paths = paths.clone();
    Service::new(name(edge), move |ctx, request| {
        let paths = paths.clone();
        async move {
            let place = Place::of(&request).ok_or(Abort(400))?;
            let next = Place {
                edge: place.edge + 1,
                ..place
            };
            paths.follow(&ctx, next).await
        }
    })
}

impl Place {
    fn of(request: &Request) -> Option<Self> {
        let body = request.json()?;
        let number = |name: &str| body[name].as_u64().map(|number| number as usize);
        Some(Place {
            path: number("path")?,
            edge: number("edge")?,
        })
    }
}

impl Paths {
    /// Tries path after path, until one is whole.
    async fn any(&self, ctx: &Ctx) -> Result<Response, Abort> {
        for path in 0..self.0.len() {
            let begin = Place { path, edge: 0 };
            if let Ok(response) = self.follow(ctx, begin).await {
                return Ok(response);
            }
        }
        Err(Abort(503))
    }

    /// Goes on from a place to the end of its path.
    async fn follow(&self, ctx: &Ctx, Place { path, edge }: Place) -> Result<Response, Abort> {
        let edges = &self.0[path];
        let Some(to) = edges.get(edge) else {
            return Ok(Response::json(json!({"path": path})));
        };
        // Whoever is further from the end is more patient, so that the one who
        // waits for a call that hangs gives up first.
        let patience = Duration::from_secs((edges.len() - edge) as u64);
        let call = ctx.post(to, "/").json(&json!({"path": path, "edge": edge}));
        match call.timeout(patience).send().await {
            Ok(response) if response.status == 200 => Ok(response),
            _ => Err(Abort(503)),
        }
    }
}

async fn scenario(ctx: Ctx) -> Result<(), String> {
    match ctx.get("frontend", "/").send().await {
        Ok(response) if response.status == 200 => Ok(()),
        Ok(response) => Err(format!("expected 200, got {}", response.status)),
        Err(error) => Err(format!("expected an answer, but: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use murphy_model::{Execution, Faultload, Reply};

    use super::name;
    use crate::Simulator;
    use crate::skeleton::{Shape, Skeleton};

    fn skeleton() -> Skeleton {
        let shape = Shape {
            edges: 20,
            groups: 2,
            bones: 2,
        };
        Skeleton::new(shape, 3).unwrap()
    }

    fn down(edges: &BTreeSet<u32>, mode: &str) -> Faultload {
        let fault = |edge| format!("{} POST / = {mode}", name(edge));
        let faults: Vec<String> = edges.iter().map(fault).collect();
        faults.join(", ").parse().unwrap()
    }

    /// The services below the frontend that answered well.
    fn answered(execution: &Execution) -> BTreeSet<String> {
        let calls = execution.trace.calls().iter();
        calls
            .filter(|call| call.parent.is_some() && call.reply == Some(Reply::Status(200)))
            .map(|call| call.point.frame().destination.to_string())
            .collect()
    }

    #[test]
    fn exactly_the_edges_of_the_path_that_was_taken_answer_well() {
        let skeleton = skeleton();
        let mut simulator = Simulator::of(skeleton.system());
        let mut broken = BTreeSet::new();
        for path in skeleton.paths() {
            let execution = simulator.run(&down(&broken, "503"));
            let names: BTreeSet<String> = path.iter().map(|edge| name(edge).to_owned()).collect();
            assert_eq!(answered(&execution), names);
            let own = |edge: &&u32| skeleton.bones().all(|bones| !bones.contains(edge));
            broken.extend(path.iter().rfind(own));
        }
        let execution = simulator.run(&down(&broken, "503"));
        assert!(execution.verdict.is_failure());
    }

    #[test]
    fn a_request_fails_where_its_skeleton_does() {
        let skeleton = skeleton();
        let mut simulator = Simulator::of(skeleton.system());
        let mut random = fastrand::Rng::with_seed(0);
        let mut failed = 0;
        for _ in 0..300 {
            let count = random.usize(1..6);
            let edges: BTreeSet<u32> = (0..count).map(|_| random.u32(..36)).collect();
            let mode = random.choice(["503", "reset", "hang"]).unwrap();
            let fails = simulator.run(&down(&edges, mode)).verdict.is_failure();
            assert_eq!(fails, skeleton.fails(&edges), "{edges:?} {mode}");
            failed += usize::from(fails);
        }
        assert!((10..290).contains(&failed), "{failed} of 300 failed");
    }

    #[test]
    fn the_largest_published_one_runs() {
        let shape = Shape {
            edges: 300,
            groups: 4,
            bones: 4,
        };
        let skeleton = Skeleton::new(shape, 0).unwrap();
        let one_of_each: BTreeSet<u32> = skeleton
            .bones()
            .filter_map(BTreeSet::first)
            .copied()
            .collect();
        let mut simulator = Simulator::of(skeleton.system());
        assert!(!simulator.run(&Faultload::none()).verdict.is_failure());
        let execution = simulator.run(&down(&one_of_each, "503"));
        assert!(execution.verdict.is_failure());
    }
}
