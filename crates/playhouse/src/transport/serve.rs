//! Serving clients, until they leave or a signal comes.

mod http;
mod parent;
mod signal;
mod stdio;

use crate::config::Settings;
use std::io::Write as _;
use std::process::ExitCode;

/// Serves over HTTP where the settings name a port, else one client over stdin and stdout.
pub(crate) async fn serve(settings: Settings) -> ExitCode {
    match settings.http.clone() {
        Some(http) => http::serve(settings, http).await,
        None => stdio::serve(settings).await,
    }
}

/// Says on stderr why there is nothing to serve.
fn refuse(error: &dyn std::error::Error) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "error: {error}");
    ExitCode::FAILURE
}
