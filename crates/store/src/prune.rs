//! Letting go of old campaigns, so that a store does not grow for ever.
//!
//! Owns which ones: those beyond the newest few of their scenario, and all that
//! came to nothing, unless someone is still at them. Each goes in a transaction of its own, so that
//! others need not wait; the room they took is used again.

use super::past::owner;
use super::writer::Key;
use super::{EMPTY, Store, StoreError};

impl Store {
    /// Lets go of all but the newest `kept` campaigns of a scenario.
    pub(super) fn prune_scenario(&self, scenario: &str, kept: usize) -> Result<(), StoreError> {
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
        old.into_iter().try_for_each(|key| self.let_go(key))
    }

    fn let_go(&self, key: Key) -> Result<(), StoreError> {
        self.change(|change| {
            let busy = owner(change, key)?.is_some_and(|owner| owner.lives());
            if !busy {
                change.execute("DELETE FROM campaign WHERE id = ?", [key])?;
            }
            Ok(())
        })
    }
}
