//! How large a page is: a driver knows windows only, so one is made as much larger as its bars take.

use super::page::WebDriverPage;
use crate::backend::Size;
use crate::error::{Error, Result};
use serde_json::Value;
use std::time::Duration;
use wire::webdriver::window::SetWindowRect;

/// How often a window is looked at that is on its way to its size.
const POLL_ATTEMPTS: u32 = 60;
const POLL_INTERVAL: Duration = Duration::from_millis(10);

impl WebDriverPage {
    /// Makes the viewport as large as that.
    pub(super) async fn fit(&self, wanted: Size) -> Result<()> {
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
        Err(Error::Protocol {
            method: "Set Window Rect".to_owned(),
            message: format!(
                "the window does not become {}x{}",
                wanted.width, wanted.height
            ),
        })
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
        let main = self.main().clone();
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
