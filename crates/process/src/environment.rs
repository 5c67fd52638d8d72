//! The environment a command gets: what a user's tools need, and nothing of ours.
//!
//! Names are allowed by list; whatever looks like a credential is dropped even where the list would keep it.
//! The process environment is read here and never written.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Variables for one command, complete: the child gets these and the runner's own, nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandEnvironment {
    variables: BTreeMap<OsString, OsString>,
}

impl CommandEnvironment {
    /// What this process was started with, filtered.
    pub fn inherited() -> Self {
        Self::filtered(std::env::vars_os())
    }

    /// Takes the variables that tools need from any source, for example a login shell's.
    pub fn filtered(source: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let variables = source
            .into_iter()
            .filter(|(name, value)| name.to_str().is_some_and(is_kept) && !carries_login(value))
            .collect();
        Self { variables }
    }

    /// Sets one variable whatever its name: for what the user named in the settings.
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

/// Set for every command: nobody can answer a pager, an editor or a prompt, so none is started.
pub(crate) const QUIET: [(&str, &str); 21] = [
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("AWS_PAGER", ""),
    ("GH_PAGER", "cat"),
    ("LESS", "-FRX"),
    ("EDITOR", "false"),
    ("VISUAL", "false"),
    ("GIT_EDITOR", "false"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "false"),
    // A status or a diff only looks; it must not make the user's own commit wait for the index. The variable is for
    // the one, the setting for the other.
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "diff.autoRefreshIndex"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("SSH_ASKPASS", "false"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("PYTHONUNBUFFERED", "1"),
];

/// Whether a name reads like that of a credential. Also what the policy calls a secret variable.
pub(crate) fn names_secret(name: &str) -> bool {
    const WORDS: [&str; 12] = [
        "KEY",
        "KEYS",
        "APIKEY",
        "TOKEN",
        "TOKENS",
        "SECRET",
        "SECRETS",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "CREDENTIALS",
    ];
    let upper = name.to_ascii_uppercase();
    upper.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
        WORDS.contains(&word)
            || ["TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "APIKEY", "ACCESSKEY"]
                .iter()
                .any(|w| word.contains(w))
            || matches!(word, "PAT" | "AUTH" | "PGPASSWORD")
    })
}

fn is_kept(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "PATH",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "TMP",
        "TEMP",
        "HOSTNAME",
        "CI",
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR",
        "CC",
        "CXX",
        "AR",
        "LD",
        "CFLAGS",
        "CXXFLAGS",
        "CPPFLAGS",
        "LDFLAGS",
        "LD_LIBRARY_PATH",
        "DYLD_LIBRARY_PATH",
        "LIBRARY_PATH",
        "CPATH",
        "C_INCLUDE_PATH",
        "CPLUS_INCLUDE_PATH",
        "MANPATH",
        "INFOPATH",
        "NODE_ENV",
        "NODE_PATH",
        "NVM_DIR",
        "NVM_BIN",
        "VOLTA_HOME",
        "FNM_DIR",
        "BUN_INSTALL",
        "JAVA_HOME",
        "JDK_HOME",
        "M2_HOME",
        "GRADLE_HOME",
        "GRADLE_USER_HOME",
        "KOTLIN_HOME",
        "SCALA_HOME",
        "SDKMAN_DIR",
        "VIRTUAL_ENV",
        "PIPENV_VENV_IN_PROJECT",
        "GEM_HOME",
        "GEM_PATH",
        "RBENV_ROOT",
        "OPAMROOT",
        "OPAM_SWITCH_PREFIX",
        "GHCUP_INSTALL_BASE_PREFIX",
        "STACK_ROOT",
        "FLUTTER_ROOT",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "CURL_CA_BUNDLE",
        "REQUESTS_CA_BUNDLE",
        "NODE_EXTRA_CA_CERTS",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "ALL_PROXY",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "LOCALE_ARCHIVE",
        "SYSTEMROOT",
        "COMSPEC",
    ];
    const PREFIXES: &[&str] = &[
        "LC_",
        "XDG_",
        "CARGO_",
        "RUSTUP_",
        "RUST",
        "GO",
        "CGO_",
        "PYTHON",
        "PYENV_",
        "CONDA_",
        "UV_",
        "POETRY_",
        "PIP_",
        "NPM_CONFIG_",
        "PNPM_",
        "YARN_",
        "COREPACK_",
        "DENO_",
        "MAVEN_",
        "BUNDLE_",
        "DOTNET_",
        "NUGET_",
        "ANDROID_",
        "ASDF_",
        "MISE_",
        "NIX_",
        "GUIX_",
        "HOMEBREW_",
        "PKG_CONFIG",
        "CMAKE_",
        "CUDA_",
        "VCPKG_",
        "PROTOC",
        "OPENSSL_",
        "SWIFT",
        "MIX_",
        "ERL_",
        "PERL5",
        "COMPOSER_",
        "PHP_",
        "COURSIER_",
        "CCACHE_",
        "SCCACHE_",
    ];
    // What a build tool sets for the program it runs, and ways to load code into every program.
    const DROPPED: &[&str] = &[
        "CARGO_PKG_",
        "CARGO_MANIFEST_",
        "CARGO_BIN_",
        "CARGO_CRATE_",
        "CARGO_PRIMARY_",
        "CARGO_RUSTC_CURRENT_",
        "PYTHONSTARTUP",
        "PYTHONINSPECT",
        "PERL5OPT",
        "PERL5DB",
        "RUSTUP_TOOLCHAIN_SOURCE",
        "RUST_RECURSION_COUNT",
    ];
    let upper = name.to_ascii_uppercase();
    (NAMES.contains(&upper.as_str()) || PREFIXES.iter().any(|prefix| upper.starts_with(prefix)))
        && !DROPPED.iter().any(|prefix| upper.starts_with(prefix))
        && !names_secret(name)
}

/// `https://user:password@host`, as proxies and package indexes are often configured.
fn carries_login(value: &OsStr) -> bool {
    let text = value.to_string_lossy();
    text.match_indices("://").any(|(at, _)| {
        let rest = text.get(at + 3..).unwrap_or_default();
        let authority = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
        authority.contains('@')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_keep_what_they_need_and_secrets_stay_behind() {
        let cases = [
            ("HOME", "/home/u", true),
            ("PATH", "/usr/bin", true),
            ("LANG", "C.UTF-8", true),
            ("LC_ALL", "C", true),
            ("CARGO_HOME", "/c", true),
            ("GOPATH", "/go", true),
            ("VIRTUAL_ENV", "/v", true),
            ("https_proxy", "http://proxy:3128", true),
            ("https_proxy", "http://me:word@proxy:3128", false),
            ("PIP_INDEX_URL", "https://u:p@index/simple", false),
            ("OPENAI_API_KEY", "x", false),
            ("ANTHROPIC_AUTH_TOKEN", "x", false),
            ("CARGO_REGISTRY_TOKEN", "x", false),
            ("CARGO_REGISTRIES_OURS_TOKEN", "x", false),
            ("NPM_CONFIG__AUTHTOKEN", "x", false),
            ("UV_INDEX_PASSWORD", "x", false),
            ("PYTHON_KEYRING_BACKEND", "x", true),
            ("AWS_SECRET_ACCESS_KEY", "x", false),
            ("GITHUB_TOKEN", "x", false),
            ("VIBE_CODER_HOME", "x", false),
            ("VIBE_CODER_TOKEN", "x", false),
            ("LD_PRELOAD", "x.so", false),
            ("NODE_OPTIONS", "--require x", false),
            ("ELECTRON_RUN_AS_NODE", "1", false),
            ("BASH_ENV", "x", false),
            ("BASH_FUNC_ls%%", "() { :; }", false),
            ("SSH_AUTH_SOCK", "/s", false),
            ("CARGO_MANIFEST_DIR", "/ours", false),
            ("DATABASE_URL", "postgres://u:p@h/d", false),
        ];
        for (name, value, kept) in cases {
            let environment = CommandEnvironment::filtered([(name.into(), value.into())]);
            assert_eq!(environment.get(name).is_some(), kept, "{name}={value}");
        }
    }
}
