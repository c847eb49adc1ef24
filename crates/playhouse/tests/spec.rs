//! The Markdown specs of this crate and of `engine`, through the built binary.

use testkit::{Runner, browser_is_there};

#[tokio::test(flavor = "multi_thread")]
async fn specs() {
    if !browser_is_there() {
        return;
    }
    let here = env!("CARGO_MANIFEST_DIR");
    Runner::new(env!("CARGO_BIN_EXE_playhouse"))
        .folder(format!("{here}/tests/spec"))
        .folder(format!("{here}/../engine/tests/spec"))
        .expectations(format!("{here}/tests/expectations"))
        .run()
        .await
        .finish();
}
