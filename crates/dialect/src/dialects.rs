//! The dialects that are known.
//!
//! Owns their order, which decides where several recognise a request, and how
//! a user's own extend those that are shipped.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Answer, Error, Form, Name, Status, Templates};
use crate::glob::Glob;
use crate::recognition::{Recognition, Request};
use crate::template::Template;

/// The file that is shipped; the reference for those who write their own.
const SHIPPED: &str = include_str!("dialects.toml");

/// How a cloud service says that it failed. The keys of a dialect that is known replace what they held, but for `errors`, which are added to.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table")]
#[schemars(rename = "Dialect")]
pub struct DialectTable {
    /// Recognised by the service that the AWS signature of the request is for, one of these: `Credential=…/s3/aws4_request`.
    aws_services: Option<Vec<String>>,
    /// Recognised by headers of the request, all of them; `*` in a value stands for any text.
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    request_headers: Option<BTreeMap<Name, Glob>>,
    /// The headers of an error, with `{status}`, `{code}`, `{message}`, `{type}` and `{id}`.
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    headers: Option<Templates>,
    /// The body of an error, with the same placeholders.
    #[schemars(with = "Option<String>")]
    body: Option<Template>,
    /// What is said with each status; others are injected as plain text.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Error>")]
    errors: BTreeMap<Status, Error>,
}

/// How one cloud service says that it failed.
#[derive(Clone, Debug, Default)]
pub struct Dialect {
    name: String,
    recognition: Recognition,
    form: Form,
    errors: BTreeMap<Status, Error>,
}

impl Dialect {
    fn new(name: &str) -> Self {
        Dialect {
            name: name.to_owned(),
            ..Dialect::default()
        }
    }

    /// What it is called in the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is said with this status, if anything; `id` stands where the
    /// service names the request.
    pub fn answer(&self, status: u16, id: &str) -> Option<Answer> {
        let error = self.errors.get(&Status(status))?;
        Some(error.answer(&self.form, status, id))
    }

    fn take(&mut self, written: DialectTable) {
        let DialectTable {
            aws_services,
            request_headers,
            headers,
            body,
            errors,
        } = written;
        replace(&mut self.recognition.aws_services, aws_services);
        replace(&mut self.recognition.headers, request_headers);
        replace(&mut self.form.headers, headers);
        replace(&mut self.form.body, body);
        self.errors.extend(errors);
    }
}

fn replace<T>(value: &mut T, written: Option<T>) {
    if let Some(written) = written {
        *value = written;
    }
}

/// All dialects that are known.
#[derive(Clone, Debug)]
pub struct Dialects(Vec<Dialect>);

static SHIPPED_DIALECTS: LazyLock<Arc<Dialects>> = LazyLock::new(|| Arc::new(read(SHIPPED)));

fn read(text: &str) -> Dialects {
    let written: toml::Table = text.parse().expect("the shipped dialects are TOML");
    let dialects = written.into_iter().map(|(name, table)| {
        let mut dialect = Dialect::new(&name);
        dialect.take(table.try_into().expect("the shipped dialects are complete"));
        dialect
    });
    Dialects(dialects.collect())
}

impl Dialects {
    /// Those that are shipped.
    pub fn shipped() -> Arc<Dialects> {
        SHIPPED_DIALECTS.clone()
    }

    /// Those that are shipped, and a user's own. A known one is extended; any
    /// other is asked before those that are shipped, in the order written.
    ///
    /// # Errors
    /// The names of those that are not known and recognise no request.
    pub fn with_own(
        own: impl IntoIterator<Item = (String, DialectTable)>,
    ) -> Result<Dialects, Vec<String>> {
        let Dialects(mut shipped) = Dialects::clone(&SHIPPED_DIALECTS);
        let mut all = Vec::new();
        let mut refused = Vec::new();
        for (name, written) in own {
            if let Some(known) = shipped.iter_mut().find(|it| it.name == name) {
                known.take(written);
                continue;
            }
            let mut dialect = Dialect::new(&name);
            dialect.take(written);
            match dialect.recognition.is_empty() {
                true => refused.push(name),
                false => all.push(dialect),
            }
        }
        all.append(&mut shipped);
        match refused.is_empty() {
            true => Ok(Dialects(all)),
            false => Err(refused),
        }
    }

    /// The first that recognises this request.
    pub fn of(&self, request: &Request<'_>) -> Option<&Dialect> {
        let mut all = self.0.iter();
        all.find(|dialect| dialect.recognition.matches(request))
    }

    /// The one that is called so.
    pub fn named(&self, name: &str) -> Option<&Dialect> {
        self.0.iter().find(|dialect| dialect.name == name)
    }

    /// Their names, in the order in which they are asked.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(Dialect::name)
    }
}
