//! Makes the test program its own helper, as the product's `main` does: a view is entered before a second thread is
//! there, and a test program has many.

#![allow(unsafe_code, reason = "a constructor is linked by hand")]

extern "C" fn become_helper() {
    if process::staged::run_if_asked().is_some() {
        // SAFETY: ends the process; nothing was started that would have to be ended before.
        unsafe { libc::_exit(0) };
    }
}

// SAFETY: a function without arguments in the section whose functions the loader calls before `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static BECOME_HELPER: extern "C" fn() = become_helper;
