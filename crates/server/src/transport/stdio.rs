//! The stdio transport: one message per line on stdin and stdout. Stdout carries nothing else.

use crate::transport::mcp::{Feed, Outbox};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
};

/// The largest message, in bytes, as over HTTP by default (`--max-request-size`). Larger ones are rejected and not stored.
const MAX_MESSAGE_BYTES: u64 = 16 * 1024 * 1024;

/// Handles each line of `input`, until its end.
pub(crate) async fn read(mut input: impl AsyncBufRead + Unpin, feed: Feed) {
    let mut line = Vec::new();
    loop {
        line.clear();
        // One more for the line feed.
        let mut bounded = (&mut input).take(MAX_MESSAGE_BYTES + 1);
        match bounded.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if bounded.limit() == 0 && line.last() != Some(&b'\n') {
            line = Vec::new();
            if skip_line(&mut input).await.is_err()
                || feed.too_large(MAX_MESSAGE_BYTES).await.is_err()
            {
                return;
            }
            continue;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        if feed.text(line.trim_ascii()).await.is_err() {
            return;
        }
    }
}

/// Reads to the end of a line and discards it.
async fn skip_line(mut input: impl AsyncBufRead + Unpin) -> std::io::Result<()> {
    loop {
        let read = input.fill_buf().await?;
        let end = read.iter().position(|byte| *byte == b'\n');
        let length = end.map_or(read.len(), |at| at + 1);
        let is_over = end.is_some() || read.is_empty();
        input.consume(length);
        if is_over {
            return Ok(());
        }
    }
}

/// Writes each message as a line, until there are no senders or the reader has closed the output.
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
