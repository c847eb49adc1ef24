//! Counting tokens as o200k has them, with the tokenizer from npm that stands beside the peers.

use std::io::Write as _;
use std::process::Stdio;

const TOKENIZER: &str = "target/bench/peers/node_modules/gpt-tokenizer/cjs/encoding/o200k_base.js";

/// How many tokens a text is; `None` where there is no tokenizer.
pub(crate) fn count(text: &str) -> Option<f64> {
    let script = format!(
        "const {{ encode }} = require(process.cwd() + '/{TOKENIZER}');
         console.log(encode(require('fs').readFileSync(0, 'utf8')).length)"
    );
    #[expect(clippy::disallowed_methods, reason = "it is waited for right below")]
    let mut child = std::process::Command::new("node")
        .args(["-e", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    // Where there is no tokenizer, nobody reads this.
    drop(child.stdin.take()?.write_all(text.as_bytes()));
    let output = child.wait_with_output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
