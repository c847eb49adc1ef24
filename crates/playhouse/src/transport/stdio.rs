//! One message a line, on stdin and stdout. Stdout carries nothing else.

use crate::mcp::{Feed, Outbox};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
};

/// A message longer than this is refused rather than kept in memory.
const LONGEST: u64 = 64 * 1024 * 1024;

/// Feeds each line of `input`, until it ends.
pub(crate) async fn read(mut input: impl AsyncBufRead + Unpin, feed: Feed) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut input)
            .take(LONGEST)
            .read_until(b'\n', &mut line)
            .await;
        match read {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        if feed.text(line.trim_ascii()).await.is_err() {
            return;
        }
    }
}

/// Writes each message as a line, until nobody sends any more or nobody reads.
pub(crate) async fn write(mut output: impl AsyncWrite + Unpin, mut outbox: Outbox) {
    while let Some(mut message) = outbox.recv().await {
        message.push('\n');
        let written = async {
            output.write_all(message.as_bytes()).await?;
            output.flush().await
        };
        if written.await.is_err() {
            return;
        }
    }
}
