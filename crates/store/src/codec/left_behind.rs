//! The form of state that an execution left behind.

use murphy_search::Ticket;
use serde::{Deserialize, Serialize};

use super::CodecError;
use super::names::{FaultForm, Spelled, faultload};
use super::observed::ObservedForm;
use murphy_campaign::LeftBehind;

#[derive(Serialize, Deserialize)]
pub(super) struct LeftForm {
    by: Vec<ByForm>,
    prefix: Vec<Vec<FaultForm>>,
    observed: ObservedForm,
}

#[derive(Serialize, Deserialize)]
struct ByForm {
    ticket: u64,
    faultload: Vec<FaultForm>,
}

impl LeftForm {
    pub(super) fn new(left: &LeftBehind) -> Self {
        let faults = |faultload| FaultForm::all(faultload, &mut Spelled);
        let by = left.by.iter().map(|(ticket, faultload)| ByForm {
            ticket: ticket.0,
            faultload: faults(faultload),
        });
        LeftForm {
            by: by.collect(),
            prefix: left.prefix.iter().map(faults).collect(),
            observed: ObservedForm::new(&left.observed, &mut Spelled),
        }
    }

    pub(super) fn read(self) -> Result<LeftBehind, CodecError> {
        let by = self.by.iter().map(|one| {
            let faultload = faultload(&one.faultload, &[])?;
            Ok((Ticket(one.ticket), faultload))
        });
        let prefix = self.prefix.iter().map(|one| faultload(one, &[]));
        Ok(LeftBehind {
            by: by.collect::<Result<_, CodecError>>()?,
            prefix: prefix.collect::<Result<_, _>>()?,
            observed: self.observed.read(&[])?,
        })
    }
}
