//! Serving clients until they disconnect or a signal arrives.

mod http;
mod parent;
mod signal;
mod stdio;
#[cfg(unix)]
mod workspace;

use crate::config::Settings;
use std::io::Write as _;
use std::process::ExitCode;

#[cfg(unix)]
pub(crate) use workspace::serve as serve_workspace;

/// Serves over HTTP if the settings have a port, otherwise one client over stdin and stdout.
pub(crate) async fn serve(settings: Settings) -> ExitCode {
    match settings.http.clone() {
        Some(http) => http::serve(settings, http).await,
        None => stdio::serve(settings).await,
    }
}

/// Prints on stderr why the server cannot start.
fn refuse(error: &dyn std::error::Error) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "error: {error}");
    ExitCode::FAILURE
}
