//! Integration tests of the engine with real browsers: one of each kind for all tests, and a context for each test.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod annotations;
mod console;
mod dialogs;
mod downloads;
mod emulation;
mod evaluation;
mod frames;
mod harness;
mod highlights;
mod incremental;
mod isolation;
mod launch;
mod layouts;
mod navigation;
mod popups;
mod proxies;
mod recordings;
mod refs;
mod requests;
mod screencast;
mod screenshots;
mod second_opinions;
mod storage;
mod stress;
mod workers;

fn main() {
    testkit::harness::main();
}
