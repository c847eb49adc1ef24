//! The log of the server: on stderr or in a file, because stdout carries the protocol.

mod file;

use std::io::{self, IsTerminal};
use std::sync::Mutex;

use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    fmt::{self, MakeWriter},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::config::{ConfigError, LogFormat, LogSettings};
use file::LogFile;

/// Starts logging at this level. Fails if the file cannot be written.
pub(super) fn begin(settings: &LogSettings) -> Result<(), ConfigError> {
    match &settings.file {
        Some(path) => {
            let file = LogFile::open(path).map_err(|error| ConfigError::Log {
                path: path.clone(),
                error,
            })?;
            report(settings, Mutex::new(file), false, true);
        }
        None => report(settings, io::stderr, io::stderr().is_terminal(), false),
    }
    Ok(())
}

/// Starts logging to this writer. `kept`: the log is stored, so lines need a time.
fn report(
    settings: &LogSettings,
    writer: impl for<'a> MakeWriter<'a> + Send + Sync + 'static,
    colours: bool,
    kept: bool,
) {
    let level: &str = settings.level.into();
    // rmcp warns of every error that it returns.
    let others = if matches!(level, "debug" | "trace") {
        "info"
    } else {
        "error"
    };
    let filter = format!("{others},playhouse={level},engine={level},wire={level}");
    let lines = fmt::layer().with_writer(writer).with_ansi(colours);
    let lines: Box<dyn Layer<Registry> + Send + Sync> = match settings.format {
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
        LogFormat::Text if kept => lines.boxed(),
        // Protocol messages are also read for their timing.
        LogFormat::Text if level == "trace" => lines.with_timer(fmt::time::uptime()).boxed(),
        LogFormat::Text if level == "debug" => lines.without_time().boxed(),
        // The source location is of no use to operators.
        LogFormat::Text => lines.without_time().with_target(false).boxed(),
    };
    let started = tracing_subscriber::registry()
        .with(lines.with_filter(EnvFilter::new(filter)))
        .try_init();
    // Only a second start in one process fails; the first one stays in effect.
    drop(started);
}
