//! Programs that a command runs for a person: the only door for them. Browsers start in the engine.

use std::{
    io,
    path::Path,
    process::{Command, ExitStatus, Stdio},
    time::Duration,
};

/// Runs a program on this terminal and waits for it.
#[expect(
    clippy::disallowed_methods,
    reason = "package managers ask for a password: they need our terminal, so they stay in our process group"
)]
pub(super) fn run(program: &str, args: &[String]) -> io::Result<ExitStatus> {
    Command::new(program).args(args).status()
}

/// What a program prints on stdout, or `None` if it fails, or says nothing within the limit. It is
/// killed if nobody waits any more.
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
