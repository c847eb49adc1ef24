//! Compares the answers of the built binary with those of `@playwright/mcp`: `make parity`.

use testkit::Parity;

fn main() {
    testkit::harness::main();
}

#[testkit::test(chromium, oracle)]
async fn answers_are_those_of_the_peer() {
    let ours = [env!("CARGO_BIN_EXE_playhouse"), "--toolsets", "browser"];
    let oracle = testkit::playwright_mcp();
    let theirs = ["node", oracle.to_str().expect("UTF-8")];
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/parity");
    Parity::new(&ours, &theirs, folder).run().await.finish();
}
