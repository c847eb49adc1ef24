//! Tasks in real applications: `make apps`.
#![cfg(target_os = "linux")]

use testkit::{Applications, Engine};

fn main() {
    testkit::harness::main();
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_playhouse");

#[testkit::test(chromium, firefox, webkit, applications, oracle, slow)]
async fn tasks_are_done_in_applications_as_a_person_does_them(engine: Engine) {
    Applications::new(PROGRAM, engine).run().await.finish();
}
