//! What the launcher tells the helper, and what the helper reports back. Both ends are the same program, so the shape
//! is private and has no versions.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Limits, Network, Repository, Staged};

/// A path of any bytes.
#[derive(Clone, Debug)]
pub(super) struct Raw(pub(super) PathBuf);

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => self.0.as_os_str().as_bytes().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Text {
            Plain(String),
            Bytes(Vec<u8>),
        }
        Ok(Raw(match Text::deserialize(deserializer)? {
            Text::Plain(text) => PathBuf::from(text),
            Text::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
        }))
    }
}

fn raw(paths: &[PathBuf]) -> Vec<Raw> {
    paths.iter().cloned().map(Raw).collect()
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Spec {
    pub root: Raw,
    pub upper: Raw,
    pub work: Raw,
    pub scratch: Raw,
    pub kept: Vec<Raw>,
    pub repository: Repository,
    pub network: Network,
    pub readable: Vec<Raw>,
    pub writable: Vec<Raw>,
    pub closed: Vec<Raw>,
    pub hidden: Vec<Raw>,
    pub caches: Vec<Raw>,
    pub limits: Limits,
    pub cwd: Raw,
    /// A descriptor the task inherits, besides its output.
    pub report: Option<i32>,
    /// Over which the socket of the view's proxy is handed out.
    pub gate: Option<i32>,
    /// Whether its standard input is a terminal that becomes its session's.
    pub terminal: bool,
    pub task: Task,
}

/// What runs in the view.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Task {
    Shell {
        program: Raw,
        arguments: Vec<String>,
    },
    /// Tries what must fail and prints what it found.
    SelfTest {
        outside: Raw,
        port: u16,
    },
}

impl Spec {
    pub(super) fn new(staged: &Staged, cwd: &Path, task: Task) -> Self {
        let Staged { view, sandbox } = staged;
        Self {
            root: Raw(view.root.clone()),
            upper: Raw(view.upper.clone()),
            work: Raw(view.work.clone()),
            scratch: Raw(view.scratch.clone()),
            kept: raw(&view.kept),
            repository: view.repository,
            network: sandbox.network,
            readable: raw(&sandbox.readable),
            writable: raw(&sandbox.writable),
            closed: raw(&sandbox.closed),
            hidden: raw(&sandbox.hidden),
            caches: raw(&sandbox.caches),
            limits: sandbox.limits,
            cwd: Raw(cwd.to_owned()),
            report: None,
            gate: None,
            terminal: false,
            task,
        }
    }

    /// A length, then JSON. What follows on the pipe is its end, which tells that the launcher is gone.
    pub(super) fn send(&self, to: &mut impl Write) -> io::Result<()> {
        let text = serde_json::to_vec(self)?;
        to.write_all(&(text.len() as u64).to_le_bytes())?;
        to.write_all(&text)
    }

    pub(super) fn receive(from: &mut impl Read) -> io::Result<Self> {
        let mut length = [0; 8];
        from.read_exact(&mut length)?;
        let mut text = Vec::new();
        from.take(u64::from_le_bytes(length)).read_to_end(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    }
}

/// One line each on the status pipe.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// What the reader of the command's end must know, as a sentence.
    Note(String),
    /// The view could not be entered; nothing of the command ran.
    Failed(String),
    /// The shell ended, with its status as the kernel gave it.
    Ended(i32),
}

impl Report {
    /// A report that nobody reads any more is lost without harm.
    pub(super) fn send(&self, to: &mut impl Write) {
        if let Ok(mut line) = serde_json::to_vec(self) {
            line.push(b'\n');
            let _ = to.write_all(&line);
        }
    }

    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }
}
