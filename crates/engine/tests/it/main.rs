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
mod evaluating;
mod frames;
mod harness;
mod isolation;
mod launching;
mod navigation;
mod pictures;
mod popups;
mod proxies;
mod requests;
mod storage;
mod stress;
mod workers;
