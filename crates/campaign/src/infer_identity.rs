//! What varies between executions without faults, and the most precise way to
//! identify calls that does not depend on it.
//!
//! Owns the comparison of reference executions. The requests of one are laid
//! beside those of the others, call by call; path segments, query parameters
//! and JSON fields that differ are left out of calls' names. Pure: the
//! references were recorded elsewhere, and naming is `model`'s job.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use murphy_model::{
    Arrival, Call, CallId, Identifier, Identity, Interface, PathTemplates, Point, Reply, Trace,
};
use murphy_registry::Recorded;
use murphy_search::Filter;
use serde_json::Value;

use crate::reference::ResolvedIdentity;
use crate::settings::Droppable;

/// Something that is not the same in every reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Varies {
    /// A call that some references make and others do not, or not as often.
    Calls {
        /// The call.
        at: Point,
        /// How often each reference makes it.
        counts: Vec<usize>,
    },
    /// A call that is not always answered alike.
    Replies {
        /// The call.
        at: Point,
        /// What each reference saw; nothing where the call has no answer.
        replies: Vec<Option<Reply>>,
    },
}

impl Varies {
    /// Where.
    pub fn at(&self) -> &Point {
        match self {
            Varies::Calls { at, .. } | Varies::Replies { at, .. } => at,
        }
    }

    /// Whether only the number of otherwise equal calls varies: this is not
    /// the first of them, or was made under one that is not.
    pub fn is_only_number(&self) -> bool {
        let Varies::Calls { at, .. } = self else {
            return false;
        };
        at.frames().iter().any(|frame| frame.count > 1)
    }
}

impl Varies {
    /// How, as in "is called 2, then 3 times".
    pub(crate) fn how(&self) -> String {
        match self {
            Varies::Calls { counts, .. } => {
                let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
                format!("is called {} times", counts.join(", then "))
            }
            Varies::Replies { replies, .. } => {
                let text = |reply: &Option<Reply>| {
                    reply.map_or("nothing".to_owned(), |reply| reply.to_string())
                };
                let replies: Vec<String> = replies.iter().map(text).collect();
                format!("is answered {}", replies.join(", then "))
            }
        }
    }
}

impl fmt::Display for Varies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = murphy_report::point_text(self.at());
        write!(f, "{at} {}", self.how())
    }
}

/// What of the references must be the same.
#[derive(Clone, Copy)]
pub(crate) struct Compared<'c> {
    /// Whether the number of equal calls is among it.
    pub(crate) count: bool,
    /// Calls that are never injected may come and go.
    pub(crate) filter: &'c Filter,
}

/// Whether all traces show the same calls with the same answers, in whatever
/// order.
pub(crate) fn check(traces: &[&Trace], compared: Compared<'_>) -> Result<(), Vec<Varies>> {
    let seen: Vec<BTreeMap<&Point, Vec<Option<Reply>>>> =
        traces.iter().map(|trace| by_point(trace)).collect();
    let points: BTreeSet<&Point> = seen
        .iter()
        .flat_map(|calls| calls.keys().copied())
        .collect();
    let varies: Vec<Varies> = points
        .into_iter()
        .filter(|point| compared.matters(point))
        .filter_map(|point| varies(point, &seen, compared.count))
        .collect();
    match varies.is_empty() {
        true => Ok(()),
        false => Err(varies),
    }
}

impl Compared<'_> {
    /// The scenario's own calls are never injected, and matter, unless they are
    /// left out by name.
    fn matters(&self, point: &Point) -> bool {
        let mut except = self.filter.except.iter();
        let is_excepted = except.any(|pattern| pattern.matches(point));
        !is_excepted && (point.parent().is_none() || self.filter.allows(point))
    }
}

fn by_point(trace: &Trace) -> BTreeMap<&Point, Vec<Option<Reply>>> {
    let mut calls: BTreeMap<&Point, Vec<Option<Reply>>> = BTreeMap::new();
    for call in trace.calls() {
        calls.entry(&call.point).or_default().push(call.reply);
    }
    calls
}

fn varies(
    at: &Point,
    seen: &[BTreeMap<&Point, Vec<Option<Reply>>>],
    count: bool,
) -> Option<Varies> {
    let replies: Vec<&[Option<Reply>]> = seen
        .iter()
        .map(|calls| calls.get(at).map_or(&[][..], Vec::as_slice))
        // Where their number does not matter, the last answer is what counts.
        .map(|replies| match count {
            true => replies,
            false => &replies[replies.len().saturating_sub(1)..],
        })
        .collect();
    if replies.iter().any(|one| one.len() != replies[0].len()) {
        return Some(Varies::Calls {
            at: at.clone(),
            counts: replies.iter().map(|one| one.len()).collect(),
        });
    }
    let differs = replies.iter().any(|one| *one != replies[0]);
    differs.then(|| Varies::Replies {
        at: at.clone(),
        replies: replies
            .iter()
            .map(|one| one.last().copied().flatten())
            .collect(),
    })
}

/// The most precise identity, from `start` down, under which all references
/// show the same calls; with the first of them named by it.
pub(crate) fn most_precise(
    start: &Identity,
    may: Droppable,
    references: &[&Recorded],
    filter: &Filter,
) -> Result<(ResolvedIdentity, Trace), Vec<Varies>> {
    let mut refused = Vec::new();
    for chosen in candidates(start, may, references) {
        match attempt(&chosen.identity, references, filter) {
            Ok(trace) => return Ok((chosen, trace)),
            Err(varies) => refused = varies,
        }
    }
    Err(refused)
}

/// The identities there are to choose from, the most precise first.
pub(crate) fn candidates<'r>(
    start: &Identity,
    may: Droppable,
    references: &'r [&Recorded],
) -> impl Iterator<Item = ResolvedIdentity> + 'r {
    let loosen: [fn(&mut ResolvedIdentity, Droppable, &[&Recorded]); 4] = [
        mask_what_differs,
        without_payload,
        without_predecessors,
        without_site,
    ];
    let mut loosen = loosen.into_iter();
    std::iter::successors(
        Some(ResolvedIdentity::exactly(start.clone())),
        move |chosen| {
            let mut looser = chosen.clone();
            loosen.next()?(&mut looser, may, references);
            Some(looser)
        },
    )
}

/// The calls of the first reference under this identity, if all of them show
/// the same.
pub(crate) fn attempt(
    identity: &Identity,
    references: &[&Recorded],
    filter: &Filter,
) -> Result<Trace, Vec<Varies>> {
    let compared = Compared {
        count: identity.count,
        filter,
    };
    let identity = Arc::new(identity.clone());
    let renamed: Vec<Trace> = references.iter().map(|r| renamed(&identity, r)).collect();
    check(&renamed.iter().collect::<Vec<_>>(), compared)?;
    Ok(renamed.into_iter().next().unwrap_or_default())
}

pub(crate) fn without_payload(chosen: &mut ResolvedIdentity, may: Droppable, _: &[&Recorded]) {
    if may.payload && std::mem::replace(&mut chosen.identity.payload, false) {
        chosen.identity.masked.clear();
        chosen.masked.push(
            "payloads: they differ in more than single fields, so calls are identified by their paths alone".to_owned(),
        );
    }
}

fn without_predecessors(chosen: &mut ResolvedIdentity, may: Droppable, _: &[&Recorded]) {
    if may.predecessors && std::mem::replace(&mut chosen.identity.predecessors, false) {
        let why = "predecessors: calls are not always made in the same order";
        chosen.masked.push(why.to_owned());
    }
}

fn without_site(chosen: &mut ResolvedIdentity, may: Droppable, _: &[&Recorded]) {
    if may.call_site && std::mem::replace(&mut chosen.identity.call_site, false) {
        let why = "call sites: they are not always the same";
        chosen.masked.push(why.to_owned());
    }
}

/// The trace with its calls named by another identity.
pub(crate) fn renamed(identity: &Arc<Identity>, recorded: &Recorded) -> Trace {
    let calls = recorded.trace.calls();
    let mut identifier = Identifier::new(identity.clone());
    let mut points: Vec<Point> = Vec::with_capacity(calls.len());
    let mut endings: BTreeMap<u32, usize> = BTreeMap::new();
    for (at, (call, request)) in calls.iter().zip(&recorded.requests).enumerate() {
        // Answers that were on their way back before this call arrived.
        let later = endings.split_off(&call.arrived);
        for finished in std::mem::replace(&mut endings, later).into_values() {
            identifier.finish(&points[finished]);
        }
        let parent = call
            .parent
            .map(|CallId(parent)| points[parent as usize].clone());
        points.push(identifier.arrive(
            parent.as_ref(),
            Arrival {
                destination: &request.destination,
                interface: &request.interface,
                query: &request.query,
                body: &request.body,
                site: request.site.as_deref(),
            },
        ));
        endings.extend(call.finished.map(|finished| (finished, at)));
    }
    let named = |(call, point): (&Call, Point)| Call {
        point,
        ..call.clone()
    };
    Trace::new(calls.iter().zip(points).map(named).collect())
}

/// Leaves out every path segment, query parameter and JSON field that differs
/// between calls that are otherwise the same.
pub(crate) fn mask_what_differs(
    chosen: &mut ResolvedIdentity,
    may: Droppable,
    references: &[&Recorded],
) {
    let mut differing = Differing::default();
    let Some((first, others)) = references.split_first() else {
        return;
    };
    for other in others {
        for (left, right) in aligned(first, other) {
            differing.compare(&first.requests[left], &other.requests[right]);
        }
    }
    if !may.payload {
        differing.fields.clear();
    }
    differing.apply(chosen);
}

/// What differs, with a place where it was seen.
#[derive(Default)]
struct Differing {
    paths: BTreeMap<String, String>,
    fields: BTreeMap<String, String>,
}

impl Differing {
    fn compare(&mut self, left: &murphy_registry::Arrival, right: &murphy_registry::Arrival) {
        if let (Interface::Http { method, path }, Interface::Http { path: other, .. }) =
            (&left.interface, &right.interface)
            && path != other
            && let Some(template) = template(path, other)
        {
            let place = format!("{} {method} {template}", left.destination);
            self.paths.entry(template).or_insert(place);
        }
        let place = || format!("{} {}", left.destination, left.interface);
        for name in differing_parameters(&left.query, &right.query) {
            self.fields.entry(name).or_insert_with(place);
        }
        for name in differing_fields(&left.body, &right.body) {
            self.fields.entry(name).or_insert_with(place);
        }
    }

    fn apply(self, chosen: &mut ResolvedIdentity) {
        for place in self.paths.values() {
            let why = format!("{{}} in {place}: differs between executions");
            chosen.masked.push(why);
        }
        for (name, place) in &self.fields {
            let why = format!("`{name}` in what is sent to {place}: differs between executions");
            chosen.masked.push(why);
        }
        let identity = &mut chosen.identity;
        if !self.paths.is_empty() {
            identity.templates = PathTemplates::with(
                identity
                    .templates
                    .own()
                    .chain(self.paths.into_keys())
                    .collect::<Vec<_>>(),
            );
        }
        for name in self.fields.into_keys() {
            if !identity.masked.contains(&name) {
                identity.masked.push(name);
            }
        }
    }
}

/// The path with `{}` where the two differ; `None` if they are not of one
/// shape, or have nothing in common but their length.
pub(crate) fn template(path: &str, other: &str) -> Option<String> {
    let (left, right): (Vec<&str>, Vec<&str>) =
        (path.split('/').collect(), other.split('/').collect());
    if left.len() != right.len() {
        return None;
    }
    let common = |(a, b): (&&str, &&str)| {
        if a == b {
            (*a).to_owned()
        } else {
            "{}".to_owned()
        }
    };
    let segments: Vec<String> = left.iter().zip(&right).map(common).collect();
    let keeps_something = segments.iter().any(|s| !s.is_empty() && s != "{}");
    keeps_something.then(|| segments.join("/"))
}

/// The names of the parameters whose values differ.
fn differing_parameters(left: &str, right: &str) -> BTreeSet<String> {
    let pairs = |query: &'_ str| -> BTreeMap<String, String> {
        let pair = |word: &str| {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            (name.to_owned(), value.to_owned())
        };
        query
            .split('&')
            .filter(|w| !w.is_empty())
            .map(pair)
            .collect()
    };
    let (left, right) = (pairs(left), pairs(right));
    let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let differs = |name: &&String| left.get(*name) != right.get(*name);
    names.into_iter().filter(differs).cloned().collect()
}

/// The names of the innermost JSON fields whose values differ.
pub(crate) fn differing_fields(left: &[u8], right: &[u8]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    if left != right
        && let (Ok(left), Ok(right)) = (serde_json::from_slice(left), serde_json::from_slice(right))
    {
        collect_differing(None, &left, &right, &mut names);
    }
    names
}

fn collect_differing(
    name: Option<&str>,
    left: &Value,
    right: &Value,
    names: &mut BTreeSet<String>,
) {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            for key in left.keys().chain(right.keys()) {
                let missing = Value::Null;
                let (l, r) = (left.get(key), right.get(key));
                let (l, r) = (l.unwrap_or(&missing), r.unwrap_or(&missing));
                collect_differing(Some(key), l, r, names);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (left, right) in left.iter().zip(right) {
                collect_differing(name, left, right, names);
            }
        }
        (left, right) if left != right => names.extend(name.map(str::to_owned)),
        _ => {}
    }
}

/// Which call of one reference is which of the other: under aligned parents,
/// first those that are equal, then those that go to the same place in order.
pub(crate) fn aligned(left: &Recorded, right: &Recorded) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    align_children((left, None), (right, None), &mut pairs);
    pairs
}

type Side<'r> = (&'r Recorded, Option<CallId>);

fn align_children(left: Side<'_>, right: Side<'_>, pairs: &mut Vec<(usize, usize)>) {
    let children =
        |(recorded, parent): Side<'_>| -> Vec<CallId> { recorded.trace.children(parent).collect() };
    let mut open = children(right);
    let mut found = Vec::new();
    let mut unmatched = children(left);
    for same in [equal, same_shape] {
        unmatched.retain(|one| {
            let at = open
                .iter()
                .position(|other| same((left.0, *one), (right.0, *other)));
            if let Some(at) = at {
                found.push((*one, open.remove(at)));
            }
            at.is_none()
        });
    }
    for (one, other) in found {
        pairs.push((one.0 as usize, other.0 as usize));
        align_children((left.0, Some(one)), (right.0, Some(other)), pairs);
    }
}

type One<'r> = (&'r Recorded, CallId);

fn request<'r>((recorded, CallId(id)): One<'r>) -> &'r murphy_registry::Arrival {
    &recorded.requests[id as usize]
}

fn equal(left: One<'_>, right: One<'_>) -> bool {
    let (left, right) = (request(left), request(right));
    left.destination == right.destination
        && left.interface == right.interface
        && left.query == right.query
        && left.body == right.body
}

fn same_shape(left: One<'_>, right: One<'_>) -> bool {
    let (left, right) = (request(left), request(right));
    let same_interface = match (&left.interface, &right.interface) {
        (
            Interface::Http { method, path },
            Interface::Http {
                method: other,
                path: other_path,
            },
        ) => method == other && (path == other_path || template(path, other_path).is_some()),
        (left, right) => left == right,
    };
    left.destination == right.destination && same_interface
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use murphy_registry::{ExecutionId, Owner, Parent};

    /// One request to `shop`, and those it leads to: path, query and body.
    fn reference(below: &[(&str, &str, &str)]) -> Recorded {
        let entry = ("/checkout", "", "");
        let requests: Vec<murphy_registry::Arrival> = std::iter::once(&entry)
            .chain(below)
            .enumerate()
            .map(|(id, (path, query, body))| murphy_registry::Arrival {
                claim: Owner {
                    execution: ExecutionId(1),
                    parent: Parent::Entry,
                },
                destination: if id == 0 { "shop" } else { "cart" }.into(),
                interface: Interface::http("POST", path),
                query: (*query).to_owned(),
                body: Bytes::copy_from_slice(body.as_bytes()),
                body_cut: false,
                idempotency_key: None,
                site: None,
                hints: Vec::new(),
                over_tls: None,
                noted: Vec::new(),
            })
            .collect();
        let nothing: Point = "shop GET /".parse().unwrap();
        let call = |at: usize| Call {
            point: nothing.clone(),
            parent: (at > 0).then_some(CallId(0)),
            arrived: at as u32 * 2,
            finished: Some(if at == 0 { 100 } else { at as u32 * 2 + 1 }),
            reply: Some(Reply::Status(200)),
            injected: None,
            body: None,
        };
        Recorded {
            execution: ExecutionId(1),
            trace: Trace::new((0..requests.len()).map(call).collect()),
            details: Vec::new(),
            requests,
            answers: Vec::new(),
            unarmed: Vec::new(),
            quiet: true,
        }
    }

    type Below<'b> = &'b [(&'b str, &'b str, &'b str)];

    fn settled(
        may: Droppable,
        below: [Below<'_>; 2],
    ) -> Result<(ResolvedIdentity, Trace), Vec<Varies>> {
        let references = below.map(reference);
        let filter = Filter::default();
        most_precise(&Identity::default(), may, &references.each_ref(), &filter)
    }

    fn anything(below: [Below<'_>; 2]) -> ResolvedIdentity {
        settled(Droppable::ANYTHING, below).expect("stable").0
    }

    #[test]
    fn what_never_differs_is_kept() {
        let same: Below<'_> = &[("/items/word", "q=1", r#"{"a":1}"#)];
        assert_eq!(
            anything([same, same]),
            ResolvedIdentity::exactly(Identity::default())
        );
    }

    #[test]
    fn only_what_differs_is_left_out() {
        let cases: [([Below<'_>; 2], &[&str], &[&str]); 4] = [
            (
                [&[("/u/ann/x", "", "")], &[("/u/bob/x", "", "")]],
                &["/u/{}/x"],
                &[],
            ),
            (
                [&[("/a", "t=1&q=2", "")], &[("/a", "t=9&q=2", "")]],
                &[],
                &["t"],
            ),
            (
                [
                    &[("/a", "", r#"{"n":{"id":1},"q":2}"#)],
                    &[("/a", "", r#"{"n":{"id":9},"q":2}"#)],
                ],
                &[],
                &["id"],
            ),
            // The same calls in another order differ in nothing.
            (
                [
                    &[("/a", "", "1"), ("/a", "", "2")],
                    &[("/a", "", "2"), ("/a", "", "1")],
                ],
                &[],
                &[],
            ),
        ];
        for (below, templates, masked) in cases {
            let identity = anything(below).identity;
            let own: Vec<String> = identity.templates.own().collect();
            assert_eq!(
                (own, identity.masked, identity.payload),
                (
                    templates.iter().map(|it| (*it).to_owned()).collect(),
                    masked.iter().map(|it| (*it).to_owned()).collect(),
                    true,
                ),
                "{below:?}"
            );
        }
    }

    #[test]
    fn payloads_that_are_no_json_are_left_out_as_a_whole() {
        let chosen = anything([&[("/a", "", "one")], &[("/a", "", "two")]]);
        assert!(!chosen.identity.payload);
        assert_eq!(chosen.masked.len(), 1, "{:?}", chosen.masked);
    }

    #[test]
    fn what_is_set_is_not_left_out() {
        let may = Droppable {
            payload: false,
            ..Droppable::ANYTHING
        };
        let below: [Below<'_>; 2] = [&[("/a", "", r#"{"id":1}"#)], &[("/a", "", r#"{"id":2}"#)]];
        assert!(settled(may, below).is_err());
        assert!(settled(Droppable::ANYTHING, below).is_ok());
    }

    #[test]
    fn calls_that_come_and_go_are_named() {
        let varies = settled(Droppable::ANYTHING, [&[("/a", "", "")], &[]]).unwrap_err();
        let [Varies::Calls { at, counts }] = &varies[..] else {
            panic!("{varies:?}");
        };
        assert_eq!(
            (&*at.frame().destination, &counts[..]),
            ("cart", &[1, 0][..])
        );
    }
}
