//! The events of a trace before they are written, and their lines in version 8 of the format, which every viewer since Playwright 1.53 reads.

use super::har::TracedExchange;
use super::resources::Resources;
use crate::config::Secrets;
use crate::sessions::http_archive::Bodies;
use chrono::{DateTime, Utc};
use engine::{StreamMessage, StyleOverride};
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};
use std::io;
use std::time::{Duration, Instant, SystemTime};

/// The version of the format.
pub(super) const VERSION: u32 = 8;
/// The largest number of events, and of requests, that are not written yet; further ones of pages are left out.
const MAX_WAITING_EVENTS: usize = 20_000;
/// The largest size of bodies that are not written yet; further bodies are left out.
const MAX_WAITING_BODIES: usize = 64 * 1024 * 1024;
/// The largest size of messages of WebSockets that are not written yet; further requests have their newest messages that fit.
const MAX_WAITING_MESSAGES: usize = 16 * 1024 * 1024;

/// An event. It is written when the passwords of the page are known, so that they are masked.
pub(super) enum Event {
    /// An event that is written as it is.
    Plain(Value),
    /// The beginning of a call.
    Call {
        event: Value,
        arguments: Map<String, Value>,
        /// The arguments that the viewer needs in addition.
        extra: Map<String, Value>,
    },
    /// The DOM snapshot of a frame; `html` is JSON.
    Snapshot {
        snapshot: Value,
        html: String,
        overrides: Vec<StyleOverride>,
    },
    /// An image of the page.
    Image {
        event: Value,
        name: String,
        jpeg: Vec<u8>,
    },
}

/// Events that are written together.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) events: Vec<Event>,
    requests: Vec<TracedExchange>,
    sizes: RequestSizes,
}

/// The sizes of the requests of a batch, in bytes.
#[derive(Default)]
struct RequestSizes {
    bodies: usize,
    messages: usize,
}

/// The lines of a batch.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) trace: String,
    pub(super) network: String,
    /// The calls, one on each line.
    pub(super) calls: String,
}

/// The clock of a trace: times are milliseconds since its start.
pub(super) struct Clock {
    start: Instant,
    wall: SystemTime,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            start: Instant::now(),
            wall: SystemTime::now(),
        }
    }

    /// Returns the time of the trace.
    pub(super) fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64() * 1000.0
    }

    /// Returns the time since the epoch, in milliseconds.
    pub(super) fn wall_ms(&self, time: f64) -> i64 {
        let at = self.wall + Duration::from_secs_f64(time.max(0.0) / 1000.0);
        DateTime::<Utc>::from(at).timestamp_millis()
    }

    /// Returns the time of the trace at a time of day; 0 if that was before the trace.
    pub(super) fn time_of(&self, time: SystemTime) -> f64 {
        let since = time.duration_since(self.wall);
        since.map_or(0.0, |since| since.as_secs_f64() * 1000.0)
    }
}

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty() && self.requests.is_empty()
    }

    /// Adds an event of a page, unless there are too many.
    pub(super) fn add_page_event(&mut self, event: Event) {
        if self.events.len() < MAX_WAITING_EVENTS {
            self.events.push(event);
        }
    }

    /// Adds a request, unless there are too many; without its bodies, if they are too large.
    pub(super) fn add_request(&mut self, mut exchange: TracedExchange) {
        if self.requests.len() < MAX_WAITING_EVENTS {
            self.sizes.add(&mut exchange.bodies);
            self.requests.push(exchange);
        }
    }

    /// Returns the lines of the events, without secrets, and writes their resources.
    pub(super) fn render(
        self,
        secrets: &Secrets,
        resources: &mut impl Resources,
    ) -> io::Result<Lines> {
        let mut lines = Lines::default();
        for event in self.events {
            let line = match event {
                Event::Plain(event) => secrets.redacted_json(event).to_string(),
                Event::Call {
                    event,
                    arguments,
                    extra,
                } => {
                    let tool = event["method"].as_str().unwrap_or_default().to_owned();
                    let mut event = secrets.redacted_json(event);
                    let arguments = secrets.redacted_arguments(Value::Object(arguments));
                    lines.calls += &format!("{tool}({arguments});\n");
                    event["params"] = arguments;
                    for (name, value) in extra {
                        event["params"][name] = secrets.redacted_json(value);
                    }
                    event.to_string()
                }
                Event::Image { event, name, jpeg } => {
                    resources.write_as(&name, &jpeg)?;
                    event.to_string()
                }
                Event::Snapshot {
                    mut snapshot,
                    html,
                    overrides,
                } => {
                    let overrides: io::Result<Vec<_>> = overrides
                        .into_iter()
                        .map(|StyleOverride { url, content }| {
                            let content = secrets.redacted(content);
                            let name = resources.write_hashed("css", content.as_bytes())?;
                            Ok(json!({ "url": url, "sha1": name }))
                        })
                        .collect();
                    snapshot["resourceOverrides"] = overrides?.into();
                    let snapshot = secrets.redacted_json(snapshot).to_string();
                    let html = redacted_html(html, secrets);
                    let members = snapshot.strip_suffix('}').unwrap_or_default();
                    format!(
                        "{{\"type\":\"frame-snapshot\",\"snapshot\":{members},\"html\":{html}}}}}"
                    )
                }
            };
            lines.trace += &line;
            lines.trace.push('\n');
        }
        for exchange in self.requests {
            let entry = exchange.entry(secrets, resources)?;
            lines.network += &json!({ "type": "resource-snapshot", "snapshot": entry }).to_string();
            lines.network.push('\n');
        }
        Ok(lines)
    }
}

impl RequestSizes {
    /// Adds the bodies and messages of a request, after those that exceed the limits are removed.
    fn add(&mut self, bodies: &mut Bodies) {
        if self.bodies + bodies.size() > MAX_WAITING_BODIES {
            bodies.leave_out("Too many bodies were waiting to be written");
        }
        self.bodies += bodies.size();
        let messages = &mut bodies.messages.messages;
        let mut first = messages.len();
        while let Some(message) = first.checked_sub(1).and_then(|last| messages.get(last)) {
            let size = self.messages + size_of::<StreamMessage>() + message.payload.len();
            if size > MAX_WAITING_MESSAGES {
                break;
            }
            self.messages = size;
            first -= 1;
        }
        messages.drain(..first);
        bodies.messages.removed += first;
    }
}

/// Masks secrets in JSON. The text of a large tree is searched as a whole, unless a mask would replace a part of the syntax.
fn redacted_html(html: String, secrets: &Secrets) -> String {
    let masked = secrets.redacted(html.clone());
    if masked == html || serde_json::from_str::<IgnoredAny>(&masked).is_ok() {
        return masked;
    }
    let tree = serde_json::from_str(&html).unwrap_or_default();
    secrets.redacted_json(tree).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::http_archive::Body;
    use engine::{StreamMessageKind, StreamMessages};

    struct NoResources;

    impl Resources for NoResources {
        fn write_as(&mut self, _: &str, _: &[u8]) -> io::Result<()> {
            Ok(())
        }

        fn write_hashed(&mut self, extension: &str, _: &[u8]) -> io::Result<String> {
            Ok(format!("hash.{extension}"))
        }
    }

    #[test]
    fn secrets_are_masked_and_lines_stay_json() {
        let secrets = Secrets::new([("KEY".to_owned(), "\"hunter22".to_owned())]);
        let arguments = json!({ "text": "\"hunter22" });
        let batch = Batch {
            events: vec![
                Event::Call {
                    event: json!({ "type": "before", "method": "browser_type" }),
                    arguments: arguments.as_object().cloned().unwrap_or_default(),
                    extra: Map::new(),
                },
                Event::Snapshot {
                    snapshot: json!({ "callId": "call@1" }),
                    html: json!(["P", {}, "hunter22", "\"hunter22"]).to_string(),
                    overrides: vec![StyleOverride {
                        url: "http://site/a.css".to_owned(),
                        content: "p {}".to_owned(),
                    }],
                },
            ],
            ..Batch::default()
        };
        let lines = batch.render(&secrets, &mut NoResources).expect("lines");
        let trace: Vec<Value> = lines
            .trace
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        assert_eq!(trace[0]["params"]["text"], "<secret>KEY</secret>");
        let snapshot = &trace[1]["snapshot"];
        assert_eq!(snapshot["html"][3], "<secret>KEY</secret>");
        assert_eq!(snapshot["resourceOverrides"][0]["sha1"], "hash.css");
        assert_eq!(
            lines.calls,
            "browser_type({\"text\":\"<secret>KEY</secret>\"});\n"
        );
    }

    #[test]
    fn bodies_and_messages_beyond_the_limits_are_left_out_with_a_reason() {
        let mut sizes = RequestSizes::default();
        let messages = |payload: usize, number: usize| {
            let kind = StreamMessageKind::Received(1);
            let message = StreamMessage {
                at: SystemTime::UNIX_EPOCH,
                kind,
                payload: "x".repeat(payload),
                length: payload,
            };
            StreamMessages {
                messages: vec![message; number],
                removed: 1,
            }
        };
        let mut fits = Bodies {
            request: Body::None,
            response: Body::Bytes(vec![0; MAX_WAITING_BODIES]),
            messages: messages(MAX_WAITING_MESSAGES / 2, 1),
        };
        sizes.add(&mut fits);
        assert_eq!(fits.size(), MAX_WAITING_BODIES);
        assert_eq!(fits.messages.messages.len(), 1);
        let omitted = "Contents are omitted";
        let mut exceeds = Bodies {
            request: Body::Bytes(vec![0]),
            response: Body::LeftOut(omitted),
            messages: messages(MAX_WAITING_MESSAGES / 5, 3),
        };
        sizes.add(&mut exceeds);
        let reason = "Too many bodies were waiting to be written";
        assert_eq!(exceeds.request, Body::LeftOut(reason));
        assert_eq!(exceeds.response, Body::LeftOut(omitted));
        assert_eq!(exceeds.messages.messages.len(), 2);
        assert_eq!(exceeds.messages.removed, 2);
    }
}
