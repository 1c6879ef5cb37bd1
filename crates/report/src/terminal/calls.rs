//! The calls of a scenario as a tree.
//!
//! Owns how it is drawn: first what the reference execution showed, then the
//! calls that are only made when something fails; and, for a finding, the
//! calls of one execution with a remark at each.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use murphy_model::{CallId, Frame, Point, Reply, Trace};

use super::heading;
use super::label::{CallNames, bare_frame, siblings, without_predecessors};
use super::number::counted;
use super::style::{BAD, GOOD, QUIET};
use crate::Summary;

/// More conditional calls than this bury the rest of the report.
const MOST_CONDITIONAL: usize = 40;

/// More calls of one execution than this bury the rest of what is said.
pub(super) const MOST_CALLS: usize = 60;

/// A drawn line with the lines below it.
struct Node {
    text: String,
    below: Vec<Node>,
    /// Whether what is said is about this call.
    matters: bool,
}

impl Node {
    /// Whether what is said is about this call or one below it.
    fn holds_what_matters(&self) -> bool {
        self.matters || self.below.iter().any(Node::holds_what_matters)
    }

    fn lines(&self) -> usize {
        1 + self.below.iter().map(Node::lines).sum::<usize>()
    }
}

pub(super) fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    heading("Calls without faults", out)?;
    let names = CallNames::new(&summary.reference, &[]);
    let (remark, matters) = (|_| String::new(), |_| false);
    for root in trace_nodes(&names, &summary.reference, None, &remark, &matters) {
        draw(&root, "  ", "  ", out)?;
    }
    let conditional = conditional(summary);
    if conditional.is_empty() {
        return Ok(());
    }
    heading("Calls only made after a failure", out)?;
    write_conditional(&conditional, out)
}

/// Draws the calls of an execution, each with a remark behind its reply, as
/// far as there is room for: of the requests of the scenario those that hold
/// what matters, if any does, and where that is too long the way there.
pub(super) fn write_trace(
    trace: &Trace,
    remark: &dyn Fn(CallId) -> String,
    matters: &dyn Fn(CallId) -> bool,
    most: usize,
    indent: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let names = CallNames::new(trace, &[]);
    write_named(trace, &names, remark, matters, most, indent, out)
}

/// The same with these names for the calls.
pub(super) fn write_named(
    trace: &Trace,
    names: &CallNames<'_>,
    remark: &dyn Fn(CallId) -> String,
    matters: &dyn Fn(CallId) -> bool,
    most: usize,
    indent: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut roots = trace_nodes(names, trace, None, remark, matters);
    let requests = roots.len();
    if roots.iter().any(Node::holds_what_matters) {
        roots.retain(Node::holds_what_matters);
    }
    if roots.iter().map(Node::lines).sum::<usize>() > most {
        roots.iter_mut().for_each(cut);
    }
    let others = requests - roots.len();
    let mut drawn = Vec::new();
    for root in roots {
        draw(&root, indent, indent, &mut drawn)?;
    }
    let lines: Vec<&[u8]> = drawn.split_inclusive(|byte| *byte == b'\n').collect();
    for line in lines.iter().take(most) {
        out.write_all(line)?;
    }
    let more = |number: usize, what: &str| match number {
        0 => None,
        number => Some(counted(number, what)),
    };
    let hidden = lines.len().saturating_sub(most);
    let rest = [more(hidden, "more call"), more(others, "other request")];
    let rest: Vec<String> = rest.into_iter().flatten().collect();
    match rest.is_empty() {
        true => Ok(()),
        false => writeln!(out, "{indent}{QUIET}… and {}{QUIET:#}", rest.join(", ")),
    }
}

/// Takes out what is not on the way to what matters.
fn cut(node: &mut Node) {
    if !node.below.iter().any(Node::holds_what_matters) {
        return;
    }
    let all: usize = node.below.iter().map(Node::lines).sum();
    node.below.retain(Node::holds_what_matters);
    let kept: usize = node.below.iter().map(Node::lines).sum();
    node.below.iter_mut().for_each(cut);
    if all > kept {
        node.below.push(Node {
            text: format!("{QUIET}… {}{QUIET:#}", counted(all - kept, "other call")),
            below: Vec::new(),
            matters: false,
        });
    }
}

fn trace_nodes(
    names: &CallNames<'_>,
    trace: &Trace,
    parent: Option<CallId>,
    remark: &dyn Fn(CallId) -> String,
    matters: &dyn Fn(CallId) -> bool,
) -> Vec<Node> {
    let ids: Vec<CallId> = trace.children(parent).collect();
    let node = |(id, label): (&CallId, String)| Node {
        text: format!(
            "{label}  {}{}",
            reply_text(trace.call(*id).reply),
            remark(*id)
        ),
        below: trace_nodes(names, trace, Some(*id), remark, matters),
        matters: matters(*id),
    };
    ids.iter().zip(names.siblings(&ids)).map(node).collect()
}

fn reply_text(reply: Option<Reply>) -> String {
    match reply {
        Some(reply) if !reply.is_failure() => format!("{GOOD}{reply}{GOOD:#}"),
        Some(reply) => format!("{BAD}{reply}{BAD:#}"),
        None => format!("{BAD}no answer{BAD:#}"),
    }
}

fn draw(node: &Node, first: &str, others: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{first}{}", node.text)?;
    for (i, below) in node.below.iter().enumerate() {
        let (branch, trunk) = match i + 1 == node.below.len() {
            true => ("└─ ", "   "),
            false => ("├─ ", "│  "),
        };
        let first = format!("{others}{QUIET}{branch}{QUIET:#}");
        let others = format!("{others}{QUIET}{trunk}{QUIET:#}");
        draw(below, &first, &others, out)?;
    }
    Ok(())
}

/// Points that the reference did not show, in the order first seen. Those that
/// differ in their predecessors only are one to a reader.
fn conditional(summary: &Summary) -> Vec<Point> {
    let calls = summary.reference.calls().iter();
    let mut shown: HashSet<Point> = calls.map(|c| without_predecessors(&c.point)).collect();
    let points = summary.points.iter().map(without_predecessors);
    points.filter(|point| shown.insert(point.clone())).collect()
}

fn write_conditional(points: &[Point], out: &mut dyn Write) -> io::Result<()> {
    let shown = &points[..points.len().min(MOST_CONDITIONAL)];
    let among: HashSet<&Point> = shown.iter().collect();
    let mut made_by: HashMap<Option<&Point>, Vec<&Point>> = HashMap::new();
    let mut callers: Vec<Option<&Point>> = Vec::new();
    for point in shown {
        let caller = point.parent();
        made_by.entry(caller).or_default().push(point);
        let elsewhere = caller.is_none_or(|caller| !among.contains(caller));
        if elsewhere && !callers.contains(&caller) {
            callers.push(caller);
        }
    }
    for caller in callers {
        let text = caller.map_or("by any service".to_owned(), |caller| {
            format!("by {}", bare_frame(caller.frame()))
        });
        let below = point_nodes(caller, &made_by);
        let node = Node {
            text,
            below,
            matters: false,
        };
        draw(&node, "  ", "  ", out)?;
    }
    match points.len() - shown.len() {
        0 => Ok(()),
        more => writeln!(out, "  {QUIET}… and {}{QUIET:#}", counted(more, "other")),
    }
}

fn point_nodes<'p>(
    caller: Option<&'p Point>,
    made_by: &HashMap<Option<&'p Point>, Vec<&'p Point>>,
) -> Vec<Node> {
    let points = made_by.get(&caller).map_or(&[][..], Vec::as_slice);
    let frames: Vec<&Frame> = points.iter().map(|point| point.frame()).collect();
    let node = |(point, text): (&&'p Point, String)| Node {
        text,
        below: point_nodes(Some(point), made_by),
        matters: false,
    };
    points.iter().zip(siblings(&frames)).map(node).collect()
}
