//! Judges snapshots on pages of widget libraries: `make widgets`.

use testkit::{Engine, Widgets};

fn main() {
    testkit::harness::main();
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_playhouse");
const LISTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/widgets");

#[testkit::test(
    chromium,
    firefox,
    webkit,
    nightly(firefox, webkit),
    widgets,
    oracle,
    slow
)]
async fn snapshots_have_what_a_person_can_act_on_and_read(engine: Engine) {
    Widgets::new(PROGRAM, engine, LISTS).run().await.finish();
}
