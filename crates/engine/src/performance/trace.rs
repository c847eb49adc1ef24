//! Reading a trace in the Trace Event Format event by event, so that memory is bounded by what the insights need. The names and arguments
//! of the events are those of Chromium, which the Performance panel of Chrome DevTools reads as well.

use crate::error::{Error, Result};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fmt;
use std::io::{BufReader, Read};

/// The largest number of events of one kind that are kept.
const MAX_EVENTS: usize = 200_000;
/// The shortest work in a task that is kept, in µs.
const SHORTEST_WORK: f64 = 1_000.0;
/// The shortest long task, in µs. <https://w3c.github.io/longtasks/>
pub(super) const LONG_TASK: f64 = 50_000.0;

/// The events that insights are made of. Times are in µs.
#[derive(Default)]
pub(super) struct Trace {
    pub(super) first: f64,
    pub(super) last: f64,
    /// The main frame of the page, and the process that showed it when the trace began.
    pub(super) main_frame: Option<(String, i64)>,
    pub(super) navigations: Vec<Navigation>,
    pub(super) paints: Vec<PaintCandidate>,
    pub(super) first_paints: HashMap<String, f64>,
    pub(super) image_urls: HashMap<i64, String>,
    pub(super) requests: Vec<TracedRequest>,
    request_indices: HashMap<String, usize>,
    pub(super) shifts: Vec<Shift>,
    pub(super) unsized_images: Vec<(f64, i64)>,
    pub(super) events: Vec<InputEvent>,
    pub(super) main_threads: HashMap<i64, i64>,
    pub(super) long_tasks: Vec<Work>,
    pub(super) work: Vec<Work>,
    pub(super) profiles: HashMap<(i64, String), Profile>,
}

/// The begin of a navigation of the main frame.
#[derive(Clone)]
pub(super) struct Navigation {
    pub(super) at: f64,
    pub(super) id: String,
    pub(super) url: String,
    pub(super) thread: (i64, i64),
}

/// A candidate for the largest contentful paint.
pub(super) struct PaintCandidate {
    pub(super) at: f64,
    pub(super) navigation: String,
    pub(super) node: i64,
}

pub(super) struct TracedRequest {
    pub(super) id: String,
    pub(super) url: String,
    pub(super) sent: f64,
    /// How the request blocks rendering, its resource type and its priority, in the words of Chromium.
    pub(super) blocking: String,
    pub(super) kind: String,
    pub(super) priority: String,
    /// When the first byte of the response arrived.
    pub(super) first_byte: Option<f64>,
    pub(super) finished: Option<f64>,
}

pub(super) struct Shift {
    pub(super) at: f64,
    pub(super) score: f64,
    pub(super) nodes: Vec<i64>,
}

/// An event of an interaction.
pub(super) struct InputEvent {
    pub(super) at: f64,
    pub(super) interaction: u64,
    pub(super) kind: String,
    pub(super) node: i64,
    /// The time to the next paint, in ms.
    pub(super) duration: f64,
    /// When its listeners began and ended, in ms after the event.
    pub(super) processing: (f64, f64),
}

/// A part of the work of a thread.
pub(super) struct Work {
    pub(super) thread: (i64, i64),
    pub(super) at: f64,
    pub(super) duration: f64,
    /// The name of the event.
    pub(super) name: String,
    /// The function, the type of the dispatched event, or nothing.
    pub(super) function: String,
    pub(super) url: String,
    /// Line and column, from 1; 0 if there are none.
    pub(super) position: (u32, u32),
}

/// A sampled CPU profile: the functions, and which one ran at each sample.
#[derive(Default)]
pub(super) struct Profile {
    pub(super) thread: i64,
    at: f64,
    pub(super) nodes: HashMap<u64, CallFrame>,
    /// The end of each sample, its duration, and its function.
    pub(super) samples: Vec<(f64, f64, u64)>,
}

#[derive(Deserialize, Clone, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct CallFrame {
    pub(super) function_name: String,
    pub(super) url: String,
    /// The line, from 0.
    pub(super) line_number: i64,
    /// The column, from 0.
    pub(super) column_number: i64,
}

#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    name: String,
    #[serde(default)]
    ph: String,
    #[serde(default)]
    ts: f64,
    #[serde(default)]
    dur: f64,
    #[serde(default)]
    pid: i64,
    #[serde(default)]
    tid: i64,
    #[serde(default)]
    id: Value,
    args: Option<Box<RawValue>>,
}

/// The arguments of most events.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Args<T> {
    data: T,
    frame: String,
    #[serde(rename = "name")]
    thread: String,
}

impl Trace {
    /// Reads the trace of a file.
    pub(super) fn read(file: impl Read) -> Result<Self> {
        let mut trace = Self {
            first: f64::INFINITY,
            ..Self::default()
        };
        let mut json = serde_json::Deserializer::from_reader(BufReader::new(file));
        let read = json.deserialize_map(Document(&mut trace));
        read.map_err(|error| Error::InvalidProfile {
            reason: format!("The trace is not valid: {error}"),
        })?;
        Ok(trace)
    }

    fn add(&mut self, event: Event) {
        if event.ts > 0.0 && event.ph != "M" {
            self.first = self.first.min(event.ts);
            self.last = self.last.max(event.ts + event.dur);
        }
        let thread = (event.pid, event.tid);
        match event.name.as_str() {
            "RunTask" if event.dur >= LONG_TASK => {
                let task = Work::of(&event, String::new(), String::new(), (0, 0));
                push(&mut self.long_tasks, task);
            }
            "FunctionCall" | "EvaluateScript" | "v8.evaluateModule" | "EventDispatch"
            | "TimerFire" | "FireAnimationFrame" | "FireIdleCallback" | "ParseHTML" | "Layout"
            | "UpdateLayoutTree" | "v8.compile" | "MajorGC" | "MinorGC"
                if event.dur >= SHORTEST_WORK =>
            {
                let Args { data, .. } = args::<WorkData>(&event);
                let function = data.function_name.or(data.kind).unwrap_or_default();
                let [line, column] =
                    [data.line_number, data.column_number].map(Option::unwrap_or_default);
                let url = data.url.unwrap_or_default();
                let work = Work::of(&event, function, url, (line, column));
                push(&mut self.work, work);
            }
            "thread_name" if args::<IgnoredData>(&event).thread == "CrRendererMain" => {
                self.main_threads.insert(event.pid, event.tid);
            }
            "TracingStartedInBrowser" => {
                let frames = args::<StartData>(&event).data.frames;
                let main = frames
                    .into_iter()
                    .find(|frame| frame.is_outermost_main_frame);
                self.main_frame = main.map(|main| (main.frame, main.process_id));
            }
            "navigationStart" => self.add_navigation(&event, thread),
            "largestContentfulPaint::Candidate" => {
                let Args { data, frame, .. } = args::<PaintData>(&event);
                if self.is_main(&frame) {
                    let candidate = PaintCandidate {
                        at: event.ts,
                        navigation: data.navigation_id,
                        node: data.node_id,
                    };
                    push(&mut self.paints, candidate);
                }
            }
            "firstPaint" => {
                let id = args::<PaintData>(&event).data.navigation_id;
                self.first_paints.insert(id, event.ts);
            }
            "LargestImagePaint::Candidate" => {
                let data = args::<ImageData>(&event).data;
                self.image_urls.insert(data.node, data.image_url);
            }
            "ResourceSendRequest" => {
                let data = args::<SendData>(&event).data;
                if self.requests.len() < MAX_EVENTS {
                    self.request_indices
                        .insert(data.request_id.clone(), self.requests.len());
                    self.requests.push(TracedRequest {
                        id: data.request_id,
                        url: data.url,
                        sent: event.ts,
                        blocking: data.render_blocking,
                        kind: data.resource_type,
                        priority: data.priority,
                        first_byte: None,
                        finished: None,
                    });
                }
            }
            "ResourceReceiveResponse" => {
                let data = args::<ResponseData>(&event).data;
                let timing = data.timing.filter(|timing| timing.request_time > 0.0);
                let first = timing
                    .map(|timing| timing.request_time * 1e6 + timing.receive_headers_start * 1e3);
                if let Some(request) = self.request(&data.request_id) {
                    request.first_byte = first.or(Some(event.ts));
                }
            }
            "ResourceFinish" => {
                let data = args::<FinishData>(&event).data;
                if let Some(request) = self.request(&data.request_id) {
                    let finished = Some(data.finish_time * 1e6).filter(|at| *at > 0.0);
                    request.finished = finished.or(Some(event.ts));
                }
            }
            "LayoutShift" => {
                let Args { data, .. } = args::<ShiftData>(&event);
                if !data.had_recent_input && data.is_main_frame {
                    let nodes = data.impacted_nodes.iter().map(|node| node.node_id);
                    let shift = Shift {
                        at: event.ts,
                        score: data.weighted_score_delta,
                        nodes: nodes.collect(),
                    };
                    push(&mut self.shifts, shift);
                }
            }
            "LayoutImageUnsized" => {
                let node = args::<NodeData>(&event).data.node_id;
                push(&mut self.unsized_images, (event.ts, node));
            }
            "EventTiming" if event.ph == "b" => self.add_input_event(&event),
            "Profile" => {
                let at = args::<ProfileData>(&event).data.start_time;
                let profile = self
                    .profiles
                    .entry((event.pid, event.id.to_string()))
                    .or_default();
                (profile.thread, profile.at) = (event.tid, at);
            }
            "ProfileChunk" => {
                let data = args::<ChunkData>(&event).data;
                if let Some(profile) = self.profiles.get_mut(&(event.pid, event.id.to_string())) {
                    profile.add(data);
                }
            }
            _ => {}
        }
    }

    fn add_navigation(&mut self, event: &Event, thread: (i64, i64)) {
        let Args { data, frame, .. } = args::<NavigationData>(event);
        let is_document = !matches!(data.document_loader_url.as_str(), "" | "about:blank");
        if data.is_outermost_main_frame && is_document && self.is_main(&frame) {
            let navigation = Navigation {
                at: event.ts,
                id: data.navigation_id,
                url: data.document_loader_url,
                thread,
            };
            push(&mut self.navigations, navigation);
        }
    }

    fn add_input_event(&mut self, event: &Event) {
        let data = args::<TimingData>(event).data;
        if data.interaction_id > 0 {
            let input = InputEvent {
                at: event.ts,
                interaction: data.interaction_id,
                kind: data.kind,
                node: data.node_id,
                duration: data.duration,
                processing: (
                    data.processing_start - data.time_stamp,
                    data.processing_end - data.time_stamp,
                ),
            };
            push(&mut self.events, input);
        }
    }

    /// Returns whether a frame is the main frame of the page. Every frame is if the trace does not say.
    fn is_main(&self, frame: &str) -> bool {
        self.main_frame
            .as_ref()
            .is_none_or(|(main, _)| main == frame)
    }

    fn request(&mut self, id: &str) -> Option<&mut TracedRequest> {
        self.requests.get_mut(*self.request_indices.get(id)?)
    }
}

impl Work {
    fn of(event: &Event, function: String, url: String, position: (u32, u32)) -> Self {
        Self {
            thread: (event.pid, event.tid),
            at: event.ts,
            duration: event.dur,
            name: event.name.clone(),
            function,
            url,
            position,
        }
    }

    pub(super) fn end(&self) -> f64 {
        self.at + self.duration
    }
}

impl Profile {
    fn add(&mut self, data: ChunkData) {
        for node in data.cpu_profile.nodes {
            self.nodes.insert(node.id, node.call_frame);
        }
        for (node, delta) in data.cpu_profile.samples.iter().zip(data.time_deltas) {
            self.at += delta;
            if self.samples.len() < MAX_EVENTS * 10 {
                self.samples.push((self.at, delta, *node));
            }
        }
    }
}

fn push<T>(events: &mut Vec<T>, event: T) {
    if events.len() < MAX_EVENTS {
        events.push(event);
    }
}

/// Parses the arguments of an event. Arguments of an unknown form are treated as absent, because other versions of Chromium may have them.
fn args<T: Default + for<'de> Deserialize<'de>>(event: &Event) -> Args<T>
where
    Args<T>: Default,
{
    let raw = event.args.as_ref();
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default()
}

macro_rules! data {
    ($($name:ident { $($(#[$meta:meta])* $field:ident: $type:ty),* $(,)? })*) => { $(
        #[derive(Deserialize, Default)]
        #[serde(rename_all = "camelCase", default)]
        struct $name { $($(#[$meta])* $field: $type),* }
    )* };
}

data! {
    IgnoredData {}
    StartData { frames: Vec<FrameData> }
    FrameData { frame: String, is_outermost_main_frame: bool, process_id: i64 }
    NavigationData {
        #[serde(rename = "documentLoaderURL")]
        document_loader_url: String,
        is_outermost_main_frame: bool,
        navigation_id: String,
    }
    PaintData { navigation_id: String, node_id: i64 }
    ImageData {
        #[serde(rename = "DOMNodeId")]
        node: i64,
        image_url: String,
    }
    SendData {
        request_id: String,
        url: String,
        render_blocking: String,
        resource_type: String,
        priority: String,
    }
    ResponseData { request_id: String, timing: Option<ResponseTiming> }
    ResponseTiming { request_time: f64, receive_headers_start: f64 }
    FinishData { request_id: String, finish_time: f64 }
    NodeData { node_id: i64 }
    TimingData {
        interaction_id: u64,
        #[serde(rename = "type")]
        kind: String,
        node_id: i64,
        duration: f64,
        processing_start: f64,
        processing_end: f64,
        time_stamp: f64,
    }
    WorkData {
        function_name: Option<String>,
        #[serde(rename = "type")]
        kind: Option<String>,
        url: Option<String>,
        line_number: Option<u32>,
        column_number: Option<u32>,
    }
    ProfileData { start_time: f64 }
    ChunkData { cpu_profile: CpuProfile, time_deltas: Vec<f64> }
    CpuProfile { nodes: Vec<ProfileNode>, samples: Vec<u64> }
    ProfileNode { id: u64, call_frame: CallFrame }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ShiftData {
    had_recent_input: bool,
    is_main_frame: bool,
    weighted_score_delta: f64,
    impacted_nodes: Vec<ImpactedNode>,
}

#[derive(Deserialize)]
struct ImpactedNode {
    node_id: i64,
}

/// The whole file: an object whose `traceEvents` are read one by one.
struct Document<'a>(&'a mut Trace);

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with traceEvents")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "traceEvents" {
                map.next_value_seed(Events(&mut *self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct Events<'a>(&'a mut Trace);

impl<'de> DeserializeSeed<'de> for Events<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> std::result::Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Events<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("trace events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut events: A) -> std::result::Result<(), A::Error> {
        while let Some(event) = events.next_element::<Event>()? {
            self.0.add(event);
        }
        Ok(())
    }
}
