//! Attempts to get out of a view, each of which must be contained and must show that it was refused. Run as whoever
//! runs the tests, and by root as an ordinary user too.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::time::Duration;

use process::display::Colour;
use process::runner::{CommandEnd, RunOptions, start};
use process::staged::{Limits, Network, Staged};

use crate::setting::{runs, unique_seconds};
use crate::staged::Views;

/// A name and a script. `$OUT`, `$WS`, `$HOME`, `$PORT`, `$ENGINE`, `$NAME` are set. A script that got out prints
/// ESCAPED; one that found itself refused prints HELD, or leaves the refusal of the tool it used in its output.
const ATTEMPTS: &[(&str, &str)] = &[
    ("an absolute path", "echo x > $OUT/leak && echo ESCAPED"),
    ("a path with ..", "echo x > ../outside/leak && echo ESCAPED"),
    ("a link that was there", "echo x > link/leak && echo ESCAPED"),
    (
        "a link of its own",
        "ln -s $OUT own && echo x > own/leak && echo ESCAPED",
    ),
    (
        "a link to a file",
        "ln -s $OUT/secret own && echo x >> own && echo ESCAPED",
    ),
    (
        "a swapped folder",
        "mv folder aside && ln -s $OUT folder && echo x > folder/leak && echo ESCAPED",
    ),
    (
        "a hard link",
        "ln $OUT/secret hard && echo x >> hard && echo ESCAPED",
    ),
    ("moving out", "mv a.txt $OUT/leak && echo ESCAPED"),
    ("deleting outside", "rm -f $OUT/secret && echo ESCAPED"),
    ("modes outside", "chmod 777 $OUT/secret && echo ESCAPED"),
    ("times outside", "touch -d 2001-01-01 $OUT/secret && echo ESCAPED"),
    ("truncating outside", "truncate -s 0 $OUT/secret && echo ESCAPED"),
    ("owners outside", "chown 1 $OUT/secret && echo ESCAPED"),
    (
        "the root of the first process",
        "echo x > /proc/1/root$OUT/leak && echo ESCAPED",
    ),
    (
        "the root of every process",
        "for p in /proc/[0-9]*; do echo x > $p/root$OUT/leak && echo ESCAPED; done",
    ),
    (
        "descriptors of the first process",
        "for f in /proc/1/fd/*; do echo x > $f && echo ESCAPED; done",
    ),
    (
        "folders of others",
        "for p in /proc/[0-9]*/cwd; do echo x > $p/../outside/leak && echo ESCAPED; done",
    ),
    ("a bind mount", "mount --bind $OUT $WS && echo ESCAPED"),
    ("unmounting the view", "umount -l $WS && echo ESCAPED"),
    (
        "mounting over the repository",
        "mount -o remount,rw $WS/.git && echo ESCAPED",
    ),
    ("a user namespace", "unshare -Urm true && echo ESCAPED"),
    ("a namespace of another", "nsenter -t 1 -m true && echo ESCAPED"),
    ("another root", "chroot / true && echo ESCAPED"),
    ("a hook", "echo x > .git/hooks/pre-commit && echo ESCAPED"),
    ("git's configuration", "echo x >> .git/config && echo ESCAPED"),
    ("git config", "git config core.fsmonitor x && echo ESCAPED"),
    ("moving the repository", "mv .git git && echo ESCAPED"),
    ("removing the repository", "rm -rf .git && echo ESCAPED"),
    ("keys", "cat ~/.ssh/id_rsa && echo ESCAPED"),
    ("a shell's start", "echo x >> ~/.bashrc && echo ESCAPED"),
    (
        "a program at login",
        "mkdir -p ~/.config/autostart && echo ESCAPED",
    ),
    (
        "reading the product's data",
        "cat ~/.local/share/vibe-coder/data && echo ESCAPED",
    ),
    (
        "writing the product's data",
        "echo x > ~/.local/share/vibe-coder/new && echo ESCAPED",
    ),
    (
        "a port of this machine",
        "exec 3<>/dev/tcp/127.0.0.1/$PORT && echo ESCAPED",
    ),
    (
        "a port of another machine",
        "timeout 3 bash -c 'exec 3<>/dev/tcp/1.1.1.1/80' && echo ESCAPED",
    ),
    (
        "names",
        "timeout 3 getent hosts example.com && echo ESCAPED || echo HELD",
    ),
    (
        "datagrams",
        "python3 -c 'import socket; socket.socket(2, 2).sendto(b\"x\", (\"1.1.1.1\", 53))' && echo ESCAPED",
    ),
    (
        "an abstract socket",
        "python3 -c 'import os, socket; socket.socket(1).connect(\"\\0\" + os.environ[\"NAME\"])' && echo ESCAPED",
    ),
    (
        "a socket of the machine",
        "python3 -c 'import os, socket; socket.socket(40)' && echo ESCAPED",
    ),
    (
        "raw packets",
        "python3 -c 'import socket; socket.socket(17, 3)' && echo ESCAPED",
    ),
    ("the engine's memory", "cat /proc/$ENGINE/environ && echo ESCAPED"),
    ("a signal to the engine", "kill -TERM $ENGINE && echo ESCAPED"),
    ("a signal to the group", "trap '' TERM; kill -TERM 0; echo HELD"),
    (
        "tracing the first process",
        "python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(16, 1, 0, 0) != 0)' && echo ESCAPED || echo HELD",
    ),
    (
        "new privileges",
        "grep -q '^NoNewPrivs:.1' /proc/self/status && echo HELD || echo ESCAPED",
    ),
    (
        "capabilities",
        "python3 -c 'import re; c = int(re.search(r\"CapBnd:\\s*(\\w+)\", open(\"/proc/self/status\").read())[1], 16); print(\"ESCAPED\" if c & ~0x4fb else \"HELD\")'",
    ),
    ("a device of its own", "mknod disk b 8 0 && echo ESCAPED"),
    (
        "the machine's disk",
        "for d in /dev/vd* /dev/sd* /dev/nvme* /dev/mem; do [ -e $d ] && echo ESCAPED; done; echo HELD",
    ),
    (
        "the kernel's settings",
        "echo x > /proc/sys/kernel/core_pattern && echo ESCAPED",
    ),
    (
        "the kernel's devices",
        "f=$(ls /sys/block/*/queue/read_ahead_kb | head -1); echo 1 > ${f:-/sys/x} && echo ESCAPED",
    ),
    (
        "the kernel's log",
        "python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).klogctl(3, ctypes.create_string_buffer(99), 99) < 0)' && echo ESCAPED || echo HELD",
    ),
    (
        "kernel programs",
        "python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).syscall(321, 0, 0, 0) != -1)' && echo HELD || echo ESCAPED",
    ),
    (
        "io_uring",
        "python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).syscall(425, 1, ctypes.create_string_buffer(200)) != -1)' && echo HELD || echo ESCAPED",
    ),
    (
        "keys of the kernel",
        "python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).syscall(250, 0, -3, 0) != -1)' && echo HELD || echo ESCAPED",
    ),
    ("files of others in /tmp", "cat /tmp/$NAME && echo ESCAPED"),
    ("leaving a file in /tmp", "echo x > /tmp/leak-$NAME && echo HELD"),
    ("leaving a cache", "echo x > ~/.cache/leak && echo HELD"),
];

const REFUSALS: &[&str] = &[
    "HELD",
    "Read-only file system",
    "Permission denied",
    "permission denied",
    "Operation not permitted",
    "Invalid cross-device link",
    "No such file or directory",
    "No such process",
    "must be superuser",
    "Connection refused",
    "Network is unreachable",
    "Device or resource busy",
    "could not lock config file",
    "cannot change root",
    "No such device or address",
];

/// Runs a script from a file: what its lines say is not judged then, so that only the view stands against it.
async fn run_script(views: &Views, options: RunOptions, script: &str) -> CommandEnd {
    let file = views.top().join("scripts").join(unique_seconds());
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, script).unwrap();
    let command = format!("bash {}", file.display());
    start(views.setting.approved(&command), options)
        .unwrap()
        .ended()
        .await
        .unwrap()
}

fn guarded_view(views: &Views) -> Staged {
    let mut staged = views.staged();
    // Otherwise they would be missing only because the machine's /tmp is.
    staged
        .sandbox
        .readable
        .extend([views.top().join("outside"), views.top().join("scripts")]);
    staged
}

fn fingerprint(folders: &[PathBuf]) -> BTreeMap<PathBuf, (u32, u32, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut pending = folders.to_vec();
    while let Some(path) = pending.pop() {
        let metadata = path.symlink_metadata().unwrap();
        let content = match metadata.is_file() {
            true => fs::read(&path).unwrap(),
            false => Vec::new(),
        };
        if metadata.is_dir() {
            pending.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.insert(path, (metadata.mode(), metadata.uid(), metadata.mtime(), content));
    }
    found
}

fn guarded() -> Views {
    let views = Views::new();
    let top = views.top();
    for folder in ["home/.ssh", "home/.local/share/vibe-coder", "home/.cache"] {
        fs::create_dir_all(top.join(folder)).unwrap();
    }
    for (file, text) in [
        ("outside/secret", "secret\n"),
        ("home/.ssh/id_rsa", "key\n"),
        ("home/.bashrc", "rc\n"),
        ("home/.local/share/vibe-coder/data", "data\n"),
    ] {
        fs::write(top.join(file), text).unwrap();
    }
    views.put("a.txt", "a\n");
    views.put("folder/b.txt", "b\n");
    views.put(".git/config", "[core]\n\trepositoryformatversion = 0\n");
    views.put(".git/HEAD", "ref: refs/heads/main\n");
    views.put(".git/hooks/sample", "");
    fs::create_dir_all(views.setting.root.join(".git/objects")).unwrap();
    fs::create_dir_all(views.setting.root.join(".git/refs")).unwrap();
    symlink("../outside", views.setting.root.join("link")).unwrap();
    views
}

#[tokio::test(flavor = "multi_thread")]
async fn every_attempt_is_contained_and_shows_its_refusal() {
    let views = guarded();
    let (top, root) = (views.top(), views.setting.root.clone());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let name = format!("escape-{}", std::process::id());
    let abstract_socket = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    abstract_socket.set_nonblocking(true).unwrap();
    let planted = Path::new("/tmp").join(&name);
    fs::write(&planted, "planted").unwrap();
    let folders = [root.clone(), top.join("outside"), top.join("home")];
    let before = fingerprint(&folders);
    let mut failures = Vec::new();
    for (what, script) in ATTEMPTS {
        let staged = guarded_view(&views);
        let mut options = views.options(&staged);
        options.environment = views
            .environment()
            .with("OUT", top.join("outside"))
            .with("WS", &root)
            .with("PORT", listener.local_addr().unwrap().port().to_string())
            .with("ENGINE", std::process::id().to_string())
            .with("NAME", &name);
        let end = run_script(&views, options, script).await;
        let output = end.output.text(Colour::Drop);
        let refused = REFUSALS.iter().any(|refusal| output.contains(refusal));
        if output.contains("ESCAPED") || !refused || end.not_entered.is_some() {
            failures.push(format!("{what}: {output} {:?}", end.notes));
        }
        if fingerprint(&folders) != before {
            failures.push(format!("{what}: changed real files"));
            break;
        }
    }
    fs::remove_file(planted).unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(listener.accept().is_err() && abstract_socket.accept().is_err());
    assert!(!Path::new("/tmp").join(format!("leak-{name}")).exists());
}

/// With the machine's network on, sockets of its programs that have no file are still closed.
#[tokio::test(flavor = "multi_thread")]
async fn the_network_does_not_bring_abstract_sockets_with_it() {
    let views = guarded();
    let name = format!("escape-network-{}", std::process::id());
    let _listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut staged = guarded_view(&views);
    staged.sandbox.network = Network::On;
    let script = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{} && echo connected; python3 -c 'import socket; socket.socket(1).connect(\"\\0{name}\")' && echo ESCAPED",
        tcp.local_addr().unwrap().port()
    );
    let end = run_script(&views, views.options(&staged), &script).await;
    let output = end.output.text(Colour::Drop);
    assert!(output.contains("connected"), "{output}");
    assert!(!output.contains("ESCAPED"), "{output}");
}

/// Bombs end by themselves, and the reader is told which limit it was.
#[tokio::test(flavor = "multi_thread")]
async fn bombs_meet_their_limits() {
    let views = guarded();
    let limits = Limits {
        processes: Some(100),
        memory: Some(200 << 20),
        cpu_seconds: Some(2),
        file_size: Some(1 << 20),
        free_space: Some(1 << 20),
    };
    let seconds = unique_seconds();
    for (what, script, sign) in [
        ("forks", format!("bomb() {{ bomb & bomb; sleep {seconds}; }}; bomb"), "processes|Resource temporarily unavailable"),
        ("memory", "python3 -c 'x = bytearray(1 << 30)\nfor i in range(0, 1 << 30, 4096): x[i] = 1\nimport time; time.sleep(9)'".to_owned(), "memory"),
        ("one file", "head -c 2000000 /dev/zero > big; ls -l big".to_owned(), "File size limit exceeded|1048576"),
        ("processor", "while :; do :; done".to_owned(), "Killed|Some(9)|Some(24)"),
    ] {
        let mut staged = guarded_view(&views);
        staged.sandbox.limits = limits;
        let mut options = views.options(&staged);
        options.time_limit = Some(Duration::from_secs(20));
        let end = run_script(&views, options, &script).await;
        let told = format!("{} {:?} {:?}", end.output.text(Colour::Drop), end.notes, end.signal);
        assert!(sign.split('|').any(|sign| told.contains(sign)), "{what}: {told}");
        assert_ne!(end.state, protocol::CommandState::TimedOut, "{what}: {told}");
        assert!(!runs(&seconds), "{what}");
    }
}

/// What is granted is granted.
#[tokio::test(flavor = "multi_thread")]
async fn granted_paths_and_git_writes_work_but_hooks_stay_closed() {
    let views = guarded();
    let mut staged = guarded_view(&views);
    staged.sandbox.readable.retain(|path| !path.ends_with("outside"));
    staged.sandbox.writable.push(views.top().join("outside"));
    staged.sandbox.readable.push(views.top().join("home/.ssh"));
    staged.view.repository = process::staged::Repository::Writable;
    let script = format!(
        "echo x > {}/granted; cat ~/.ssh/id_rsa; echo y > .git/index; echo z > .git/hooks/pre-commit; echo w > .git/config",
        views.top().join("outside").display()
    );
    let end = run_script(&views, views.options(&staged), &script).await;
    let output = end.output.text(Colour::Drop);
    assert!(output.contains("key"), "{output}");
    assert_eq!(output.matches("Read-only file system").count(), 2, "{output}");
    assert_eq!(
        fs::read_to_string(views.top().join("outside/granted")).unwrap(),
        "x\n"
    );
    assert_eq!(
        fs::read_to_string(views.setting.root.join(".git/index")).unwrap(),
        "y\n"
    );
}

/// Everything here and in `staged` once more, as the user `nobody`. Only root can do that.
#[test]
fn the_same_holds_for_an_ordinary_user() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    // The build folder may lie where nobody can go.
    let program = place.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let temporary = place.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    for (path, mode) in [(place.path(), 0o755), (&program, 0o755), (&temporary, 0o777)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let output = std::process::Command::new("setpriv")
        .args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "--inh-caps=-all",
        ])
        .arg(&program)
        .args([
            "escape::",
            "staged::",
            "--test-threads=2",
            "--skip",
            "the_same_holds_for_an_ordinary_user",
        ])
        .env("TMPDIR", &temporary)
        .env("HOME", &temporary)
        .current_dir(&temporary)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains("every_attempt_is_contained"), "{text}");
}
