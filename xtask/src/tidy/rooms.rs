//! The shape of `rooms.toml`. Every key is described there; an unknown one is an error, so that a misspelt rule
//! cannot pass for a rule.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rooms {
    pub everyone_may_use: Vec<String>,
    pub longest_chain: usize,
    pub file: FileCeiling,
    pub rooms: BTreeMap<String, Room>,
    pub dependencies: BTreeMap<String, Vec<String>>,
    pub owners: Vec<Owner>,
    pub globals: Vec<Global>,
    pub closed: BTreeMap<String, Vec<String>>,
    pub exhaustive: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileCeiling {
    pub want: usize,
    pub ceiling: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Room {
    #[serde(default)]
    pub may_use: Vec<String>,
    #[serde(default)]
    pub dev_only: bool,
    /// Ceiling for the room's lines outside tests.
    pub lines: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    pub of: String,
    /// Functions that clippy bans too.
    pub calls: Vec<String>,
    /// Names that only tidy looks for: system calls, and what opens a file for writing.
    #[serde(default)]
    pub system_calls: Vec<String>,
    pub files: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Global {
    pub file: String,
    pub name: String,
    #[serde(rename = "because")]
    pub _because: String,
}

impl Owner {
    pub fn has(&self, file: &str) -> bool {
        self.files.iter().any(|owned| covers(owned, file))
    }
}

/// An entry names one file, or a folder when it ends in `/`.
pub fn covers(entry: &str, file: &str) -> bool {
    match entry.ends_with('/') {
        true => file.starts_with(entry),
        false => file == entry,
    }
}
