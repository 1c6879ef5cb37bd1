//! The JSON Schema of `murphy.toml`, for editors and for `murphy schema`.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::Value;

use super::raw::Root;

/// The schema, as JSON Schema 2020-12.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(without_null));
    settings
        .into_generator()
        .into_root_schema_for::<Root>()
        .to_value()
}

/// TOML has no null: a key that may be left out is not there.
fn without_null(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    object.remove("default");
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(ways)) = object.get_mut("anyOf") {
        ways.retain(|way| way.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(only)] = ways.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
}
