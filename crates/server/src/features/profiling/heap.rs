//! Heap snapshots.

use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::config::Capability;
use crate::error::Result;
use crate::files::FileAccess;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::{Feature, HeapClass, HeapSummary};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use task::compute;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<HeapSnapshot>()];

/// The largest number of constructors in an answer.
const MAX_CLASSES: usize = 15;

/// Save a heap snapshot for Chrome DevTools, with a summary.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HeapSnapshot {
    /// File to write.
    filename: Option<String>,
    /// An earlier snapshot.
    compare_to: Option<String>,
}

impl Tool for HeapSnapshot {
    const NAME: &'static str = "browser_heap_snapshot";
    const TITLE: &'static str = "Heap snapshot";
    const EFFECT: Effect = Effect::Reads;
    // The heap contains what scripts have read, such as passwords and tokens.
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Performance);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        tab.require(Feature::HeapSnapshot)?;
        let files = tab.files(call).await;
        let earlier = match &self.compare_to {
            Some(name) => Some(summary(&files, &files.readable(name)?).await?),
            None => None,
        };
        let name = self.filename.as_deref();
        let file = files.file(name, "heap", "heapsnapshot").await?;
        let (raw, output) = files.unnamed(&file)?;
        tab.page.heap_snapshot(&call.navigation(), output).await?;
        files.write_masked(&file, raw).await?;
        let current = summary(&files, &file.path).await?;
        let lines = match earlier {
            None => described(&current),
            Some(earlier) => compared(&earlier, &current),
        };
        Ok(Reply::default()
            .and(Part::File {
                title: "Heap snapshot".to_owned(),
                link: file.link,
            })
            .and(Part::Page(lines.join("\n"))))
    }
}

async fn summary(files: &FileAccess, path: &Path) -> Result<HeapSummary> {
    let file = files.open_for_reading(path).await?;
    Ok(compute(move || HeapSummary::read(file)).await?)
}

fn described(heap: &HeapSummary) -> Vec<String> {
    let mut lines = vec![
        format!(
            "{} in {} objects; {} detached DOM nodes",
            size(heap.size),
            heap.count,
            heap.detached_nodes
        ),
        "Constructors that retain most (count, own size, retained size):".to_owned(),
    ];
    lines.extend(heap.classes.iter().take(MAX_CLASSES).map(|class| {
        let HeapClass { name, count, .. } = class;
        format!(
            "- {name}: {count}, {}, {}",
            size(class.size),
            size(class.retained)
        )
    }));
    lines
}

/// Returns the differences between two heaps, the constructors with the largest ones first.
fn compared(earlier: &HeapSummary, current: &HeapSummary) -> Vec<String> {
    let mut lines = vec![format!(
        "{} ({}) in {} objects ({}); {} detached DOM nodes ({})",
        size(current.size),
        size_change(earlier.size, current.size),
        current.count,
        change(earlier.count, current.count),
        current.detached_nodes,
        change(earlier.detached_nodes, current.detached_nodes)
    )];
    let mut classes: BTreeMap<&str, (HeapClass, HeapClass)> = BTreeMap::new();
    for class in &earlier.classes {
        classes.entry(&class.name).or_default().0 = class.clone();
    }
    for class in &current.classes {
        classes.entry(&class.name).or_default().1 = class.clone();
    }
    let mut changed: Vec<_> = classes
        .into_iter()
        .filter(|(_, (before, after))| (before.count, before.size) != (after.count, after.size))
        .collect();
    changed.sort_by_key(|(_, (before, after))| {
        std::cmp::Reverse((
            before.size.abs_diff(after.size),
            before.count.abs_diff(after.count),
        ))
    });
    let title = match changed.len() {
        0 => "No constructor has another number or size of objects.",
        _ => {
            "Constructors that changed most (change of count, own size, retained size; count now):"
        }
    };
    lines.push(title.to_owned());
    lines.extend(
        changed
            .iter()
            .take(MAX_CLASSES)
            .map(|(name, (before, after))| {
                format!(
                    "- {name}: {}, {}, {}; {}",
                    change(before.count, after.count),
                    size_change(before.size, after.size),
                    size_change(before.retained, after.retained),
                    after.count
                )
            }),
    );
    lines
}

fn change(before: u64, after: u64) -> String {
    let sign = if after < before { '-' } else { '+' };
    format!("{sign}{}", after.abs_diff(before))
}

fn size_change(before: u64, after: u64) -> String {
    let sign = if after < before { '-' } else { '+' };
    format!("{sign}{}", size(after.abs_diff(before)))
}

/// Returns a size in the unit that fits.
#[expect(
    clippy::cast_precision_loss,
    reason = "a size is shown with two digits after the point"
)]
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.2} MB", bytes as f64 / 1e6),
    }
}
