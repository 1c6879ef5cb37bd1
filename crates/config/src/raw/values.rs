//! The kinds of values in `murphy.toml`, each with its place and its schema.
//!
//! Written by hand where serde's derived forms lose places: untagged enums
//! point at whole tables only.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use toml::Spanned;

use crate::Span;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<T>::deserialize(deserializer)?;
        let span = spanned.span();
        let value = spanned.into_inner();
        Ok(At { value, span })
    }
}

/// Places do not show in a schema.
impl<T: JsonSchema> JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// A text with its place.
pub(crate) type Text = At<String>;

/// A whole number between bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole<const MIN: u64, const MAX: u64>(pub(crate) u64);

/// TOML has no larger numbers.
const LARGEST: u64 = i64::MAX as u64;

/// How many of something, at least one.
pub(crate) type Count = Whole<1, LARGEST>;

/// Any whole number that is not negative.
pub(crate) type Number = Whole<0, LARGEST>;

/// A port.
pub(crate) type Port = Whole<1, 65535>;

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_i64(WholeVisitor::<MIN, MAX>)
    }
}

struct WholeVisitor<const MIN: u64, const MAX: u64>;

impl<const MIN: u64, const MAX: u64> Visitor<'_> for WholeVisitor<MIN, MAX> {
    type Value = Whole<MIN, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match MAX == LARGEST {
            true => write!(f, "a whole number from {MIN}"),
            false => write!(f, "a whole number from {MIN} to {MAX}"),
        }
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        match u64::try_from(number) {
            Ok(fits) if (MIN..=MAX).contains(&fits) => Ok(Whole(fits)),
            _ => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
        }
    }
}

impl<const MIN: u64, const MAX: u64> JsonSchema for Whole<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Whole_{MIN}_{MAX}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        match MAX == LARGEST {
            true => json_schema!({ "type": "integer", "minimum": MIN }),
            false => json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX }),
        }
    }
}

/// Something that may stand alone or in a list.
pub(crate) trait Item: for<'de> Deserialize<'de> + JsonSchema {
    /// What is expected of it, alone or in a list.
    const EXPECTED: &'static str;
    /// Whether it may be a table.
    const MAY_BE_TABLE: bool = false;
}

impl Item for String {
    const EXPECTED: &'static str = "a text or a list of texts";
}

/// A value, or a list of such values.
#[derive(Clone, Debug)]
pub(crate) enum OneOrMany<T> {
    /// Not in a list; its place is that of the whole.
    One(T),
    /// A list.
    Many(Vec<At<T>>),
}

impl<T> At<OneOrMany<T>> {
    /// All values with their places.
    pub(crate) fn items(self) -> Vec<At<T>> {
        match self.value {
            OneOrMany::Many(items) => items,
            OneOrMany::One(value) => vec![At {
                value,
                span: self.span,
            }],
        }
    }
}

impl<'de, T: Item> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrManyVisitor(PhantomData))
    }
}

struct OneOrManyVisitor<T>(PhantomData<T>);

impl<'de, T: Item> Visitor<'de> for OneOrManyVisitor<T> {
    type Value = OneOrMany<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        T::deserialize(text.into_deserializer()).map(OneOrMany::One)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        // What the item makes of a number is its business, but the list is
        // worth a word in the error.
        T::deserialize(IntoDeserializer::<E>::into_deserializer(number))
            .map(OneOrMany::One)
            .map_err(|_| E::invalid_type(de::Unexpected::Signed(number), &self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element()? {
            all.push(item);
        }
        Ok(OneOrMany::Many(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        match T::MAY_BE_TABLE {
            true => T::deserialize(MapAccessDeserializer::new(entries)).map(OneOrMany::One),
            false => Err(de::Error::invalid_type(de::Unexpected::Map, &self)),
        }
    }
}

impl<T: Item> JsonSchema for OneOrMany<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMany_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one }] })
    }
}

/// Yes, no, or yes for these names.
#[derive(Clone, Debug)]
pub(crate) enum TrueOrNames {
    /// For all or for none.
    All(bool),
    /// For these.
    Names(Vec<Text>),
}

impl<'de> Deserialize<'de> for TrueOrNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TrueOrNamesVisitor)
    }
}

struct TrueOrNamesVisitor;

impl<'de> Visitor<'de> for TrueOrNamesVisitor {
    type Value = TrueOrNames;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false or a list of texts")
    }

    fn visit_bool<E: de::Error>(self, all: bool) -> Result<Self::Value, E> {
        Ok(TrueOrNames::All(all))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = items.next_element()? {
            names.push(name);
        }
        Ok(TrueOrNames::Names(names))
    }
}

impl JsonSchema for TrueOrNames {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "TrueOrNames".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = json_schema!({ "type": "array", "items": { "type": "string" } });
        json_schema!({ "anyOf": [{ "type": "boolean" }, names] })
    }
}

/// A table whose keys are names that the user chose, in the order written.
#[derive(Clone, Debug)]
pub(crate) struct Named<T>(pub(crate) Vec<(Text, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(NamedVisitor(PhantomData))
    }
}

struct NamedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for NamedVisitor<T> {
    type Value = Named<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            all.push(entry);
        }
        Ok(Named(all))
    }
}

impl<T: JsonSchema> JsonSchema for Named<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Named_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        json_schema!({ "type": "object", "additionalProperties": value })
    }
}

/// A status: a number of HTTP or a name of gRPC.
#[derive(Clone, Debug)]
pub(crate) enum Status {
    /// HTTP.
    Number(i64),
    /// gRPC.
    Name(String),
}

impl Item for Status {
    const EXPECTED: &'static str = "a status such as 200 or \"NOT_FOUND\", or a list of them";
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StatusVisitor)
    }
}

struct StatusVisitor;

impl Visitor<'_> for StatusVisitor {
    type Value = Status;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a status such as 200 or \"NOT_FOUND\"")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Status, E> {
        Ok(Status::Number(number))
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Status, E> {
        Ok(Status::Name(name.to_owned()))
    }
}

impl JsonSchema for Status {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Status".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"] })
    }
}

/// What is right under a fault: a status, or an answer as a table.
#[derive(Debug)]
pub(crate) enum UnderFault<T> {
    /// A failure that is shown honestly.
    Status(Status),
    /// An answer that does without what failed.
    Answer(Box<T>),
}

impl<T: for<'de> Deserialize<'de> + JsonSchema> Item for UnderFault<T> {
    const EXPECTED: &'static str = "a status such as 503, an answer such as { status = 200, contains = \"unavailable\" }, or a list of them";
    const MAY_BE_TABLE: bool = true;
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for UnderFault<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UnderFaultVisitor(PhantomData))
    }
}

struct UnderFaultVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for UnderFaultVisitor<T> {
    type Value = UnderFault<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a status such as 503, or an answer such as { status = 200 }")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        StatusVisitor.visit_i64(number).map(UnderFault::Status)
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Self::Value, E> {
        StatusVisitor.visit_str(name).map(UnderFault::Status)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        let answer = T::deserialize(MapAccessDeserializer::new(entries))?;
        Ok(UnderFault::Answer(Box::new(answer)))
    }
}

impl<T: JsonSchema> JsonSchema for UnderFault<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("UnderFault_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let status = generator.subschema_for::<Status>();
        let answer = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [status, answer] })
    }
}

/// A mode, not yet read; statuses may be written as numbers.
#[derive(Clone, Debug)]
pub(crate) struct ModeText(pub(crate) String);

impl Item for ModeText {
    const EXPECTED: &'static str = "a mode such as 503 or \"reset\", or a list of them";
}

impl<'de> Deserialize<'de> for ModeText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ModeVisitor)
    }
}

struct ModeVisitor;

impl Visitor<'_> for ModeVisitor {
    type Value = ModeText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mode such as 503 or \"reset\"")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<ModeText, E> {
        Ok(ModeText(number.to_string()))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ModeText, E> {
        Ok(ModeText(text.to_owned()))
    }
}

impl JsonSchema for ModeText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Mode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"] })
    }
}

/// Any value, to be sent or expected as JSON.
#[derive(Clone, Debug)]
pub(crate) struct Json(pub(crate) serde_json::Value);

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

/// How the parser hands over dates, which JSON has none of.
const DATE: &str = "$__toml_private_datetime";

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value that JSON can hold")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json(value.into()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Json, E> {
        Ok(Json(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Json, E> {
        let number = serde_json::Number::from_f64(value);
        let number = number.ok_or_else(|| E::invalid_value(de::Unexpected::Float(value), &self))?;
        Ok(Json(number.into()))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Json, E> {
        Ok(Json(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(Json(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Json(all.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut all = serde_json::Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if key == DATE {
                return entries.next_value::<String>().map(|date| Json(date.into()));
            }
            all.insert(key, entries.next_value::<Json>()?.0);
        }
        Ok(Json(all.into()))
    }
}

impl JsonSchema for Json {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!(true)
    }
}

/// A step: a command, as a text or a list of words, or a table.
#[derive(Clone, Debug)]
pub(crate) enum Step<T> {
    /// A command and nothing else.
    Command(OneOrMany<String>),
    /// All that can be said of a step.
    Table(Box<T>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Step<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StepVisitor(PhantomData))
    }
}

struct StepVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for StepVisitor<T> {
    type Value = Step<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a command, or a table such as { request = \"POST /reset\" }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Step::Command(OneOrMany::One(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        OneOrManyVisitor(PhantomData)
            .visit_seq(items)
            .map(Step::Command)
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        let table = T::deserialize(MapAccessDeserializer::new(entries))?;
        Ok(Step::Table(Box::new(table)))
    }
}

impl<T: JsonSchema> JsonSchema for Step<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Step_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let command = generator.subschema_for::<OneOrMany<String>>();
        let table = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [command, table] })
    }
}
