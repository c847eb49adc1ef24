//! The console messages of the page.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::ConsoleLevel;
use crate::error::Result;
use crate::sessions::session::{console_level, console_lines};
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<ConsoleMessages>()];

/// List console messages.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConsoleMessages {
    /// Least severe level to list.
    #[serde(default)]
    level: Level,
    /// Also those before the last navigation.
    all: Option<bool>,
    /// Save to this file instead.
    filename: Option<String>,
}

/// A severity; each includes those before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema, strum::Display,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
enum Level {
    Error,
    Warning,
    #[default]
    Info,
    Debug,
}

impl Tool for ConsoleMessages {
    const NAME: &'static str = "browser_console_messages";
    const TITLE: &'static str = "Get console messages";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Read;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let all = self.all.unwrap_or(false);
        let level = self.level.into();
        let messages: Vec<_> = tab
            .page
            .console(0)
            .into_iter()
            .filter(|entry| all || entry.current)
            .filter(|entry| console_level(entry.message.kind) <= level)
            .map(|entry| entry.message)
            .collect();
        let lines = console_lines(call, &tab.page, messages).await;
        let counts = match all {
            true => tab.page.all_console_counts(),
            false => tab.page.console_counts(),
        };
        let mut text = format!(
            "Total messages: {} (Errors: {}, Warnings: {})",
            counts.total, counts.errors, counts.warnings
        );
        if lines.len() != counts.total {
            let (count, level) = (lines.len(), self.level);
            text += &format!("\nReturning {count} messages for level \"{level}\"");
        }
        text += "\n";
        for line in lines {
            text.push('\n');
            text += &line;
        }
        tab.text_or_file(call, text, self.filename.as_deref(), "Console")
            .await
    }
}

impl From<Level> for ConsoleLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Error => Self::Error,
            Level::Warning => Self::Warning,
            Level::Info => Self::Info,
            Level::Debug => Self::Debug,
        }
    }
}
