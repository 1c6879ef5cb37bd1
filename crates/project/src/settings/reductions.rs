//! Which reductions are in force.

use murphy_model::nearest;
use murphy_search::Reduction;

use murphy_config::Usage;

/// The reductions with these names: those to be switched on, those off.
pub(crate) fn named_all(
    on: &[String],
    off: &[String],
) -> Result<(Vec<Reduction>, Vec<Reduction>), Usage> {
    if let Some(both) = on.iter().find(|name| off.contains(name)) {
        return Err(Usage::new(format!("`{both}` is both switched on and off"))
            .at("--no-reduce", both, both, "also given to `--reduce`")
            .hint("leave out one of them"));
    }
    let all = |argument: &str, names: &[String]| -> Result<Vec<Reduction>, Usage> {
        names.iter().map(|name| named(argument, name)).collect()
    };
    Ok((all("--reduce", on)?, all("--no-reduce", off)?))
}

fn named(argument: &str, name: &str) -> Result<Reduction, Usage> {
    let names = Reduction::NAMES.map(|(name, _)| name);
    let found = Reduction::NAMES.iter().find(|(known, _)| *known == name);
    found.map(|(_, reduction)| *reduction).ok_or_else(|| {
        let hint = match nearest(name, names) {
            Some(meant) => format!("did you mean `{meant}`? there are {}", names.join(", ")),
            None => format!("there are {}", names.join(", ")),
        };
        Usage::new(format!("there is no reduction `{name}`"))
            .at(argument, name, name, "not a reduction")
            .hint(hint)
    })
}
