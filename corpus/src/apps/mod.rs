//! The example systems, one module per family.

mod astronomy;
mod audible;
mod breaker;
mod cinema;
mod expect;
mod expedia;
mod food_delivery;
mod hotel;
mod mailchimp;
mod micro;
mod netflix;
mod parts;
mod purchase;
mod register;
mod replicas;

use crate::App;

/// Every app, in the order of listings.
pub fn all() -> Vec<App> {
    let families = [
        cinema::apps(),
        audible::apps(),
        expedia::apps(),
        mailchimp::apps(),
        netflix::apps(),
        food_delivery::apps(),
        purchase::apps(),
        micro::apps(),
        astronomy::apps(),
        register::apps(),
        hotel::apps(),
        replicas::apps(),
    ];
    families.into_iter().flatten().collect()
}

/// The app with this name.
pub fn find(name: &str) -> Option<App> {
    all().into_iter().find(|app| app.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use murphy_model::Faultload;

    use super::all;
    use crate::{Outcome, Simulator};

    #[test]
    fn names_are_unique() {
        let apps = all();
        let names: BTreeSet<&str> = apps.iter().map(|app| app.name).collect();
        assert_eq!(names.len(), apps.len());
    }

    #[test]
    fn the_reference_fails_exactly_where_that_is_declared() {
        let declared = all()
            .into_iter()
            .flat_map(|app| (app.expected)().into_iter().map(move |e| (app.name, e)));
        for (name, expected) in declared {
            let app = super::find(name).unwrap();
            let settings = app.settings_from_text(expected.settings).unwrap();
            let reference = Simulator::new(app, settings).run(&Faultload::none());
            let fails = matches!(expected.outcome, Outcome::ReferenceFails);
            assert_eq!(
                reference.verdict.is_failure(),
                fails,
                "{name} {}",
                expected.settings
            );
        }
    }
}
