//! Letting go of old campaigns, so that a store does not grow for ever.
//!
//! Owns which ones: those beyond the newest few of their scenario, and all that
//! came to nothing, unless someone is still at them. Each goes in a transaction of its own, so that
//! others need not wait; the room they took is used again.

use super::past::owner;
use super::writer::Key;
use super::{EMPTY, Store, StoreError};

impl Store {
    /// Lets go of all but the newest `kept` campaigns of each scenario; how
    /// many that were.
    pub fn prune(&self, kept: usize) -> Result<usize, StoreError> {
        let scenarios: Vec<String> = self.ask(|connection| {
            let mut all = connection.prepare("SELECT DISTINCT scenario FROM campaign")?;
            all.query_map([], |row| row.get(0))?.collect()
        })?;
        let mut gone = 0;
        for scenario in scenarios {
            gone += self.prune_scenario(&scenario, kept)?;
        }
        Ok(gone)
    }

    pub(super) fn prune_scenario(&self, scenario: &str, kept: usize) -> Result<usize, StoreError> {
        let kept = i64::try_from(kept).unwrap_or(i64::MAX);
        let old: Vec<Key> = self.ask(|connection| {
            let sql = format!(
                "SELECT id FROM campaign WHERE scenario = ?1 AND {EMPTY}
                 UNION ALL
                 SELECT id FROM (SELECT id FROM campaign WHERE scenario = ?1 AND NOT ({EMPTY})
                                 ORDER BY id DESC LIMIT -1 OFFSET ?2)"
            );
            let mut all = connection.prepare(&sql)?;
            let keys = all.query_map((scenario, kept), |row| row.get(0))?;
            keys.collect()
        })?;
        let mut gone = 0;
        for key in old {
            gone += usize::from(self.let_go(key)?);
        }
        Ok(gone)
    }

    fn let_go(&self, key: Key) -> Result<bool, StoreError> {
        self.change(|change| {
            let busy = owner(change, key)?.is_some_and(|owner| owner.lives());
            if !busy {
                change.execute("DELETE FROM campaign WHERE id = ?", [key])?;
            }
            Ok(!busy)
        })
    }
}
