//! The form of an identity: which components tell calls apart.

use murphy_model::{Identity, PathTemplates};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(super) struct IdentityForm {
    path: bool,
    payload: bool,
    predecessors: bool,
    call_site: bool,
    count: bool,
    templates: Vec<String>,
    masked: Vec<String>,
}

impl IdentityForm {
    pub(super) fn new(identity: &Identity) -> Self {
        IdentityForm {
            path: identity.path,
            payload: identity.payload,
            predecessors: identity.predecessors,
            call_site: identity.call_site,
            count: identity.count,
            templates: identity.templates.own().collect(),
            masked: identity.masked.clone(),
        }
    }

    pub(super) fn read(self) -> Identity {
        Identity {
            path: self.path,
            payload: self.payload,
            predecessors: self.predecessors,
            call_site: self.call_site,
            count: self.count,
            templates: PathTemplates::with(self.templates),
            masked: self.masked,
        }
    }
}
