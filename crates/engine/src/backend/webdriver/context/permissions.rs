//! The permissions of a context: WebDriver has no command for them.

use super::{ContextExtension, WebDriverContext};
use crate::backend::{Feature, Permissions};
use crate::error::Result;
use async_trait::async_trait;

#[async_trait]
impl<E: ContextExtension> Permissions for WebDriverContext<E> {
    async fn grant_permissions(&self, _names: &[String], _origin: Option<&str>) -> Result<()> {
        E::CAPABILITIES.require(Feature::Permission)
    }

    async fn clear_permissions(&self) -> Result<()> {
        Ok(())
    }
}
