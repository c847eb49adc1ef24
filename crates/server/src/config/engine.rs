//! Converts settings to the options of the engine.

use std::{fs, io, path::PathBuf, sync::Once, time::Duration};

use engine::{
    BrowserChoice, BrowserKind, CdpEndpoint, Channel, ConnectOptions, ContextOptions,
    ExtensionEndpoint, FoundBrowser, LaunchOptions, Result, WebDriverEndpoint, sandbox_unavailable,
    user_agent_of,
};

use super::settings::{BrowserSettings, ContextSettings};

/// How long to wait for a profile that another browser uses.
const PROFILE_LOCK_TIMEOUT: Duration = Duration::from_secs(5);

impl BrowserSettings {
    /// Finds the executable of the browser. Fails with `BrowserNotFound`.
    pub fn find(&self) -> Result<FoundBrowser> {
        engine::find(&self.choice, &self.search)
    }

    /// Returns the options to launch the browser that was found. `profile` is the folder of a persistent profile; with
    /// `None` the profile is temporary.
    pub fn launch_options(&self, found: FoundBrowser, profile: Option<PathBuf>) -> LaunchOptions {
        let sandbox_unavailable = sandbox_unavailable();
        if self.kind == BrowserKind::Chromium && self.sandbox.is_none() && sandbox_unavailable {
            static ONCE: Once = Once::new();
            ONCE.call_once(|| {
                tracing::warn!(
                    "the browser runs without its sandbox, which needs an ordinary user and user namespaces"
                );
            });
        }
        LaunchOptions {
            kind: self.kind,
            executable: found.path,
            headless_shell: found.headless_shell,
            headless: self.headless,
            display: self.display,
            sandbox: self.sandbox,
            // If the user chose the profile, there is no other one to use instead.
            profile_lock_timeout: match self.user_data_dir {
                Some(_) => PROFILE_LOCK_TIMEOUT,
                None => Duration::ZERO,
            },
            user_data_dir: profile,
            cache_dir: Some(self.cache_dir.clone()),
            proxy: self.proxy.clone(),
            origins: self.origins.clone(),
            addresses: self.addresses.clone(),
            ignore_https_errors: self.ignore_https_errors,
            tls: self.tls.clone(),
            can_throttle: self.can_throttle,
            is_confined: self.confined,
            args: self.args.clone(),
            ignore_default_args: self.ignored_args.clone(),
            preferences: self.preferences.clone(),
            env: self.env.clone(),
            sandbox_unavailable,
        }
    }

    /// Returns the options to connect to a browser, if Playhouse does not launch one.
    pub fn connect_options(&self) -> Option<ConnectOptions> {
        let cdp = self.cdp.as_ref().map(|cdp| {
            ConnectOptions::Cdp(CdpEndpoint {
                endpoint: cdp.endpoint.clone(),
                profiles: cdp.profiles.clone(),
                headers: cdp.headers.clone(),
                timeout: cdp.timeout,
            })
        });
        let extension = self.extension.as_ref().map(|extension| {
            ConnectOptions::Extension(Box::new(ExtensionEndpoint {
                choice: self.choice.clone(),
                search: self.search.clone(),
                user_data_dir: self.user_data_dir.clone(),
                profiles: extension.profiles.clone(),
                profile: extension.profile.clone(),
                extension: extension.id.clone(),
                token: extension.token.clone(),
                client: "Playhouse".to_owned(),
                background: extension.background,
                tab_group: extension.tab_group,
                timeout: extension.timeout,
                args: self.args.clone(),
                env: self.env.clone(),
            }))
        });
        cdp.or(extension).or_else(|| {
            let webdriver = self.webdriver.as_ref()?;
            Some(ConnectOptions::WebDriver(Box::new(WebDriverEndpoint {
                endpoint: webdriver.endpoint.clone(),
                headers: webdriver.headers.clone(),
                capabilities: webdriver.capabilities.clone(),
                browser_name: self.name_for_webdriver(),
                timeout: self.launch_timeout,
                launch: LaunchOptions {
                    kind: self.kind,
                    headless: self.headless,
                    sandbox: self.sandbox,
                    proxy: self.proxy.clone(),
                    origins: self.origins.clone(),
                    addresses: self.addresses.clone(),
                    is_confined: self.confined,
                    args: self.args.clone(),
                    ignore_default_args: self.ignored_args.clone(),
                    preferences: self.preferences.clone(),
                    ..LaunchOptions::default()
                },
            })))
        })
    }

    /// Returns the WebDriver capability `browserName`. <https://www.w3.org/TR/webdriver2/#capabilities>
    fn name_for_webdriver(&self) -> &'static str {
        match (self.kind, &self.choice) {
            (
                _,
                BrowserChoice::Channel(
                    Channel::Msedge
                    | Channel::MsedgeBeta
                    | Channel::MsedgeDev
                    | Channel::MsedgeCanary,
                ),
            ) => "MicrosoftEdge",
            (BrowserKind::Chromium, _) => "chrome",
            (BrowserKind::Firefox, _) => "firefox",
            // It is refused before.
            (BrowserKind::Webkit, _) => "webkit",
        }
    }
}

impl ContextSettings {
    /// Returns the options of a browser context. `product` is the name and version of the running browser, such
    /// as `Chrome/156.0.8078.79`; `downloads` is the folder for downloads. Reads the init scripts;
    /// fails if one cannot be read.
    pub fn options(&self, product: &str, downloads: PathBuf) -> io::Result<ContextOptions> {
        let template = self.options.user_agent.as_deref();
        let scripts = self.init_scripts.iter().map(fs::read_to_string);
        Ok(ContextOptions {
            viewport: self.options.viewport.clone().filter(|_| !self.fills_window),
            user_agent: template.map(|template| user_agent_of(template, product)),
            downloads: self
                .accept_downloads
                .then(|| self.downloads_dir.clone().unwrap_or(downloads)),
            init_scripts: scripts.collect::<io::Result<_>>()?,
            ..self.options.clone()
        })
    }
}
