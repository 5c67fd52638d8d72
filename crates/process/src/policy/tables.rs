//! What is known about programs: which only read, which check the project, which never run. Data only; one test
//! table beside it exercises every kind of entry.

/// How a read-only program's arguments are to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// No option of it writes or runs anything; every word may be a path.
    Paths,
    /// As `Paths`, but the first word is a pattern unless an option gives it.
    Pattern,
    /// Its words are no paths.
    Words,
    /// As `Paths`, but these options do more than read. Long ones also when abbreviated.
    Without(&'static [&'static str]),
    /// As `Pattern`, without these options.
    PatternWithout(&'static [&'static str]),
    /// As `Paths`, with at most this many words that are no options: one more is written to.
    AtMost(usize),
}

pub(super) const READ_ONLY: &[(&str, Rule)] = &[
    ("ls", Rule::Paths), ("dir", Rule::Paths), ("vdir", Rule::Paths), ("cat", Rule::Paths),
    ("head", Rule::Paths), ("tail", Rule::Paths), ("wc", Rule::Paths), ("nl", Rule::Paths),
    ("tac", Rule::Paths), ("rev", Rule::Paths), ("cut", Rule::Paths), ("paste", Rule::Paths),
    ("join", Rule::Paths), ("comm", Rule::Paths), ("cmp", Rule::Paths), ("diff", Rule::Paths),
    ("fold", Rule::Paths), ("fmt", Rule::Paths), ("expand", Rule::Paths), ("unexpand", Rule::Paths),
    ("column", Rule::Paths), ("od", Rule::Paths), ("hexdump", Rule::Paths), ("strings", Rule::Paths),
    ("stat", Rule::Paths), ("du", Rule::Paths), ("df", Rule::Paths), ("readlink", Rule::Paths),
    ("realpath", Rule::Paths), ("md5sum", Rule::Paths), ("sha1sum", Rule::Paths), ("sha256sum", Rule::Paths),
    ("sha512sum", Rule::Paths), ("b2sum", Rule::Paths), ("cksum", Rule::Paths), ("sum", Rule::Paths),
    ("base64", Rule::Paths), ("nm", Rule::Paths), ("readelf", Rule::Paths), ("size", Rule::Paths),
    ("cloc", Rule::Paths), ("tokei", Rule::Paths), ("pwd", Rule::Paths), ("test", Rule::Paths),
    ("[", Rule::Paths), ("grep", Rule::Pattern), ("egrep", Rule::Pattern), ("fgrep", Rule::Pattern),
    ("echo", Rule::Words), ("printf", Rule::Words), ("true", Rule::Words), ("false", Rule::Words),
    (":", Rule::Words), ("tr", Rule::Words), ("seq", Rule::Words), ("sleep", Rule::Words),
    ("expr", Rule::Words), ("basename", Rule::Words), ("dirname", Rule::Words), ("which", Rule::Words),
    ("type", Rule::Words), ("whereis", Rule::Words), ("uname", Rule::Words), ("arch", Rule::Words),
    ("nproc", Rule::Words), ("whoami", Rule::Words), ("id", Rule::Words), ("groups", Rule::Words),
    ("uptime", Rule::Words), ("exit", Rule::Words), ("return", Rule::Words), ("break", Rule::Words),
    ("continue", Rule::Words), ("shift", Rule::Words), ("wait", Rule::Words), ("jobs", Rule::Words),
    ("yes", Rule::Words), ("free", Rule::Words), ("getconf", Rule::Words), ("locale", Rule::Words),
    ("tput", Rule::Words), ("date", Rule::Without(&["-s", "--set"])),
    ("file", Rule::Without(&["-C", "--compile", "-m", "--magic-file", "-z", "--uncompress"])),
    ("tree", Rule::Without(&["-o", "-R", "--output"])), ("shuf", Rule::Without(&["-o", "--output"])),
    ("sort", Rule::Without(&["-o", "--output", "--compress-program", "-T", "--temporary-directory"])),
    ("iconv", Rule::Without(&["-o", "--output"])), ("gofmt", Rule::Without(&["-w"])),
    ("rg", Rule::PatternWithout(&["--pre", "--pre-glob", "--hostname-bin", "-z", "--search-zip"])),
    ("fd", Rule::PatternWithout(&["-x", "-X", "--exec", "--exec-batch"])),
    ("fdfind", Rule::PatternWithout(&["-x", "-X", "--exec", "--exec-batch"])), ("uniq", Rule::AtMost(1)),
    ("xxd", Rule::AtMost(1)),
];

/// Programs that may be asked for their version, as `X --version`.
pub(super) const TELL_VERSION: &[&str] = &[
    "node", "npm", "npx", "pnpm", "yarn", "bun", "deno", "python", "python3", "pip", "pip3", "ruby", "gem",
    "bundle", "cargo", "rustc", "rustup", "go", "java", "javac", "mvn", "gradle", "dotnet", "php", "composer",
    "perl", "gcc", "g++", "clang", "cc", "make", "cmake", "ninja", "git", "bash", "sh", "zsh", "docker",
    "kubectl", "terraform", "swift", "kotlin", "scala", "elixir", "mix", "ghc", "cabal", "stack", "zig",
    "tsc", "eslint", "jest", "pytest", "ruff", "mypy", "black", "uv", "poetry", "jq", "rg", "fd", "curl",
    "sqlite3", "psql",
];

/// Programs whose first word makes them read what is installed or set up.
pub(super) const READING_WORDS: &[(&str, &str)] = &[
    ("npm", "ls|list|ll|root|prefix"), ("pnpm", "ls|list|root"), ("pip", "list|show|freeze"),
    ("pip3", "list|show|freeze"), ("cargo", "locate-project|pkgid|help"), ("rustup", "show|which"),
];

/// Programs that answer "no" with status 1, which is no failure.
pub(crate) const ANSWERS_WITH_ONE: &[&str] = &[
    "grep", "egrep", "fgrep", "rg", "diff", "cmp", "test", "[", "[[", "expr", "which", "type",
];

/// A command of the project's own tool chain that builds or checks it.
pub(super) struct Check {
    pub(super) program: &'static str,
    /// The first words that are no options; `|` separates alternatives. Empty: any.
    pub(super) words: &'static [&'static str],
    /// At least one of these options must be there, if any is named.
    pub(super) needs: &'static [&'static str],
    /// With one of these it changes files or reaches further.
    pub(super) without: &'static [&'static str],
}

const fn check(program: &'static str, words: &'static [&'static str]) -> Check {
    Check {
        program,
        words,
        needs: &[],
        without: &[],
    }
}

const fn check_without(
    program: &'static str,
    words: &'static [&'static str],
    without: &'static [&'static str],
) -> Check {
    Check {
        program,
        words,
        needs: &[],
        without,
    }
}

const fn check_needs(
    program: &'static str,
    words: &'static [&'static str],
    needs: &'static [&'static str],
) -> Check {
    Check {
        program,
        words,
        needs,
        without: &[],
    }
}

pub(super) const CHECKS: &[Check] = &[
    check_without("cargo", &["test|t|check|c|build|b|clippy|doc|bench|nextest|tree|metadata|verify-project"], &["--fix", "--config", "-C", "--allow-dirty", "--out-dir", "--artifact-dir"]),
    check_needs("cargo", &["fmt"], &["--check"]), check("go", &["test|build|vet|list"]), check("gofmt", &[]),
    check_without("golangci-lint", &["run"], &["--fix"]), check("staticcheck", &[]), check("pytest", &[]),
    check("py.test", &[]), check("tox", &[]), check("nox", &[]), check("mypy", &[]), check("pyright", &[]),
    check("flake8", &[]), check("pylint", &[]),
    check_without("ruff", &["check"], &["--fix", "--fix-only", "--unsafe-fixes", "--add-noqa"]),
    check_needs("ruff", &["format"], &["--check", "--diff"]),
    check_needs("black", &[], &["--check", "--diff"]),
    check_needs("isort", &[], &["--check", "--check-only", "-c", "--diff"]), check("tsc", &[]),
    check("vue-tsc", &[]), check("svelte-check", &[]),
    check_without("eslint", &[], &["--fix", "-o", "--output-file"]),
    check_without("stylelint", &[], &["--fix", "-o", "--output-file"]),
    check_needs("prettier", &[], &["--check", "-c", "-l", "--list-different"]),
    check_without("biome", &["check|lint|ci"], &["--write", "--apply", "--fix", "--unsafe", "--apply-unsafe"]),
    check("jest", &[]), check("mocha", &[]), check("ava", &[]), check("vitest", &["run"]), check("tap", &[]),
    check("playwright", &["test"]),
    check_without("make", &["test|tests|check|build|lint|all|unit|typecheck|verify"], &["--eval", "-E", "-f", "--file"]),
    check("ctest", &[]), check_needs("cmake", &[], &["--build"]), check("ninja", &[]),
    check("meson", &["test|compile"]), check("bazel", &["test|build"]),
    check("mvn", &["test|compile|verify|package|test-compile"]),
    check("gradle", &["test|build|check|assemble|compileJava|compileKotlin|lint"]),
    check("./mvnw", &["test|compile|verify|package|test-compile"]),
    check("./gradlew", &["test|build|check|assemble|compileJava|compileKotlin|lint"]),
    check("dotnet", &["test|build"]), check_needs("dotnet", &["format"], &["--verify-no-changes"]),
    check("swift", &["test|build"]), check("mix", &["test|compile|credo|dialyzer"]),
    check_needs("mix", &["format"], &["--check-formatted"]), check("rspec", &[]),
    check("rake", &["test|spec"]),
    check_without("rubocop", &[], &["-a", "-A", "--auto-correct", "--autocorrect", "--autocorrect-all", "--auto-correct-all"]),
    check("phpunit", &[]), check("phpstan", &["analyse|analyze"]), check("composer", &["test"]),
    check("cabal", &["test|build"]), check("stack", &["test|build"]), check("dune", &["build|test|runtest"]),
    check("zig", &["build"]), check("deno", &["test|check|lint"]),
    check_needs("deno", &["fmt"], &["--check"]), check("shellcheck", &[]), check("hadolint", &[]),
    check("yamllint", &[]), check("markdownlint", &[]),
];

/// `python -m X`.
pub(super) const PYTHON_CHECK_MODULES: &[&str] = &[
    "pytest", "unittest", "mypy", "flake8", "pylint", "compileall", "py_compile", "doctest", "tox", "nox",
];

/// Names of package scripts that check; `test:unit` and `lint-css` belong to them too.
pub(super) const CHECK_SCRIPTS: &[&str] = &[
    "test", "tests", "lint", "build", "check", "checks", "typecheck", "type-check", "types", "tsc", "verify",
    "validate", "unit", "compile", "eslint", "coverage", "format:check", "fmt:check", "prettier:check",
    "check-format",
];

/// Parts of a script's name that say it does more, or never ends.
pub(super) const NOT_CHECK_SCRIPTS: &[&str] = &[
    "deploy", "publish", "release", "watch", "serve", "fix", "start", "dev", "update", "upload", "push",
    "write",
];

/// Install, remove or update packages: program and first words; an empty list means always.
pub(super) const PACKAGE_COMMANDS: &[(&str, &str)] = &[
    ("npm", "install|i|in|ins|add|ci|clean-install|update|up|upgrade|uninstall|un|remove|rm|r|link|ln|dedupe|rebuild|exec|x|create|init|audit|prune"),
    ("pnpm", "install|i|add|update|up|remove|rm|un|uninstall|link|dlx|exec|create|import|rebuild|prune"),
    ("yarn", "|install|add|up|upgrade|remove|link|dlx|create|import"),
    ("bun", "install|i|add|update|remove|rm|link|x|create"), ("pip", "install|uninstall|download|wheel"),
    ("pip3", "install|uninstall|download|wheel"), ("uv", "add|remove|sync|pip|tool|venv|lock|python"),
    ("poetry", "add|remove|install|update|lock"), ("pipenv", "install|uninstall|update|sync|lock"),
    ("pipx", "install|uninstall|upgrade|run|inject"), ("conda", "install|create|update|remove"),
    ("mamba", "install|create|update|remove"),
    ("cargo", "install|uninstall|add|remove|rm|update|fetch|vendor"),
    ("rustup", "install|update|default|toolchain|component|target|self"), ("go", "get|install|mod"),
    ("gem", "install|update|uninstall"), ("bundle", "|install|update|add|remove"),
    ("composer", "|install|require|update|remove"), ("dotnet", "add|restore|tool|workload"), ("apt", ""),
    ("apt-get", ""), ("aptitude", ""), ("dpkg", ""), ("yum", ""), ("dnf", ""), ("rpm", ""), ("pacman", ""),
    ("apk", ""), ("zypper", ""), ("snap", ""), ("flatpak", ""), ("brew", ""), ("port", ""), ("nix-env", ""),
    ("easy_install", ""), ("npx", ""), ("pnpx", ""), ("bunx", ""), ("uvx", ""), ("corepack", ""), ("nvm", ""),
    ("asdf", ""),
];

/// Programs that talk to other machines.
pub(super) const NETWORK: &[&str] = &[
    "curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "netcat", "socat", "telnet", "ftp", "lftp",
    "aria2c", "http", "https", "xh", "ping", "dig", "nslookup", "host", "whois", "traceroute", "nmap", "gh",
    "glab", "hub", "docker", "podman", "kubectl", "helm", "terraform", "ansible", "ansible-playbook", "aws",
    "gcloud", "gsutil", "az", "heroku", "vercel", "netlify", "fly", "flyctl", "wrangler", "firebase", "twine",
    "psql", "mysql", "mongo", "mongosh", "redis-cli", "openssl", "mosh", "rclone", "mail", "sendmail",
];

/// Programs that write or change files.
pub(super) const WRITERS: &[&str] = &[
    "touch", "mkdir", "cp", "mv", "ln", "install", "tee", "dd", "truncate", "split", "csplit", "patch",
    "chmod", "chown", "chgrp", "mkfifo", "mktemp", "zip", "unzip", "gzip", "gunzip", "bzip2", "xz", "zstd",
    "sponge", "rename", "ed", "ex", "vi", "vim", "nano", "emacs", "setfacl", "chattr", "xattr", "mknod",
];

/// Programs that run code they are given or find.
pub(super) const INTERPRETERS: &[&str] = &[
    "python", "python2", "python3", "node", "deno", "bun", "ruby", "perl", "php", "lua", "osascript", "tclsh",
    "expect", "Rscript", "julia", "ts-node", "tsx", "groovy", "scala", "elixir", "ghci", "irb", "gdb", "java",
    "dotnet", "go", "cargo", "make", "npm", "pnpm", "yarn", "awk", "gawk", "mawk", "sed", "pwsh",
];

pub(super) const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "busybox"];

/// Subcommands whose arguments only say what the same kind of thing is done to: a standing OK covers them all.
pub(super) const ONE_KIND: &[(&str, &str)] = &[
    ("git", "add|commit|fetch|pull|push|tag"), ("npm", "install|i|add|ci|update"), ("pnpm", "install|i|add|update"),
    ("yarn", "install|add|up"), ("bun", "install|add|update"), ("pip", "install"), ("pip3", "install"),
    ("uv", "add|sync|lock"), ("poetry", "add|install|update"), ("cargo", "add|fetch|update"), ("go", "get"),
    ("bundle", "install|add"), ("composer", "install|require"), ("gem", "install"),
];

/// Options beside which such a command still is of that kind.
pub(super) const KIND_OPTIONS: &[&str] = &[
    "-m", "--message", "-a", "-am", "-q", "--quiet", "-v", "--verbose", "-u", "--set-upstream", "--tags", "-A", "--all",
    "-D", "--save-dev", "-E", "--save-exact", "--dev", "-y",
];

/// Never run: what it would do, in words.
pub(super) const BLOCKED: &[(&str, &str)] = &[
    ("sudo", "runs as administrator"), ("doas", "runs as administrator"), ("su", "runs as another user"),
    ("pkexec", "runs as administrator"), ("run0", "runs as administrator"),
    ("sudoedit", "runs as administrator"), ("runuser", "runs as another user"),
    ("visudo", "changes who may be administrator"), ("usermod", "changes user accounts"),
    ("useradd", "changes user accounts"), ("userdel", "changes user accounts"),
    ("adduser", "changes user accounts"), ("passwd", "changes passwords"), ("chpasswd", "changes passwords"),
    ("setcap", "gives a program more rights"), ("nsenter", "enters another process's rights"),
    ("shutdown", "shuts the machine down"), ("reboot", "restarts the machine"), ("halt", "stops the machine"),
    ("poweroff", "shuts the machine down"), ("init", "changes the run level"),
    ("telinit", "changes the run level"), ("mkswap", "formats a disk"), ("fdisk", "changes disk partitions"),
    ("sfdisk", "changes disk partitions"), ("parted", "changes disk partitions"),
    ("gdisk", "changes disk partitions"), ("sgdisk", "changes disk partitions"), ("wipefs", "formats a disk"),
    ("blkdiscard", "erases a disk"), ("cryptsetup", "changes disk encryption"),
    ("lvremove", "removes disk volumes"), ("diskutil", "changes disks"), ("hdparm", "changes disk settings"),
    ("at", "installs a job that runs later"), ("batch", "installs a job that runs later"),
    ("systemd-run", "installs a job that runs in the background"), ("update-rc.d", "installs a service"),
    ("chkconfig", "installs a service"), ("launchctl", "installs a service"),
    ("schtasks", "installs a job that runs later"), ("insmod", "loads a kernel module"),
    ("modprobe", "loads a kernel module"), ("rmmod", "unloads a kernel module"),
    ("secret-tool", "reads stored passwords"), ("keyctl", "reads stored keys"),
    ("security", "reads stored passwords"), ("kwallet-query", "reads stored passwords"),
    ("pass", "reads stored passwords"), ("gopass", "reads stored passwords"), ("unshadow", "reads passwords"),
    ("mimikatz", "reads passwords"), ("ssh-add", "handles private keys"),
];

/// First words that make an otherwise askable program blocked.
pub(super) const BLOCKED_WORDS: &[(&str, &[&str], &str)] = &[
    ("systemctl", &["enable|reenable|link|edit|set-default|preset"], "installs a service"),
    ("systemctl", &["reboot|poweroff|halt|kexec|suspend|hibernate|rescue|emergency|isolate"], "shuts the machine down"),
    ("loginctl", &["enable-linger"], "installs a service"),
    ("git", &["credential"], "shows stored credentials"), ("gh", &["auth", "token"], "shows a credential"),
    ("aws", &["configure", "get|export-credentials"], "shows a credential"),
    ("aws", &["sts", "get-session-token|assume-role"], "shows a credential"),
    ("aws", &["secretsmanager"], "shows a credential"),
    ("gcloud", &["auth", "print-access-token|print-identity-token"], "shows a credential"),
    ("az", &["account", "get-access-token"], "shows a credential"),
    ("kubectl", &["get", "secret|secrets"], "shows a credential"),
    ("op", &["read|item"], "shows a credential"), ("vault", &["read|kv"], "shows a credential"),
    ("npm", &["token"], "shows a credential"), ("heroku", &["auth:token"], "shows a credential"),
];

pub(super) const CREDENTIAL_FILES: &[&str] = &[
    ".envrc", ".netrc", "_netrc", ".git-credentials", ".pgpass", ".my.cnf", "id_rsa", "id_dsa", "id_ecdsa",
    "id_ed25519", ".htpasswd", "credentials.json", "service-account.json", ".pypirc", "secrets.yml",
    "secrets.yaml", "secrets.json",
];

pub(crate) const CREDENTIAL_PLACES_IN_HOME: &[&str] = &[
    ".ssh", ".aws", ".gnupg", ".azure", ".kube", ".docker/config.json", ".config/gcloud", ".config/gh",
    ".config/hub", ".config/op", ".npmrc", ".cargo/credentials", ".cargo/credentials.toml",
    ".gem/credentials", ".local/share/keyrings", ".password-store", "Library/Keychains", ".mozilla",
    ".config/google-chrome", ".config/chromium", ".bash_history", ".zsh_history", ".terraform.d",
    ".config/vibe-coder", ".local/share/vibe-coder",
];

/// Inside a place that holds credentials, and none itself: the practice repositories, which are workspaces.
pub(super) const PRACTICE_PLACE_IN_HOME: &str = ".local/share/vibe-coder/samples";

pub(crate) const CREDENTIAL_SYSTEM_FILES: &[&str] = &[
    "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssh", "/etc/ssl/private",
    "/run/secrets", "/proc/kcore",
];

pub(super) const STARTUP_PLACES_IN_HOME: &[&str] = &[
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile",
    ".zlogin", ".zlogout", ".kshrc", ".config/fish", ".config/autostart", ".config/systemd",
    "Library/LaunchAgents", ".ssh", ".xprofile", ".xinitrc", ".xsession", ".inputrc", ".gitconfig",
    ".config/git",
];

pub(super) const STARTUP_SYSTEM_PLACES: &[&str] = &[
    "/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/zsh", "/etc/environment", "/etc/cron.d",
    "/etc/crontab", "/etc/cron.daily", "/etc/cron.hourly", "/etc/cron.weekly", "/etc/cron.monthly",
    "/etc/init.d", "/etc/rc.local", "/etc/systemd", "/lib/systemd", "/usr/lib/systemd", "/etc/ld.so.preload",
    "/etc/sudoers", "/etc/sudoers.d", "/etc/passwd", "/etc/pam.d", "/var/spool/cron",
    "/Library/LaunchDaemons", "/Library/LaunchAgents",
];

/// Variables the shell sets itself.
pub(super) const SHELL_VARIABLES: &[&str] = &[
    "PWD", "OLDPWD", "RANDOM", "SRANDOM", "SECONDS", "EPOCHSECONDS", "EPOCHREALTIME", "LINENO", "BASHPID",
    "PPID", "UID", "EUID", "GROUPS", "HOSTNAME", "HOSTTYPE", "MACHTYPE", "OSTYPE", "REPLY", "SHLVL",
    "PIPESTATUS", "FUNCNAME", "OPTARG", "OPTIND", "BASH", "BASH_VERSION", "BASH_SOURCE", "BASH_COMMAND",
    "DIRSTACK", "IFS", "COLUMNS", "LINES", "MAPFILE",
];

/// Whether setting a variable changes which program runs, or makes one run code.
pub(super) fn steers_programs(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "PATH", "IFS", "ENV", "CDPATH", "SHELL", "PAGER", "EDITOR", "VISUAL", "BROWSER", "HOME", "LESSOPEN",
        "LESSCLOSE", "LESS", "MANPAGER", "PERL5OPT", "PERL5LIB", "PERL5DB", "RUBYOPT", "RUBYLIB",
        "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PYTHONINSPECT", "NODE_OPTIONS", "NODE_PATH",
        "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "RUSTC", "RUSTDOC", "RUSTFLAGS",
        "RIPGREP_CONFIG_PATH", "GREP_OPTIONS", "TAR_OPTIONS", "MAKEFLAGS", "CC", "CXX", "PS0", "PS1", "PS2",
        "PS4", "PROMPT_COMMAND", "SSH_ASKPASS", "GOFLAGS", "MAVEN_OPTS", "GRADLE_OPTS", "PYTHONUSERBASE",
    ];
    const PREFIXES: &[&str] = &["LD_", "DYLD_", "GIT_", "BASH_", "npm_config_", "NPM_CONFIG_"];
    const SUFFIXES: &[&str] = &[
        "_WRAPPER", "_RUNNER", "_PAGER", "_EDITOR", "_COMMAND", "_PRELOAD", "_LINKER", "_CONFIG",
    ];
    NAMES.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

/// Syntax that is neither a statement nor a word, and does nothing but hold such.
pub(super) const EXPRESSIONS: &[&str] = &[
    "arithmetic_expansion", "array", "binary_expression", "unary_expression", "ternary_expression",
    "postfix_expression", "parenthesized_expression", "subscript", "heredoc_body", "heredoc_content",
    "herestring_redirect", "test_command", "word", "number", "raw_string", "ansi_c_string",
    "translated_string", "string_content", "regex", "extglob_pattern", "test_operator", "variable_name",
    "special_variable_name", "file_descriptor", "brace_expression", "comment",
];

/// Git subcommands that only read, with their own options judged by `GIT_OPTIONS`.
pub(super) const GIT_READS: &[&str] = &[
    "status", "diff", "log", "show", "rev-parse", "ls-files", "ls-tree", "blame", "annotate", "describe",
    "shortlog", "cat-file", "rev-list", "name-rev", "merge-base", "grep", "for-each-ref", "show-ref",
    "count-objects", "whatchanged", "diff-tree", "diff-index", "diff-files", "range-diff", "check-ignore",
    "check-attr", "show-branch", "cherry", "merge-tree", "var", "version", "fsck-objects", "verify-commit",
    "verify-tag",
];

/// Long options of the commands above that only choose what is shown. Others ask.
pub(super) const GIT_OPTIONS: &[&str] = &[
    "abbrev", "abbrev-commit", "abbrev-ref", "absolute-git-dir", "after", "ahead-behind", "all", "all-match",
    "always", "anchored", "and", "author", "before", "bisect", "boundary", "branch", "branches",
    "break-rewrites", "cached", "cc", "check", "cherry", "cherry-mark", "cherry-pick", "color", "color-moved",
    "color-words", "column", "combined-all-paths", "committer", "contains", "count", "date", "date-order",
    "decorate", "deleted", "dense", "diff-algorithm", "diff-filter", "diff-merges", "directory", "dirstat",
    "dirty", "error-unmatch", "encoding", "exact-match", "exclude", "exclude-standard", "exit-code",
    "extended-regexp", "files-with-matches", "files-without-match", "find-copies", "find-copies-harder",
    "find-object", "find-renames", "first-parent", "fixed-strings", "follow", "format", "full-diff",
    "full-history", "full-index", "full-name", "function-context", "git-dir", "git-path", "glob", "graph",
    "grep", "grep-reflog", "heading", "histogram", "ignore-all-space", "ignore-blank-lines", "ignore-case",
    "ignore-cr-at-eol", "ignore-matching-lines", "ignore-missing", "ignore-space-at-eol",
    "ignore-space-change", "ignore-submodules", "ignored", "incremental", "indent-heuristic",
    "inline-name-style", "inter-hunk-context", "invert-grep", "invert-match", "is-ancestor",
    "is-inside-git-dir", "is-inside-work-tree", "is-bare-repository", "is-shallow-repository", "left-only",
    "left-right", "line-number", "line-porcelain", "line-prefix", "local-env-vars", "long", "match",
    "max-count", "max-depth", "max-parents", "merge", "merge-base", "merged", "merges", "min-parents",
    "minimal", "modified", "name-only", "name-status", "no-abbrev", "no-abbrev-commit", "no-ahead-behind",
    "no-color", "no-column", "no-decorate", "no-ext-diff", "no-index", "no-merged", "no-merges", "no-notes",
    "no-patch", "no-prefix", "no-renames", "no-textconv", "no-walk", "not", "notes", "null", "numbered",
    "numstat", "objects", "oneline", "only-matching", "or", "others", "parents", "patch", "patch-with-raw",
    "patch-with-stat", "patience", "perl-regexp", "pickaxe-all", "pickaxe-regex", "points-at", "porcelain",
    "pretty", "quiet", "quote-path", "raw", "recurse-submodules", "ref-format", "relative", "relative-date",
    "remotes", "remove-empty", "reverse", "revs-only", "right-only", "root", "short", "shortstat", "show",
    "show-cdup", "show-current", "show-email", "show-name", "show-number", "show-object-format",
    "show-prefix", "show-pulls", "show-root", "show-signature", "show-stash",
    "show-superproject-working-tree", "show-toplevel", "simplify-by-decoration", "simplify-merges", "since",
    "since-as-filter", "skip", "sort", "source", "sparse", "src-prefix", "dst-prefix", "stage", "staged",
    "stat", "stat-count", "stat-graph-width", "stat-name-width", "stat-width", "submodule", "summary",
    "symbolic", "symbolic-full-name", "tags", "text", "threads", "topo-order", "unified", "unmerged", "until",
    "untracked", "untracked-files", "verbose", "verify", "walk-reflogs", "word-diff", "word-diff-regex",
    "word-regexp", "ws-error-highlight", "batch", "batch-check", "batch-all-objects", "buffer",
    "follow-symlinks", "path", "candidates", "first-parent", "long", "tree-filter", "independent",
    "fork-point", "octopus", "heads", "hash", "dereference", "stdin", "eol", "killed", "empty-directory",
    "resolve-undo", "deduplicate", "with-tree", "compact-summary", "cumulative", "no-rename-empty",
    "ita-invisible-in-index", "ita-visible-in-index", "no-relative", "no-stat", "no-mailmap", "mailmap",
    "use-mailmap", "no-expand-tabs", "expand-tabs", "show-linear-break", "clear-decorations", "decorate-refs",
    "decorate-refs-exclude", "basic-regexp", "regexp-ignore-case", "show-function", "break", "only",
    "untracked-cache", "no-index", "bare", "human", "human-readable", "size", "find-copies", "exclude-hidden",
    "reflog", "alternate-refs", "ancestry-path", "no-min-parents", "no-max-parents", "single-worktree",
    "since", "tformat", "zero", "end-of-options", "default", "disambiguate",
];

/// Git subcommands by what asking about them says.
pub(super) const GIT_ASKS: &[(&str, &str)] = &[
    ("push", "uses the network and changes a remote repository"),
    ("pull", "uses the network and changes files"), ("fetch", "uses the network"),
    ("clone", "uses the network"), ("ls-remote", "uses the network"),
    ("submodule", "may use the network and change files"), ("lfs", "may use the network and change files"),
    ("checkout", "may discard work that is not committed"),
    ("restore", "may discard work that is not committed"),
    ("reset", "may discard work that is not committed"), ("clean", "deletes files that are not committed"),
    ("switch", "may discard work that is not committed"),
    ("stash", "takes work out of the folder, or drops it"), ("rm", "deletes files"), ("mv", "changes files"),
    ("rebase", "rewrites history"), ("filter-branch", "rewrites history"),
    ("gc", "may drop work that nothing refers to"), ("prune", "drops work that nothing refers to"),
    ("reflog", "may drop the record of earlier states"), ("worktree", "changes working folders"),
    ("commit", "changes the git repository"), ("add", "changes the git index"), ("apply", "changes files"),
    ("am", "changes files and the git repository"), ("merge", "changes files and the git repository"),
    ("cherry-pick", "changes files and the git repository"),
    ("revert", "changes files and the git repository"), ("branch", "changes the git repository"),
    ("tag", "changes the git repository"), ("remote", "changes the git repository"),
    ("config", "reads or changes git's configuration"), ("init", "makes a git repository"),
    ("bisect", "changes files"), ("notes", "changes the git repository"),
    ("update-ref", "changes the git repository"), ("update-index", "changes the git index"),
    ("symbolic-ref", "changes the git repository"), ("archive", "may write a file"),
    ("bundle", "writes a file"), ("format-patch", "writes files"), ("difftool", "runs another program"),
    ("mergetool", "runs another program"), ("send-email", "uses the network"), ("svn", "uses the network"),
    ("hook", "runs a hook"),
];
