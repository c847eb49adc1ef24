//! Measures spans for `/metrics`.

use super::metrics::METRICS;
use super::{BROWSER_START, TURN};
use engine::COMMAND_SPAN;
use std::fmt;
use std::time::Instant;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// The layer that measures spans.
pub(crate) struct SpanMetrics;

#[derive(Debug, Clone, Copy)]
enum Kind {
    Command,
    Turn,
    BrowserStart,
}

/// A span that is measured.
struct Measurement {
    began: Instant,
    kind: Kind,
    /// The protocol or the browser.
    subject: &'static str,
    has_failed: bool,
}

/// The values of labels, so that their number is bounded.
const SUBJECTS: [&str; 7] = [
    "cdp",
    "bidi",
    "webdriver",
    "inspector",
    "chromium",
    "firefox",
    "webkit",
];

impl Visit for Measurement {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "rpc.system.name" | "playhouse.browser" => {
                let known = SUBJECTS.iter().find(|name| **name == value);
                self.subject = known.copied().unwrap_or("other");
            }
            "error.type" => self.has_failed = true,
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &Field, _: &dyn fmt::Debug) {
        self.has_failed |= field.name() == "error.type";
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for SpanMetrics {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let kind = match attributes.metadata().name() {
            COMMAND_SPAN => Kind::Command,
            TURN => Kind::Turn,
            BROWSER_START => Kind::BrowserStart,
            _ => return,
        };
        let mut measurement = Measurement {
            began: Instant::now(),
            kind,
            subject: "",
            has_failed: false,
        };
        attributes.record(&mut measurement);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(measurement);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(measurement) = span.extensions_mut().get_mut::<Measurement>()
        {
            values.record(measurement);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id);
        let Some(measurement) = span.and_then(|span| span.extensions_mut().remove::<Measurement>())
        else {
            return;
        };
        let Measurement {
            subject,
            has_failed,
            ..
        } = measurement;
        let took = measurement.began.elapsed();
        match measurement.kind {
            Kind::Command => METRICS.command_ended(subject, has_failed, took),
            Kind::Turn => METRICS.turn_began(took),
            Kind::BrowserStart => METRICS.browser_started(subject, has_failed, took),
        }
    }
}
