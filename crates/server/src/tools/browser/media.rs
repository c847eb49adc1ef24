//! Emulating media features.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::error::{Error, Result};
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use crate::tools::tool::{Nullable, nullable, present};
use engine::codegen::javascript::string as quote;
use engine::codegen::{Argument, Language, Receiver, Statement};
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
pub(super) enum ReducedMotion {
    Reduce,
    NoPreference,
}

/// `forced-colors`
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub(super) enum ForcedColors {
    Active,
    None,
}

/// `prefers-contrast`
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Contrast {
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
    const PERMISSION: Permission = Permission::Act;
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        let mut features = tab.page.media();
        let mut shown = Vec::new();
        set(
            &mut features.color_scheme,
            "colorScheme",
            self.color_scheme,
            &mut shown,
        );
        set(
            &mut features.contrast,
            "contrast",
            self.contrast,
            &mut shown,
        );
        set(
            &mut features.forced_colors,
            "forcedColors",
            self.forced_colors,
            &mut shown,
        );
        set(&mut features.media, "media", self.media, &mut shown);
        set(
            &mut features.reduced_motion,
            "reducedMotion",
            self.reduced_motion,
            &mut shown,
        );
        if shown.is_empty() {
            return Err(Error::Arguments {
                reason: "Specify at least one media feature to emulate.".into(),
                parameters: &[],
                missing: &[
                    "media",
                    "colorScheme",
                    "reducedMotion",
                    "forcedColors",
                    "contrast",
                ],
                bare: false,
            });
        }
        tab.page.emulate_media(&call.action(), features).await?;
        Ok(with_media_code(Reply::default(), call.language(), &shown))
    }
}

/// Adds the code that emulates media features to a reply. A feature without a value is reset.
pub(super) fn with_media_code(
    reply: Reply,
    language: Language,
    features: &[(&'static str, Option<&str>)],
) -> Reply {
    let texts: Vec<_> = features
        .iter()
        .map(|(name, value)| match value {
            Some(value) => format!("{name}: {}", quote(value)),
            None => format!("{name}: null"),
        })
        .collect();
    let code = format!("await page.emulateMedia({{ {} }});", texts.join(", "));
    let statement = Statement::new(Receiver::Page, "emulateMedia");
    let statement = features.iter().fold(statement, |statement, (name, value)| {
        let class = match *name {
            "colorScheme" => "ColorScheme",
            "contrast" => "Contrast",
            "forcedColors" => "ForcedColors",
            "media" => "Media",
            _ => "ReducedMotion",
        };
        let value = value.unwrap_or("null").to_owned();
        statement.option(name, Some(Argument::Choice { class, value }))
    });
    reply.and_statements(language, code, [statement])
}

/// Sets a media feature if the call has a value for it, and adds it to the options of the generated code.
fn set<T: Into<&'static str>>(
    feature: &mut Option<String>,
    name: &'static str,
    value_or_null: Option<Nullable<T>>,
    shown: &mut Vec<(&'static str, Option<&'static str>)>,
) {
    let Some(Nullable(value_or_null)) = value_or_null else {
        return;
    };
    let value = value_or_null.map(Into::into);
    shown.push((name, value));
    *feature = value.map(str::to_owned);
}
