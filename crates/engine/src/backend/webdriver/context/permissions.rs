//! The permissions of a context: a driver has no command for them.

use super::WebDriverContext;
use crate::backend::{Feature, Permissions};
use crate::error::Result;
use async_trait::async_trait;

#[async_trait]
impl Permissions for WebDriverContext {
    async fn grant_permissions(&self, _names: &[String], _origin: Option<&str>) -> Result<()> {
        self.parts.capabilities().require(Feature::Permission)
    }

    async fn clear_permissions(&self) -> Result<()> {
        Ok(())
    }
}
