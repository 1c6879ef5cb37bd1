//! How points and faults are named in JSON: spelled out, or by a number.
//!
//! Owns the choice. A line that leaves Murphy spells points out; the store
//! keeps each point once and refers to it by a number, because the same few
//! dozen points occur in thousands of executions.

use std::fmt;

use murphy_model::{Fault, Faultload, Mode, Point, Target};
use serde::de::{self, SeqAccess, Visitor};
use serde::ser::SerializeTuple;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::CodecError;

/// The name of a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// Its text form.
    Text(String),
    /// Its place in a list of points.
    Number(u32),
}

/// Decides how points are named.
pub trait Naming {
    /// The name of a point; the same for the same point.
    fn name(&mut self, point: &Point) -> Name;
}

/// Spells every point out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spelled;

impl Naming for Spelled {
    fn name(&mut self, point: &Point) -> Name {
        Name::Text(point.to_string())
    }
}

impl Name {
    pub(super) fn point(&self, points: &[Point]) -> Result<Point, CodecError> {
        match self {
            Name::Text(text) => parsed("point", text),
            Name::Number(number) => numbered(*number, points),
        }
    }
}

fn numbered(number: u32, points: &[Point]) -> Result<Point, CodecError> {
    let point = points.get(number as usize);
    point.cloned().ok_or(CodecError::NoSuchPoint(number))
}

/// Reads a text form; what is wrong with it tells a user nothing who did not
/// write it, so the text itself is shown instead.
pub(super) fn parsed<T: std::str::FromStr>(
    what: &'static str,
    text: &str,
) -> Result<T, CodecError> {
    text.parse().map_err(|_| CodecError::Text {
        what,
        text: text.to_owned(),
    })
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Name::Text(text) => serializer.serialize_str(text),
            Name::Number(number) => serializer.serialize_u32(*number),
        }
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameVisitor)
    }
}

struct NameVisitor;

impl Visitor<'_> for NameVisitor {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a point or its number")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Name, E> {
        Ok(Name::Text(text.to_owned()))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Name, E> {
        let number = u32::try_from(number).map_err(|_| E::custom("the number is too large"))?;
        Ok(Name::Number(number))
    }
}

/// A fault: `"cart GET /cart = 503"`, or `[7, "503"]` for the call at a
/// numbered point and `[7, "503", true]` for every attempt of it.
#[derive(Clone, Debug)]
pub(super) enum FaultForm {
    Text(String),
    Numbered {
        point: u32,
        mode: String,
        every: bool,
    },
}

impl FaultForm {
    pub(super) fn new(fault: &Fault, naming: &mut impl Naming) -> Self {
        let (point, every) = match &fault.target {
            Target::Call(point) => (point, false),
            Target::Every(point) => (point, true),
            Target::Matching(_) => return FaultForm::Text(fault.to_string()),
        };
        match naming.name(point) {
            Name::Text(_) => FaultForm::Text(fault.to_string()),
            Name::Number(point) => FaultForm::Numbered {
                point,
                mode: fault.mode.to_string(),
                every,
            },
        }
    }

    pub(super) fn read(&self, points: &[Point]) -> Result<Fault, CodecError> {
        match self {
            FaultForm::Text(text) => parsed("fault", text),
            FaultForm::Numbered { point, mode, every } => {
                let (point, mode): (Point, Mode) =
                    (numbered(*point, points)?, parsed("mode", mode)?);
                Ok(match every {
                    true => Fault::every(&point, mode),
                    false => Fault::at(point, mode),
                })
            }
        }
    }

    /// The forms of all faults of a faultload.
    pub(super) fn all(faultload: &Faultload, naming: &mut impl Naming) -> Vec<Self> {
        let faults = faultload.faults();
        faults.map(|fault| FaultForm::new(&fault, naming)).collect()
    }
}

/// The faultload of these faults.
pub(super) fn faultload(forms: &[FaultForm], points: &[Point]) -> Result<Faultload, CodecError> {
    let faults: Result<Vec<Fault>, _> = forms.iter().map(|form| form.read(points)).collect();
    Faultload::new(faults?).map_err(|_| CodecError::Contradiction("two faults for one target"))
}

impl Serialize for FaultForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            FaultForm::Text(text) => serializer.serialize_str(text),
            FaultForm::Numbered { point, mode, every } => {
                let mut parts = serializer.serialize_tuple(2 + usize::from(*every))?;
                parts.serialize_element(point)?;
                parts.serialize_element(mode)?;
                if *every {
                    parts.serialize_element(every)?;
                }
                parts.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for FaultForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FaultVisitor)
    }
}

struct FaultVisitor;

impl<'de> Visitor<'de> for FaultVisitor {
    type Value = FaultForm;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a fault, or the number of a point and a mode")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<FaultForm, E> {
        Ok(FaultForm::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<FaultForm, A::Error> {
        let missing = |length| de::Error::invalid_length(length, &FaultVisitor);
        Ok(FaultForm::Numbered {
            point: parts.next_element()?.ok_or_else(|| missing(0))?,
            mode: parts.next_element()?.ok_or_else(|| missing(1))?,
            every: parts.next_element()?.unwrap_or(false),
        })
    }
}
