//! Changing what a running session emulates.

use super::media::{Contrast, ForcedColors, ReducedMotion, with_media_code};
use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::{Capability, ContextSettings};
use crate::error::{Error, Problem, Result};
use crate::sessions::EmulationOptions;
use crate::tools::scope::TabInAnyState;
use crate::tools::tool::{Arguments, Effect, Tool, ToolDef};
use engine::codegen::javascript::string as quote;
use engine::codegen::{Argument, Language, Receiver, Statement};
use engine::{ContextOptions, EmulatedOption, Geolocation, Viewport, user_agent_of};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;

pub(super) const TOOLS: &[ToolDef] = &[ToolDef::of::<Emulate>()];

/// The parameters as they are given, because `null` is another value than none, and because they are kept.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Emulate(Arguments);

/// Change what the session emulates; null resets to what it was created with.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Parameters {
    #[serde(flatten)]
    session: EmulationOptions,
    /// prefers-reduced-motion.
    reduced_motion: Option<ReducedMotion>,
    /// prefers-contrast.
    contrast: Option<Contrast>,
    /// forced-colors.
    forced_colors: Option<ForcedColors>,
    /// Touch screen.
    touch: Option<bool>,
}

impl JsonSchema for Emulate {
    fn schema_name() -> Cow<'static, str> {
        "Emulate".into()
    }

    /// Returns the schema of the parameters, each of which can be `null`.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Parameters::json_schema(generator);
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        for property in properties.into_iter().flat_map(|all| all.values_mut()) {
            let mut value = property.take();
            let description = value
                .as_object_mut()
                .and_then(|it| it.remove("description"));
            *property = json!({ "anyOf": [value, { "type": "null" }] });
            if let Some(description) = description {
                property["description"] = description;
            }
        }
        schema
    }
}

impl Tool for Emulate {
    const NAME: &'static str = "browser_emulate";
    const TITLE: &'static str = "Emulate";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Act;
    const CAPABILITY: Option<Capability> = Some(Capability::Devtools);
    type Scope = TabInAnyState;
    type Output = Reply;

    async fn run(self, tab: TabInAnyState, call: &Call) -> Result<Reply> {
        let tabs = tab.session.open_tabs();
        let tabs = tabs.ok_or(engine::Error::PageClosed {})?;
        let context = tab.context()?;
        let mut parameters = tabs.emulated().clone();
        let mut changed = Vec::new();
        for (name, value) in self.0 {
            // Models send empty strings for parameters that they leave out.
            if value == "" {
                continue;
            }
            changed.extend(changed_by(&name));
            match value {
                Value::Null => drop(parameters.shift_remove(&name)),
                value => drop(parameters.insert(name, value)),
            }
        }
        let product = tabs.open().browser.product();
        let settings = &tab.session.settings().context;
        let options = options(settings, context.options(), &parameters, product)?;
        let emulated = context.emulate(&call.action(), &options, &changed).await;
        emulated.map_err(|error| with_parameter(error.into()))?;
        let shown: Vec<_> = parameters.iter().map(shown).collect();
        tabs.emulated().clone_from(&parameters);
        let reply = Reply::text(match shown.as_slice() {
            [] => "Nothing is emulated beside the options of the session".to_owned(),
            shown => format!("Emulated: {}", shown.join(", ")),
        });
        Ok(with_code(reply, call.language(), &options, &changed))
    }
}

/// Returns the options that a parameter changes.
fn changed_by(parameter: &str) -> &'static [EmulatedOption] {
    use EmulatedOption as O;
    match parameter {
        "device" => &[O::Viewport, O::UserAgent],
        "viewport" | "touch" => &[O::Viewport],
        "userAgent" => &[O::UserAgent],
        "locale" => &[O::Locale],
        "timezone" => &[O::TimeZone],
        "colorScheme" => &[O::ColorScheme],
        "reducedMotion" => &[O::ReducedMotion],
        "contrast" => &[O::Contrast],
        "forcedColors" => &[O::ForcedColors],
        "geolocation" => &[O::Geolocation],
        "permissions" => &[O::Permissions],
        "extraHeaders" => &[O::ExtraHeaders],
        "httpCredentials" => &[O::HttpCredentials],
        "offline" => &[O::Offline],
        // The schema has no others.
        _ => &[],
    }
}

/// Returns the options of the context with the parameters, checked as those of a new session.
fn options(
    settings: &ContextSettings,
    created: &ContextOptions,
    parameters: &Arguments,
    product: &str,
) -> Result<ContextOptions> {
    let parameters: Parameters = serde_json::from_value(Value::Object(parameters.clone()))
        .map_err(|error| Error::Internal {
            tool: Emulate::NAME,
            reason: error.to_string(),
        })?;
    let mut settings = ContextSettings {
        options: created.clone(),
        ..settings.clone()
    };
    parameters.session.apply(&mut settings)?;
    let mut options = settings.options;
    options.user_agent = options
        .user_agent
        .map(|template| user_agent_of(&template, product));
    let media = &mut options.media;
    set(&mut media.reduced_motion, parameters.reduced_motion);
    set(&mut media.contrast, parameters.contrast);
    set(&mut media.forced_colors, parameters.forced_colors);
    if let Some(has_touch) = parameters.touch {
        let viewport = options.viewport.as_mut().ok_or(Error::Arguments {
            reason: "touch needs a viewport, and pages are as large as the window: give one too."
                .into(),
            parameters: &["touch"],
            missing: &["viewport"],
            bare: false,
        })?;
        *viewport = Viewport {
            has_touch,
            ..viewport.clone()
        };
    }
    Ok(options)
}

fn set<T: Into<&'static str>>(feature: &mut Option<String>, value: Option<T>) {
    if let Some(value) = value {
        *feature = Some(value.into().to_owned());
    }
}

/// Returns an error that names the parameter, if the browser rejected its value.
fn with_parameter(error: Error) -> Error {
    match error {
        Error::Engine(engine::Error::InvalidOption { option, message }) => {
            Error::InvalidArguments {
                tool: Emulate::NAME,
                problems: vec![Problem {
                    parameter: option.to_owned(),
                    message,
                    missing: false,
                }],
            }
        }
        error => error,
    }
}

/// Returns a parameter for the answer, without passwords and the values of headers.
fn shown((name, value): (&String, &Value)) -> String {
    match (name.as_str(), value) {
        ("httpCredentials", credentials) => {
            let origin = credentials.get("origin").and_then(Value::as_str);
            let origin = origin.map(|origin| format!(" on {origin}"));
            let user = &credentials["username"];
            format!("{name} of {user}{}", origin.unwrap_or_default())
        }
        ("extraHeaders", Value::Object(headers)) => {
            let names: Vec<_> = headers.keys().map(String::as_str).collect();
            format!("{name} {}", names.join(" "))
        }
        (_, value) => format!("{name} {value}"),
    }
}

/// Adds the code of what Playwright can change in an open context.
fn with_code(
    mut reply: Reply,
    language: Language,
    options: &ContextOptions,
    changed: &[EmulatedOption],
) -> Reply {
    use EmulatedOption as O;
    let has = |option| changed.contains(&option);
    if let (true, Some(viewport)) = (has(O::Viewport), &options.viewport) {
        let (width, height) = (viewport.size.width, viewport.size.height);
        let code = format!("await page.setViewportSize({{ width: {width}, height: {height} }});");
        let statement = Statement::new(Receiver::Page, "setViewportSize");
        let statement = statement.argument(Argument::Size(width, height));
        reply = reply.and_statements(language, code, [statement]);
    }
    let media = &options.media;
    let features = [
        (O::ColorScheme, "colorScheme", &media.color_scheme),
        (O::Contrast, "contrast", &media.contrast),
        (O::ForcedColors, "forcedColors", &media.forced_colors),
        (O::ReducedMotion, "reducedMotion", &media.reduced_motion),
    ];
    let features = features.into_iter().filter(|(option, ..)| has(*option));
    let features: Vec<_> = features
        .map(|(_, name, value)| (name, value.as_deref()))
        .collect();
    if !features.is_empty() {
        reply = with_media_code(reply, language, &features);
    }
    if has(O::Geolocation) {
        let position = options.geolocation.map(|position| {
            let Geolocation {
                latitude,
                longitude,
                accuracy,
            } = position;
            format!("{{ latitude: {latitude}, longitude: {longitude}, accuracy: {accuracy} }}")
        });
        let position = position.unwrap_or_else(|| "null".to_owned());
        let code = format!("await page.context().setGeolocation({position});");
        reply = reply.and_statements(language, code, []);
    }
    if has(O::Permissions) {
        let names = options.permissions.iter().map(|name| quote(name));
        let names: Vec<_> = names.collect();
        let code = match names.as_slice() {
            [] => "await page.context().clearPermissions();".to_owned(),
            names => format!(
                "await page.context().grantPermissions([{}]);",
                names.join(", ")
            ),
        };
        reply = reply.and_statements(language, code, []);
    }
    if has(O::Offline) {
        let offline = options.offline;
        let code = format!("await page.context().setOffline({offline});");
        let statement = Statement::new(Receiver::Context, "setOffline").argument(offline);
        reply = reply.and_statements(language, code, [statement]);
    }
    reply
}
