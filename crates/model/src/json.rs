//! The one JSON form of the vocabulary: what every type is written as.
//!
//! Owns the pieces that the types share; each type derives the rest where it
//! is defined. Points, patterns, faults, modes and replies are their text form;
//! times are whole nanoseconds under keys that end in `_ns`, so that nothing is
//! lost; numbers that may exceed 64 bits are decimal strings. What is usual is
//! left out, because there is one line for every execution. Reading is strict
//! about what it needs and ignores fields that it does not know.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Fault, Faultload, Frame, Mode, Pattern, PayloadHash, Place, Point, Reply, Target};

/// The version of the form: raised when what is written today could not be
/// read any more.
pub const FORMAT: u32 = 1;

/// Writes and reads types by their text form.
macro_rules! text_form {
    ($($type:ty = $what:literal),* $(,)?) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(Text($what, PhantomData))
            }
        }
    )*};
}

text_form! {
    Fault = "a fault",
    Frame = "a call",
    Mode = "a mode",
    Pattern = "a pattern",
    PayloadHash = "a hash",
    Place = "a service and an interface",
    Point = "a point",
    Reply = "a reply",
    Target = "a target",
}

struct Text<T>(&'static str, PhantomData<T>);

impl<T: FromStr> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        let unreadable = |_| E::custom(format_args!("`{text}` is not {}", self.0));
        text.parse().map_err(unreadable)
    }
}

/// A list of faults.
impl Serialize for Faultload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.faults())
    }
}

impl<'de> Deserialize<'de> for Faultload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let faults: Vec<Fault> = Vec::deserialize(deserializer)?;
        Faultload::new(faults).map_err(D::Error::custom)
    }
}

/// Any type by its text form, such as large numbers by their digits.
pub(crate) mod text {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        value: &impl Display,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: FromStr>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        deserializer.deserialize_str(Text("a number", PhantomData))
    }
}

/// The same for the values of a map.
pub(crate) mod text_map {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Serialize, Deserialize)]
    #[serde(bound(serialize = "T: Display", deserialize = "T: FromStr"))]
    struct AsText<T>(#[serde(with = "super::text")] T);

    pub(crate) fn serialize<S: Serializer, K: Serialize, T: Display>(
        map: &BTreeMap<K, T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(map.iter().map(|(key, value)| (key, AsText(value))))
    }

    pub(crate) fn deserialize<'de, D, K, T>(deserializer: D) -> Result<BTreeMap<K, T>, D::Error>
    where
        D: Deserializer<'de>,
        K: Deserialize<'de> + Ord,
        T: FromStr,
    {
        let map: BTreeMap<K, AsText<T>> = BTreeMap::deserialize(deserializer)?;
        Ok(map
            .into_iter()
            .map(|(key, AsText(value))| (key, value))
            .collect())
    }
}

/// Time spans in whole nanoseconds: five centuries fit, which is enough.
pub(crate) mod nanos {
    use std::time::Duration;

    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        span: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_nanos)
    }
}

/// The same where there may be none.
pub(crate) mod some_nanos {
    use std::time::Duration;

    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Nanos(#[serde(with = "super::nanos")] Duration);

    pub(crate) fn serialize<S: Serializer>(
        span: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        span.map(Nanos).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        let span: Option<Nanos> = Option::deserialize(deserializer)?;
        Ok(span.map(|Nanos(span)| span))
    }
}

/// Whether a value is the one that is read where none is written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
