//! A service whose address is said only while the proxy runs already.
//!
//! Owns where it is by now, and that no connection to where it was before is
//! used again. Who may say where it is, and when that stops being true, is for
//! others to know.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;

use crate::connect::{Protocol, Tcp, Upstream};
use crate::destination::Destination;
use crate::stream::Stream;

/// Where a service is by now, `host:port`; nowhere at first.
#[derive(Debug, Default)]
pub struct LateAddress(Mutex<Option<Arc<str>>>);

impl LateAddress {
    /// From now on it is there, or nowhere.
    pub fn set(&self, address: Option<Arc<str>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = address;
    }

    /// Where it is.
    pub fn get(&self) -> Option<Arc<str>> {
        let address = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        address.clone()
    }
}

/// Makes the destination of a service that is reached like this.
type Make = Box<dyn Fn(Box<dyn Upstream>) -> Destination + Send + Sync>;

/// Such a service behind one listener of one worker thread.
pub(crate) struct LateDestination {
    address: Arc<LateAddress>,
    make: Make,
    /// The one for the address that was looked up last.
    made: Mutex<Option<Made>>,
}

type Made = (Option<Arc<str>>, Arc<Destination>);

impl LateDestination {
    pub(crate) fn new(address: Arc<LateAddress>, make: Make) -> Self {
        LateDestination {
            address,
            make,
            made: Mutex::default(),
        }
    }

    /// The service where it is now. Its connections go with its address.
    pub(crate) fn destination(&self) -> Arc<Destination> {
        let address = self.address.get();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        match &*made {
            Some((at, destination)) if *at == address => destination.clone(),
            _ => {
                let upstream: Box<dyn Upstream> = match &address {
                    Some(address) => Box::new(Tcp((**address).to_owned())),
                    None => Box::new(Nowhere),
                };
                let destination = Arc::new((self.make)(upstream));
                *made = Some((address, destination.clone()));
                destination
            }
        }
    }
}

/// A service that nobody has started yet.
struct Nowhere;

impl Upstream for Nowhere {
    fn connect(&self, _: Protocol) -> BoxFuture<'_, io::Result<Box<dyn Stream>>> {
        let error = io::Error::from(io::ErrorKind::NotConnected);
        Box::pin(std::future::ready(Err(error)))
    }
}
