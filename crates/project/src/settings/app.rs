//! Which app, with which switches and which identity.

use murphy_corpus::{App, SettingError, Settings};
use murphy_model::{Identity, nearest};

use murphy_config::Usage;

/// The app with this name; `command` is what stood before it.
pub(crate) fn find(command: &str, name: &str) -> Result<App, Usage> {
    if let Some(app) = murphy_corpus::find(name) {
        return Ok(app);
    }
    let apps = murphy_corpus::all();
    let meant = nearest(name, apps.iter().map(|app| app.name));
    let hint = match meant {
        Some(meant) => format!("did you mean `{meant}`? `murphy demo --list` shows them all"),
        None => "`murphy demo --list` shows them all".to_owned(),
    };
    Err(Usage::new(format!("there is no example system `{name}`"))
        .at(command, name, name, "not one of the example systems")
        .hint(hint))
}

/// The switches of an app from `name=value` words.
pub(crate) fn switches(app: &App, given: &[String]) -> Result<Settings, Usage> {
    let mut pairs = Vec::new();
    for word in given {
        pairs.push(pair("--set", word)?);
    }
    app.settings(pairs).map_err(|error| refused(app, error))
}

fn refused(app: &App, error: SettingError) -> Usage {
    let usage = Usage::new(error.to_string());
    match &error {
        SettingError::Unknown { name, known, .. } => {
            let usage = usage.at("--set", name, name, "no switch of this app");
            match nearest(name, known.iter().copied()) {
                Some(meant) => usage.hint(format!("did you mean `{meant}`?")),
                None => usage.hint("`murphy demo --list` shows the switches of every app"),
            }
        }
        SettingError::Value {
            name,
            value,
            allowed,
        } => {
            let switch = app.switches.iter().find(|switch| switch.name == name);
            let default = switch.map_or("", |switch| switch.default);
            usage
                .at(
                    "--set",
                    &format!("{name}={value}"),
                    value,
                    format!("not {allowed}"),
                )
                .hint(format!("it is `{default}` when not set"))
        }
    }
}

fn pair<'w>(argument: &str, word: &'w str) -> Result<(&'w str, &'w str), Usage> {
    word.split_once('=').ok_or_else(|| {
        Usage::new(format!("`{word}` sets nothing"))
            .at(argument, word, word, "no `=` in it")
            .hint(format!("write `{argument} {word}=on`"))
    })
}

/// The app's own identity, changed by `component=on|off` words.
pub(crate) fn identity(own: Identity, given: &[String]) -> Result<Identity, Usage> {
    let mut identity = own;
    for word in given {
        let (component, value) = pair("--identity", word)?;
        let on = match value {
            "on" => true,
            "off" => false,
            _ => {
                return Err(Usage::new(format!("`{component}` is on or off"))
                    .at("--identity", word, value, "neither on nor off")
                    .hint(format!("write `--identity {component}=on`")));
            }
        };
        identity.set(component, on).map_err(|error| {
            let usage = Usage::new(error.to_string()).at(
                "--identity",
                word,
                component,
                "no component of identity",
            );
            match nearest(component, Identity::COMPONENTS) {
                Some(meant) => usage.hint(format!("did you mean `{meant}`?")),
                None => usage.hint(format!("write for example `--identity payload={value}`")),
            }
        })?;
    }
    Ok(identity)
}

/// What to try if the scenario fails without faults: the switches that were
/// set are the first suspects.
pub(crate) fn reference_hint(app: &App, given: &[String]) -> String {
    let about = |word: &&String| {
        let name = word.split_once('=')?.0;
        let switch = app.switches.iter().find(|switch| switch.name == name)?;
        Some(format!("`--set {word}` ({})", switch.about))
    };
    let suspects: Vec<String> = given
        .iter()
        .collect::<Vec<_>>()
        .iter()
        .filter_map(about)
        .collect();
    match suspects.is_empty() {
        true => "fix the scenario or the system first: faults tell nothing about what is broken without them".to_owned(),
        false => format!("try again without {}", suspects.join(" and ")),
    }
}
