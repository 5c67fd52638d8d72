//! What is said on every git command line so that a repository's configuration starts nothing.

use std::{collections::BTreeMap, ffi::OsString, os::unix::ffi::OsStringExt, path::Path};

use super::{GitError, check, run};

pub(super) const ARGUMENTS: &[&str] = &["--no-optional-locks", "--no-pager", "--literal-pathspecs"];

/// A setting on the command line wins over every configuration file.
pub(super) const SETTINGS: &[&str] = &[
    "core.quotePath=off",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.askPass=false",
    "credential.helper=",
    "diff.external=",
    // Otherwise a diff refreshes the index, whose lock the user's own commit needs; the option against optional locks
    // does not reach it.
    "diff.autoRefreshIndex=false",
    // A partial clone fetches what is missing while it is read. Each protocol by name, since a name beats the
    // general rule.
    "protocol.allow=never",
    "protocol.file.allow=never",
    "protocol.git.allow=never",
    "protocol.ssh.allow=never",
    "protocol.http.allow=never",
    "protocol.https.allow=never",
    "protocol.ext.allow=never",
];

const KEYS: [&str; 4] = ["clean", "smudge", "process", "required"];

/// Settings that take away the content filters which the repository's own configuration defines, since status and
/// diff run them. Filters the user has set up for all repositories keep their commands, also where the repository
/// tries to replace them. A file of a filter that is taken away is compared unfiltered, and so may count as changed.
pub(super) fn filter_settings(root: &Path) -> Result<Vec<OsString>, GitError> {
    let args = ["config", "--null", "--show-scope", "--get-regexp", r"^filter\."];
    let output = run(root, &[], &args, 1024 * 1024)?;
    // Status 1 says that nothing is configured.
    if output.status.code() == Some(1) {
        return Ok(Vec::new());
    }
    let output = check(output, "config", root)?;
    if output.truncated {
        return Err(GitError::Filter("(too many to list)".to_owned()));
    }
    let mut filters: BTreeMap<Vec<u8>, Filter> = BTreeMap::new();
    let mut fields = output.stdout.split(|byte| *byte == 0);
    while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
        let (key, value) = match memchr::memchr(b'\n', entry) {
            Some(at) => (&entry[..at], Some(&entry[at + 1..])),
            None => (entry, None),
        };
        let Some((name, variable)) = name_and_variable(key) else {
            continue;
        };
        let filter = filters.entry(name.to_vec()).or_default();
        match scope {
            b"system" | b"global" => {
                if let Some(key) = KEYS.iter().position(|key| key.as_bytes() == variable) {
                    filter.trusted[key] = value.map(<[u8]>::to_vec);
                }
            }
            b"command" => {}
            _ => filter.from_repository = true,
        }
    }
    let mut settings = Vec::new();
    for (name, filter) in filters.into_iter().filter(|(_, filter)| filter.from_repository) {
        // `-c` ends the key at the first `=`.
        if name.contains(&b'=') {
            return Err(GitError::Filter(String::from_utf8_lossy(&name).into_owned()));
        }
        for (key, trusted) in KEYS.iter().zip(filter.trusted) {
            let value = trusted.unwrap_or_else(|| match *key {
                "required" => b"false".to_vec(),
                _ => Vec::new(),
            });
            let setting = [b"filter.", name.as_slice(), b".", key.as_bytes(), b"=", &value].concat();
            settings.push(OsString::from_vec(setting));
        }
    }
    Ok(settings)
}

#[derive(Default)]
struct Filter {
    from_repository: bool,
    /// The user's own values, in the order of `KEYS`.
    trusted: [Option<Vec<u8>>; 4],
}

/// `filter.<name>.<variable>`; the name may contain dots.
fn name_and_variable(key: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = key.strip_prefix(b"filter.")?;
    let at = memchr::memrchr(b'.', rest)?;
    Some((&rest[..at], &rest[at + 1..]))
}
