//! The documents that users read, executed: commands are run, data is parsed by the server, calls match the schemas of their tools, code
//! is compiled or run, and links lead somewhere.
//!
//! The first word of a block's info string is its language, the second says how it is used (`json config`). [`blocks::USES`] lists all.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod blocks;
mod calls;
mod code;
mod commands;
mod data;
mod document;
mod image;
mod links;
mod nginx;
mod recording;
mod shell;

use std::path::{Path, PathBuf};

fn main() {
    testkit::harness::main();
}

/// The repository.
fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository")
}

/// Fails with the list of what is wrong.
fn assert_none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
