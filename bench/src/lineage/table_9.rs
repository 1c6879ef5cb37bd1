//! FastFI's table 9: what hardening covers at each budget.
//!
//! Owns the published columns and the fault lists they are held against. The
//! paper prints no lists: not which APIs its requests share, nor which are
//! fatal (table 4 counts 26 APIs in the low-priority requests of OB-6 and 99
//! in those of TT-3, table 9 works out to 20 and 92 faults). It does say that
//! a valid fault is all replicas of one API, hence a clause with one element;
//! a list is then no more than the requests each API is fatal to. The lists
//! here were fitted to the table: what is covered gives their weights, what is
//! left per request gives the requests. So they show that the table is
//! consistent and that the exact choice reaches it, not that the exact choice
//! would have been better on the real lists. All of FastFI's figures come out
//! but three, where ours are better: no list gives TT-3's shares left at all of
//! 21, 23, 25 and 27. Of the lists that leave no more than printed at any
//! budget the nearest is taken; a test goes through all of them.

use murphy_hitting::{Choice, Cover, Set};

/// One deployment of the table.
pub struct Deployment {
    /// What it is called.
    pub name: &'static str,
    /// APIs by the requests they are fatal to; request 0 is the high-priority
    /// one.
    apis: &'static [(&'static [usize], usize)],
    /// The published rows.
    pub rows: &'static [Row],
}

/// Published percentages at a budget.
pub struct Row {
    /// How many APIs may be hardened.
    pub budget: usize,
    /// Low-priority faults covered (CR) by the published heuristic.
    pub heuristic: f64,
    /// The same by FastFI.
    pub covered: f64,
    /// Faults gained per API since the row above (MCG).
    pub gain: Option<f64>,
    /// FastFI's mean share of faults left per request (AFVR).
    pub left: f64,
}

const fn first(budget: usize, heuristic: f64, covered: f64, left: f64) -> Row {
    Row {
        budget,
        heuristic,
        covered,
        gain: None,
        left,
    }
}

const fn row(budget: usize, heuristic: f64, covered: f64, gain: f64, left: f64) -> Row {
    Row {
        gain: Some(gain),
        ..first(budget, heuristic, covered, left)
    }
}

/// The four deployments.
pub const TABLE_9: [Deployment; 4] = [OB_6, HR_6, SS_6, TT_3];

const OB_6: Deployment = Deployment {
    name: "OB-6",
    // GET /, GET /product/{id}, GET /cart, POST /checkout.
    apis: &[
        (&[0, 1, 2, 3], 3),
        (&[0, 1, 2], 1),
        (&[1, 2], 2),
        (&[2, 3], 1),
        (&[3], 3),
    ],
    rows: &[
        first(4, 55.00, 55.00, 33.33),
        row(5, 60.00, 65.00, 2.0, 25.60),
        row(6, 70.00, 75.00, 2.0, 17.86),
        row(7, 75.00, 85.00, 2.0, 10.71),
        row(8, 80.00, 90.00, 1.0, 7.14),
        row(9, 90.00, 95.00, 1.0, 3.57),
        row(10, 100.00, 100.00, 1.0, 0.00),
    ],
};

const HR_6: Deployment = Deployment {
    name: "HR-6",
    // GET /recommendations, GET /hotels, POST /reservation.
    apis: &[(&[0, 1], 1), (&[0], 1), (&[1], 4), (&[2], 2)],
    rows: &[
        first(2, 14.29, 14.29, 60.00),
        row(3, 28.57, 28.57, 1.0, 53.33),
        row(4, 42.86, 42.86, 1.0, 26.67),
        row(5, 57.14, 57.14, 1.0, 20.00),
        row(6, 71.43, 71.43, 1.0, 13.33),
        row(7, 85.71, 85.71, 1.0, 6.67),
        row(8, 100.00, 100.00, 1.0, 0.00),
    ],
};

const SS_6: Deployment = Deployment {
    name: "SS-6",
    // POST /cart, GET /login, POST /orders.
    apis: &[(&[0, 2], 1), (&[0], 1), (&[2], 8), (&[1], 1)],
    rows: &[
        first(2, 10.00, 10.00, 62.96),
        row(3, 20.00, 20.00, 1.0, 29.63),
        row(4, 30.00, 30.00, 1.0, 25.93),
        row(5, 40.00, 40.00, 1.0, 22.22),
        row(6, 50.00, 50.00, 1.0, 18.52),
        row(7, 60.00, 60.00, 1.0, 14.81),
        row(8, 70.00, 70.00, 1.0, 11.11),
        row(9, 80.00, 80.00, 1.0, 7.41),
        row(10, 90.00, 90.00, 1.0, 3.70),
        row(11, 100.00, 100.00, 1.0, 0.00),
    ],
};

const TT_3: Deployment = Deployment {
    name: "TT-3",
    // GET /food; POST /left, /cheapest, /minStation, /quickest, /preserve.
    apis: &[
        (&[0, 1, 2, 3, 4, 5], 3),
        (&[0], 3),
        (&[1, 2, 3, 4, 5], 9),
        (&[1, 2, 3, 4], 1),
        (&[1, 2, 4, 5], 1),
        (&[2, 3, 4], 1),
        (&[2, 4], 1),
        (&[2, 3], 1),
        (&[2], 1),
        (&[4], 2),
        (&[3], 4),
        (&[5], 10),
    ],
    rows: &[
        first(6, 16.30, 16.30, 69.40),
        row(7, 17.39, 21.74, 5.0, 64.76),
        row(9, 25.00, 32.61, 5.0, 55.47),
        row(11, 35.87, 43.48, 5.0, 46.18),
        row(13, 42.39, 54.35, 5.0, 36.89),
        row(15, 48.91, 65.22, 5.0, 27.60),
        row(17, 55.43, 73.91, 4.0, 19.92),
        row(19, 61.96, 79.35, 2.5, 15.34),
        row(21, 64.13, 82.61, 1.5, 13.01),
        row(23, 66.30, 84.78, 1.0, 11.01),
        row(25, 77.17, 86.96, 1.0, 9.15),
        row(27, 85.87, 89.13, 1.0, 7.25),
        row(29, 89.13, 91.30, 1.0, 5.80),
        row(31, 93.48, 93.48, 1.0, 4.35),
        row(33, 95.65, 95.65, 1.0, 2.90),
        row(35, 97.83, 97.83, 1.0, 1.45),
        row(37, 100.00, 100.00, 1.0, 0.00),
    ],
};

/// Ours at a budget.
#[derive(Clone, Copy, Debug)]
pub struct Ours {
    /// How many low-priority faults are covered.
    pub faults: usize,
    /// The same in percent.
    pub covered: f64,
    /// The mean share of faults left per request, in percent.
    pub left: f64,
}

impl Deployment {
    /// Per request the APIs fatal to it.
    fn requests(&self) -> Vec<Vec<usize>> {
        let count = self
            .apis
            .iter()
            .flat_map(|(requests, _)| requests.iter())
            .max();
        let mut faults = vec![Vec::new(); count.map_or(0, |last| last + 1)];
        let apis = self
            .apis
            .iter()
            .flat_map(|(requests, count)| std::iter::repeat_n(requests, *count));
        for (api, requests) in apis.enumerate() {
            requests
                .iter()
                .for_each(|request| faults[*request].push(api));
        }
        faults
    }

    /// The exact problem. Among choices that cover as many faults, those that
    /// leave the smaller share per request are better, as the paper counts
    /// that too: a fault of a request with few of them weighs a little more.
    pub fn cover(&self) -> Cover {
        let requests = self.requests();
        let one_fault = requests.len() as u64 * SHARES + 1;
        let soft = requests[1..].iter().flat_map(|request| {
            let weight = one_fault + SHARES / request.len() as u64;
            request
                .iter()
                .map(move |api| (Set::from_iter([*api]), weight))
        });
        let hard = requests[0].iter().map(|api| Set::from_iter([*api]));
        Cover::new(hard.collect(), soft.collect(), Vec::new()).expect("a fault is an API")
    }

    /// What a choice comes to.
    pub fn measure(&self, choice: &Choice) -> Ours {
        let requests = self.requests();
        let covered = |request: &[usize]| {
            let covered = request.iter().filter(|api| choice.chosen.contains(**api));
            covered.count()
        };
        let left = requests
            .iter()
            .map(|request| 1.0 - covered(request) as f64 / request.len() as f64);
        let low = requests[1..].concat();
        Ours {
            faults: covered(&low),
            covered: 100.0 * covered(&low) as f64 / low.len() as f64,
            left: 100.0 * left.sum::<f64>() / requests.len() as f64,
        }
    }
}

/// Divisible by the number of faults of every request in the lists.
const SHARES: u64 = 4 * 5 * 7 * 9 * 19 * 23;

/// Whether a share of ours reaches a printed one, which has two digits.
pub fn at_least(ours: f64, printed: f64) -> bool {
    ours >= printed - 0.005 - 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every printed share of faults covered comes out, and no share of faults
    /// left is larger than printed.
    #[test]
    fn the_lists_give_the_printed_columns() {
        for deployment in TABLE_9 {
            let cover = deployment.cover();
            for row in deployment.rows {
                let ours = deployment.measure(&cover.best(row.budget).unwrap());
                let place = format!("{} at {}", deployment.name, row.budget);
                assert!(
                    (ours.covered - row.covered).abs() < 0.006,
                    "{place}: {ours:?}"
                );
                assert!(at_least(row.left, ours.left), "{place}: {ours:?}");
            }
        }
    }

    #[test]
    fn the_lists_have_as_many_faults_and_apis_as_the_table_works_out_to() {
        let sizes = |deployment: &Deployment| {
            let requests = deployment.requests();
            let apis: usize = deployment.apis.iter().map(|(_, count)| count).sum();
            (apis, requests.iter().map(Vec::len).collect::<Vec<_>>())
        };
        assert_eq!(sizes(&OB_6), (10, vec![4, 6, 7, 7]));
        assert_eq!(sizes(&HR_6), (8, vec![2, 5, 2]));
        assert_eq!(sizes(&SS_6), (11, vec![2, 1, 9]));
        assert_eq!(sizes(&TT_3), (37, vec![6, 14, 18, 19, 18, 23]));
    }

    #[test]
    fn below_the_first_budget_the_high_priority_request_is_not_covered() {
        for deployment in TABLE_9 {
            let first = deployment.rows[0].budget;
            let error = deployment.cover().best(first - 1).unwrap_err();
            assert_eq!(error.smallest, first, "{}", deployment.name);
        }
    }

    /// How far the chosen list of TT-3 is from the printed shares left, and
    /// that no list that is nowhere worse is nearer: all of them are tried.
    #[test]
    fn no_list_of_tt_3_is_nearer_to_the_printed_shares_left() {
        let cover = TT_3.cover();
        let chosen: f64 = TT_3
            .rows
            .iter()
            .map(|row| TT_3.measure(&cover.best(row.budget).unwrap()).left - row.left)
            .filter(|difference| difference.abs() > 0.006)
            .map(f64::abs)
            .sum();
        let lists = tt_3_lists();
        let nearest = lists.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(lists.len(), 21);
        assert!((chosen - nearest).abs() < 1e-6, "{chosen} {nearest}");
        assert!(nearest > 0.7, "a list gives every printed share: {nearest}");
    }

    /// For each list that covers what is printed and leaves nowhere more than
    /// printed, how much less it leaves.
    ///
    /// The column of faults covered fixes how many requests each API is fatal
    /// to: besides the first six, nine to all five of low priority, two to
    /// four, one to three, two to two and 17 to one. The shares left up to
    /// budget 15, where nothing is free, fix how many faults the five requests
    /// have, in some order.
    fn tt_3_lists() -> Vec<f64> {
        let less = |left: Vec<f64>| -> Vec<f64> {
            let rows = TT_3.rows.iter().filter(|row| row.budget > 15);
            rows.map(|row| row.left - left[row.budget - 16]).collect()
        };
        shared_by_fewer_than_five()
            .filter_map(left_beyond_15)
            .map(less)
            .filter(|less| less.iter().all(|less| *less > -0.0051))
            .map(|less| less.into_iter().filter(|less| *less > 0.006).sum())
            .collect()
    }

    /// How many faults the requests of low priority have.
    const SIZES: [usize; 5] = [14, 18, 18, 19, 23];

    /// Requests, a bit each: of two APIs fatal to four, one to three, two to
    /// two.
    fn shared_by_fewer_than_five() -> impl Iterator<Item = [u32; 5]> {
        let of_size = |size| (1..32_u32).filter(move |set| set.count_ones() == size);
        let pairs = move |size| {
            let second = move |first| of_size(size).filter(move |second| *second >= first);
            of_size(size).flat_map(move |first| second(first).map(move |it| (first, it)))
        };
        pairs(4).flat_map(move |(a, b)| {
            of_size(3).flat_map(move |c| pairs(2).map(move |(d, e)| [a, b, c, d, e]))
        })
    }

    /// What the best choice leaves at the budgets from 16 on, if the list can
    /// be filled up with APIs fatal to one request.
    fn left_beyond_15(shared: [u32; 5]) -> Option<Vec<f64>> {
        let has = |set: u32, request: usize| set >> request & 1 == 1;
        let one = |request: usize| 100.0 / 6.0 / SIZES[request] as f64;
        let share = |set: u32| -> f64 { (0..5).filter(|it| has(set, *it)).map(one).sum() };
        let mut order = shared.map(share).to_vec();
        order[3..].sort_by(|a, b| b.total_cmp(a));
        // Requests are in the order of their sizes: the first are worth most.
        for (request, size) in SIZES.into_iter().enumerate() {
            let fatal = 12 + shared.iter().filter(|set| has(**set, request)).count();
            order.extend(std::iter::repeat_n(one(request), size.checked_sub(fatal)?));
        }
        let mut left = 500.0 / 6.0 - 12.0 * share(31);
        let take = |share| {
            left -= share;
            left
        };
        Some(order.into_iter().map(take).collect())
    }
}
