//! Counting tokens by the encoding o200k, with the tokenizer from npm that is installed with the other servers.

use std::io::Write as _;
use std::process::Stdio;

const TOKENIZER: &str = "target/bench/peers/node_modules/gpt-tokenizer/cjs/encoding/o200k_base.js";

/// Returns the number of tokens of a text; `None` without a tokenizer.
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
    // Without a tokenizer, the process has exited.
    drop(child.stdin.take()?.write_all(text.as_bytes()));
    let output = child.wait_with_output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
