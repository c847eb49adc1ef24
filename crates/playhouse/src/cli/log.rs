//! What the server tells of itself: on stderr or in a file, because stdout belongs to the protocol.

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

/// Reports what is at least this severe from now on. Fails when the file cannot be written.
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

/// `kept`: whoever reads it later wants to know when things happened.
fn report(
    settings: &LogSettings,
    writer: impl for<'a> MakeWriter<'a> + Send + Sync + 'static,
    colours: bool,
    kept: bool,
) {
    let level: &str = settings.level.into();
    // rmcp warns of every error that it answers.
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
        // What goes back and forth is read for its times too.
        LogFormat::Text if level == "trace" => lines.with_timer(fmt::time::uptime()).boxed(),
        LogFormat::Text if level == "debug" => lines.without_time().boxed(),
        // Where in the program it was said helps nobody who only runs it.
        LogFormat::Text => lines.without_time().with_target(false).boxed(),
    };
    let started = tracing_subscriber::registry()
        .with(lines.with_filter(EnvFilter::new(filter)))
        .try_init();
    // Only a second start in one process fails, and then the first one reports.
    drop(started);
}
