//! A test seam: ends the process at a named step of a write, so that recovery can be tested with real crashes.
//!
//! Acts only when the process was started with `VIBE_CODER_FAULT=<point>:<n>` (for example `accept.rename:7`,
//! the seventh rename); otherwise a point is one comparison.

use std::{
    collections::HashMap,
    sync::{Mutex, OnceLock},
};

struct Fault {
    point: String,
    at: u64,
    passed: Mutex<HashMap<&'static str, u64>>,
}

/// Counts the passes of `name`, and aborts the process at the one that was asked for.
pub fn point(name: &'static str) {
    #[cfg(test)]
    HOOK.with_borrow_mut(|hook| hook(name));
    static FAULT: OnceLock<Option<Fault>> = OnceLock::new();
    let fault = FAULT.get_or_init(|| {
        let text = std::env::var("VIBE_CODER_FAULT").ok()?;
        let (point, at) = text.rsplit_once(':')?;
        Some(Fault {
            point: point.to_owned(),
            at: at.parse().ok()?,
            passed: Mutex::default(),
        })
    });
    let Some(fault) = fault else { return };
    if fault.point != name {
        return;
    }
    let Ok(mut passed) = fault.passed.lock() else {
        return;
    };
    let count = passed.entry(name).or_default();
    *count += 1;
    if *count == fault.at {
        std::process::abort();
    }
}

#[cfg(test)]
thread_local! {
    static HOOK: std::cell::RefCell<Box<dyn FnMut(&'static str)>> = std::cell::RefCell::new(Box::new(|_| {}));
}

/// Lets a unit test do something at every point this thread passes.
#[cfg(test)]
pub fn hook(act: impl FnMut(&'static str) + 'static) {
    HOOK.set(Box::new(act));
}
