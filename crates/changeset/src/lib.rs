//! changeset
