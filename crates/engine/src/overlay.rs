//! What is drawn over a page for those who watch a video of it: its actions with a pointer, and chapters. Pages can see that the overlay
//! exists, and not its content; it changes neither snapshots nor the hit targets of actions.

use crate::backend::Point;
use crate::error::Result;
use crate::injected::OVERLAY;
use crate::locator::Rect;
use crate::page::Page;
use crate::progress::Progress;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What is drawn for an action.
#[derive(Debug, Clone, Serialize)]
pub struct ActionOverlay<'a> {
    /// The text about the action.
    pub title: &'a str,
    /// The corner or edge of the title, such as `top-right`.
    pub position: &'a str,
    /// The element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rect: Option<Rect>,
    /// The point of the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Point>,
    /// Whether a pointer moves to the point.
    pub cursor: bool,
    /// How long title and styles are shown, in milliseconds.
    pub duration: u64,
    /// The styles.
    pub style: &'a ActionStyle,
}

/// CSS declarations for the parts of an action. An element without declarations for it is not highlighted, nor is a point.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ActionStyle {
    /// The style of the point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub point: Option<String>,
    /// The style of a box around the element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highlight: Option<String>,
    /// The style of the title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// A card with the title of a chapter.
#[derive(Debug, Clone, Serialize)]
pub struct ChapterOverlay<'a> {
    /// The title.
    pub title: &'a str,
    /// A text below the title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<&'a str>,
    /// How long the card is shown, in milliseconds.
    pub duration: u64,
}

impl Page {
    /// Draws an action, and returns at once.
    pub async fn show_action(&self, progress: &Progress, action: &ActionOverlay<'_>) -> Result<()> {
        self.draw(progress, &format!("action({})", json!(action)))
            .await
    }

    /// Draws a chapter, and returns at once.
    pub async fn show_chapter(
        &self,
        progress: &Progress,
        chapter: &ChapterOverlay<'_>,
    ) -> Result<()> {
        self.draw(progress, &format!("chapter({})", json!(chapter)))
            .await
    }

    /// Removes everything that was drawn.
    pub async fn hide_overlay(&self, progress: &Progress) -> Result<()> {
        self.draw(progress, "hide()").await
    }

    async fn draw(&self, progress: &Progress, call: &str) -> Result<()> {
        let script = format!(
            "if (!globalThis.__playhouseOverlay) {{\n{OVERLAY}\n}}\n__playhouseOverlay.{call};"
        );
        let frame = self.main_frame();
        let drawn = self.unless_interrupted(self.backend.inject_script(&frame, &script));
        progress.run(drawn).await
    }
}
