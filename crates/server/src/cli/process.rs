//! Programs that a command runs for the user. Browsers are started by the engine.

use std::{
    io,
    path::Path,
    process::{Command, ExitStatus, Stdio},
    time::Duration,
};

/// Runs a program in this terminal and waits for it.
#[expect(
    clippy::disallowed_methods,
    reason = "package managers ask for a password: they need our terminal, so they stay in our process group"
)]
pub(super) fn run(program: &str, args: &[String]) -> io::Result<ExitStatus> {
    Command::new(program).args(args).status()
}

/// Returns the stdout of a program, or `None` if it fails or exceeds the timeout. The program is killed if the caller is cancelled.
#[expect(
    clippy::disallowed_methods,
    reason = "a short question to a program, killed on drop"
)]
pub(super) async fn output(program: &Path, args: &[&str], limit: Duration) -> Option<String> {
    let mut command = tokio::process::Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let output = tokio::time::timeout(limit, command.output())
        .await
        .ok()?
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(text)
}
