//! Proves on this machine that a view holds: builds one and tries in it what must fail.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use super::launch::{Launch, THIS_PROGRAM, reports};
use super::layers::{make_file, make_folder};
use super::spec::{Report, Task};
use super::{Limits, Network, Repository, Sandbox, Staged, View};
use crate::runner::session::{OwnTerminal, own_session_keeping};
use crate::tool::{Captured, capture, kill_group};

const LONGEST: Duration = Duration::from_secs(10);

/// What the self-test saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfTest {
    /// What was tried and failed, as it must.
    pub held: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum SelfTestError {
    #[error("no folder for the self-test: {0}")]
    Folder(std::io::Error),
    #[error("the helper could not be run: {0}")]
    Helper(std::io::Error),
    #[error("{0}")]
    Refused(String),
    #[error("the self-test did not end within {} s", LONGEST.as_secs())]
    TimedOut,
    #[error("a command in the view could: {0}")]
    Leaks(String),
    #[error("what a command wrote did not arrive: {0}")]
    Broken(String),
}

/// What is tried; each must fail.
const MUST_FAIL: [&str; 4] = [
    "write outside the workspace",
    "connect to a port of this machine",
    "write to .git/hooks",
    "mount something",
];

/// Makes a small workspace below `folder`, which must exist, and removes it again. Takes about 20 ms.
pub fn self_test(folder: &Path) -> Result<SelfTest, SelfTestError> {
    let place = folder.join(format!("self-test-{}", uuid::Uuid::now_v7().simple()));
    let made = make(&place).map_err(SelfTestError::Folder);
    let tested = made.and_then(|()| try_in(&place));
    remove(&place);
    tested
}

fn make(place: &Path) -> std::io::Result<()> {
    for folder in [
        "",
        "ws",
        "ws/.git",
        "ws/.git/hooks",
        "upper",
        "work",
        "scratch",
        "outside",
    ] {
        make_folder(CWD, place.join(folder), 0o755)?;
    }
    make_file(CWD, place.join("ws/file"))
}

fn try_in(place: &Path) -> Result<SelfTest, SelfTestError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(SelfTestError::Helper)?;
    let port = listener.local_addr().map_err(SelfTestError::Helper)?.port();
    let staged = Staged {
        view: View {
            root: place.join("ws"),
            upper: place.join("upper"),
            work: place.join("work"),
            scratch: place.join("scratch"),
            kept: Vec::new(),
            repository: Repository::ReadOnly,
        },
        sandbox: Sandbox {
            network: Network::Loopback,
            // Else it would be missing only because its folder is hidden.
            readable: vec![place.join("outside")],
            limits: Limits::default(),
            ..Sandbox::default()
        },
    };
    let task = Task::SelfTest {
        outside: super::spec::Raw(place.join("outside")),
        port,
    };
    let output = run(&staged, task)?;
    let mut held = Vec::new();
    for what in MUST_FAIL {
        match output.lines().find_map(|line| line.strip_suffix(what)) {
            Some("held ") => held.push(what.to_owned()),
            Some(_) => return Err(SelfTestError::Leaks(what.to_owned())),
            None => return Err(SelfTestError::Broken(format!("whether it could {what}"))),
        }
    }
    let untouched = |path: &str| place.join(path).metadata().is_ok_and(|status| status.len() == 0);
    if !untouched("ws/file") || place.join("outside/leak").exists() {
        return Err(SelfTestError::Leaks("change a real file".to_owned()));
    }
    match std::fs::read(place.join("upper/file")) {
        Ok(text) if text == WRITTEN => Ok(SelfTest { held }),
        Ok(_) => Err(SelfTestError::Broken("another text".to_owned())),
        Err(error) => Err(SelfTestError::Broken(error.to_string())),
    }
}

fn run(staged: &Staged, task: Task) -> Result<String, SelfTestError> {
    let launch = Launch::task(staged, &staged.view.root, task).map_err(SelfTestError::Helper)?;
    #[expect(clippy::disallowed_methods, reason = "this crate is the only spawner")]
    let mut command = Command::new(THIS_PROGRAM);
    command
        .arg0("vibe-coder")
        .args(launch.arguments())
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    own_session_keeping(&mut command, launch.kept(), OwnTerminal::No);
    let mut child = command.spawn().map_err(SelfTestError::Helper)?;
    let launched = match launch.begin() {
        Ok(launched) => launched,
        Err(error) => {
            kill_group(&mut child);
            return Err(SelfTestError::Helper(error));
        }
    };
    let captured = capture(&mut child, 64 * 1024, Instant::now() + LONGEST);
    kill_group(&mut child);
    drop(launched.alive);
    let mut ended = false;
    for report in reports(launched.status) {
        match report {
            Report::Failed(why) => return Err(SelfTestError::Refused(why)),
            Report::Ended(status) => ended = status == 0,
            Report::Note(_) => {}
        }
    }
    match captured {
        Ok(Captured::Ended { stdout, .. }) if ended => Ok(String::from_utf8_lossy(&stdout).into_owned()),
        Ok(Captured::Ended { .. }) => Err(SelfTestError::Refused(
            "this program has no helper mode".to_owned(),
        )),
        Ok(Captured::DeadlinePassed) => Err(SelfTestError::TimedOut),
        Err(error) => Err(SelfTestError::Helper(error)),
    }
}

const WRITTEN: &[u8] = b"written in the view\n";

/// In the view. Prints a line for each try.
pub(super) fn try_everything(root: &Path, outside: &Path, port: u16) {
    let write = |path: PathBuf| {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::from_raw_mode(0o644))
            .and_then(|file| rustix::io::write(&file, WRITTEN))
            .is_ok()
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let worked = [
        write(outside.join("leak")),
        TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok(),
        write(root.join(".git/hooks/pre-commit")),
        rustix::mount::mount_bind(outside, root).is_ok(),
    ];
    write(root.join("file"));
    let mut output = String::new();
    for (worked, what) in worked.into_iter().zip(MUST_FAIL) {
        output.push_str(if worked { "did " } else { "held " });
        output.push_str(what);
        output.push('\n');
    }
    let _ = std::io::stdout().write_all(output.as_bytes());
}

/// What cannot be removed is in a folder of ours and swept with it.
fn remove(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => {
                // An overlay leaves a folder nobody may enter.
                let _ = rustix::fs::chmodat(CWD, &path, Mode::from_raw_mode(0o700), AtFlags::empty());
                remove(&path);
            }
            false => drop(rustix::fs::unlinkat(CWD, &path, AtFlags::empty())),
        }
    }
    let _ = rustix::fs::unlinkat(CWD, folder, AtFlags::REMOVEDIR);
}
