//! What a trace says about the performance of a page, computed like the insights of the Performance panel of Chrome DevTools.

use super::trace::{InputEvent, LONG_TASK, Navigation, Shift, Trace, Work};
use crate::backend::FunctionPosition;
use crate::error::Result;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;

/// The largest number of long tasks and functions.
const MAX_LISTED: usize = 20;
/// How long before a layout shift its cause can be, in µs.
const CAUSE_WINDOW: f64 = 500_000.0;
/// The largest gap between layout shifts of a session window, and its largest length, in µs.
const WINDOW_GAP: f64 = 1_000_000.0;
const WINDOW_LENGTH: f64 = 5_000_000.0;
/// The granularity of the times of paints in event timing, in ms.
const PAINT_GRANULARITY: f64 = 8.0;
/// One of so many interactions is ignored by INP.
const INTERACTIONS_PER_OUTLIER: usize = 50;

/// The insights of a trace. Times are in ms since the last navigation, or since the begin of a trace without one.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceInsights {
    /// The duration of the trace.
    pub duration: f64,
    /// The URL of the last navigation.
    pub url: Option<String>,
    /// The largest contentful paint of the last navigation.
    pub lcp: Option<LcpBreakdown>,
    /// The requests that delayed the first paint, in the order in which they were sent.
    pub blocking: Vec<BlockingRequest>,
    /// The layout shifts of the worst session window; their sum is CLS.
    pub shifts: Vec<TracedShift>,
    /// The number of tasks of more than 50 ms on the main thread.
    pub long_task_count: usize,
    /// The duration of all long tasks.
    pub long_task_time: f64,
    /// The part of the duration of long tasks that is beyond 50 ms.
    pub blocking_time: f64,
    /// The longest of them, the longest first.
    pub long_tasks: Vec<LongTask>,
    /// The functions in which long tasks spent most of their time.
    pub hot_functions: Vec<HotFunction>,
    /// The interaction whose latency is INP.
    pub interaction: Option<TracedInteraction>,
}

/// The parts of the largest contentful paint.
#[derive(Debug, Clone, PartialEq)]
pub struct LcpBreakdown {
    /// The time of the paint.
    pub time: f64,
    /// The time to the first byte of the document.
    pub ttfb: f64,
    /// From the first byte to the request of the image. `None` for text.
    pub load_delay: Option<f64>,
    /// The duration of the request of the image. `None` for text.
    pub load_duration: Option<f64>,
    /// From the end of the request, or from the first byte, to the paint.
    pub render_delay: f64,
    /// The URL of the image.
    pub url: Option<String>,
    /// The node id of the element.
    pub node: i64,
}

/// A request that delays the first paint.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockingRequest {
    /// The URL.
    pub url: String,
    /// When it was sent.
    pub at: f64,
    /// How long it took.
    pub duration: f64,
}

/// A layout shift.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedShift {
    /// When it happened.
    pub at: f64,
    /// The score.
    pub score: f64,
    /// The node ids of the elements that moved.
    pub nodes: Vec<i64>,
    /// What probably caused it.
    pub causes: Vec<LayoutShiftCause>,
}

/// A probable cause of a layout shift.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayoutShiftCause {
    /// The image with this node id has no size.
    UnsizedImage(i64),
    /// A font with this URL was loaded.
    Font(String),
}

/// A task of more than 50 ms on the main thread.
#[derive(Debug, Clone, PartialEq)]
pub struct LongTask {
    /// When it began.
    pub at: f64,
    /// How long it took.
    pub duration: f64,
    /// The event of the trace that began the work, such as `TimerFire`, or the type of a dispatched event.
    pub trigger: Option<String>,
    /// The function or script that took most of the task.
    pub function: Option<FunctionPosition>,
}

/// A function and the time that long tasks spent in it, without the functions that it called.
#[derive(Debug, Clone, PartialEq)]
pub struct HotFunction {
    /// The function.
    pub function: FunctionPosition,
    /// The time.
    pub time: f64,
}

/// An interaction and the parts of its latency.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedInteraction {
    /// The type of the event, such as `click`.
    pub event: String,
    /// When it happened.
    pub at: f64,
    /// The time to the next paint.
    pub duration: f64,
    /// The time until its listeners began.
    pub input_delay: f64,
    /// The time that listeners took.
    pub processing: f64,
    /// From the end of the listeners to the next paint.
    pub presentation: f64,
    /// The node id of the target.
    pub node: i64,
}

impl TraceInsights {
    /// Reads a trace and computes its insights. Takes long; run it on a thread for computations.
    pub(super) fn read(file: impl Read) -> Result<Self> {
        Ok(Self::of(&Trace::read(file)?))
    }

    /// Returns the functions of scripts that the insights name.
    pub(super) fn functions_mut(&mut self) -> impl Iterator<Item = &mut FunctionPosition> {
        let tasks = self.long_tasks.iter_mut();
        let tasks = tasks.filter_map(|task| task.function.as_mut());
        let hot = self.hot_functions.iter_mut();
        tasks.chain(hot.map(|hot| &mut hot.function))
    }

    fn of(trace: &Trace) -> Self {
        let navigation = trace.navigations.last();
        let start = navigation.map_or(trace.first, |navigation| navigation.at);
        let since = |at: f64| (at - start) / 1_000.0;
        let threads = main_threads(trace);
        let tasks: Vec<&Work> = trace
            .long_tasks
            .iter()
            .filter(|task| task.at >= start && threads.contains(&task.thread))
            .collect();
        let time: f64 = tasks.iter().map(|task| task.duration).sum();
        let blocking: f64 = tasks.iter().map(|task| task.duration - LONG_TASK).sum();
        Self {
            duration: (trace.last - trace.first).max(0.0) / 1_000.0,
            url: navigation.map(|navigation| navigation.url.clone()),
            lcp: navigation.and_then(|navigation| lcp(trace, navigation)),
            blocking: navigation
                .map_or_else(Vec::new, |navigation| blocking_requests(trace, navigation)),
            shifts: worst_window(trace, start)
                .iter()
                .map(|shift| TracedShift {
                    at: since(shift.at),
                    score: shift.score,
                    nodes: shift.nodes.clone(),
                    causes: causes(trace, shift),
                })
                .collect(),
            long_task_count: tasks.len(),
            long_task_time: time / 1_000.0,
            blocking_time: blocking / 1_000.0,
            hot_functions: hot_functions(trace, &tasks),
            long_tasks: long_tasks(trace, &tasks, since),
            interaction: interaction(trace, start),
        }
    }
}

/// Returns the main threads of the processes that showed the page.
fn main_threads(trace: &Trace) -> Vec<(i64, i64)> {
    let process = trace.main_frame.as_ref().map(|(_, process)| *process);
    let first = process.and_then(|process| Some((process, *trace.main_threads.get(&process)?)));
    let navigations = trace.navigations.iter();
    let threads = navigations.map(|navigation| navigation.thread);
    threads.chain(first).collect()
}

fn lcp(trace: &Trace, navigation: &Navigation) -> Option<LcpBreakdown> {
    let of_navigation = |id: &str| id == navigation.id;
    let mut paints = trace.paints.iter().rev();
    let paint = paints.find(|paint| of_navigation(&paint.navigation))?;
    let document = trace
        .requests
        .iter()
        .find(|request| request.id == navigation.id);
    let first_byte = document
        .and_then(|document| document.first_byte)
        .unwrap_or(navigation.at)
        .max(navigation.at);
    let url = trace.image_urls.get(&paint.node);
    let request = url.and_then(|url| {
        let mut requests = trace.requests.iter();
        requests.find(|request| request.url == *url && request.sent >= navigation.at)
    });
    let loaded = request.and_then(|request| Some((request.sent, request.finished?)));
    let millis = |from: f64, to: f64| ((to - from) / 1_000.0).max(0.0);
    Some(LcpBreakdown {
        time: millis(navigation.at, paint.at),
        ttfb: millis(navigation.at, first_byte),
        load_delay: loaded.map(|(sent, _)| millis(first_byte, sent)),
        load_duration: loaded.map(|(sent, finished)| millis(sent, finished)),
        render_delay: millis(
            loaded.map_or(first_byte, |(_, finished)| finished),
            paint.at,
        ),
        url: url.cloned(),
        node: paint.node,
    })
}

fn blocking_requests(trace: &Trace, navigation: &Navigation) -> Vec<BlockingRequest> {
    let first_paint = trace.first_paints.get(&navigation.id);
    let first_paint = first_paint.copied().unwrap_or(f64::INFINITY);
    let requests = trace.requests.iter().filter(|request| {
        // A parser in the body waits for a request of this priority, and so does the first paint.
        let is_blocking = match request.blocking.as_str() {
            "blocking" => true,
            "in_body_parser_blocking" => matches!(
                (request.kind.as_str(), request.priority.as_str()),
                ("Script", "High") | ("Stylesheet", "VeryHigh")
            ),
            _ => false,
        };
        let is_before_paint = request.finished.is_some_and(|at| at <= first_paint);
        is_blocking && is_before_paint && request.sent >= navigation.at
    });
    requests
        .map(|request| BlockingRequest {
            url: request.url.clone(),
            at: (request.sent - navigation.at) / 1_000.0,
            duration: (request.finished.unwrap_or(trace.last) - request.sent).max(0.0) / 1_000.0,
        })
        .collect()
}

/// Returns the layout shifts of the session window with the largest sum. <https://web.dev/articles/cls>
fn worst_window(trace: &Trace, start: f64) -> &[Shift] {
    // Before the navigation another document was shown.
    let first = trace.shifts.partition_point(|shift| shift.at < start);
    let shifts = &trace.shifts[first..];
    let mut worst: &[Shift] = &[];
    let (mut begin, mut sum, mut largest) = (0, 0.0, 0.0);
    for end in 0..shifts.len() {
        let is_new = end > 0
            && (shifts[end].at - shifts[end - 1].at >= WINDOW_GAP
                || shifts[end].at - shifts[begin].at >= WINDOW_LENGTH);
        if is_new {
            (begin, sum) = (end, 0.0);
        }
        sum += shifts[end].score;
        if sum > largest {
            (worst, largest) = (&shifts[begin..=end], sum);
        }
    }
    worst
}

fn causes(trace: &Trace, shift: &Shift) -> Vec<LayoutShiftCause> {
    let is_before = |at: f64| at <= shift.at && at >= shift.at - CAUSE_WINDOW;
    let images = trace.unsized_images.iter().filter(|(at, _)| is_before(*at));
    let images = images.map(|(_, node)| LayoutShiftCause::UnsizedImage(*node));
    let fonts = trace
        .requests
        .iter()
        .filter(|request| request.kind == "Font" && request.finished.is_some_and(is_before));
    let fonts = fonts.map(|request| LayoutShiftCause::Font(request.url.clone()));
    let mut causes = Vec::new();
    for cause in images.chain(fonts) {
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    causes
}

fn long_tasks(trace: &Trace, tasks: &[&Work], since: impl Fn(f64) -> f64) -> Vec<LongTask> {
    let mut longest = tasks.to_vec();
    longest.sort_by(|one, other| other.duration.total_cmp(&one.duration));
    longest.truncate(MAX_LISTED);
    let task = |task: &Work| {
        let within: Vec<_> = trace
            .work
            .iter()
            .filter(|work| {
                work.thread == task.thread && work.at >= task.at && work.end() <= task.end()
            })
            .collect();
        let longest = |is_match: &dyn Fn(&Work) -> bool| {
            let matching = within.iter().filter(|work| is_match(work));
            matching.max_by(|one, other| one.duration.total_cmp(&other.duration))
        };
        let script = longest(&|work| !work.url.is_empty());
        let trigger = longest(&|work| work.url.is_empty());
        LongTask {
            at: since(task.at),
            duration: task.duration / 1_000.0,
            trigger: trigger.map(|work| match work.name.as_str() {
                "EventDispatch" => work.function.clone(),
                name => name.to_owned(),
            }),
            function: script.map(|work| position(&work.function, &work.url, work.position)),
        }
    };
    longest.into_iter().map(task).collect()
}

fn hot_functions(trace: &Trace, tasks: &[&Work]) -> Vec<HotFunction> {
    let mut spans: Vec<_> = tasks
        .iter()
        .map(|task| (task.thread, task.at, task.end()))
        .collect();
    spans.sort_by(|one, other| one.1.total_cmp(&other.1));
    let mut times: HashMap<FunctionPosition, f64> = HashMap::new();
    for ((process, _), profile) in &trace.profiles {
        let thread = (*process, profile.thread);
        let spans: Vec<_> = spans.iter().filter(|span| span.0 == thread).collect();
        for (at, duration, node) in &profile.samples {
            let next = spans.partition_point(|span| span.2 < *at);
            let is_in_task = spans.get(next).is_some_and(|span| span.1 <= *at);
            let Some(frame) = profile.nodes.get(node).filter(|_| is_in_task) else {
                continue;
            };
            let name = match frame.function_name.as_str() {
                "(garbage collector)" => position("garbage collector", "", (0, 0)),
                _ if frame.url.is_empty() => continue,
                name => {
                    let from_one = |number: i64| u32::try_from(number + 1).unwrap_or(0);
                    let line = from_one(frame.line_number);
                    position(name, &frame.url, (line, from_one(frame.column_number)))
                }
            };
            *times.entry(name).or_default() += duration / 1_000.0;
        }
    }
    let functions = times.into_iter();
    let mut functions: Vec<_> = functions
        .map(|(function, time)| HotFunction { function, time })
        .collect();
    functions.sort_by(|one, other| {
        let by_time = other.time.total_cmp(&one.time);
        by_time.then_with(|| one.function.to_string().cmp(&other.function.to_string()))
    });
    functions.truncate(MAX_LISTED);
    functions
}

fn position(function: &str, url: &str, (line, column): (u32, u32)) -> FunctionPosition {
    let name = match function {
        "" => "(anonymous)",
        name => name,
    };
    FunctionPosition {
        name: name.to_owned(),
        url: url.to_owned(),
        line,
        column,
        source: None,
    }
}

/// Returns the interaction whose latency is INP. <https://web.dev/articles/inp>
fn interaction(trace: &Trace, start: f64) -> Option<TracedInteraction> {
    let mut by_id: BTreeMap<u64, Vec<&InputEvent>> = BTreeMap::new();
    for event in trace.events.iter().filter(|event| event.at >= start) {
        by_id.entry(event.interaction).or_default().push(event);
    }
    let paint = |event: &InputEvent| event.at / 1_000.0 + event.duration;
    let mut interactions: Vec<_> = by_id
        .into_values()
        .filter_map(|events| {
            let by_duration =
                |one: &&&InputEvent, other: &&&InputEvent| one.duration.total_cmp(&other.duration);
            let longest = *events.iter().max_by(by_duration)?;
            // Events before the same paint share its latency: a pointerup and its click.
            let same =
                |event: &&&InputEvent| (paint(event) - paint(longest)).abs() <= PAINT_GRANULARITY;
            let (mut first, mut last) = (f64::INFINITY, 0.0_f64);
            let mut busiest = (longest, f64::NEG_INFINITY);
            for event in events.iter().filter(same) {
                let offset = (event.at - longest.at) / 1_000.0;
                let (begin, end) = event.processing;
                first = first.min(begin + offset);
                last = last.max(end + offset);
                if end - begin > busiest.1 {
                    busiest = (event, end - begin);
                }
            }
            let node = events.iter().map(|event| event.node).find(|node| *node > 0);
            Some(TracedInteraction {
                event: busiest.0.kind.clone(),
                at: (longest.at - start) / 1_000.0,
                duration: longest.duration,
                input_delay: first.max(0.0),
                processing: (last - first).max(0.0),
                presentation: (longest.duration - last).max(0.0),
                node: node.unwrap_or_default(),
            })
        })
        .collect();
    interactions.sort_by(|one, other| other.duration.total_cmp(&one.duration));
    let outliers = interactions.len() / INTERACTIONS_PER_OUTLIER;
    interactions.into_iter().nth(outliers)
}
