//! The text form loses nothing and never panics.
//!
//! Proves, for values full of quotes, stars, white space and the like, that
//! what is printed reads back as the same value, and that no text whatever
//! brings a reader down. Without quoting, or with a wildcard and a plain star
//! written alike, the first half fails within a few cases.

use std::collections::BTreeMap;
use std::fmt::{Debug, Display};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use murphy_model::{
    Attempts, Fault, Faultload, Frame, FramePattern, GrpcCode, Interface, InterfacePattern, Mode,
    Outcome, Pattern, PayloadHash, Phase, Point, Predecessors, Sibling, SyntaxError, Target, Text,
    TlsFault,
};
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// What the grammar gives a meaning to, and what terminals and editors do.
const NASTY: &[&str] = &[
    "*", "**", "\"", "\\", "{", "}", "{}", ",", "=", ">", "#", ";", ":", ":1", "/", " ", "\n",
    "\t", "\r", "\0", "\u{7f}", "\u{a0}", "\u{2028}", "é", "😀", "none", "GET", "body=", "after:",
    "503", "\\u{41}", "#*", "** >", "a", "b",
];

fn nasty() -> impl Strategy<Value = String> {
    let pieces = vec(select(NASTY), 0..5).prop_map(|pieces| pieces.concat());
    prop_oneof![2 => pieces, 1 => "[a-z]{1,6}", 1 => any::<String>()]
}

fn arc() -> impl Strategy<Value = Arc<str>> {
    nasty().prop_map(Arc::from)
}

fn interface() -> impl Strategy<Value = Interface> {
    prop_oneof![
        (nasty(), nasty()).prop_map(|(method, path)| Interface::http(&method, &path)),
        (nasty(), nasty()).prop_map(|(service, method)| Interface::grpc(&service, &method)),
    ]
}

fn hash() -> impl Strategy<Value = PayloadHash> {
    any::<[u8; 16]>().prop_map(PayloadHash)
}

fn count() -> impl Strategy<Value = u32> {
    prop_oneof![3 => 1..4u32, 1 => 1..=u32::MAX]
}

fn sibling() -> impl Strategy<Value = Sibling> {
    (arc(), interface(), of(hash())).prop_map(|(destination, interface, payload)| Sibling {
        destination,
        interface,
        payload,
    })
}

fn predecessors() -> impl Strategy<Value = Predecessors> {
    btree_map(sibling(), count(), 0..3).prop_map(|map| Predecessors(Arc::new(map)))
}

fn frame() -> impl Strategy<Value = Frame> {
    let options = (of(hash()), of(predecessors()), of(arc()));
    (arc(), interface(), options, count()).prop_map(
        |(destination, interface, (payload, predecessors, site), count)| Frame {
            destination,
            interface,
            payload,
            predecessors,
            site,
            count,
        },
    )
}

fn point() -> impl Strategy<Value = Point> {
    vec(frame(), 1..4).prop_map(|frames| Point::from_frames(frames).unwrap())
}

fn text() -> impl Strategy<Value = Text> {
    vec(nasty(), 1..4).prop_map(|pieces| Text::from_pieces(pieces.iter().map(String::as_str)))
}

fn interface_pattern() -> impl Strategy<Value = InterfacePattern> {
    prop_oneof![
        Just(InterfacePattern::Any),
        (text(), text()).prop_map(|(method, path)| InterfacePattern::Http { method, path }),
        text().prop_map(InterfacePattern::Grpc),
        Just(InterfacePattern::Grpc(Text::any())),
    ]
}

fn attempts() -> impl Strategy<Value = Attempts> {
    prop_oneof![
        count().prop_map(Attempts::Exactly),
        count().prop_map(Attempts::UpTo),
        Just(Attempts::Any),
    ]
}

fn frame_pattern() -> impl Strategy<Value = FramePattern> {
    let options = (of("[0-9a-f]{1,32}"), of(predecessors()), of(text()));
    (text(), interface_pattern(), options, attempts()).prop_map(
        |(destination, interface, (payload, predecessors, site), count)| FramePattern {
            destination,
            interface,
            payload: payload.map(Arc::from),
            predecessors,
            site,
            count,
        },
    )
}

fn pattern() -> impl Strategy<Value = Pattern> {
    (any::<bool>(), vec(frame_pattern(), 1..4))
        .prop_map(|(anywhere, frames)| Pattern { anywhere, frames })
}

/// In normal form, as reading gives them.
fn target() -> impl Strategy<Value = Target> {
    prop_oneof![
        point().prop_map(Target::Call),
        point().prop_map(|point| Target::every(&point)),
        pattern().prop_map(Target::from_pattern),
    ]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let delay = (any::<u64>(), 0..1_000_000_000u32).prop_map(|(s, ns)| Duration::new(s, ns));
    prop_oneof![
        (100..600u16).prop_map(Outcome::Status),
        select(GrpcCode::all().collect::<Vec<_>>()).prop_map(Outcome::Grpc),
        select(vec![
            Outcome::Reset,
            Outcome::Close,
            Outcome::Hang,
            Outcome::Malformed,
            Outcome::Duplicate,
        ]),
        select(TlsFault::ALL.to_vec()).prop_map(Outcome::Tls),
        delay.prop_map(Outcome::Delay),
        (0..100_000u64).prop_map(|ms| Outcome::Delay(Duration::from_millis(ms))),
        any::<u64>().prop_map(Outcome::Truncate),
        any::<u64>().prop_map(Outcome::Slow),
    ]
}

fn mode() -> impl Strategy<Value = Mode> {
    (any::<bool>(), outcome()).prop_map(|(rather_after, outcome)| {
        let phases = match rather_after {
            true => [Phase::After, Phase::Before, Phase::Delivery],
            false => [Phase::Before, Phase::After, Phase::Delivery],
        };
        let mut modes = phases.into_iter().map(|phase| Mode::new(phase, outcome));
        modes
            .find_map(|mode| mode)
            .expect("every outcome has a phase")
    })
}

fn faultload() -> impl Strategy<Value = Faultload> {
    btree_map(target(), mode(), 0..4).prop_map(|faults: BTreeMap<Target, Mode>| {
        let faults = faults
            .into_iter()
            .map(|(target, mode)| Fault { target, mode });
        Faultload::new(faults).unwrap()
    })
}

fn assert_reads_back<T>(value: &T)
where
    T: Display + FromStr<Err = SyntaxError> + PartialEq + Debug,
{
    let written = value.to_string();
    assert!(!written.contains(|c: char| c != ' ' && (c.is_control() || c.is_whitespace())));
    match written.parse::<T>() {
        Ok(read) => assert_eq!(&read, value, "{written}"),
        Err(error) => panic!("{error}"),
    }
}

/// Whatever the text, every reader answers, and points inside of it.
fn assert_survives(text: &str) {
    let errors = [
        text.parse::<Mode>().err(),
        Mode::parse_list(text).err(),
        text.parse::<Point>().err(),
        text.parse::<Pattern>().err(),
        text.parse::<Target>().err(),
        text.parse::<Fault>().err(),
        text.parse::<Faultload>().err(),
    ];
    for error in errors.into_iter().flatten() {
        assert!(
            text.get(error.span()).is_some(),
            "{:?} in {text:?}",
            error.span()
        );
        assert!(error.to_string().lines().count() <= 4, "{error}");
    }
    if let Ok(load) = text.parse::<Faultload>() {
        assert_reads_back(&load);
    }
}

/// Puts a nasty piece in place of up to a few characters, somewhere.
fn mutate(text: &str, at: Index, cut: usize, piece: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let start = at.index(chars.len() + 1);
    let end = (start + cut).min(chars.len());
    let (front, back) = (chars[..start].iter(), chars[end..].iter());
    front
        .copied()
        .chain(piece.chars())
        .chain(back.copied())
        .collect()
}

/// A quoted line break in a hint would tear it apart.
#[test]
fn a_line_break_stuck_to_an_equals_sign_is_no_part_of_a_hint() {
    for text in ["=\"\n\"", "\"\n\"=", "a GET /=\"\n\""] {
        assert_survives(text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_mode_reads_back(mode in mode()) {
        assert_reads_back(&mode);
        let list = format!("{mode}, {mode}");
        prop_assert_eq!(Mode::parse_list(&list), Ok(vec![mode, mode]));
    }

    #[test]
    fn a_point_reads_back(point in point()) {
        assert_reads_back(&point);
    }

    #[test]
    fn a_pattern_reads_back(pattern in pattern()) {
        assert_reads_back(&pattern);
    }

    #[test]
    fn a_target_reads_back(target in target()) {
        assert_reads_back(&target);
    }

    #[test]
    fn a_faultload_and_its_faults_read_back(load in faultload()) {
        assert_reads_back(&load);
        load.faults().for_each(|fault| assert_reads_back(&fault));
    }

    #[test]
    fn the_text_of_a_point_is_a_pattern_of_that_point(point in point()) {
        let pattern: Pattern = point.to_string().parse().unwrap();
        prop_assert!(pattern.matches(&point), "{}", pattern);
        prop_assert_eq!(point.to_string().parse(), Ok(Target::Call(point)));
    }

    #[test]
    fn no_text_brings_a_reader_down(text in any::<String>()) {
        assert_survives(&text);
    }

    #[test]
    fn no_mixture_of_special_characters_brings_a_reader_down(pieces in vec(select(NASTY), 0..12)) {
        assert_survives(&pieces.join(" "));
        assert_survives(&pieces.concat());
    }

    #[test]
    fn no_damage_to_a_good_text_brings_a_reader_down(
        load in faultload(),
        at in any::<Index>(),
        cut in 0..4usize,
        piece in prop_oneof![Just(""), select(NASTY)],
    ) {
        assert_survives(&mutate(&load.to_string(), at, cut, piece));
    }
}
