//! The log of the server, on stderr or in a file, because stdout carries the protocol; and what else reads spans: metrics and traces.

mod file;

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;

use engine::TELEMETRY;
use tracing_subscriber::{
    EnvFilter, Layer, Registry,
    filter::{LevelFilter, Targets},
    fmt::{self, MakeWriter},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

use crate::config::{ConfigError, LogFormat, LogSettings, Secrets, Settings};
use crate::telemetry::{SpanMetrics, Traces};
use file::LogFile;

/// Starts logging. A server also measures spans if it serves `/metrics`, and exports traces on request, until the result is dropped. Fails
/// if the file of the log cannot be written or the settings of traces are invalid.
pub(super) fn begin(settings: &Settings, is_server: bool) -> Result<Option<Traces>, ConfigError> {
    let traces = settings.traces.as_ref().filter(|_| is_server);
    let traces = traces.map(Traces::begin).transpose();
    let traces = traces.map_err(ConfigError::Traces)?;
    let mut readers: Readers = Vec::new();
    if is_server && settings.http.is_some() {
        let spans = Targets::new().with_target(TELEMETRY, LevelFilter::INFO);
        readers.push(SpanMetrics.with_filter(spans).boxed());
    }
    readers.extend(traces.as_ref().map(Traces::layer));
    let secrets = settings.secrets.clone();
    let settings = &settings.log;
    match &settings.file {
        Some(path) => {
            let file = LogFile::open(path).map_err(|error| ConfigError::Log {
                path: path.clone(),
                error,
            })?;
            let file = Mutex::new(Masking {
                writer: file,
                secrets,
            });
            report(settings, file, false, true, readers);
        }
        None => {
            let is_terminal = io::stderr().is_terminal();
            let stderr = move || Masking {
                writer: io::stderr(),
                secrets: secrets.clone(),
            };
            report(settings, stderr, is_terminal, false, readers);
        }
    }
    Ok(traces)
}

/// Masks secrets in each entry.
struct Masking<W> {
    writer: W,
    secrets: Secrets,
}

impl<W: Write> Write for Masking<W> {
    fn write(&mut self, entry: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(entry).into_owned();
        self.writer
            .write_all(self.secrets.redacted(text).as_bytes())?;
        Ok(entry.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// What reads spans besides the log.
type Readers = Vec<Box<dyn Layer<Registry> + Send + Sync>>;

/// Starts logging to this writer. `kept`: the log is stored, so lines need a time.
fn report(
    settings: &LogSettings,
    writer: impl for<'a> MakeWriter<'a> + Send + Sync + 'static,
    colours: bool,
    kept: bool,
    mut readers: Readers,
) {
    let level: &str = settings.level.into();
    // rmcp warns of every error that it returns.
    let others = if matches!(level, "debug" | "trace") {
        "info"
    } else {
        "error"
    };
    // Spans for traces have attributes that would make each line unreadable.
    let filter = format!("{others},server={level},engine={level},wire={level},{TELEMETRY}=off");
    let lines = fmt::layer().with_writer(writer).with_ansi(colours);
    let lines: Box<dyn Layer<Registry> + Send + Sync> = match settings.format {
        // The list of spans has the request; the current span is its last item.
        LogFormat::Json => lines
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .boxed(),
        LogFormat::Text if kept => lines.boxed(),
        // Protocol messages are also read for their timing.
        LogFormat::Text if level == "trace" => lines.with_timer(fmt::time::uptime()).boxed(),
        LogFormat::Text if level == "debug" => lines.without_time().boxed(),
        // The source location is of no use to operators.
        LogFormat::Text => lines.without_time().with_target(false).boxed(),
    };
    readers.push(lines.with_filter(EnvFilter::new(filter)).boxed());
    let started = tracing_subscriber::registry().with(readers).try_init();
    // Only a second start in one process fails; the first one stays in effect.
    drop(started);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_the_log_shows_no_secret() {
        let mut log = Masking {
            writer: Vec::new(),
            secrets: Secrets::new([("KEY".to_owned(), "hunter\"22".to_owned())]),
        };
        log.write_all(br#"sent {"text":"hunter\"22"}"#)
            .expect("writable");
        assert_eq!(log.writer, br#"sent {"text":"<secret>KEY</secret>"}"#);
    }
}
