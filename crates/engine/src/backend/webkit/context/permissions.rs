//! The permissions of a context: WebKit has no command for them.

use super::WebKitContext;
use crate::backend::webkit::CAPABILITIES;
use crate::backend::{Feature, Permissions};
use crate::error::Result;
use async_trait::async_trait;

#[async_trait]
impl Permissions for WebKitContext {
    async fn grant_permissions(&self, _names: &[String], _origin: Option<&str>) -> Result<()> {
        CAPABILITIES.require(Feature::Permission)
    }

    async fn clear_permissions(&self) -> Result<()> {
        Ok(())
    }
}
