//! The chain of frames, as written: what points and patterns have in common.
//!
//! Owns the order of words in a frame. A chain is read once, wildcards and
//! all; `point` and `pattern` then make of it what they can. Reading stops at
//! the first word that does not belong, and the caller says what it expected.

use super::SyntaxError;
use super::lexer::{Cursor, Next, Slice, Word};
use super::options::{self, Options};
use super::text::IN_FRAME;
use crate::Attempts;

/// Deeper chains are refused: real ones have a handful of frames, and a point
/// is a linked list, which a hostile text could make too long to walk.
const DEEPEST: usize = 1000;

/// Frames as written, entry call first; never empty.
pub(super) struct Chain<'a> {
    /// The leading `**`, if there is one.
    pub(super) anywhere: Option<Slice<'a>>,
    /// Whether `^` says that the first frame is an entry call.
    pub(super) from_entry: bool,
    pub(super) frames: Vec<RawFrame<'a>>,
}

/// One frame as written.
pub(super) struct RawFrame<'a> {
    pub(super) destination: Word<'a>,
    /// None, one or two words.
    pub(super) interface: Vec<Word<'a>>,
    pub(super) count: Option<Count<'a>>,
    pub(super) options: Options<'a>,
}

/// A count as written.
pub(super) struct Count<'a> {
    pub(super) raw: Slice<'a>,
    pub(super) attempts: Attempts,
}

impl<'a> RawFrame<'a> {
    /// The last of destination and interface.
    pub(super) fn last_word(&self) -> &Word<'a> {
        self.interface.last().unwrap_or(&self.destination)
    }
}

/// Reads as many frames as there are.
pub(super) fn read_chain<'a>(cursor: &mut Cursor<'a>) -> Result<Chain<'a>, SyntaxError> {
    let anywhere = read_anywhere(cursor)?;
    cursor.skip_space();
    let from_entry = anywhere.is_none() && cursor.eat('^');
    let mut frames = vec![read_frame(cursor)?];
    while cursor.next() == Next::Arrow {
        let arrow = cursor.at()..cursor.at() + 1;
        if frames.len() == DEEPEST {
            let message = format!("a chain has at most {DEEPEST} calls");
            return Err(cursor.error(arrow, message, "one too many"));
        }
        cursor.eat('>');
        frames.push(read_frame(cursor)?);
    }
    Ok(Chain {
        anywhere,
        from_entry,
        frames,
    })
}

fn read_anywhere<'a>(cursor: &mut Cursor<'a>) -> Result<Option<Slice<'a>>, SyntaxError> {
    cursor.skip_space();
    let mut ahead = cursor.clone();
    let word = ahead.take_until(char::is_whitespace);
    if word.text != "**" {
        return Ok(None);
    }
    if ahead.next() != Next::Arrow {
        return Err(cursor
            .error(
                word.range(),
                "expected ` > ` and a call after `**`",
                "stands for any path",
            )
            .with_hint("any service is `*`; a call anywhere is `** > cart GET /cart`"));
    }
    ahead.eat('>');
    *cursor = ahead;
    Ok(Some(word))
}

fn read_frame<'a>(cursor: &mut Cursor<'a>) -> Result<RawFrame<'a>, SyntaxError> {
    let mut frame = RawFrame {
        destination: read_destination(cursor)?,
        interface: Vec::new(),
        count: None,
        options: Options::default(),
    };
    let mut has_options = false;
    loop {
        let only_words_yet = frame.count.is_none() && !has_options;
        match cursor.next() {
            Next::Word if only_words_yet && frame.interface.len() < 2 => {
                frame.interface.push(cursor.word(IN_FRAME)?);
            }
            Next::Count if frame.count.is_none() => frame.count = Some(read_count(cursor)?),
            Next::Options if !has_options => {
                frame.options = options::read(cursor)?;
                has_options = true;
            }
            _ => return Ok(frame),
        }
    }
}

fn read_destination<'a>(cursor: &mut Cursor<'a>) -> Result<Word<'a>, SyntaxError> {
    let expected = "expected the name of a service";
    let next = cursor.next();
    if next != Next::Word {
        let found = cursor.take_until(char::is_whitespace);
        let error = match next {
            Next::End => cursor.error(found.range(), expected, "nothing follows"),
            _ => cursor.error(found.range(), expected, "not a name"),
        };
        return Err(match next {
            Next::Count | Next::Options => error.with_hint("put a name that begins so in quotes"),
            _ => error,
        });
    }
    let word = cursor.word(IN_FRAME)?;
    if word.raw.text == "**" {
        return Err(cursor
            .error(word.raw.range(), expected, "any path can only come first")
            .with_hint("any one service is `*`"));
    }
    Ok(word)
}

fn read_count<'a>(cursor: &mut Cursor<'a>) -> Result<Count<'a>, SyntaxError> {
    let raw = cursor.take_until(char::is_whitespace);
    let number = |digits: &str| {
        let plain = digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse::<u32>().ok().filter(|n| plain && *n > 0)
    };
    let attempts = match &raw.text[1..] {
        "*" => Some(Attempts::Any),
        text => match text.strip_prefix("..") {
            Some(digits) => number(digits).map(Attempts::UpTo),
            None => number(text).map(Attempts::Exactly),
        },
    };
    match attempts {
        Some(attempts) => Ok(Count { raw, attempts }),
        None => Err(bad_count(cursor, raw)),
    }
}

fn bad_count(cursor: &Cursor<'_>, raw: Slice<'_>) -> SyntaxError {
    let expected = "expected a count: `#2`, `#..3` for the first three, or `#*` for all";
    let error = cursor.error(raw.range(), expected, "not a count");
    match raw.text {
        "#0" | "#..0" => error.with_hint("counts begin at 1: the first call is `#1`"),
        _ => error,
    }
}

/// Reads up to the end, where nothing else may stand.
pub(super) fn expect_end(cursor: &mut Cursor<'_>) -> Result<(), SyntaxError> {
    let next = cursor.next();
    let found = cursor.take_until(char::is_whitespace);
    let message = "expected ` > ` and a further call, or the end";
    let error = || cursor.error(found.range(), message, "does not belong here");
    match next {
        Next::End => Ok(()),
        Next::Equals => Err(error().with_hint("a mode is not wanted here")),
        _ => Err(match arrow_hint(found) {
            Some(hint) => error().with_hint(hint),
            None => error(),
        }),
    }
}

/// What to say about a `>` that is stuck to a name.
pub(super) fn arrow_hint(word: Slice<'_>) -> Option<String> {
    let name = word
        .text
        .strip_prefix('>')
        .filter(|name| !name.is_empty())?;
    Some(format!("put white space around `>`: `> {name}`"))
}
