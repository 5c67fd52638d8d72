//! How lean the product is: benches that print figures with their median and spread. `cargo xtask bench` builds and
//! runs this in release; figures of debug builds mean nothing. Not part of the product.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a bench prepares files and programs by hand and fails by panicking"
)]

mod accept;
mod command;
mod exec;
mod growth;
mod index;
mod product;
mod provider;
mod search;
mod stage;
mod table;
mod turn;

use std::process::ExitCode;

struct Bench {
    name: &'static str,
    help: &'static str,
    run: fn(&Options),
}

/// What a caller may change.
pub struct Options {
    /// How often each figure is measured.
    pub runs: usize,
}

const BENCHES: &[Bench] = &[
    Bench {
        name: "exec",
        help: "one `exec` turn: time to the first model request, CPU, memory, size of the first prompt",
        run: exec::run,
    },
    Bench {
        name: "turn",
        help: "20 model answers that read, edit and run: time from an answer's end to the next request, CPU",
        run: turn::run,
    },
    Bench {
        name: "accept",
        help: "accepting 100 files against cp of the same files",
        run: accept::run,
    },
    Bench {
        name: "search",
        help: "content search in the cargo registry against rg",
        run: search::run,
    },
    Bench {
        name: "index",
        help: "the code index of 50,000 real files: made anew against ctags, opened again, one file changed",
        run: index::run,
    },
    Bench {
        name: "stage",
        help: "what the staged view costs a command, for 100 and 100,000 files",
        run: stage::run,
    },
    Bench {
        name: "command",
        help: "cancelling 200 trees that resist, a flood of 1 GiB, an incremental build in a view",
        run: command::run,
    },
    Bench {
        name: "provider",
        help: "a streamed answer: CPU at 1,000 events a second, memory over 100,000 events",
        run: provider::run,
    },
    Bench {
        name: "growth",
        help: "the same work in long sessions, large change sets and large workspaces",
        run: growth::run,
    },
];

fn main() -> ExitCode {
    if let Some(code) = engine::act_as_view_helper() {
        return code;
    }
    let mut options = Options { runs: 15 };
    let mut chosen = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--runs" {
            match arguments.next().and_then(|text| text.parse().ok()) {
                Some(runs) if runs > 0 => options.runs = runs,
                _ => return usage("--runs wants a number."),
            }
        } else if let Some(bench) = BENCHES.iter().find(|bench| bench.name == argument) {
            chosen.push(bench);
        } else {
            return usage(&format!("There is no bench “{argument}”."));
        }
    }
    if chosen.is_empty() {
        chosen = BENCHES.iter().collect();
    }
    if cfg!(debug_assertions) {
        eprintln!("This is a debug build; its figures mean nothing. Use `cargo xtask bench`.");
    }
    println!("{}", table::machine());
    for bench in chosen {
        (bench.run)(&options);
    }
    ExitCode::SUCCESS
}

fn usage(problem: &str) -> ExitCode {
    eprintln!("{problem}\n\nbench [--runs N] [NAME…]\n");
    for bench in BENCHES {
        eprintln!("  {:<8} {}", bench.name, bench.help);
    }
    ExitCode::from(2)
}
