//! Emulation of device, locale, position and preferences.

use super::setup::Batch;
use super::{CdpPage, Child};
use crate::backend::{
    ContextOptions, EmulatedOption, Emulation, Headers, MediaFeatures, Throttling, Viewport,
};
use crate::error::Result;
use async_trait::async_trait;
use wire::Session;
use wire::cdp::{Command, Empty, emulation, network, page, security};

/// The emulation of a page, which each of its sessions needs.
pub(super) struct EmulationSettings {
    pub(super) options: ContextOptions,
    pub(super) viewport: Option<Viewport>,
    pub(super) media: MediaFeatures,
    /// The user agent of the browser itself.
    pub(super) user_agent: String,
}

impl EmulationSettings {
    /// Adds commands for settings that differ from the browser's own. Those of the whole window are sent only to the session of the page.
    pub(super) fn send(&self, session: &Session, is_page: bool, batch: &mut Batch) {
        let options = &self.options;
        if is_page && let Some(viewport) = &self.viewport {
            batch.send(session, &metrics(viewport));
        }
        if let Some(viewport) = &self.viewport
            && viewport.has_touch
        {
            batch.send(session, &touch(true));
        }
        if self.media != MediaFeatures::default() {
            batch.send(session, &media(&self.media));
        }
        if options.user_agent.is_some() || options.locale.is_some() {
            batch.send(session, &self.user_agent());
        }
        if options.locale.is_some() {
            send_required(session, is_page, "locale", &self.locale(), batch);
        }
        if options.timezone.is_some() {
            send_required(session, is_page, "timezone", &self.timezone(), batch);
        }
        if options.geolocation.is_some() {
            batch.send(session, &geolocation(options));
        }
        if let Some(conditions) = changed(options) {
            batch.send(session, &conditions);
        }
        if options.cpu_throttling.is_some() {
            batch.send(session, &cpu_throttling(options));
        }
        if !options.extra_headers.is_empty() {
            batch.send(session, &headers(options));
        }
        if options.ignore_https_errors {
            batch.send(
                session,
                &security::SetIgnoreCertificateErrors { ignore: true },
            );
        }
        if options.bypass_csp {
            batch.send(session, &page::SetBypassCSP { enabled: true });
        }
        if options.java_script_enabled == Some(false) {
            batch.send(
                session,
                &emulation::SetScriptExecutionDisabled { value: true },
            );
        }
    }

    /// Adds commands for the options among these that the user agent, the place or the position depend on. They also reset options.
    fn send_changed(
        &self,
        session: &Session,
        is_page: bool,
        changed: &[EmulatedOption],
        batch: &mut Batch,
    ) {
        use EmulatedOption as O;
        let (options, has) = (&self.options, |option| changed.contains(&option));
        if has(O::UserAgent) || has(O::Locale) {
            let is_emulated = options.user_agent.is_some() || options.locale.is_some();
            let command = match is_emulated {
                true => self.user_agent(),
                false => emulation::SetUserAgentOverride::default(),
            };
            batch.send(session, &command);
        }
        if has(O::Locale) {
            send_required(session, is_page, "locale", &self.locale(), batch);
        }
        if has(O::TimeZone) {
            send_required(session, is_page, "timezone", &self.timezone(), batch);
        }
        if has(O::Geolocation) {
            match options.geolocation {
                Some(_) => batch.send(session, &geolocation(options)),
                None => batch.send(session, &emulation::ClearGeolocationOverride {}),
            }
        }
    }

    /// Adds commands for a worker, which has requests but no documents.
    pub(super) fn send_to_worker(&self, session: &Session, batch: &mut Batch) {
        if let Some(conditions) = changed(&self.options) {
            batch.send(session, &conditions);
        }
        if !self.options.extra_headers.is_empty() {
            batch.send(session, &headers(&self.options));
        }
    }

    fn locale(&self) -> emulation::SetLocaleOverride {
        emulation::SetLocaleOverride {
            locale: self.options.locale.clone(),
        }
    }

    /// Returns the command for the time zone. An empty one resets it.
    fn timezone(&self) -> emulation::SetTimezoneOverride {
        emulation::SetTimezoneOverride {
            timezone_id: self.options.timezone.clone().unwrap_or_default(),
        }
    }

    fn user_agent(&self) -> emulation::SetUserAgentOverride {
        let user_agent = self.options.user_agent.as_ref().unwrap_or(&self.user_agent);
        emulation::SetUserAgentOverride {
            user_agent: user_agent.clone(),
            accept_language: self.options.locale.clone(),
            platform: None,
            user_agent_metadata: self
                .options
                .user_agent
                .as_deref()
                .map(|user_agent| client_hints(user_agent, self.viewport.as_ref())),
        }
    }
}

#[async_trait]
impl Emulation for CdpPage {
    async fn set_viewport(&self, viewport: &Viewport) -> Result<()> {
        self.state().viewport = Some(viewport.clone());
        self.session.call(&metrics(viewport)).await?;
        self.session.call(&touch(viewport.has_touch)).await?;
        Ok(())
    }

    async fn clear_viewport(&self) -> Result<()> {
        self.state().viewport = None;
        let clear = emulation::ClearDeviceMetricsOverride {};
        self.session.call(&clear).await?;
        self.session.call(&touch(false)).await?;
        Ok(())
    }

    async fn emulate_media(&self, features: &MediaFeatures) -> Result<()> {
        self.state().media = features.clone();
        self.send_to_documents(&media(features)).await
    }

    async fn set_extra_headers(&self, headers: &Headers) -> Result<()> {
        self.state().own_headers = headers.clone();
        self.apply_extra_headers().await
    }

    async fn add_init_script(&self, source: &str) -> Result<()> {
        self.state().own_scripts.push(source.to_owned());
        self.send_init_script(source).await
    }
}

impl CdpPage {
    pub(super) fn emulation(&self) -> EmulationSettings {
        let state = self.state();
        EmulationSettings {
            options: state.options(),
            viewport: state.viewport.clone(),
            media: state.media.clone(),
            user_agent: state.user_agent.clone(),
        }
    }

    /// Applies the options of the context among these that have no command of their own.
    pub(crate) async fn apply_emulation(&self, changed: &[EmulatedOption]) -> Result<()> {
        let mut settings = self.emulation();
        if changed.contains(&EmulatedOption::Viewport) {
            // The client hints depend on it.
            settings.viewport.clone_from(&settings.options.viewport);
        }
        let mut batch = Batch::default();
        settings.send_changed(&self.session, true, changed, &mut batch);
        for child in self.children().iter().filter(|child| child.is_frame()) {
            settings.send_changed(&child.session, false, changed, &mut batch);
        }
        batch.done().await?;
        if changed.contains(&EmulatedOption::HttpCredentials) {
            self.apply_interception().await?;
        }
        Ok(())
    }

    pub(crate) async fn apply_network(&self) -> Result<()> {
        self.send_to_all(&conditions(&self.options())).await
    }

    pub(crate) async fn apply_cpu_throttling(&self) -> Result<()> {
        self.send_to_documents(&cpu_throttling(&self.options()))
            .await
    }

    /// Repeats the throttling after a commit, because Chromium does not apply it to another process of the session.
    pub(super) fn throttle_new_process(&self, session: &Session) {
        let rate = self.state().options.cpu_throttling;
        if let Some(rate) = rate {
            session.post(&emulation::SetCPUThrottlingRate { rate });
        }
    }

    pub(crate) async fn apply_extra_headers(&self) -> Result<()> {
        self.send_to_all(&headers(&self.options())).await
    }

    pub(crate) async fn apply_geolocation(&self) -> Result<()> {
        self.session.call(&geolocation(&self.options())).await?;
        Ok(())
    }

    pub(crate) async fn send_init_script(&self, source: &str) -> Result<()> {
        self.send_to_documents(&page::AddScriptToEvaluateOnNewDocument {
            source: source.to_owned(),
            ..Default::default()
        })
        .await
    }

    /// Sends a command to the page and to its frames in other processes.
    async fn send_to_documents(&self, command: &impl Command) -> Result<()> {
        self.send_to_matching(command, |child| child.is_frame())
            .await
    }

    /// Sends a command to the page, its frames in other processes, and its workers.
    async fn send_to_all(&self, command: &impl Command) -> Result<()> {
        self.send_to_matching(command, |_| true).await
    }

    async fn send_to_matching(
        &self,
        command: &impl Command,
        matches: impl Fn(&Child) -> bool,
    ) -> Result<()> {
        let own = self.session.send(command);
        let children: Vec<_> = self
            .children()
            .iter()
            .filter(|child| matches(child))
            .map(|child| child.session.send(command))
            .collect();
        own.await?;
        for reply in children {
            // The target may have been closed, or be of a type that does not support the command.
            if let Err(error) = reply.await {
                tracing::debug!(%error, "a part of a page did not follow");
            }
        }
        Ok(())
    }
}

/// Adds a command for an option, whose error names the option. A frame has the setting of its page.
fn send_required(
    session: &Session,
    is_page: bool,
    option: &'static str,
    command: &impl Command<Response = Empty>,
    batch: &mut Batch,
) {
    match is_page {
        true => batch.send_required(session, option, command),
        false => batch.send(session, command),
    }
}

fn metrics(viewport: &Viewport) -> emulation::SetDeviceMetricsOverride {
    let (width, height) = (
        i64::from(viewport.size.width),
        i64::from(viewport.size.height),
    );
    let landscape = width > height;
    let screen = viewport.screen.unwrap_or(viewport.size);
    emulation::SetDeviceMetricsOverride {
        width,
        height,
        device_scale_factor: viewport.device_scale_factor,
        mobile: viewport.is_mobile,
        screen_width: Some(screen.width.into()),
        screen_height: Some(screen.height.into()),
        screen_orientation: viewport.is_mobile.then_some(emulation::ScreenOrientation {
            kind: if landscape {
                emulation::ScreenOrientationType::LandscapePrimary
            } else {
                emulation::ScreenOrientationType::PortraitPrimary
            },
            angle: if landscape { 90 } else { 0 },
        }),
        ..Default::default()
    }
}

fn touch(enabled: bool) -> emulation::SetTouchEmulationEnabled {
    emulation::SetTouchEmulationEnabled {
        enabled,
        max_touch_points: None,
    }
}

fn media(features: &MediaFeatures) -> emulation::SetEmulatedMedia {
    let feature = |name: &str, value: &Option<String>| emulation::MediaFeature {
        name: name.to_owned(),
        // An empty value resets the override.
        value: value.clone().unwrap_or_default(),
    };
    emulation::SetEmulatedMedia {
        media: Some(features.media.clone().unwrap_or_default()),
        features: Some(vec![
            feature("prefers-color-scheme", &features.color_scheme),
            feature("prefers-reduced-motion", &features.reduced_motion),
            feature("forced-colors", &features.forced_colors),
            feature("prefers-contrast", &features.contrast),
        ]),
    }
}

fn geolocation(options: &ContextOptions) -> emulation::SetGeolocationOverride {
    match options.geolocation {
        Some(position) => emulation::SetGeolocationOverride {
            latitude: Some(position.latitude),
            longitude: Some(position.longitude),
            accuracy: Some(position.accuracy),
            ..Default::default()
        },
        // Without coordinates the position is unavailable.
        None => emulation::SetGeolocationOverride::default(),
    }
}

/// Returns the network settings of a new session, if there are any.
fn changed(options: &ContextOptions) -> Option<network::EmulateNetworkConditions> {
    let changed = options.offline || options.throttling != Throttling::default();
    changed.then(|| conditions(options))
}

fn conditions(options: &ContextOptions) -> network::EmulateNetworkConditions {
    let Throttling {
        download,
        upload,
        latency,
    } = options.throttling;
    network::EmulateNetworkConditions {
        offline: options.offline,
        latency,
        download_throughput: download.unwrap_or(-1.0),
        upload_throughput: upload.unwrap_or(-1.0),
        ..Default::default()
    }
}

fn cpu_throttling(options: &ContextOptions) -> emulation::SetCPUThrottlingRate {
    emulation::SetCPUThrottlingRate {
        rate: options.cpu_throttling.unwrap_or(1.0),
    }
}

fn headers(options: &ContextOptions) -> network::SetExtraHTTPHeaders {
    network::SetExtraHTTPHeaders {
        headers: options.extra_headers.iter().cloned().collect(),
    }
}

/// Returns the values of `navigator.userAgentData` and the `Sec-CH-UA` headers that match the user agent.
fn client_hints(user_agent: &str, viewport: Option<&Viewport>) -> emulation::UserAgentMetadata {
    let after = |mark: &str| {
        let (_, rest) = user_agent.split_once(mark)?;
        rest.split([' ', ';', ')']).next()
    };
    let android = user_agent.contains("Android");
    let (platform, version) = if android {
        ("Android", after("Android ").unwrap_or_default().to_owned())
    } else if user_agent.contains("iPhone") || user_agent.contains("iPad") {
        ("iOS", after("OS ").unwrap_or_default().replace('_', "."))
    } else if user_agent.contains("Mac OS X") {
        (
            "macOS",
            after("Mac OS X ").unwrap_or_default().replace('_', "."),
        )
    } else if user_agent.contains("Windows NT") {
        (
            "Windows",
            after("Windows NT ").unwrap_or_default().to_owned(),
        )
    } else {
        ("Linux", String::new())
    };
    emulation::UserAgentMetadata {
        platform: platform.to_owned(),
        platform_version: version,
        architecture: if user_agent.contains("ARM") {
            "arm"
        } else {
            "x86"
        }
        .to_owned(),
        model: android
            .then(|| {
                let (_, details) = user_agent.split_once("Android ")?;
                let (_, model) = details.split_once("; ")?;
                model.split([')', ';']).next()
            })
            .flatten()
            .unwrap_or_default()
            .trim_end_matches(" Build/")
            .to_owned(),
        mobile: viewport.is_some_and(|viewport| viewport.is_mobile),
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_hints_agree_with_the_user_agent() {
        let hints = client_hints(
            "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0 Mobile Safari/537.36",
            None,
        );
        assert_eq!(
            (
                hints.platform.as_str(),
                hints.platform_version.as_str(),
                hints.model.as_str()
            ),
            ("Android", "14", "Pixel 8")
        );
    }
}
