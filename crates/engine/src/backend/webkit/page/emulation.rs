//! The settings of a page: its viewport, media features, headers and init scripts.

use super::WebKitPage;
use super::dialogs::{SET_OFFLINE, hooks};
use crate::backend::scripts::BLOCK_SERVICE_WORKERS;
use crate::backend::webkit::CAPABILITIES;
use crate::backend::webkit::network::as_map;
use crate::backend::{Emulation, Feature, Headers, MediaFeatures, Size, Viewport};
use crate::error::{Error, Result};
use crate::injected::VITALS;
use async_trait::async_trait;
use serde_json::{Value, json};
use std::time::Duration;

/// The number of polls for the new size of a window.
const POLL_ATTEMPTS: u32 = 60;
const POLL_INTERVAL: Duration = Duration::from_millis(10);

#[async_trait]
impl Emulation for WebKitPage {
    async fn set_viewport(&self, viewport: &Viewport) -> Result<()> {
        self.resize(viewport).await
    }

    async fn emulate_media(&self, features: &MediaFeatures) -> Result<()> {
        CAPABILITIES.require_if(features.forced_colors.is_some(), Feature::ForcedColors)?;
        self.state().media = Some(features.clone());
        self.send_all(self.media());
        self.flush_events().await
    }

    async fn set_extra_headers(&self, headers: &Headers) -> Result<()> {
        self.state().extra_headers.clone_from(headers);
        self.apply_headers();
        self.flush_events().await
    }

    async fn add_init_script(&self, source: &str) -> Result<()> {
        self.state().init_scripts.push(source.to_owned());
        self.apply_scripts();
        self.flush_events().await
    }
}

/// A command of the inspector and its parameters.
type Setting = (&'static str, Value);

impl WebKitPage {
    /// Sends all settings to a part of the page: the first one, or one in another process.
    pub(in crate::backend::webkit) fn send_settings(&self, part: &str) {
        let options = self.parts.options().clone();
        let mut settings: Vec<Setting> = [
            "Inspector.enable",
            "Page.enable",
            "Network.enable",
            "Console.enable",
        ]
        .map(|method| (method, json!({})))
        .into();
        settings.push(self.bootstrap_script());
        settings.extend(self.interception());
        if options.user_agent.is_some() {
            settings.push(self.user_agent());
        }
        settings.push(self.headers());
        settings.extend(self.media());
        if options.java_script_enabled == Some(false) {
            let off = json!({ "setting": "ScriptEnabled", "value": false });
            settings.push(("Page.overrideSetting", off));
        }
        for (method, params) in settings {
            let targets = &self.parts.targets;
            targets.send_to_part(&self.window, part, method, &params);
        }
    }

    pub(super) fn send_all(&self, settings: impl IntoIterator<Item = Setting>) {
        for (method, params) in settings {
            self.send_to_inspector(method, &params);
        }
    }

    /// Returns the script that runs in each new document before its own scripts.
    fn scripts(&self) -> String {
        // The state is locked before the options, as elsewhere.
        let own = self.state().init_scripts.clone();
        let options = self.parts.options();
        let mut all = options.timers_script().unwrap_or_default();
        all += &hooks(&self.token(), options.offline);
        if options.block_service_workers {
            all += &format!("\n{BLOCK_SERVICE_WORKERS}");
        }
        if options.observe_vitals {
            all += &format!("\ntry {{ {} }} catch {{}}", VITALS.script);
        }
        for script in options.init_scripts.iter().chain(&own) {
            // An exception does not prevent the next scripts, and declarations are local.
            all += &format!(
                "\n(() => {{ try {{ (0, eval)({}); }} catch (e) {{ setTimeout(() => {{ throw e; }}); }} }})();",
                Value::from(script.as_str())
            );
        }
        all
    }

    /// Adds the hooks to the document that is shown already.
    pub(in crate::backend::webkit) fn hook_document(&self) {
        let (timers, offline) = {
            let options = self.parts.options();
            (options.timers_script().unwrap_or_default(), options.offline)
        };
        let hooks = hooks(&self.token(), offline);
        self.run_in_background(format!("() => {{ {timers}\n{hooks}\n}}"));
    }

    /// Returns the prefix of the hooks' messages, as JSON.
    fn token(&self) -> String {
        Value::from(&*self.parts.token).to_string()
    }

    fn bootstrap_script(&self) -> Setting {
        let source = self.scripts();
        ("Page.setBootstrapScript", json!({ "source": source }))
    }

    pub(in crate::backend::webkit) fn apply_scripts(&self) {
        self.send_all([self.bootstrap_script()]);
    }

    /// Sets `navigator.onLine` of each document.
    pub(in crate::backend::webkit) async fn apply_offline(&self) {
        let offline = self.parts.options().offline;
        let frames: Vec<_> = self.state().frames.keys().cloned().collect();
        for frame in frames {
            // A document that is gone or blocked is skipped.
            let set = self.run(&frame, SET_OFFLINE, &[json!(offline)]).await;
            tracing::trace!(?set, "set navigator.onLine of a document");
        }
    }

    /// Returns the user agent; without a value, that of the browser.
    fn user_agent(&self) -> Setting {
        let user_agent = self.parts.options().user_agent.clone();
        let value = user_agent.map_or_else(|| json!({}), |value| json!({ "value": value }));
        ("Page.overrideUserAgent", value)
    }

    pub(in crate::backend::webkit) fn apply_user_agent(&self) {
        self.send_all([self.user_agent()]);
    }

    fn headers(&self) -> Setting {
        let mut all: Headers = self.parts.options().extra_headers.clone();
        for (name, value) in &self.state().extra_headers {
            all.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            all.push((name.clone(), value.clone()));
        }
        let names = all.iter().map(|(name, _)| name.to_lowercase()).collect();
        self.state().sent_headers = names;
        let headers = json!({ "headers": as_map(&all) });
        ("Network.setExtraHTTPHeaders", headers)
    }

    /// Sends the headers.
    pub(in crate::backend::webkit) fn apply_headers(&self) {
        let before = self.state().sent_headers.clone();
        let headers = self.headers();
        let is_kept = |name: &String| self.state().sent_headers.contains(name);
        if !before.iter().all(is_kept) {
            // The command only adds headers. They are removed when the domain is disabled.
            self.send_all(["Network.disable", "Network.enable"].map(|method| (method, json!({}))));
            self.send_all(self.interception());
        }
        self.send_all([headers]);
    }

    fn media(&self) -> Vec<Setting> {
        let of_page = self.state().media.clone();
        let features = of_page.unwrap_or_else(|| self.parts.options().media.clone());
        let media = features.media.as_deref().unwrap_or_default();
        let mut settings = vec![("Page.setEmulatedMedia", json!({ "media": media }))];
        let capitalised = |value: &Option<String>| match value.as_deref() {
            Some("dark") => Some("Dark"),
            Some("light") => Some("Light"),
            Some("reduce") => Some("Reduce"),
            Some("more") => Some("More"),
            Some("no-preference") => Some("NoPreference"),
            _ => None,
        };
        for (name, value) in [
            ("PrefersColorScheme", &features.color_scheme),
            ("PrefersReducedMotion", &features.reduced_motion),
            ("PrefersContrast", &features.contrast),
        ] {
            let mut preference = json!({ "name": name });
            if let Some(value) = capitalised(value) {
                preference["value"] = value.into();
            }
            settings.push(("Page.overrideUserPreference", preference));
        }
        settings
    }

    async fn resize(&self, viewport: &Viewport) -> Result<()> {
        let is_scaled = viewport.device_scale_factor != 1.0;
        CAPABILITIES.require_if(viewport.is_mobile, Feature::MobileViewport)?;
        CAPABILITIES.require_if(viewport.has_touch, Feature::TouchScreen)?;
        CAPABILITIES.require_if(is_scaled, Feature::ScaledViewport)?;
        self.fit(viewport.size).await
    }

    /// Sets the size of the viewport. The command sets that of the window, which is larger by its bars.
    pub(in crate::backend::webkit) async fn fit(&self, wanted: Size) -> Result<()> {
        let mut bars = self.frame_size().await?;
        for _ in 0..4 {
            let (inner, _) = self.sizes().await?;
            if inner == (wanted.width, wanted.height) {
                return Ok(());
            }
            let size = json!({
                "width": wanted.width + bars.0,
                "height": wanted.height + bars.1,
            });
            let method = "Automation.setWindowFrameOfBrowsingContext";
            self.automate::<Value>(method, "handle", json!({ "size": size }))
                .await?;
            if self.wait_for_size(wanted).await? {
                return Ok(());
            }
            bars = self.frame_size().await?;
        }
        Err(Error::protocol(
            "Automation.setWindowFrameOfBrowsingContext",
            format!(
                "the window does not become {}x{}",
                wanted.width, wanted.height
            ),
        ))
    }

    async fn wait_for_size(&self, wanted: Size) -> Result<bool> {
        for _ in 0..POLL_ATTEMPTS {
            if self.sizes().await?.0 == (wanted.width, wanted.height) {
                return Ok(true);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        Ok(false)
    }

    /// Returns by how much the window is larger than the viewport.
    async fn frame_size(&self) -> Result<(u32, u32)> {
        let (inner, outer) = self.sizes().await?;
        Ok((
            outer.0.saturating_sub(inner.0),
            outer.1.saturating_sub(inner.1),
        ))
    }

    async fn sizes(&self) -> Result<((u32, u32), (u32, u32))> {
        let main = self.main.clone();
        let script = "() => [innerWidth, innerHeight, outerWidth, outerHeight]";
        let answer = loop {
            match self.run(&main, script, &[]).await {
                Err(Error::DocumentGone {}) => {}
                answer => break answer?,
            }
        };
        let number = |index: usize| {
            let number = answer.get(index).and_then(Value::as_f64).unwrap_or(0.0);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a size on a screen"
            )]
            let whole = number.round().max(0.0) as u32;
            whole
        };
        Ok(((number(0), number(1)), (number(2), number(3))))
    }
}
