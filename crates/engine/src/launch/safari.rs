//! Launching Safari: its driver starts it, only one at a time per machine, and its inspector is not available to other programs.
//!
//! Written from Apple's documentation and never run, because no Mac is available.
//! <https://developer.apple.com/documentation/webkit/testing-with-webdriver-in-safari>

use super::LaunchOptions;
use super::port::ReservedPort;
use super::process::Process;
use super::profile::Profile;
use super::source::Source;
use crate::backend::webdriver::{ClassicBrowser, Started, Starter};
use crate::backend::{BrowserBackend, ContextOptions};
use crate::error::{Error, Result};
use crate::progress::Progress;
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;
use wire::webdriver::RemoteEnd;

pub(super) async fn launch(
    progress: &Progress,
    options: &LaunchOptions,
) -> Result<Arc<dyn BrowserBackend>> {
    let starter = Safari {
        options: options.clone(),
    };
    progress.run(ClassicBrowser::start(starter)).await
}

struct Safari {
    options: LaunchOptions,
}

#[async_trait]
impl Starter<()> for Safari {
    async fn start(&self, context: &ContextOptions) -> Result<Started<()>> {
        let profile = Profile::temporary().map_err(|error| Error::LaunchFailed {
            reason: error.to_string(),
            log: String::new(),
        })?;
        let port = ReservedPort::new()?;
        let address = port.address();
        let args = ["-p".to_owned(), address.port().to_string()];
        let (driver, _) =
            Process::start("safari", &self.options.executable, &args, &[], profile).await?;
        port.wait_for_listener(&driver, "safaridriver").await?;
        let remote = RemoteEnd::new(&format!("http://{address}"), &[])?;
        let mut wanted = json!({
            "browserName": "safari",
            "unhandledPromptBehavior": "ignore",
            "pageLoadStrategy": "none",
        });
        if context.ignore_https_errors {
            wanted["acceptInsecureCerts"] = true.into();
        }
        let (session, created) = remote
            .new_session(&json!({ "alwaysMatch": wanted }))
            .await
            .map_err(|error| Error::LaunchFailed {
                reason: error.to_string(),
                log: "Allow it once with `sudo safaridriver --enable`.".to_owned(),
            })?;
        let version = created.capabilities.get("browserVersion");
        let version = version.and_then(Value::as_str).unwrap_or_default();
        Ok(Started {
            session,
            channel: (),
            sources: vec![Source::Started(Arc::new(driver))],
            downloads: None,
            product: format!("Safari/{version}"),
        })
    }
}
