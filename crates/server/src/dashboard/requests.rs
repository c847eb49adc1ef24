//! What the page of the dashboard requests: to show a session, to take it over and to use its browser.

use super::inputs::Input;
use super::uploads::{UPLOAD_TIMEOUT, UserFile};
use super::{Dashboard, Selection};
use crate::error::{Error, Result};
use engine::{Point, Progress};
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

/// How long the page of a session may take for one event of the mouse or keyboard.
const INPUT_TIMEOUT: Duration = Duration::from_secs(5);

/// The clicks of a triple click.
const MAX_CLICKS: u32 = 3;

/// A request of the page.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase")]
enum Request {
    /// Shows a session, and its current page or the one with that id.
    Show {
        session: String,
        page: Option<String>,
    },
    TakeOver {},
    HandBack {},
    /// Lets the user mark the shown page and write notes for the agent.
    Annotate {},
    /// Closes the shown session.
    Close {},
    /// Answers the dialog of the shown page.
    Dialog {
        accept: bool,
        text: Option<String>,
    },
    /// Gives files to the file chooser of the shown page. Their contents follow in binary messages, in this order.
    Upload {
        files: Vec<UserFile>,
    },
    /// Cancels the file chooser of the shown page.
    CancelFileChooser {},
    #[serde(untagged)]
    Input(Input),
}

impl Dashboard {
    /// Executes a request of the page. An error is sent to it as a notice.
    pub(crate) async fn on_request(&self, text: &str) {
        match serde_json::from_str(text) {
            Ok(request) => self.report(self.execute(request).await),
            Err(error) => tracing::debug!(%error, "an invalid request of the dashboard"),
        }
    }

    /// Executes the input that waits, until it is dropped.
    pub(crate) async fn execute_inputs(&self) {
        loop {
            let input = self.inputs.next().await;
            tokio::select! {
                biased;
                () = self.inputs.cleared() => {}
                outcome = self.input(input) => self.report(outcome),
            }
        }
    }

    pub(super) fn report(&self, outcome: Result<()>) {
        if let Err(error) = outcome {
            self.notify(&json!({ "error": error.to_string() }));
        }
    }

    async fn execute(&self, request: Request) -> Result<()> {
        match request {
            Request::Show { session, page } => {
                // A client may request any id: those of others are not found.
                self.server.owned_session(&self.principal, &session)?;
                let session = Some(session);
                self.select(Selection { session, page }).await;
                Ok(())
            }
            Request::TakeOver {} => self.take_over().await,
            Request::HandBack {} => self.hand_back().await,
            Request::Annotate {} => self.annotate().await,
            Request::Close {} => self.close_session().await,
            Request::Dialog { accept, text } => {
                let page = self.page_for_input(&self.selected()?)?;
                let progress = Progress::new(INPUT_TIMEOUT);
                let answered = page.answer_dialog(&progress, accept, text.as_deref());
                Ok(answered.await?)
            }
            Request::Upload { files } => self.begin_upload(files).await,
            Request::CancelFileChooser {} => self.cancel_file_chooser().await,
            // A movement that is dropped is followed by another one.
            Request::Input(Input::Move { x, y }) => {
                self.inputs.add(Input::Move { x, y });
                Ok(())
            }
            Request::Input(input) => self.add_input(input),
        }
    }

    pub(super) fn add_input(&self, input: Input) -> Result<()> {
        match self.inputs.add(input) {
            true => Ok(()),
            false => Err(Error::NotInProgress {
                reason: "The page does not accept input in time, so this input was dropped: wait and repeat it",
            }),
        }
    }

    async fn input(&self, input: Input) -> Result<()> {
        let page = self.begin_input().await?;
        let progress = Progress::new(INPUT_TIMEOUT);
        match input {
            Input::Move { x, y } => page.mouse_move(&progress, Point { x, y }).await?,
            Input::Down {
                x,
                y,
                button,
                count,
            } => {
                page.mouse_move(&progress, Point { x, y }).await?;
                // The click may send the form.
                page.register_typing("").await;
                page.mouse_down(&progress, button, count.clamp(1, MAX_CLICKS))
                    .await?;
            }
            Input::Up {
                x,
                y,
                button,
                count,
            } => {
                page.mouse_move(&progress, Point { x, y }).await?;
                page.mouse_up(&progress, button, count.clamp(1, MAX_CLICKS))
                    .await?;
            }
            Input::Files { paths } => {
                let progress = Progress::new(UPLOAD_TIMEOUT);
                page.answer_file_chooser(&progress, Some(&paths)).await?;
            }
            Input::Wheel { x, y, dx, dy } => {
                page.mouse_move(&progress, Point { x, y }).await?;
                page.mouse_wheel(&progress, dx, dy).await?;
            }
            // A key of another layout types its character.
            Input::KeyDown { key } => match page.key_down(&progress, &key).await {
                Err(engine::Error::UnknownKey { .. }) if key.chars().count() == 1 => {
                    page.insert_text(&progress, &key).await?;
                }
                Err(engine::Error::UnknownKey { .. }) => {}
                pressed => pressed?,
            },
            Input::KeyUp { key } => match page.key_up(&progress, &key).await {
                Err(engine::Error::UnknownKey { .. }) => {}
                released => released?,
            },
            Input::Text { text } => page.insert_text(&progress, &text).await?,
        }
        Ok(())
    }
}
