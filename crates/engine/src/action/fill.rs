//! Filling fields, and setting checkboxes.

use super::aim::{ActionabilityState, FailedCheck, join_states};
use super::gesture::perform;
use super::{Click, Tries, until_done};
use crate::backend::FrameId;
use crate::error::{Error, Obstacle, Result};
use crate::input::Shortcut;
use crate::locator::{Checked, Element, Locator, States};
use crate::page::Page;
use crate::progress::Progress;
use futures_util::{FutureExt as _, StreamExt as _};
use serde::Deserialize;
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The reason why an element does not support the action.
#[derive(Debug, Deserialize)]
#[serde(tag = "mismatch", rename_all = "camelCase")]
pub(super) enum Mismatch {
    Kind {
        tag: String,
        #[serde(rename = "type")]
        kind: Option<String>,
    },
    Number,
    Malformed {
        #[serde(rename = "type")]
        kind: String,
    },
}

/// The result of the page function `fill`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Filled {
    Done { done: Done },
    Lacks { lacks: FailedCheck },
    Mismatch(Mismatch),
}

#[derive(Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
enum Done {
    Settable,
    Set,
    /// A range is a step below the value, to which a key raises it.
    Raise,
    /// A range is a step above the value.
    Lower,
    Selected,
    /// An earlier field of the row was not filled.
    Skipped,
}

/// The largest number of concurrent fills of a row; all after the first field that must be waited for are in vain.
const MAX_CONCURRENT_FILLS: usize = 4;

/// How often an editor is asked whether it has rendered input, and the time between.
const RENDERING_POLLS: u32 = 10;
const RENDERING_POLL: Duration = Duration::from_millis(50);

const FILLABLE: &[ActionabilityState] = &[
    ActionabilityState::Visible,
    ActionabilityState::Enabled,
    ActionabilityState::Editable,
];

impl Page {
    /// Fills as many of these fields, from the first one on, as can be filled at once; returns how many. The rest is for [`Locator::fill`],
    /// which waits and reports errors.
    ///
    /// Each command is sent before the previous results arrive, and the page skips it if one of those fields was not filled.
    pub async fn fill_row(
        &self,
        progress: &Progress,
        fields: &[(&Locator, impl AsRef<str>)],
    ) -> usize {
        static ROWS: AtomicU64 = AtomicU64::new(1);
        if self.state().is_blocked_by_dialog() {
            return 0;
        }
        let row = ROWS.fetch_add(1, Ordering::Relaxed);
        let ask = |(index, (locator, value)): (usize, &(&Locator, _))| {
            let locator = (*locator).clone();
            let turn = json!({ "row": row, "index": index });
            let value = AsRef::<str>::as_ref(value);
            let argument = json!({ "value": value, "turn": turn, "origin": &locator.origin });
            async move { locator.find_and_call("fill", &argument).await }.boxed()
        };
        let each: Vec<_> = fields.iter().enumerate().map(ask).collect();
        let mut answers = futures_util::stream::iter(each).buffered(MAX_CONCURRENT_FILLS);
        let mut filled = 0;
        let filling = async {
            while let Some(answer) = answers.next().await {
                match answer {
                    Ok((_, Ok(Filled::Done { done: Done::Set }))) => filled += 1,
                    // A handler of the field opened it.
                    Err(Error::DialogOpen {}) => {
                        filled += 1;
                        break;
                    }
                    _ => break,
                }
            }
            Ok(())
        };
        // The error is reported by the fill of the rest.
        let _ = progress.run(filling).await;
        filled
    }
}

impl Locator {
    /// Replaces the value of a field, or the content of an editable element, once it is visible, enabled and editable.
    ///
    /// Text is inserted as input, replacing the content; a date, time, colour or range is set, with its events, a range by a key at last.
    pub async fn fill(&self, progress: &Progress, value: &str) -> Result<()> {
        let mut tries = Tries::of(self, progress, "fill");
        until_done!(tries, progress, {
            let waiting = || {
                Some(format!(
                    "waiting for element to be {}",
                    join_states(FILLABLE)
                ))
            };
            let argument = json!({ "value": value, "origin": &self.origin });
            let free = !self.page.state().is_blocked_by_dialog();
            let (element, filled) = match tries.find_and_call("fill", &argument, waiting).await {
                // A handler of the field opened it.
                Err(Error::DialogOpen {}) if free => return Ok(()),
                asked => asked?,
            };
            match filled {
                Filled::Done { done: Done::Set } => Ok(()),
                Filled::Done {
                    done: Done::Settable,
                } => {
                    let argument = json!({ "value": value, "set": true });
                    match element.call("fill", argument).await {
                        Ok(Filled::Lacks { lacks }) => Err(element.not_actionable(lacks.into())),
                        Ok(Filled::Mismatch(mismatch)) => Err(not_fillable_error(self, &mismatch)),
                        Ok(Filled::Done { done: Done::Raise }) => {
                            self.step(&element, "ArrowUp", value).await
                        }
                        Ok(Filled::Done { done: Done::Lower }) => {
                            self.step(&element, "ArrowDown", value).await
                        }
                        // A change handler opened it.
                        Ok(Filled::Done { .. }) | Err(Error::DialogOpen {}) => Ok(()),
                        Err(error) => Err(error),
                    }
                }
                Filled::Done { .. } => {
                    if value.is_empty() {
                        perform(&self.page, &Shortcut::parse("Delete")?.press(&[])).await?;
                    } else {
                        self.page.insert(value, [element.frame.clone()]).await?;
                    }
                    if self.is_discarded(&element.frame, value).await {
                        let reason = "The page has discarded the text: it handles keys itself. Type with key presses instead";
                        return Err(not_editable_error(self, reason.to_owned()));
                    }
                    Ok(())
                }
                Filled::Lacks { lacks } => Err(element.not_actionable(lacks.into())),
                Filled::Mismatch(mismatch) => Err(not_fillable_error(self, &mismatch)),
            }
        })
    }

    /// Moves a range by its last step with a key, as a user does, and sets the value if the page moves it otherwise.
    async fn step(&self, element: &Element, key: &str, value: &str) -> Result<()> {
        match perform(&self.page, &Shortcut::parse(key)?.press(&[])).await {
            Err(Error::DialogOpen {}) => return Ok(()),
            pressed => pressed?,
        }
        let argument = json!({ "value": value, "set": true, "exact": true });
        // A handler may have removed or disabled the field.
        let _: Result<Filled> = element.call("fill", argument).await;
        Ok(())
    }

    /// Returns whether an editor has restored the text that was replaced. It may render the new one a moment later.
    async fn is_discarded(&self, frame: &FrameId, value: &str) -> bool {
        let argument = json!({ "value": value });
        for _ in 0..RENDERING_POLLS {
            // Without an answer, a handler opened a dialog or left the page.
            let is_discarded = self.page.call(frame, "discarded", &argument).await;
            if !is_discarded.unwrap_or(false) {
                return false;
            }
            tokio::time::sleep(RENDERING_POLL).await;
        }
        true
    }

    /// Waits until text can be typed into the element: visible, enabled, and editable.
    pub async fn wait_until_editable(&self, progress: &Progress) -> Result<()> {
        let mut tries = Tries::of(self, progress, "type");
        until_done!(tries, progress, {
            let element = tries.element().await?;
            let states = element.states().await?;
            let lacks = match states {
                States { visible: false, .. } => Obstacle::NotVisible,
                States { enabled: false, .. } => Obstacle::NotEnabled,
                States {
                    editable: Some(false),
                    ..
                } => Obstacle::NotEditable,
                States {
                    editable: Some(true),
                    ..
                } => return Ok(()),
                States { editable: None, .. } => {
                    return Err(not_editable_error(
                        self,
                        format!("{} takes no text", element.preview()),
                    ));
                }
            };
            Err(element.not_actionable(lacks))
        })
    }

    /// Checks or unchecks a checkbox, radio button or switch by clicking it, unless it has that state already.
    pub async fn set_checked(&self, progress: &Progress, checked: bool) -> Result<()> {
        let action = if checked { "check" } else { "uncheck" };
        let mut tries = Tries::of(self, progress, action);
        let (is, radio) = until_done!(tries, progress, {
            let asked = tries.find_and_call("states", &json!({}), || None).await?;
            let (_, states): (_, States) = asked;
            states
                .checked
                .map(|is| (is, states.radio))
                .ok_or_else(|| self.mismatch("Not a checkbox or radio button"))
        })?;
        if is == Checked::Is(checked) {
            return Ok(());
        }
        if radio && !checked {
            return Err(self.mismatch(
                "Cannot uncheck radio button. Radio buttons can only be unchecked by selecting another radio button in the same group.",
            ));
        }
        self.click(progress, &Click::default()).await?;
        match progress.run(self.checked_state()).await {
            Ok(Some(is)) if is != Checked::Is(checked) => {
                Err(self.mismatch("Clicking the checkbox did not change its state"))
            }
            // It has that state, or was removed, or the click opened a dialog.
            Ok(_) | Err(Error::DialogOpen {} | Error::StaleRef { .. }) => Ok(()),
            Err(error) if error.transient() => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn checked_state(&self) -> Result<Option<Checked>> {
        let element: Element = self.find().await?;
        Ok(element.states().await?.checked)
    }

    pub(super) fn mismatch(&self, reason: impl Into<String>) -> Error {
        Error::ElementMismatch {
            selector: self.to_string(),
            reason: reason.into(),
        }
    }
}

fn not_fillable_error(locator: &Locator, mismatch: &Mismatch) -> Error {
    locator.mismatch(match mismatch {
        Mismatch::Kind {
            kind: Some(kind), ..
        } => {
            return not_editable_error(locator, format!("Input of type \"{kind}\" cannot be filled"));
        }
        Mismatch::Kind { tag, kind: None } => {
            let reason = format!(
                "Element is not an <input>, <textarea>, <select> or [contenteditable] element, but a <{tag}>"
            );
            return not_editable_error(locator, reason);
        }
        Mismatch::Number => "Cannot type text into input[type=number]".to_owned(),
        Mismatch::Malformed { kind } => format!("Malformed value for an input of type \"{kind}\": {}", form(kind)),
    })
}

fn not_editable_error(locator: &Locator, reason: String) -> Error {
    Error::TakesNoText {
        selector: locator.to_string(),
        reason,
    }
}

/// Returns the value format of an input type.
fn form(kind: &str) -> &'static str {
    match kind {
        "date" => "expected YYYY-MM-DD",
        "time" => "expected HH:MM",
        "datetime-local" => "expected YYYY-MM-DDTHH:MM",
        "month" => "expected YYYY-MM",
        "week" => "expected YYYY-Www, e.g. 2026-W07",
        "color" => "expected #rrggbb",
        _ => "expected a number between its min and max, on one of its steps",
    }
}
