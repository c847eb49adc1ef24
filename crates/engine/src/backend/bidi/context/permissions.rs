//! The permissions of a user context.

use super::BidiContext;
use crate::backend::Permissions;
use crate::error::Result;
use async_trait::async_trait;

#[async_trait]
impl Permissions for BidiContext {
    async fn grant_permissions(&self, names: &[String], origin: Option<&str>) -> Result<()> {
        let grants = &self.parts.grants;
        if let Some(origin) = origin {
            return grants.grant_to_origin(names, origin).await;
        }
        grants.grant_to_all(names).await?;
        for page in self.pages.open() {
            grants.grant_to_visited(&page.url()).await?;
        }
        Ok(())
    }

    async fn clear_permissions(&self) -> Result<()> {
        self.parts.grants.clear().await
    }
}
