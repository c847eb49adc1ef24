//! Runs the Markdown specs of this crate and of `engine` with the built binary on each engine.

use testkit::{Engine, Runner};

fn main() {
    testkit::harness::main();
}

#[testkit::test(chromium, firefox, webkit)]
async fn specs(engine: Engine) {
    let here = env!("CARGO_MANIFEST_DIR");
    let Some(runner) = Runner::new(env!("CARGO_BIN_EXE_playhouse"), engine) else {
        return;
    };
    let report = runner
        .folder(format!("{here}/tests/spec"))
        .folder(format!("{here}/../engine/tests/spec"))
        .expectations(format!("{here}/tests/expectations"))
        .results(concat!(env!("CARGO_TARGET_TMPDIR"), "/../specs"))
        .run();
    report.await.finish();
}
