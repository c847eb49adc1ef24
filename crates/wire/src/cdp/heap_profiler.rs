//! The `HeapProfiler` domain: snapshots of the heap.

use serde::{Deserialize, Serialize};

use super::{Empty, command, event};

/// Takes a snapshot, whose parts are reported by [`AddHeapSnapshotChunk`] before the response.
/// [`HeapProfiler.takeHeapSnapshot`](https://chromedevtools.github.io/devtools-protocol/tot/HeapProfiler/#method-takeHeapSnapshot)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TakeHeapSnapshot {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report_progress: Option<bool>,
}
command!(TakeHeapSnapshot, "HeapProfiler.takeHeapSnapshot", Empty);

/// [`HeapProfiler.addHeapSnapshotChunk`](https://chromedevtools.github.io/devtools-protocol/tot/HeapProfiler/#event-addHeapSnapshotChunk)
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AddHeapSnapshotChunk {
    pub chunk: String,
}
event!(AddHeapSnapshotChunk, "HeapProfiler.addHeapSnapshotChunk");
