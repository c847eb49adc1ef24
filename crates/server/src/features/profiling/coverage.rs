//! Coverage of scripts and style sheets.

use super::heap::size;
use super::performance::recording_error;
use crate::access::principal::Permission;
use crate::answers::reply::{Part, Reply};
use crate::calls::Call;
use crate::config::Capability;
use crate::error::Result;
use crate::tools::scope::TabInAnyState;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::{CoveredFile, Feature, SourceKind};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Coverage>()];

/// The largest number of files in an answer.
const MAX_FILES: usize = 20;

/// Measure JS and CSS coverage; stop saves it as lcov.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Coverage {
    action: CoverageAction,
    /// File to write.
    filename: Option<String>,
}

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum CoverageAction {
    Start,
    Stop,
}

impl Tool for Coverage {
    const NAME: &'static str = "browser_coverage";
    const TITLE: &'static str = "Code coverage";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    const CAPABILITY: Option<Capability> = Some(Capability::Performance);
    type Scope = TabInAnyState;
    type Output = Reply;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Reply> {
        tab.require(Feature::Coverage)?;
        if self.action == CoverageAction::Start {
            let started = tab.page.start_coverage(&call.action()).await;
            started.map_err(|error| {
                recording_error(error, "Coverage is being measured already. Stop it first.")
            })?;
            return Ok(Reply::text("Coverage is being measured."));
        }
        let files = tab.files(call).await;
        // Fails before the measurement ends if the file must not be written.
        let named = self.filename.as_deref();
        let named = named.map(|name| files.writable(name)).transpose()?;
        let stopped = tab.page.stop_coverage(&call.navigation()).await;
        let report = stopped.map_err(|error| {
            recording_error(error, "Coverage is not being measured. Start it first.")
        })?;
        let file = match named {
            Some(file) => file,
            None => files.automatic("coverage", "lcov").await?,
        };
        files.write(&file, report.lcov).await?;
        let mut lines: Vec<_> = report.files.iter().take(MAX_FILES).map(line).collect();
        if report.files.len() > MAX_FILES {
            lines.push(format!("{} more files", report.files.len() - MAX_FILES));
        }
        if lines.is_empty() {
            lines.push("The page has no scripts and no style sheets.".to_owned());
        }
        Ok(Reply::default()
            .and(Part::File {
                title: "Coverage".to_owned(),
                link: file.link,
            })
            .and(Part::Page(lines.join("\n"))))
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a share is shown with one digit after the point"
)]
fn line(file: &CoveredFile) -> String {
    let kind = match file.kind {
        SourceKind::Script => "js",
        SourceKind::StyleSheet => "css",
    };
    let share = 100.0 * file.used as f64 / file.length.max(1) as f64;
    let length = size(file.length as u64);
    format!("- {kind} {}: {share:.1} % of {length} used", file.url)
}
