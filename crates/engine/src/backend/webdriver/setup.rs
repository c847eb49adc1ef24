//! What a page is told before it shows anything: what runs in it first, what it sends, what it is to believe.

use super::context::WebDriverContext;
use super::dialogs::hooks;
use super::network::as_map;
use super::page::WebDriverPage;
use crate::backend::{ContextOptions, Headers, MediaFeatures};
use crate::error::Result;
use serde::Deserialize;
use serde_json::{Value, json};

/// Pages register no service workers.
const WITHOUT_SERVICE_WORKERS: &str = "if (navigator.serviceWorker) navigator.serviceWorker.register = async () => { console.warn('Service Worker registration blocked by Playwright'); };";

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Resources {
    frame_tree: Tree,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tree {
    frame: super::events::Frame,
}

impl WebDriverPage {
    /// Tells a part of the page all that holds for it.
    pub(super) fn prepare(&self, options: &ContextOptions) {
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
    pub(super) async fn load_main_frame(&self) -> Result<()> {
        let resources: Resources = self
            .call_inspector("Page.getResourceTree", &json!({}))
            .await?;
        self.state().main_native = resources.frame_tree.frame.id;
        Ok(())
    }

    /// What runs in each new document, before its own scripts.
    pub(super) fn scripts(&self) -> String {
        let Ok(context) = self.context() else {
            return String::new();
        };
        let options = context.options();
        let token = Value::from(context.token()).to_string();
        let mut all = hooks(&token);
        if options.block_service_workers {
            all += &format!("\n{WITHOUT_SERVICE_WORKERS}");
        }
        for script in options
            .init_scripts
            .iter()
            .chain(&self.state().init_scripts)
        {
            // One that throws does not keep the next ones from running, and none sees what another declares.
            all += &format!(
                "\n(() => {{ try {{ (0, eval)({}); }} catch (e) {{ setTimeout(() => {{ throw e; }}); }} }})();",
                Value::from(script.as_str())
            );
        }
        all
    }

    /// Has the document that is there tell what it tells unasked, if nothing has run in it yet.
    pub(super) fn hook_document(&self) {
        let Ok(context) = self.context() else { return };
        let token = Value::from(context.token()).to_string();
        self.run_in_background(format!("{}\nreturn 1;", hooks(&token)));
    }

    pub(super) fn apply_scripts(&self) {
        let source = self.scripts();
        self.send_to_inspector("Page.setBootstrapScript", &json!({ "source": source }));
    }

    pub(super) fn apply_headers(&self) {
        let Ok(context) = self.context() else { return };
        let mut all: Headers = context.options().extra_headers.clone();
        for (name, value) in &self.state().extra_headers {
            all.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            all.push((name.clone(), value.clone()));
        }
        self.send_to_inspector(
            "Network.setExtraHTTPHeaders",
            &json!({ "headers": as_map(&all) }),
        );
    }

    pub(super) fn apply_media(&self, features: &MediaFeatures) {
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

impl WebDriverContext {
    /// Whether requests of every page stop by us.
    pub(super) fn intercepts_all(&self) -> bool {
        let options = self.options();
        options.offline || !options.routes.is_empty()
    }
}
