//! What a page is told before it shows anything: what runs in it first, what it sends, what it is to believe.

use super::WebDriverPage;
use super::dialogs::hooks;
use crate::backend::scripts::BLOCK_SERVICE_WORKERS;
use crate::backend::webdriver::network::{Frame, as_map};
use crate::backend::{Emulation, Feature, Headers, MediaFeatures, Size, Viewport};
use crate::error::{Error, Result};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use wire::webdriver::window::SetWindowRect;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Resources {
    frame_tree: Tree,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tree {
    frame: Frame,
}

/// How often a window is looked at that is on its way to its size.
const POLL_ATTEMPTS: u32 = 60;
const POLL_INTERVAL: Duration = Duration::from_millis(10);

#[async_trait]
impl Emulation for WebDriverPage {
    async fn set_viewport(&self, viewport: &Viewport) -> Result<()> {
        if viewport.is_mobile {
            self.require(Feature::MobileViewport)?;
        }
        if viewport.has_touch {
            self.require(Feature::TouchScreen)?;
        }
        if viewport.device_scale_factor != 1.0 {
            self.require(Feature::ScaledViewport)?;
        }
        self.state().viewport = Some(viewport.clone());
        self.fit(viewport.size).await
    }

    async fn emulate_media(&self, features: &MediaFeatures) -> Result<()> {
        if *features != MediaFeatures::default() {
            self.require(Feature::MediaFeatures)?;
        }
        self.apply_media(features);
        self.flush_events().await
    }

    async fn set_extra_headers(&self, headers: &Headers) -> Result<()> {
        if !headers.is_empty() {
            self.require(Feature::ExtraHeaders)?;
        }
        self.state().extra_headers.clone_from(headers);
        self.apply_headers();
        self.flush_events().await
    }

    async fn add_init_script(&self, source: &str) -> Result<()> {
        self.require(Feature::InitScripts)?;
        self.state().init_scripts.push(source.to_owned());
        self.apply_scripts();
        self.flush_events().await
    }
}

impl WebDriverPage {
    /// Tells a part of the page all that holds for it.
    pub(crate) fn prepare(&self) {
        let options = self.parts.options().clone();
        for domain in ["Inspector", "Page", "Network", "Console"] {
            let method = match domain {
                "Inspector" => "Inspector.enable",
                "Page" => "Page.enable",
                "Network" => "Network.enable",
                _ => "Console.enable",
            };
            self.send_to_inspector(method, &json!({}));
        }
        self.apply_scripts();
        self.send_interception();
        if let Some(user_agent) = &options.user_agent {
            self.send_to_inspector("Page.overrideUserAgent", &json!({ "value": user_agent }));
        }
        self.apply_headers();
        self.apply_media(&options.media);
        if options.java_script_enabled == Some(false) {
            let off = json!({ "setting": "ScriptEnabled", "value": false });
            self.send_to_inspector("Page.overrideSetting", &off);
        }
    }

    /// Learns what the inspector calls the main frame; all that was told before holds by then.
    pub(crate) async fn load_main_frame(&self) -> Result<()> {
        let resources: Resources = self
            .call_inspector("Page.getResourceTree", &json!({}))
            .await?;
        self.state().main_native = resources.frame_tree.frame.id;
        Ok(())
    }

    /// What runs in each new document, before its own scripts.
    fn scripts(&self) -> String {
        // Before the options are locked: elsewhere they are locked after the state.
        let own = self.state().init_scripts.clone();
        let options = self.parts.options();
        let mut all = hooks(&self.token());
        if options.block_service_workers {
            all += &format!("\n{BLOCK_SERVICE_WORKERS}");
        }
        for script in options.init_scripts.iter().chain(&own) {
            // One that throws does not keep the next ones from running, and none sees what another declares.
            all += &format!(
                "\n(() => {{ try {{ (0, eval)({}); }} catch (e) {{ setTimeout(() => {{ throw e; }}); }} }})();",
                Value::from(script.as_str())
            );
        }
        all
    }

    /// Has the document that is there tell what it tells unasked, if nothing has run in it yet.
    pub(crate) fn hook_document(&self) {
        self.run_in_background(format!("{}\nreturn 1;", hooks(&self.token())));
    }

    /// The mark of what our hooks say, as JSON.
    fn token(&self) -> String {
        Value::from(&*self.parts.token).to_string()
    }

    pub(crate) fn apply_scripts(&self) {
        let source = self.scripts();
        self.send_to_inspector("Page.setBootstrapScript", &json!({ "source": source }));
    }

    pub(crate) fn apply_headers(&self) {
        let mut all: Headers = self.parts.options().extra_headers.clone();
        for (name, value) in &self.state().extra_headers {
            all.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            all.push((name.clone(), value.clone()));
        }
        self.send_to_inspector(
            "Network.setExtraHTTPHeaders",
            &json!({ "headers": as_map(&all) }),
        );
    }

    fn apply_media(&self, features: &MediaFeatures) {
        let media = features.media.as_deref().unwrap_or_default();
        self.send_to_inspector("Page.setEmulatedMedia", &json!({ "media": media }));
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
            self.send_to_inspector("Page.overrideUserPreference", &preference);
        }
    }
}

/// How large a page is: a driver knows windows only, so one is made as much larger as its bars take.
impl WebDriverPage {
    /// Makes the viewport as large as that.
    pub(crate) async fn fit(&self, wanted: Size) -> Result<()> {
        let mut bars = self.frame_size().await?;
        for _ in 0..4 {
            let (inner, _) = self.sizes().await?;
            if inner == (wanted.width, wanted.height) {
                return Ok(());
            }
            self.send_to_main(&SetWindowRect {
                width: Some(wanted.width + bars.0),
                height: Some(wanted.height + bars.1),
                ..SetWindowRect::default()
            })
            .await?;
            if self.wait_for_size(wanted).await? {
                return Ok(());
            }
            bars = self.frame_size().await?;
        }
        Err(Error::protocol(
            "Set Window Rect",
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

    /// What the window is larger by than the page.
    async fn frame_size(&self) -> Result<(u32, u32)> {
        let (inner, outer) = self.sizes().await?;
        Ok((
            outer.0.saturating_sub(inner.0),
            outer.1.saturating_sub(inner.1),
        ))
    }

    async fn sizes(&self) -> Result<((u32, u32), (u32, u32))> {
        let main = self.main.clone();
        let script = "return [innerWidth, innerHeight, outerWidth, outerHeight]";
        let answer = loop {
            match self.run_raw(&main, script.to_owned(), vec![]).await {
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
