//! Emulation and init scripts of a page.

use super::BidiPage;
use crate::backend::bidi::CAPABILITIES;
use crate::backend::bidi::network::entries;
use crate::backend::{Emulation, Feature, Headers, MediaFeatures, Viewport};
use crate::error::Result;
use async_trait::async_trait;
use wire::bidi::{browsing_context, network, script};

#[async_trait]
impl Emulation for BidiPage {
    async fn set_viewport(&self, viewport: &Viewport) -> Result<()> {
        if viewport.is_mobile {
            CAPABILITIES.require(Feature::MobileViewport)?;
        }
        if viewport.has_touch {
            CAPABILITIES.require(Feature::TouchScreen)?;
        }
        let command = browsing_context::SetViewport {
            context: Some(self.name()),
            ..viewport_command(viewport)
        };
        self.root().call(&command).await?;
        self.state().viewport = Some(viewport.clone());
        Ok(())
    }

    async fn clear_viewport(&self) -> Result<()> {
        let command = browsing_context::ResetViewport {
            context: Some(self.name()),
            ..Default::default()
        };
        self.root().call(&command).await?;
        self.state().viewport = None;
        Ok(())
    }

    async fn emulate_media(&self, features: &MediaFeatures) -> Result<()> {
        if *features != MediaFeatures::default() {
            CAPABILITIES.require(Feature::MediaFeatures)?;
        }
        Ok(())
    }

    async fn set_extra_headers(&self, headers: &Headers) -> Result<()> {
        self.root()
            .call(&network::SetExtraHeaders {
                headers: entries(headers.clone()),
                contexts: Some(vec![self.name()]),
                user_contexts: None,
            })
            .await?;
        Ok(())
    }

    async fn add_init_script(&self, source: &str) -> Result<()> {
        self.root()
            .call(&script::AddPreloadScript {
                function_declaration: preload(source),
                contexts: Some(vec![self.name()]),
                ..Default::default()
            })
            .await?;
        Ok(())
    }
}

/// Converts a script to a function, as a preload script requires.
pub(crate) fn preload(source: &str) -> String {
    format!("() => {{\n{source}\n}}")
}

pub(crate) fn viewport_command(viewport: &Viewport) -> browsing_context::SetViewport {
    browsing_context::SetViewport {
        viewport: Some(browsing_context::Viewport {
            width: viewport.size.width,
            height: viewport.size.height,
        }),
        device_pixel_ratio: Some(viewport.device_scale_factor),
        ..Default::default()
    }
}
