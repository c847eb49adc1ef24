//! The media features that pages see.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::reply::Reply;
use crate::scope::Tab;
use crate::tool::{Effect, Tool, ToolDef};
use crate::tool::{Nullable, nullable, present};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<EmulateMedia>()];

/// Emulate CSS media features; null resets one.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EmulateMedia {
    /// prefers-color-scheme.
    #[serde(default, deserialize_with = "present")]
    #[schemars(schema_with = "nullable::<ColorScheme>")]
    color_scheme: Option<Nullable<ColorScheme>>,
    /// prefers-reduced-motion.
    #[serde(default, deserialize_with = "present")]
    #[schemars(schema_with = "nullable::<ReducedMotion>")]
    reduced_motion: Option<Nullable<ReducedMotion>>,
    /// forced-colors.
    #[serde(default, deserialize_with = "present")]
    #[schemars(schema_with = "nullable::<ForcedColors>")]
    forced_colors: Option<Nullable<ForcedColors>>,
    /// prefers-contrast.
    #[serde(default, deserialize_with = "present")]
    #[schemars(schema_with = "nullable::<Contrast>")]
    contrast: Option<Nullable<Contrast>>,
    /// Media type.
    #[serde(default, deserialize_with = "present")]
    #[schemars(schema_with = "nullable::<Media>")]
    media: Option<Nullable<Media>>,
}

/// `prefers-color-scheme`
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
enum ColorScheme {
    Light,
    Dark,
}

/// `prefers-reduced-motion`
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
enum ReducedMotion {
    Reduce,
    NoPreference,
}

/// `forced-colors`
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
enum ForcedColors {
    Active,
    None,
}

/// `prefers-contrast`
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
enum Contrast {
    More,
    NoPreference,
}

/// `@media`
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
enum Media {
    Screen,
    Print,
}

impl Tool for EmulateMedia {
    const NAME: &'static str = "browser_emulate_media";
    const TITLE: &'static str = "Emulate media features";
    const EFFECT: Effect = Effect::Acts;
    type Scope = Tab;

    async fn run(self, _on: Tab, _call: &Call) -> Result<Reply> {
        Err(Error::Internal {
            tool: Self::NAME,
            reason: "not built yet".into(),
        })
    }
}
