//! Call sites: where a caller has to cope with a call that fails.
//!
//! Owns which faults are at the same one: who calls whom for what, whatever
//! the attempt, the mode and the way there. Replicas are one callee, because
//! the code that calls them is the same.

use std::collections::{BTreeMap, BTreeSet};

use murphy_hitting::Set;
use murphy_model::{Faultload, Place, Point, Target};
use murphy_report::hardening::Site;

/// The call sites of some faultloads, numbered in the order of their names.
pub(super) struct Sites {
    names: Vec<Site>,
    replicas: Replicas,
}

impl Sites {
    /// All that these faultloads are aimed at.
    pub(super) fn of<'f>(faultloads: impl Iterator<Item = &'f Faultload>) -> Self {
        let faultloads: Vec<&Faultload> = faultloads.collect();
        let targets = faultloads.iter().flat_map(|it| it.iter());
        let points: BTreeSet<&Point> = targets.filter_map(|(target, _)| point(target)).collect();
        let replicas = Replicas::of(&points);
        let names: BTreeSet<Site> = points.iter().map(|point| replicas.site(point)).collect();
        Sites {
            names: names.into_iter().collect(),
            replicas,
        }
    }

    /// The call sites at their numbers.
    pub(super) fn names(&self) -> &[Site] {
        &self.names
    }

    /// The call sites that a faultload is aimed at.
    pub(super) fn injected(&self, faultload: &Faultload) -> Set {
        let targets = faultload.iter();
        targets.filter_map(|(target, _)| self.at(target)).collect()
    }

    /// What is left of a faultload when no fault at these call sites reaches
    /// its caller.
    pub(super) fn remaining(&self, faultload: &Faultload, hardened: &Set) -> Faultload {
        let reaches =
            |target: &Target| !self.at(target).is_some_and(|site| hardened.contains(site));
        let left = faultload.faults().filter(|fault| reaches(&fault.target));
        Faultload::new(left).expect("a part of a faultload")
    }

    fn at(&self, target: &Target) -> Option<usize> {
        let site = self.replicas.site(point(target)?);
        self.names.binary_search(&site).ok()
    }
}

/// Where a fault is injected; `None` for patterns, which no search aims at.
fn point(target: &Target) -> Option<&Point> {
    match target {
        Target::Call(point) | Target::Every(point) => Some(point),
        Target::Matching(_) => None,
    }
}

/// Places that others stand in for: asked by the same caller for the same,
/// with names that differ only in the number at their end.
struct Replicas(BTreeSet<Place>);

impl Replicas {
    fn of(points: &BTreeSet<&Point>) -> Self {
        let mut alike: BTreeMap<(Option<String>, String), BTreeSet<Place>> = BTreeMap::new();
        for point in points {
            for call in std::iter::once(*point).chain(point.ancestors()) {
                let place = Place::of(call);
                let caller = call.parent().map(|caller| any_number(&Place::of(caller)));
                let key = (caller, any_number(&place));
                alike.entry(key).or_default().insert(place);
            }
        }
        let several = alike.into_values().filter(|places| places.len() > 1);
        Replicas(several.flatten().collect())
    }

    fn site(&self, point: &Point) -> Site {
        Site {
            caller: point.parent().map(|caller| self.name(&Place::of(caller))),
            callee: self.name(&Place::of(point)),
        }
    }

    fn name(&self, place: &Place) -> String {
        match self.0.contains(place) {
            true => any_number(place),
            false => place.to_string(),
        }
    }
}

/// `cart-* GET /cart` for `cart-1 GET /cart`: how a pattern names all of them.
fn any_number(place: &Place) -> String {
    let Place { service, interface } = place;
    let stem = service.trim_end_matches(|c: char| c.is_ascii_digit());
    match stem.is_empty() || stem.len() == service.len() {
        true => place.to_string(),
        false => format!("{stem}* {interface}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faultload(text: &str) -> Faultload {
        text.parse().unwrap()
    }

    fn names(texts: &[&str]) -> Vec<String> {
        let faultloads: Vec<Faultload> = texts.iter().map(|text| faultload(text)).collect();
        let sites = Sites::of(faultloads.iter());
        sites.names().iter().map(Site::to_string).collect()
    }

    #[test]
    fn modes_attempts_and_ways_there_make_no_difference() {
        let one = [
            "shop GET / > cart GET /cart = 503",
            "shop GET / > cart GET /cart #2 = reset",
            "shop GET / > cart GET /cart #* = 500",
            "web GET / > shop GET / > cart GET /cart = 503",
        ];
        assert_eq!(names(&one), ["shop GET / > cart GET /cart"]);
    }

    #[test]
    fn callers_and_interfaces_do() {
        let three = [
            "shop GET / > cart GET /cart = 503",
            "shop GET / > cart GET /total = 503",
            "shop GET /pay > cart GET /cart = 503",
        ];
        let sites = [
            "shop GET / > cart GET /cart",
            "shop GET / > cart GET /total",
            "shop GET /pay > cart GET /cart",
        ];
        assert_eq!(names(&three), sites);
    }

    #[test]
    fn replicas_are_one_call_site() {
        let cases: [(&[&str], &[&str]); 5] = [
            (
                &["shop GET / > cart-1 GET /c = 503, shop GET / > cart-2 GET /c = 503"],
                &["shop GET / > cart-* GET /c"],
            ),
            // Alone, it may be anything.
            (
                &["shop GET / > cart-1 GET /c = 503"],
                &["shop GET / > cart-1 GET /c"],
            ),
            // Asked for something else, it is something else.
            (
                &[
                    "shop GET / > s3 GET /c = 503",
                    "shop GET / > s4 GET /d = 503",
                ],
                &["shop GET / > s3 GET /c", "shop GET / > s4 GET /d"],
            ),
            // Replicas that call are the same code too.
            (
                &[
                    "a GET / > b1 GET /b > db GET /q = 503",
                    "a GET / > b2 GET /b > db GET /q = 503",
                ],
                &["b* GET /b > db GET /q"],
            ),
            (
                &["a GET / > 1 GET / = 503", "a GET / > 2 GET / = 503"],
                &["a GET / > 1 GET /", "a GET / > 2 GET /"],
            ),
        ];
        for (texts, sites) in cases {
            assert_eq!(names(texts), sites, "{texts:?}");
        }
    }

    #[test]
    fn hardening_takes_out_every_fault_at_the_call_site() {
        let all = faultload(
            "a GET / > b-1 GET /b = 503, a GET / > b-2 GET /b = 500, a GET / > c GET /c #2 = reset",
        );
        let sites = Sites::of([&all].into_iter());
        assert_eq!(sites.injected(&all), Set::from_iter([0, 1]));
        let left = sites.remaining(&all, &Set::from_iter([0]));
        assert_eq!(left, faultload("a GET / > c GET /c #2 = reset"));
        assert_eq!(sites.remaining(&all, &Set::new()), all);
    }
}
