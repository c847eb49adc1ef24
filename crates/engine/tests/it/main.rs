//! The engine against a real Chromium: one browser for all tests, a context of its own for each.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use testkit::Engine;

/// What all tests run on.
const ENGINE: Engine = Engine::Chromium;
/// Tests that do not hold on it, and why.
const DIFFERS: &[(&str, &str)] = &[];

mod console;
mod dialogs;
mod downloads;
mod emulation;
mod evaluation;
mod frames;
mod harness;
mod isolation;
mod launch;
mod navigation;
mod popups;
mod proxies;
mod requests;
mod screenshots;
mod storage;
mod stress;
mod workers;
