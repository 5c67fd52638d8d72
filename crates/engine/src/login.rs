//! The environment commands get: this process's, and where it was not started from a shell, with what the user's login
//! shell adds (C08). Asked once, in the background, with a time limit.

use std::{
    ffi::OsString,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use process::{CommandEnvironment, login_environment};

use crate::Environment;

/// How long start-up files may take.
const LIMIT: Duration = Duration::from_secs(8);

/// Cheap to clone.
#[derive(Clone)]
pub struct LoginEnvironment(Arc<Mutex<Option<Resolved>>>);

/// What commands get, and what their cards say about it.
#[derive(Clone, Debug)]
pub struct Resolved {
    pub environment: CommandEnvironment,
    pub note: Option<String>,
}

impl LoginEnvironment {
    /// Begins to ask the shell where that is needed. A shell that starts programs says so: then they have its
    /// environment already.
    pub fn begin(process: &Environment) -> Self {
        let inherited = CommandEnvironment::filtered(process.variables());
        let shell = process.get("SHELL").filter(|_| process.get("SHLVL").is_none());
        let known = Self(Arc::default());
        let Some(shell) = shell.map(OsString::from) else {
            known.set(Resolved {
                environment: inherited,
                note: None,
            });
            return known;
        };
        let resolving = known.clone();
        // Held until the answer is there: whoever needs it waits for the lock.
        let (begun, has_begun) = std::sync::mpsc::channel();
        let fallback = inherited.clone();
        let thread = std::thread::Builder::new()
            .name("login-environment".to_owned())
            .spawn(move || {
                let mut slot = resolving.0.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = begun.send(());
                *slot = Some(match login_environment(Some(&shell), LIMIT) {
                    Ok(login) => Resolved {
                        environment: joined(&inherited, &login),
                        note: None,
                    },
                    Err(error) => Resolved {
                        environment: inherited,
                        note: Some(format!(
                            "The login shell's environment could not be had ({error}); tools that only it knows may be \
                             missing."
                        )),
                    },
                });
            });
        match thread {
            Ok(_) => drop(has_begun.recv()),
            Err(error) => known.set(Resolved {
                environment: fallback,
                note: Some(format!(
                    "The login shell was not asked for its environment: {error}."
                )),
            }),
        }
        known
    }

    fn set(&self, resolved: Resolved) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(resolved);
    }

    /// Blocks while the shell is still being asked.
    pub fn resolved(&self) -> Resolved {
        let slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.clone().unwrap_or_else(|| Resolved {
            environment: CommandEnvironment::default(),
            note: Some("The environment of commands is not known.".to_owned()),
        })
    }
}

/// The process's own variables with what only the login shell has. Programs are looked for where the shell would first.
fn joined(process: &CommandEnvironment, login: &CommandEnvironment) -> CommandEnvironment {
    let mut joined = process.clone();
    for (name, value) in login.iter() {
        if name == "PATH" {
            let of = |environment: &CommandEnvironment| {
                let path = environment.get("PATH").unwrap_or_default().to_owned();
                std::env::split_paths(&path).collect::<Vec<_>>()
            };
            let mut folders = of(login);
            for folder in of(process) {
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
            if let Ok(path) = std::env::join_paths(folders) {
                joined = joined.with("PATH", path);
            }
        } else if name.to_str().is_none_or(|name| process.get(name).is_none()) {
            joined = joined.with(name, value);
        }
    }
    joined
}
