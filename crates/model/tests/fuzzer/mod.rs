//! A small mutational fuzzer that needs no tools: it runs as a test.
//!
//! Owns making inputs and keeping time; what must hold for every input is the
//! target's business. Inputs begin with valid ones and are damaged step by
//! step. An input that gets an answer of a new kind is damaged further, which
//! leads deeper into a parser than damage to the first inputs alone. The same
//! seed makes the same inputs.
//!
//! Shared by the fuzz tests of `model` and `proxy`, which include this file.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// How many seconds each target gets; one, if not set.
const SECONDS: &str = "MURPHY_FUZZ_SECONDS";

/// What the inputs are made from; 1, if not set.
const SEED: &str = "MURPHY_FUZZ_SEED";

/// Enough to get over every limit of the formats read here.
const LONGEST: usize = 16 * 1024;

/// More would only be slower to choose from.
const MOST_KEPT: usize = 2000;

/// Bytes that formats tend to give a meaning to, or not to expect.
const SPECIAL: &[u8] = b"\0\t\n\r \"#%&'*+,-./0129:;<=>?@AZ[\\]_`az{|}~\x7f\x80\xbf\xc3\xff";

/// What is fuzzed.
pub(crate) struct Target<'a> {
    /// What it is called in the output.
    pub(crate) name: &'a str,
    /// Valid inputs.
    pub(crate) seeds: &'a [&'a str],
    /// Words that mean something in such inputs.
    pub(crate) words: &'a [&'a str],
}

impl Target<'_> {
    /// Has `check` look at damaged inputs until the time is over. It panics
    /// where an input shows a bug, and says otherwise of what kind the answer
    /// was.
    pub(crate) fn fuzz<Kind: Hash>(&self, check: impl Fn(&[u8]) -> Kind) {
        let seed = setting(SEED).unwrap_or(1.0) as u64;
        let time = Duration::from_secs_f64(setting(SECONDS).unwrap_or(1.0));
        let mut fuzzer = Fuzzer {
            target: self,
            random: fastrand::Rng::with_seed(seed),
            kept: Vec::new(),
            kinds: HashSet::new(),
            executions: 0,
        };
        for input in self.seeds {
            fuzzer.run(input.as_bytes().to_owned(), &check);
            fuzzer.kept.push(input.as_bytes().to_owned());
        }
        let begun = Instant::now();
        while begun.elapsed() < time {
            let input = fuzzer.damaged();
            fuzzer.run(input, &check);
        }
        println!(
            "fuzzed {}: {} executions, {} kinds of answers, seed {seed}",
            self.name,
            fuzzer.executions,
            fuzzer.kinds.len(),
        );
    }
}

fn setting(name: &str) -> Option<f64> {
    let text = std::env::var(name).ok()?;
    match text.parse() {
        Ok(number) => Some(number),
        Err(_) => panic!("{name} must be a number, not {text:?}"),
    }
}

struct Fuzzer<'a> {
    target: &'a Target<'a>,
    random: fastrand::Rng,
    kept: Vec<Vec<u8>>,
    kinds: HashSet<u64>,
    executions: u64,
}

impl Fuzzer<'_> {
    fn run<Kind: Hash>(&mut self, input: Vec<u8>, check: &impl Fn(&[u8]) -> Kind) {
        self.executions += 1;
        match catch_unwind(AssertUnwindSafe(|| check(&input))) {
            Ok(kind) => {
                let mut hasher = DefaultHasher::new();
                kind.hash(&mut hasher);
                if self.kinds.insert(hasher.finish()) && self.kept.len() < MOST_KEPT {
                    self.kept.push(input);
                }
            }
            Err(panic) => {
                let shown = input.escape_ascii();
                eprintln!("{} fails on b\"{shown}\"", self.target.name);
                resume_unwind(panic);
            }
        }
    }

    fn damaged(&mut self) -> Vec<u8> {
        let mut input = self.any_kept().to_owned();
        for _ in 0..self.random.usize(1..=6) {
            self.damage(&mut input);
        }
        input.truncate(LONGEST);
        input
    }

    fn any_kept(&mut self) -> &[u8] {
        &self.kept[self.random.usize(..self.kept.len())]
    }

    fn damage(&mut self, input: &mut Vec<u8>) {
        let (start, end) = self.range(input);
        match self.random.u8(..10) {
            0 => self.flip(input),
            1 => input.insert(start, SPECIAL[self.random.usize(..SPECIAL.len())]),
            2 => input.insert(start, self.random.u8(..)),
            3 => drop(input.drain(start..end)),
            4 => input.truncate(start),
            5 => self.repeat(input, start, end),
            6 => {
                let moved: Vec<u8> = input.drain(start..end).collect();
                let to = self.random.usize(..=input.len());
                input.splice(to..to, moved);
            }
            7 => self.splice(input, start, end),
            _ => self.put_word(input, start, end),
        }
    }

    /// A part of the input, more often short than long.
    fn range(&mut self, input: &[u8]) -> (usize, usize) {
        let start = self.random.usize(..=input.len());
        let left = input.len() - start;
        let most = if self.random.u8(..4) == 0 {
            left
        } else {
            left.min(8)
        };
        (start, start + self.random.usize(..=most))
    }

    fn flip(&mut self, input: &mut [u8]) {
        if !input.is_empty() {
            let at = self.random.usize(..input.len());
            input[at] ^= 1 << self.random.u8(..8);
        }
    }

    fn repeat(&mut self, input: &mut Vec<u8>, start: usize, end: usize) {
        let room = LONGEST.saturating_sub(input.len()) / (end - start).max(1);
        let most = if self.random.u8(..8) == 0 { 2000 } else { 4 };
        let times = self.random.usize(..=room.min(most));
        let repeated = input[start..end].repeat(times);
        input.splice(end..end, repeated);
    }

    /// Puts a part of another input in.
    fn splice(&mut self, input: &mut Vec<u8>, start: usize, end: usize) {
        let other = self.any_kept().to_owned();
        let (from, to) = self.range(&other);
        input.splice(start..end, other[from..to].iter().copied());
    }

    fn put_word(&mut self, input: &mut Vec<u8>, start: usize, end: usize) {
        let Some(word) = self.random.choice(self.target.words) else {
            return;
        };
        let end = if self.random.bool() { start } else { end };
        input.splice(start..end, word.bytes());
    }
}
