//! How far estimates of tokens have been off, for each model: learned from what providers count, kept with the
//! workspace. The arithmetic is `prompt`'s.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use prompt::Calibration;
use store::{Document, Durability, Store, StoreError};

/// The kind of the stored documents; their ids are `provider/model`.
const KIND: &str = "calibration";

#[derive(Default)]
pub struct Calibrations {
    known: Mutex<BTreeMap<String, Calibration>>,
}

impl Calibrations {
    /// What is known of a model; nothing learned where it cannot be read.
    pub fn of(&self, store: &Store, provider: &str, model: &str) -> Calibration {
        let id = format!("{provider}/{model}");
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(id).or_insert_with_key(|id| {
            let stored = store.document(KIND, id).ok().flatten();
            let ratio = stored.and_then(|value| value.as_f64());
            ratio.map(Calibration::from_ratio).unwrap_or_default()
        })
    }

    /// Adds what one request was estimated at, without calibration, and what the provider counted.
    pub fn learn(
        &self,
        store: &Store,
        provider: &str,
        model: &str,
        estimated: u64,
        counted: u64,
    ) -> Result<(), StoreError> {
        let before = self.of(store, provider, model);
        let after = before.learned(estimated, counted);
        let id = format!("{provider}/{model}");
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id.clone(), after);
        // A ratio that has settled is not written with every request.
        if (after.ratio() - before.ratio()).abs() < 0.01 {
            return Ok(());
        }
        let document = Document {
            kind: KIND.to_owned(),
            id,
            session_id: None,
            value: Some(after.ratio().into()),
        };
        store.put_documents(&[document], Durability::Normal)
    }
}
