//! Identifiers. Each is a prefixed UUIDv7, so that ids sort by the time they were made and a reader of a log
//! can tell what an id names.

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(test, derive(ts_rs::TS))]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// A new, unique id.
            pub fn mint() -> Self {
                Self(format!(concat!($prefix, "_{}"), uuid::Uuid::now_v7().simple()))
            }

            /// Takes an id that was made before, from a log or a command line. It is not checked: an unknown
            /// id is answered with "not found" by whoever owns the thing.
            pub fn from_text(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

ids! {
    /// A live context of the shell; the coding engine of one workspace is one.
    ContextId = "ctx";
    SessionId = "ses";
    TurnId = "trn";
    ItemId = "itm";
    ChangeSetId = "chg";
    SnapshotId = "snp";
    CommandId = "cmd";
    ApprovalId = "apr";
    ArtifactId = "art";
    /// A person's standing rule about commands.
    RuleId = "rul";
    /// One request to a model.
    ProviderRequestId = "req";
}

/// A tool call's id as the model gave it; unique only within one session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(transparent)]
pub struct ToolCallId(pub String);

impl std::fmt::Display for ToolCallId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The BLAKE3 hash of a content, in lowercase hex. Blobs and file versions are named by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(transparent)]
pub struct ContentHash(pub String);

impl std::fmt::Display for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
