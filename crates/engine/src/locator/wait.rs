//! Waiting until an element is attached, detached, visible or hidden, or until a text is shown or gone.

use super::{Locator, States};
use crate::error::{Error, Result};
use crate::page::Page;
use crate::progress::Progress;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// The state to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[expect(missing_docs, reason = "their names are Playwright's")]
pub enum WaitFor {
    Attached,
    Detached,
    Visible,
    Hidden,
}

/// The longest interval between checks, for changes that do not change the document, such as a loaded style sheet.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The interval between the calls of a function that is waited for.
const FUNCTION_INTERVAL: Duration = Duration::from_millis(50);

impl Locator {
    /// Waits until the state holds; checks it again after each change of the document.
    pub async fn wait_for(&self, progress: &Progress, wanted: WaitFor) -> Result<()> {
        progress.log(format!("waiting for {self} to be {wanted}"));
        progress
            .run(async {
                loop {
                    let (attached, visible) = self.check_visibility().await?;
                    let holds = match wanted {
                        WaitFor::Attached => attached,
                        WaitFor::Detached => !attached,
                        WaitFor::Visible => visible,
                        WaitFor::Hidden => !visible,
                    };
                    if holds {
                        return Ok(());
                    }
                    self.page.wait_for_change().await?;
                }
            })
            .await
    }

    async fn check_visibility(&self) -> Result<(bool, bool)> {
        let seen = match self.find_and_call("states", &json!({})).await {
            Ok((_, states)) => states.map(|states: States| (true, states.visible)),
            Err(error) => Err(error),
        };
        match seen {
            Err(Error::StaleRef { .. }) => Ok((false, false)),
            Err(error) if error.transient() => Ok((false, false)),
            seen => seen,
        }
    }
}

impl Page {
    /// Waits until the main document shows one of `shown`, in an element or as the value of a field, or does not show one of `gone`. Returns
    /// the text, which is the first of those that are shown, otherwise of those that are gone.
    pub async fn wait_for_text<'a>(
        &self,
        progress: &Progress,
        shown: &[&'a str],
        gone: &[&'a str],
    ) -> Result<&'a str> {
        for (texts, state) in [(shown, WaitFor::Visible), (gone, WaitFor::Hidden)] {
            for text in texts {
                let locator = format!("getByText({})", crate::selector::quote(text));
                progress.log(format!("waiting for {locator}.first() to be {state}"));
            }
        }
        let texts: Vec<_> = shown.iter().chain(gone).copied().collect();
        let argument = json!({ "texts": texts });
        progress
            .run(async {
                loop {
                    let main = self.main_frame();
                    if self.state().is_blocked_by_dialog() {
                        return Err(Error::DialogOpen {});
                    }
                    match self.call::<Vec<bool>>(&main, "shown", &argument).await {
                        Ok(are_shown) => {
                            let mut found = texts.iter().zip(are_shown).enumerate();
                            let holds = |(index, (_, is_shown)): &(usize, (_, bool))| {
                                *is_shown == (*index < shown.len())
                            };
                            if let Some((_, (text, _))) = found.find(holds) {
                                return Ok(*text);
                            }
                        }
                        Err(error) if error.transient() => {}
                        Err(error) => return Err(error),
                    }
                    self.wait_for_change().await?;
                }
            })
            .await
    }

    /// Evaluates an expression in the main document until its value is truthy: a function is called, a promise awaited. Another document
    /// may replace the first one meanwhile. Fails with the exception of the expression.
    pub async fn wait_for_function(&self, progress: &Progress, expression: &str) -> Result<()> {
        progress.log("waiting for the function to return a truthy value");
        let condition = format!(
            "async () => {{ const value = (\n{expression}\n); return Boolean(await (typeof value === 'function' ? value() : value)); }}"
        );
        progress
            .run(async {
                loop {
                    let main = self.main_frame();
                    match self.run_script(&main, &condition, None).await {
                        Ok(Some(Value::Bool(true))) => return Ok(()),
                        Ok(_) | Err(Error::DocumentGone {}) => {}
                        Err(error) => return Err(error),
                    }
                    tokio::time::sleep(FUNCTION_INTERVAL).await;
                }
            })
            .await
    }

    /// Waits for the next change of the main frame's document, or the interval.
    pub(super) async fn wait_for_change(&self) -> Result<()> {
        let main = self.main_frame();
        let limit = u64::try_from(POLL_INTERVAL.as_millis()).unwrap_or(u64::MAX);
        let argument = json!({ "limit": limit });
        let change = self.call::<()>(&main, "nextChange", &argument);
        match tokio::time::timeout(POLL_INTERVAL, change).await {
            Ok(Err(Error::DocumentGone {})) => {
                tokio::time::sleep(Duration::from_millis(20)).await;
                Ok(())
            }
            Ok(Err(error)) => Err(error),
            _ => Ok(()),
        }
    }
}
