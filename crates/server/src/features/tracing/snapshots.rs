//! DOM snapshots and images of pages for a trace. A document that did not change is a reference to its last complete snapshot.

use super::events::{Clock, Event};
use engine::{ActionTarget, DomSnapshot, FrameId, Page, Progress, Screenshot, ScreenshotFormat};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long a snapshot or an image may delay a call.
const SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(3);
/// The quality of images, 0 to 100.
const IMAGE_QUALITY: u8 = 60;

/// The snapshots of a trace so far.
#[derive(Default)]
pub(super) struct Snapshots(Mutex<HashMap<String, LastSnapshot>>);

/// The last complete snapshot of a frame.
struct LastSnapshot {
    hash: u64,
    /// The number of elements and texts.
    count: usize,
    /// The number of snapshots of the frame since then.
    age: usize,
}

/// The snapshot to take.
pub(super) struct Moment<'a> {
    pub(super) page: &'a Page,
    /// The identifier of the call.
    pub(super) call: &'a str,
    /// `before`, `input` or `after`.
    pub(super) phase: &'static str,
    /// The point of the action.
    pub(super) target: Option<engine::Point>,
}

impl Moment<'_> {
    /// Returns the name of the snapshot.
    pub(super) fn name(&self) -> String {
        snapshot_name(self.phase, self.call)
    }
}

/// Returns the name of a snapshot.
pub(super) fn snapshot_name(phase: &str, call: &str) -> String {
    format!("{phase}@{call}")
}

/// Returns the identifier of a page in a trace.
pub(super) fn page_id(page: &Page) -> String {
    format!("page@{}", identifier(page.id().as_str()))
}

/// Returns the identifier of a frame in a trace.
pub(super) fn frame_id(frame: &FrameId) -> String {
    format!("frame@{}", identifier(frame.as_str()))
}

/// Returns an identifier that is valid in a URL and as a part of a file name.
fn identifier(id: &str) -> String {
    let valid = |c: char| c.is_ascii_alphanumeric() || c == '-';
    id.chars().map(|c| if valid(c) { c } else { '-' }).collect()
}

impl Snapshots {
    /// Takes a snapshot of each frame. A page that cannot be read, for example because a dialog is open, has none.
    pub(super) async fn take(&self, moment: &Moment<'_>, clock: &Clock) -> Vec<Event> {
        let target = moment.target.map(|point| ActionTarget {
            point,
            mark: moment.call,
        });
        let progress = Progress::new(SNAPSHOT_TIMEOUT);
        let taken = moment.page.dom_snapshot(&progress, target, &frame_id).await;
        let taken = taken.unwrap_or_else(|error| {
            tracing::debug!(%error, "a DOM snapshot cannot be taken");
            Vec::new()
        });
        let time = clock.now();
        let taken = taken.into_iter();
        taken
            .map(|snapshot| self.event(moment, snapshot, clock, time))
            .collect()
    }

    fn event(&self, moment: &Moment<'_>, taken: DomSnapshot, clock: &Clock, time: f64) -> Event {
        let frame = frame_id(&taken.frame);
        let snapshot = json!({
            "callId": moment.call,
            "snapshotName": moment.name(),
            "pageId": page_id(moment.page),
            "frameId": frame,
            "frameUrl": taken.url,
            "doctype": taken.doctype,
            "viewport": taken.viewport,
            "timestamp": time,
            "wallTime": clock.wall_ms(time),
            "collectionTime": taken.collection_time,
            "isMainFrame": taken.is_main,
        });
        Event::Snapshot {
            snapshot,
            html: self.reference(frame, taken.html, taken.count),
            overrides: taken.overrides,
        }
    }

    /// Returns the tree, or a reference to an earlier snapshot with the same tree: the number of snapshots since then, and the index of its
    /// root, which is the last element in the order of the format.
    fn reference(&self, frame: String, html: String, count: usize) -> String {
        let mut hasher = DefaultHasher::new();
        html.hash(&mut hasher);
        let hash = hasher.finish();
        let mut frames = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = frames.get_mut(&frame) {
            last.age += 1;
            if last.hash == hash {
                return json!([[last.age, last.count.saturating_sub(1)]]).to_string();
            }
        }
        let last = LastSnapshot {
            hash,
            count,
            age: 0,
        };
        frames.insert(frame, last);
        html
    }
}

/// Takes an image of the viewport as a frame of the screencast. Returns `None` if the page cannot be captured.
pub(super) async fn image(page: &Page, clock: &Clock) -> Option<Event> {
    let options = Screenshot {
        format: ScreenshotFormat::Jpeg,
        quality: Some(IMAGE_QUALITY),
        ..Screenshot::default()
    };
    let jpeg = page
        .screenshot(&Progress::new(SNAPSHOT_TIMEOUT), &options)
        .await
        .ok()?;
    let (width, height) = image::ImageReader::new(std::io::Cursor::new(&jpeg))
        .with_guessed_format()
        .ok()?
        .into_dimensions()
        .ok()?;
    let time = clock.now();
    let name = format!("{}-{}.jpeg", page_id(page), clock.wall_ms(time));
    let event: Value = json!({
        "type": "screencast-frame",
        "pageId": page_id(page),
        "sha1": name,
        "width": width,
        "height": height,
        "timestamp": time,
    });
    Some(Event::Image { event, name, jpeg })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unchanged_document_is_a_reference_to_its_last_complete_snapshot() {
        let snapshots = Snapshots::default();
        let take = |html: &str| snapshots.reference("frame@1".to_owned(), html.to_owned(), 3);
        assert_eq!(take("[1]"), "[1]");
        assert_eq!(take("[1]"), "[[1,2]]");
        assert_eq!(take("[1]"), "[[2,2]]");
        assert_eq!(take("[2]"), "[2]");
        assert_eq!(take("[2]"), "[[1,2]]");
    }
}
