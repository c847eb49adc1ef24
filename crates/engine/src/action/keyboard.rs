//! Keyboard actions on elements, and on the focused element.

use super::gesture::perform;
use super::{Tries, until_done};
use crate::backend::{FrameId, InputStep};
use crate::error::{Error, Result};
use crate::input::{Pressed, Shortcut, type_char};
use crate::locator::Locator;
use crate::page::Page;
use crate::progress::Progress;
use serde_json::json;
use std::time::Duration;

/// Returns the character that a key types, with or without modifiers; empty for other keys.
fn typed_by(key: &str) -> &str {
    let key = match key.rsplit_once('+') {
        Some((_, "")) => "+",
        Some((_, key)) => key,
        None => key,
    };
    match key.chars().count() {
        1 => key,
        _ => "",
    }
}

impl Locator {
    /// Focuses the element.
    pub async fn focus(&self, progress: &Progress) -> Result<()> {
        let mut tries = Tries::of(self, progress, "focus");
        self.focused(progress, &mut tries, false, "").await
    }

    /// Focuses the element and presses a key or shortcut: `Enter`, `a`, `Control+a`, `ControlOrMeta+Shift+ArrowLeft`.
    pub async fn press(&self, progress: &Progress, key: &str) -> Result<()> {
        let shortcut = Shortcut::parse(key)?;
        let mut tries = Tries::of(self, progress, "press");
        self.focused(progress, &mut tries, true, "").await?;
        self.page.register_typing(typed_by(key)).await;
        progress.run(self.page.press_shortcut(&shortcut)).await
    }

    /// Focuses the element and types the text key by key, with a pause after each.
    pub async fn press_sequentially(
        &self,
        progress: &Progress,
        text: &str,
        delay: Duration,
    ) -> Result<()> {
        let mut tries = Tries::of(self, progress, "type");
        self.focused(progress, &mut tries, true, text).await?;
        progress.run(self.page.type_keys(text, delay)).await
    }

    /// Focuses the element. `typing`: moves the caret of an input without focus to its start, as Playwright does. `text` is the text that
    /// will be typed: a password is registered before scripts of the page receive it.
    async fn focused(
        &self,
        progress: &Progress,
        tries: &mut Tries<'_>,
        typing: bool,
        text: &str,
    ) -> Result<()> {
        until_done!(tries, progress, {
            let argument = json!({ "typing": typing, "text": text, "origin": &self.origin });
            let _: (_, bool) = tries.find_and_call("focus", &argument, || None).await?;
            Ok(())
        })
    }
}

impl Page {
    /// Presses a key or shortcut on the focused element. Names are Playwright's: `a`, `Enter`, `ArrowLeft`, `Control+a`.
    pub async fn press(&self, progress: &Progress, key: &str) -> Result<()> {
        let shortcut = Shortcut::parse(key)?;
        self.register_typing(typed_by(key)).await;
        progress.run(self.press_shortcut(&shortcut)).await
    }

    /// Types the text key by key into the focused element; characters without a key are inserted.
    pub async fn type_text(&self, progress: &Progress, text: &str, delay: Duration) -> Result<()> {
        progress.run(self.type_keys(text, delay)).await
    }

    /// Presses a key without releasing it.
    pub async fn key_down(&self, progress: &Progress, key: &str) -> Result<()> {
        self.register_typing(typed_by(key)).await;
        let held = self.state().pressed.modifiers.clone();
        let step = Shortcut::parse(key)?.down(&held);
        progress.run(perform(self, &[step])).await
    }

    /// Releases a key.
    pub async fn key_up(&self, progress: &Progress, key: &str) -> Result<()> {
        let held = self.state().pressed.modifiers.clone();
        let step = Shortcut::parse(key)?.up(&held);
        progress.run(perform(self, &[step])).await
    }

    /// Releases all keys and buttons that are pressed.
    pub async fn release_input(&self, progress: &Progress) -> Result<()> {
        let steps = self.state().pressed.back_to(&Pressed::default());
        if steps.is_empty() {
            return Ok(());
        }
        progress.run(perform(self, &steps)).await
    }

    /// Inserts text into the focused element without key events, as an input method does.
    pub async fn insert_text(&self, progress: &Progress, text: &str) -> Result<()> {
        self.register_typing(text).await;
        let frames = self.frames().into_iter().map(|frame| frame.id);
        progress.run(self.insert(text, frames)).await
    }

    /// Inserts text into the focused element: that of the first of these frames, or if that is a frame itself, of the next ones.
    pub(super) async fn insert(
        &self,
        text: &str,
        frames: impl IntoIterator<Item = FrameId> + Send,
    ) -> Result<()> {
        if !self.backend.inserts_text() {
            let argument = json!({ "text": text.replace("\r\n", "\n") });
            for frame in frames {
                match self.call(&frame, "insertText", &argument).await {
                    // A handler of the input opened it.
                    Ok(Some(true)) | Err(Error::DialogOpen {}) => return Ok(()),
                    Ok(Some(false)) => break,
                    Ok(None) | Err(Error::DocumentGone {}) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        let text = text.to_owned();
        perform(self, &[InputStep::InsertText { text }]).await
    }

    async fn press_shortcut(&self, shortcut: &Shortcut) -> Result<()> {
        let held = self.state().pressed.modifiers.clone();
        perform(self, &shortcut.press(&held)).await
    }

    async fn type_keys(&self, text: &str, delay: Duration) -> Result<()> {
        let held = self.state().pressed.modifiers.clone();
        let text = text.replace("\r\n", "\n");
        self.register_typing(&text).await;
        if delay.is_zero() {
            let steps: Vec<_> = text.chars().flat_map(|c| type_char(c, &held)).collect();
            return if steps.is_empty() {
                Ok(())
            } else {
                perform(self, &steps).await
            };
        }
        for c in text.chars() {
            perform(self, &type_char(c, &held)).await?;
            tokio::time::sleep(delay).await;
        }
        Ok(())
    }
}
