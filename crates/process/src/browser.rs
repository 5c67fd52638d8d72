//! Shows an address to the user: in a window of its own where a browser can do that, else in the default browser.
//!
//! Owns which programs are tried and how it is told that one did not work. The browser is the user's: it is started
//! in a session of its own and never ended from here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::runner::session::own_session;

/// How the address was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// A window without tabs and address bar.
    AppWindow,
    DefaultBrowser,
    /// There is no screen, or no browser that starts. The address has to be shown to the user.
    Nowhere,
}

/// Browsers that can show a page as an application window.
const APP_WINDOW_BROWSERS: [&str; 8] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "microsoft-edge-stable",
    "brave-browser",
    "vivaldi",
];

/// A browser that cannot work says so within this time; one that hands over to a running one ends well.
const SETTLES_WITHIN: Duration = Duration::from_millis(1500);

/// Shows `url`. `profile` is the folder for the window's own browser data. Must be called within a tokio runtime.
pub async fn open_window(url: &str, profile: &Path) -> Opened {
    let screen = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if !screen && !cfg!(target_os = "macos") {
        return Opened::Nowhere;
    }
    for browser in APP_WINDOW_BROWSERS.iter().filter_map(|name| on_path(name)) {
        let mut user_data = OsString::from("--user-data-dir=");
        user_data.push(profile);
        let arguments = [
            OsString::from(format!("--app={url}")),
            user_data,
            "--class=vibe-coder".into(),
            "--no-first-run".into(),
            "--no-default-browser-check".into(),
        ];
        if works(&browser, &arguments).await {
            return Opened::AppWindow;
        }
    }
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    match on_path(opener) {
        Some(opener) if works(&opener, &[url.into()]).await => Opened::DefaultBrowser,
        _ => Opened::Nowhere,
    }
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
}

#[expect(clippy::disallowed_methods, reason = "this crate is the only spawner")]
async fn works(program: &Path, arguments: &[OsString]) -> bool {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    own_session(&mut command, None);
    let Ok(mut child) = tokio::process::Command::from(command).spawn() else {
        return false;
    };
    match tokio::time::timeout(SETTLES_WITHIN, child.wait()).await {
        Ok(status) => status.is_ok_and(|status| status.success()),
        Err(_) => true,
    }
}
