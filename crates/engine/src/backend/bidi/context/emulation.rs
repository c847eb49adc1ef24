//! Emulation and init scripts of a context.

use super::BidiContext;
use crate::backend::bidi::network::entries;
use crate::backend::bidi::page::emulation::{preload, viewport_command};
use crate::backend::bidi::page::evaluation::SANDBOX;
use crate::backend::{ContextOptions, EmulatedOption, Permissions, Viewport};
use crate::error::{Error, Result};
use crate::injected::VITALS;
use wire::bidi::{Command, browser, browsing_context, emulation, error, network, script};

/// The largest total size of response bodies that Firefox stores, in bytes. It removes the oldest first.
const MAX_BODIES_SIZE: u64 = 50 * 1024 * 1024;

impl BidiContext {
    /// Applies the settings of the whole context, before its first page.
    pub(crate) async fn prepare(&self) -> Result<()> {
        let options = self.options().clone();
        if options.viewport.is_some() {
            self.apply_viewport(options.viewport.as_ref()).await?;
        }
        self.parts
            .root
            .call(&browser::SetDownloadBehavior {
                download_behavior: match &options.downloads {
                    Some(folder) => browser::DownloadBehavior::Allowed {
                        destination_folder: folder.display().to_string(),
                    },
                    None => browser::DownloadBehavior::Denied,
                },
                user_contexts: self.ids(),
            })
            .await?;
        self.parts
            .root
            .call(&network::AddDataCollector {
                data_types: vec![network::DataType::Request, network::DataType::Response],
                max_encoded_data_size: MAX_BODIES_SIZE,
                user_contexts: self.ids(),
            })
            .await?;
        let emulated = [
            (options.user_agent.is_some(), EmulatedOption::UserAgent),
            (options.locale.is_some(), EmulatedOption::Locale),
            (options.timezone.is_some(), EmulatedOption::TimeZone),
            (options.geolocation.is_some(), EmulatedOption::Geolocation),
        ];
        let emulated = emulated.into_iter().filter(|(is_set, _)| *is_set);
        let emulated: Vec<_> = emulated.map(|(_, option)| option).collect();
        self.apply_changes(&options, &emulated).await?;
        if options.offline {
            self.apply_offline().await?;
        }
        if !options.extra_headers.is_empty() {
            self.apply_extra_headers().await?;
        }
        if !options.permissions.is_empty() {
            self.grant_permissions(&options.permissions, None).await?;
        }
        if let Some(script) = options.timers_script() {
            self.send_init_script(&script).await?;
        }
        for script in options.all_init_scripts() {
            self.send_init_script(script).await?;
        }
        if options.observe_vitals {
            self.parts
                .root
                .call(&script::AddPreloadScript {
                    function_declaration: preload(VITALS.script),
                    user_contexts: Some(self.ids()),
                    sandbox: Some(SANDBOX),
                    ..Default::default()
                })
                .await?;
        }
        if !options.routes.is_empty() {
            self.set_interception(true).await?;
        }
        Ok(())
    }

    /// Applies the options among these that have no command of their own. A missing value resets an option.
    pub(super) async fn apply_changes(
        &self,
        options: &ContextOptions,
        changed: &[EmulatedOption],
    ) -> Result<()> {
        for option in changed {
            match option {
                EmulatedOption::Viewport => self.apply_viewport(options.viewport.as_ref()).await?,
                EmulatedOption::UserAgent => {
                    self.parts
                        .root
                        .call(&emulation::SetUserAgentOverride {
                            user_agent: options.user_agent.clone(),
                            user_contexts: self.ids(),
                        })
                        .await?;
                }
                EmulatedOption::Locale => {
                    let command = emulation::SetLocaleOverride {
                        locale: options.locale.clone(),
                        user_contexts: self.ids(),
                    };
                    self.send_required("locale", &command).await?;
                }
                EmulatedOption::TimeZone => {
                    let command = emulation::SetTimezoneOverride {
                        timezone: options.timezone.clone(),
                        user_contexts: self.ids(),
                    };
                    self.send_required("timezone", &command).await?;
                }
                EmulatedOption::Geolocation => self.apply_geolocation().await?,
                EmulatedOption::Permissions => {
                    self.clear_permissions().await?;
                    self.grant_permissions(&options.permissions, None).await?;
                }
                // Credentials are read for each request; Firefox emulates no media features.
                EmulatedOption::HttpCredentials
                | EmulatedOption::ColorScheme
                | EmulatedOption::ReducedMotion
                | EmulatedOption::ForcedColors
                | EmulatedOption::Contrast
                | EmulatedOption::ExtraHeaders
                | EmulatedOption::Offline => {}
            }
        }
        Ok(())
    }

    /// Sets the viewport of pages that open later.
    async fn apply_viewport(&self, viewport: Option<&Viewport>) -> Result<()> {
        let root = &self.parts.root;
        match viewport {
            Some(viewport) => {
                let command = browsing_context::SetViewport {
                    user_contexts: Some(self.ids()),
                    ..viewport_command(viewport)
                };
                root.call(&command).await?;
            }
            None => {
                let command = browsing_context::ResetViewport {
                    user_contexts: Some(self.ids()),
                    ..Default::default()
                };
                root.call(&command).await?;
            }
        }
        Ok(())
    }

    /// Sends a command whose value comes from the caller. On failure, the error names the option.
    async fn send_required(&self, option: &'static str, command: &impl Command) -> Result<()> {
        match self.parts.root.call(command).await {
            Err(wire::Error::Refused {
                error: name,
                message,
                ..
            }) if name == error::INVALID_ARGUMENT => Err(Error::InvalidOption { option, message }),
            other => Ok(other.map(drop)?),
        }
    }

    pub(super) async fn apply_offline(&self) -> Result<()> {
        let offline = self.options().offline;
        self.parts
            .root
            .call(&emulation::SetNetworkConditions {
                network_conditions: offline.then_some(emulation::NetworkConditions::Offline),
                user_contexts: self.ids(),
            })
            .await?;
        Ok(())
    }

    pub(super) async fn apply_geolocation(&self) -> Result<()> {
        let position = self.options().geolocation;
        self.parts
            .root
            .call(&emulation::SetGeolocationOverride {
                coordinates: position.map(|position| emulation::Coordinates {
                    latitude: position.latitude,
                    longitude: position.longitude,
                    // Firefox requires a positive accuracy.
                    accuracy: if position.accuracy > 0.0 {
                        position.accuracy
                    } else {
                        1.0
                    },
                }),
                user_contexts: self.ids(),
            })
            .await?;
        Ok(())
    }

    pub(super) async fn apply_extra_headers(&self) -> Result<()> {
        let headers = entries(self.options().extra_headers.clone());
        self.parts
            .root
            .call(&network::SetExtraHeaders {
                headers,
                user_contexts: Some(self.ids()),
                contexts: None,
            })
            .await?;
        Ok(())
    }

    pub(super) async fn send_init_script(&self, source: &str) -> Result<()> {
        self.parts
            .root
            .call(&script::AddPreloadScript {
                function_declaration: preload(source),
                user_contexts: Some(self.ids()),
                ..Default::default()
            })
            .await?;
        Ok(())
    }
}
