//! The form of an identity: which components tell calls apart.

use murphy_model::{AnswerMask, AnswerMasks, Identity, PathTemplates, Place, Point};
use serde::{Deserialize, Serialize};

use super::CodecError;
use super::names::parsed;

#[derive(Serialize, Deserialize)]
pub(super) struct IdentityForm {
    path: bool,
    payload: bool,
    predecessors: bool,
    call_site: bool,
    count: bool,
    templates: Vec<String>,
    masked: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    answers: Vec<AnswerMaskForm>,
}

/// What is left out of the answers of one interface; no fields mean all of it.
#[derive(Serialize, Deserialize)]
struct AnswerMaskForm {
    of: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fields: Option<Vec<String>>,
}

impl AnswerMaskForm {
    fn new((place, mask): (&Place, &AnswerMask)) -> Self {
        AnswerMaskForm {
            of: place.to_string(),
            fields: match mask {
                AnswerMask::Fields(fields) => Some(fields.clone()),
                AnswerMask::Everything => None,
            },
        }
    }

    fn read(self) -> Result<(Place, AnswerMask), CodecError> {
        let point: Point = parsed("interface", &self.of)?;
        let mask = self
            .fields
            .map_or(AnswerMask::Everything, AnswerMask::Fields);
        Ok((Place::of(&point), mask))
    }
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
            answers: identity.answers.iter().map(AnswerMaskForm::new).collect(),
        }
    }

    pub(super) fn read(self) -> Result<Identity, CodecError> {
        let answers = self.answers.into_iter().map(AnswerMaskForm::read);
        let answers = answers.collect::<Result<Vec<_>, _>>()?;
        Ok(Identity {
            path: self.path,
            payload: self.payload,
            predecessors: self.predecessors,
            call_site: self.call_site,
            count: self.count,
            templates: PathTemplates::with(self.templates),
            masked: self.masked,
            answers: AnswerMasks::new(answers),
        })
    }
}
