//! A hermetic place for end-to-end tests: own home, data folder, git identity and environment, a workspace in a
//! temporary folder, and no network but loopback.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;

use crate::run::{ExecRun, Running};

/// What a test works in. Everything is removed when it is dropped.
pub struct Hermetic {
    root: TempDir,
    binary: PathBuf,
    variables: BTreeMap<String, OsString>,
}

impl Hermetic {
    /// `binary` is the product under test, for example `env!("CARGO_BIN_EXE_vibe-coder")`.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        let root = tempfile::Builder::new()
            .prefix("vibe-test-")
            .tempdir()
            .expect("a temporary folder");
        for folder in ["home", "data", "ws"] {
            fs::create_dir(root.path().join(folder)).expect("a new folder");
        }
        let mut hermetic = Self {
            root,
            binary: binary.into(),
            variables: BTreeMap::new(),
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        // The toolchain of the machine is real; only what belongs to a user is replaced.
        let inherited =
            ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"].map(|name| (name, std::env::var_os(name)));
        let real_home = std::env::var_os("HOME").unwrap_or_default();
        for (name, value) in inherited {
            let default = match name {
                "CARGO_HOME" => Some(Path::new(&real_home).join(".cargo").into_os_string()),
                "RUSTUP_HOME" => Some(Path::new(&real_home).join(".rustup").into_os_string()),
                _ => None,
            };
            if let Some(value) = value.or(default.filter(|folder| Path::new(folder).is_dir())) {
                hermetic.variables.insert(name.to_owned(), value);
            }
        }
        hermetic.variables.insert("PATH".to_owned(), path);
        hermetic
            .variables
            .insert("HOME".to_owned(), hermetic.home().into_os_string());
        hermetic
            .variables
            .insert("VIBE_CODER_HOME".to_owned(), hermetic.data().into_os_string());
        hermetic.variables.insert("LANG".to_owned(), "C.UTF-8".into());
        hermetic
            .variables
            .insert("CARGO_NET_OFFLINE".to_owned(), "true".into());
        for (name, value) in GIT_IDENTITY {
            hermetic.variables.insert((*name).to_owned(), (*value).into());
        }
        hermetic
    }

    /// Adds a variable to everything that runs here.
    pub fn with_variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    pub fn set_variable(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.insert(name.to_owned(), value.into());
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// The product's data folder.
    pub fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    pub fn workspace(&self) -> PathBuf {
        self.root.path().join("ws")
    }

    /// A place beside the workspace, for what must not be reached.
    pub fn outside(&self) -> PathBuf {
        self.root.path().to_owned()
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.workspace().join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("a folder in the workspace");
        }
        fs::write(path, content).expect("a file in the workspace");
    }

    pub fn write_executable(&self, path: &str, content: impl AsRef<[u8]>) {
        self.write(path, content);
        fs::set_permissions(self.workspace().join(path), fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    pub fn link(&self, path: &str, target: &str) {
        symlink(target, self.workspace().join(path)).expect("a link in the workspace");
    }

    pub fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.workspace().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub fn read_text(&self, path: &str) -> String {
        String::from_utf8(self.read(path)).expect("UTF-8")
    }

    pub fn exists(&self, path: &str) -> bool {
        self.workspace().join(path).symlink_metadata().is_ok()
    }

    /// Makes the workspace a git repository with everything in it committed.
    pub fn commit_all(&self) {
        self.git(&["init", "-q", "-b", "main", "."]);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "base"]);
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        let output = self.program("git", arguments);
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs any program in the workspace with the hermetic environment.
    pub fn program(&self, program: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(program);
        self.prepare(&mut command)
            .args(arguments)
            .output()
            .unwrap_or_else(|error| panic!("{program}: {error}"))
    }

    /// The product, run to its end.
    pub fn vibe(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the product starts")
    }

    /// `exec --json` run to its end.
    pub fn exec(&self, arguments: &[&str]) -> ExecRun {
        let mut all = vec!["exec", "--json"];
        all.extend_from_slice(arguments);
        ExecRun::from_output(self.vibe(&all))
    }

    /// The product, started; for tests that act while it runs.
    pub fn start(&self, arguments: &[&str]) -> Running {
        let mut command = self.command(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Running::new(command.spawn().expect("the product starts"))
    }

    /// A command for the product, for tests that need to change it further.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        self.prepare(&mut command).args(arguments);
        command
    }

    fn prepare<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .current_dir(self.workspace())
            .env_clear()
            .envs(&self.variables)
            .stdin(Stdio::null())
    }

    /// Path → kind, mode and content of everything in the workspace, `.git` left out.
    pub fn tree(&self) -> BTreeMap<PathBuf, String> {
        tree(&self.workspace())
    }
}

const GIT_IDENTITY: &[(&str, &str)] = &[
    ("GIT_AUTHOR_NAME", "Test"),
    ("GIT_AUTHOR_EMAIL", "test@example.invalid"),
    ("GIT_COMMITTER_NAME", "Test"),
    ("GIT_COMMITTER_EMAIL", "test@example.invalid"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
];

/// Everything below `folder` but `.git`: its kind, permission bits and content.
pub fn tree(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).expect("a readable folder") {
            let path = entry.expect("an entry").path();
            if path.file_name().is_some_and(|name| name == ".git") {
                continue;
            }
            let metadata = path.symlink_metadata().expect("an entry's metadata");
            let mode = metadata.permissions().mode() & 0o7777;
            let relative = path.strip_prefix(folder).expect("below the folder").to_owned();
            let shape = if metadata.is_symlink() {
                format!("link {}", fs::read_link(&path).expect("a link").display())
            } else if metadata.is_dir() {
                waiting.push(path);
                format!("folder {mode:o}")
            } else {
                let content = fs::read(&path).expect("a readable file");
                format!("file {mode:o} {}", blake3::hash(&content).to_hex())
            };
            found.insert(relative, shape);
        }
    }
    found
}
