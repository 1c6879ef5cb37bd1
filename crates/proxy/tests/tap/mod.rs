//! The registry, with someone who sees every ending before it does.

use std::sync::Arc;

use murphy_registry::{
    Arrival, CallKey, ContextHint, Control, Decision, Ending, Origin, Owner, Registry, Unknown,
};

pub(crate) struct Tap<F> {
    pub(crate) registry: Arc<Registry>,
    pub(crate) see: F,
}

impl<F: Fn(&Ending) + Send + Sync + 'static> Control for Tap<F> {
    fn idle(&self) -> bool {
        self.registry.idle()
    }

    fn recognise(&self, hints: &[ContextHint], origin: &Origin) -> Option<Owner> {
        self.registry.recognise(hints, origin)
    }

    fn arrive(&self, arrival: Arrival) -> Result<Decision, Unknown> {
        self.registry.arrive(arrival)
    }

    fn finish(&self, key: CallKey, ending: Ending) {
        (self.see)(&ending);
        self.registry.finish(key, ending);
    }
}
