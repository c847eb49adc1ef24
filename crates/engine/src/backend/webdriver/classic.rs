//! A remote end without an inspector: changes of a page are found by polling, and only WebDriver's own commands are used.

use super::context::{ContextExtension, WebDriverContext};
use super::driver::{FrameTarget, page_error};
use super::page::{CapturedPart, Outcome, PageExtension, WebDriverPage};
use crate::backend::{Capabilities, Cookie, DialogKind, PageBackend, PageEvent, ScreenshotArea};
use crate::error::{Error, NetError, Result};
use async_trait::async_trait;
use std::sync::Arc;
use wire::actions::Source;
use wire::webdriver::cookie::{self, AddCookie, DeleteCookie};
use wire::webdriver::error;
use wire::webdriver::prompt::{AcceptAlert, DismissAlert, GetAlertText, SendAlertText};
use wire::webdriver::screenshot::TakeScreenshot;
use wire::webdriver::window::{NewWindow, WindowKind};

/// Nothing beside WebDriver ("WebDriver Classic").
pub(crate) struct Classic;

#[async_trait]
impl PageExtension for Classic {
    const CAPABILITIES: &'static Capabilities = &super::CLASSIC;
    const REPORTS_DOCUMENTS: bool = false;
    /// WebDriver does not return the kind of a dialog.
    const UNREPORTED_DIALOG: DialogKind = DialogKind::Alert;

    /// Polls the page until it shows another document.
    async fn wait_for_navigation(
        page: &WebDriverPage<Self>,
        _before: u64,
        url: &str,
    ) -> Result<Option<Outcome>> {
        let main = page.main_frame();
        let before = page.document_of(&main)?;
        page.report(PageEvent::NavigationStarted {
            frame: main.clone(),
            loader: None,
            url: url.to_owned(),
        });
        loop {
            match page.poll_frames().await {
                Ok(()) | Err(Error::DocumentGone {}) => {}
                Err(error) => return Err(error),
            }
            let now = page.document_of(&main)?;
            if let Some(now) = now
                && before.as_ref() != Some(&now)
            {
                // The browser shows a blank document when it cannot load the URL.
                if page.url() == "about:blank" && !url.starts_with("about:") {
                    return Ok(Some(Outcome::Failed(NetError::Failed)));
                }
                return Ok(Some(Outcome::Committed(now.as_str().into())));
            }
            tokio::time::sleep(super::page::POLL_INTERVAL).await;
        }
    }

    async fn perform(page: &WebDriverPage<Self>, actions: Vec<Source>) -> Result<()> {
        page.perform_actions(actions).await
    }

    async fn shown_dialog(page: &WebDriverPage<Self>) -> Result<Option<String>> {
        match page.send_to_window(&GetAlertText {}).await {
            Ok(text) => Ok(Some(text.unwrap_or_default())),
            Err(wire::Error::Refused { error: name, .. }) if name == error::NO_SUCH_ALERT => {
                Ok(None)
            }
            Err(refused) => Err(page_error(refused)),
        }
    }

    async fn answer_dialog(
        page: &WebDriverPage<Self>,
        accept: bool,
        text: Option<&str>,
    ) -> Result<()> {
        let answered = async {
            if !accept {
                return page.send_to_window(&DismissAlert {}).await;
            }
            if let Some(text) = text {
                let text = text.to_owned();
                page.send_to_window(&SendAlertText { text }).await?;
            }
            page.send_to_window(&AcceptAlert {}).await
        };
        answered.await.map(drop).map_err(page_error)
    }

    /// The driver captures the viewport only, so the part of `area` outside of it is missing.
    async fn capture(
        page: &WebDriverPage<Self>,
        area: ScreenshotArea,
    ) -> Result<(Vec<u8>, CapturedPart)> {
        let part = if area == ScreenshotArea::Viewport {
            None
        } else {
            let [x, y, width, height] = page.pixel_box_of(area).await?;
            let [left, top, ..] = page.pixel_box_of(ScreenshotArea::Viewport).await?;
            Some([x.saturating_sub(left), y.saturating_sub(top), width, height])
        };
        Ok((page.send_to_main(&TakeScreenshot {}).await?.0, part))
    }

    async fn capture_frame(page: &WebDriverPage<Self>) -> Result<Vec<u8>> {
        Ok(page.send_to_focused(&TakeScreenshot {}).await?.0)
    }
}

#[async_trait]
impl ContextExtension for Classic {
    type Channel = ();
    type Events = ();

    fn new(_channel: ()) -> (Self, ()) {
        (Self, ())
    }

    fn page_backend(page: Arc<WebDriverPage<Self>>) -> Arc<dyn PageBackend> {
        page
    }

    /// The driver opens a window from another one.
    async fn open_window(context: &WebDriverContext<Self>) -> Result<String> {
        let opener = FrameTarget::window(context.any_handle().unwrap_or_default());
        let kind = WindowKind::Window;
        let opened = context.parts.driver.at(&opener, &NewWindow { kind }).await;
        Ok(opened.map_err(page_error)?.handle)
    }

    async fn set_cookie(
        context: &WebDriverContext<Self>,
        window: &str,
        cookie: &Cookie,
    ) -> Result<()> {
        let cookie = param(cookie);
        context
            .send_cookie_command(window, &AddCookie { cookie })
            .await
    }

    async fn delete_cookie(
        context: &WebDriverContext<Self>,
        window: &str,
        cookie: &Cookie,
    ) -> Result<()> {
        let name = cookie.name.clone();
        context
            .send_cookie_command(window, &DeleteCookie { name })
            .await
    }
}

fn param(cookie: &Cookie) -> cookie::Cookie {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole seconds, not before 1970"
    )]
    let expiry = (cookie.expires >= 0.0).then_some(cookie.expires as i64);
    cookie::Cookie {
        name: cookie.name.clone(),
        value: cookie.value.clone(),
        path: Some(cookie.path.clone()),
        // A cookie without a domain is sent to the host of the document alone.
        domain: cookie
            .domain
            .starts_with('.')
            .then(|| cookie.domain.clone()),
        secure: cookie.secure,
        http_only: cookie.http_only,
        expiry,
        same_site: cookie.same_site.map(|rule| rule.to_string()),
    }
}
