//! The `state` import: small values for the session.
//!
//! Owns the translation to [`SessionState`](crate::sandbox::SessionState). Without the
//! `session-state` capability every call answers `unavailable` and names it. It must never let a
//! component choose its namespace.

use crate::protocol::Capability;
use crate::sandbox::bindings::v0_1::hotcell::tool::state::{Host, StateError, Versioned};
use crate::sandbox::state;
use crate::sandbox::store::Guest;

impl Host for Guest {
    fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<Versioned>, StateError>> {
        if let Err(refused) = granted(self) {
            return Ok(Err(refused));
        }
        let found = self
            .runtime
            .state
            .get(&self.call.session, &self.call.component, &key);
        Ok(match found {
            Ok(value) => Ok(value.map(|found| Versioned {
                value: found.value,
                version: found.version,
            })),
            Err(error) => Err(error.into()),
        })
    }

    fn compare_and_swap(
        &mut self,
        key: String,
        value: Vec<u8>,
        expected: u64,
    ) -> wasmtime::Result<Result<u64, StateError>> {
        if let Err(refused) = granted(self) {
            return Ok(Err(refused));
        }
        let swapped = self.runtime.state.compare_and_swap(
            &self.call.session,
            &self.call.component,
            &key,
            value,
            expected,
        );
        Ok(swapped.map_err(StateError::from))
    }
}

fn granted(guest: &Guest) -> Result<(), StateError> {
    if guest.capabilities.contains(Capability::SessionState) {
        return Ok(());
    }
    Err(StateError::Unavailable(format!(
        "the `{}` capability was not granted to this call",
        Capability::SessionState
    )))
}

impl From<state::StateError> for StateError {
    fn from(error: state::StateError) -> Self {
        match error {
            state::StateError::TooLarge(limit) => StateError::TooLarge(limit),
            state::StateError::Quota(limit) => StateError::Quota(limit),
            state::StateError::Conflict => StateError::Conflict,
            state::StateError::Unavailable(why) => StateError::Unavailable(why),
        }
    }
}
