//! Filling several fields at once.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::error::{Error, ErrorCode, Result};
use crate::tools::scope::{CurrentTab, Found};
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::{Action, Typed};
use engine::{Locator, Progress, Selector};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::VecDeque;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<FillForm>()];

/// Fill several form fields.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FillForm {
    /// The fields, in order.
    fields: Vec<Field>,
}

/// A field and its value.
#[derive(Deserialize, JsonSchema)]
struct Field {
    /// What the element is, for people.
    #[expect(dead_code, reason = "for users who follow the calls")]
    element: Option<String>,
    /// Ref from the snapshot, or a selector that matches one element.
    target: String,
    /// Name of the field, for people.
    #[expect(dead_code, reason = "for users who follow the calls")]
    name: String,
    /// Kind of field.
    #[serde(rename = "type")]
    kind: FieldKind,
    /// Text; true or false for checkbox and radio; the option for combobox.
    value: String,
}

/// What kind of field it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum FieldKind {
    Textbox,
    Checkbox,
    Radio,
    Combobox,
    Slider,
}

impl Tool for FillForm {
    const NAME: &'static str = "browser_fill_form";
    const TITLE: &'static str = "Fill form";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const NOT_READY: ErrorCode = ErrorCode::ElementNotEditable;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let mut reply = Reply::default();
        // All targets are resolved first. An error is returned when it is the turn of its field, after the fields before it were filled.
        let targets: Vec<_> = self.fields.iter().map(|field| &*field.target).collect();
        let mut found = VecDeque::new();
        for (field, target) in self.fields.iter().zip(tab.find_all(call, &targets).await) {
            match field.typed(&tab, call, target).await {
                // No field is filled if a secret is not allowed in one of them.
                Err(error @ Error::SecretNotAllowedHere { .. }) => return Err(error),
                typed => found.push_back(typed),
            }
        }
        let mut failure = None;
        let filling = async {
            failure = self.fill_all(&tab, call, found, &mut reply).await.err();
            Ok(())
        };
        tab.act_briefly(call, filling).await?;
        match failure {
            Some(error) => Err(error),
            None => Ok(reply.and_changes()),
        }
    }
}

impl FillForm {
    /// Fills the fields one by one. The reply gets the code, and the error if a dialog opens.
    async fn fill_all(
        &self,
        tab: &CurrentTab,
        call: &Call,
        mut found: VecDeque<Result<ResolvedField>>,
        reply: &mut Reply,
    ) -> Result<()> {
        let mut filled_ahead = 0;
        for (index, field) in self.fields.iter().enumerate() {
            if filled_ahead == 0 {
                filled_ahead = fill_texts(tab, call, &self.fields[index..], &found).await;
            }
            let Some(found) = found.pop_front() else {
                break;
            };
            let filled = match filled_ahead.checked_sub(1) {
                Some(left) => {
                    filled_ahead = left;
                    found.map(|typed| field.action(typed.shown, typed.value_shown))
                }
                None => field.fill(call, found).await,
            };
            match filled {
                Ok(action) => {
                    *reply = std::mem::take(reply).and_action(call.language(), &action);
                }
                // The answer contains the fields that were filled before the dialog opened.
                Err(error) if error.is_dialog() => {
                    reply.error = Some(error);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// A field with its locator, and the value to type.
struct ResolvedField {
    locator: Locator,
    shown: Selector,
    value: String,
    value_shown: Typed,
}

/// Fills the text fields at the beginning at once, up to the first one that is not ready. Returns the number of fields that were filled.
async fn fill_texts(
    tab: &CurrentTab,
    call: &Call,
    fields: &[Field],
    found: &VecDeque<Result<ResolvedField>>,
) -> usize {
    let texts = fields.iter().zip(found).map_while(|(field, found)| {
        let is_text = matches!(field.kind, FieldKind::Textbox | FieldKind::Slider);
        let found = found.as_ref().ok().filter(|_| is_text)?;
        Some((&found.locator, found.value.as_str()))
    });
    let texts: Vec<_> = texts.collect();
    match texts.as_slice() {
        [] | [_] => 0,
        texts => tab.page.fill_row(&call.action(), texts).await,
    }
}

impl Field {
    async fn typed(
        &self,
        tab: &CurrentTab,
        call: &Call,
        found: Result<Found>,
    ) -> Result<ResolvedField> {
        let Found { locator, shown } = found?;
        let (locator, value, value_shown) = tab.typed(call, locator, &self.value).await?;
        Ok(ResolvedField {
            locator,
            shown,
            value,
            value_shown,
        })
    }

    async fn fill(&self, call: &Call, found: Result<ResolvedField>) -> Result<Action> {
        let found = found?;
        self.set_value(&found.locator, &call.action(), &found.value)
            .await?;
        Ok(self.action(found.shown, found.value_shown))
    }

    async fn set_value(
        &self,
        locator: &Locator,
        progress: &Progress,
        text: &str,
    ) -> engine::Result<()> {
        match self.kind {
            FieldKind::Textbox | FieldKind::Slider => locator.fill(progress, text).await,
            FieldKind::Checkbox | FieldKind::Radio => {
                locator.set_checked(progress, self.is_checked()).await
            }
            FieldKind::Combobox => {
                let values = [self.value.clone()];
                locator.select_options(progress, &values).await.map(drop)
            }
        }
    }

    fn action(&self, locator: Selector, typed: Typed) -> Action {
        match self.kind {
            FieldKind::Textbox | FieldKind::Slider => Action::Fill {
                locator,
                value: typed,
            },
            FieldKind::Checkbox | FieldKind::Radio => Action::SetChecked {
                locator,
                checked: self.is_checked(),
            },
            FieldKind::Combobox => Action::SelectOption {
                locator,
                values: vec![self.value.clone()],
            },
        }
    }

    fn is_checked(&self) -> bool {
        self.value == "true"
    }
}
