//! Permissions by their Playwright names. Firefox grants them to one origin at a time: what all origins are granted, each gets before
//! it is first visited.

use super::context::BidiContext;
use crate::backend::Feature;
use crate::error::{Error, Result};
use url::Url;
use wire::bidi::permissions::{Descriptor, SetPermission};

impl BidiContext {
    pub(super) async fn grant(&self, names: &[String], origin: Option<&str>) -> Result<()> {
        if let Some(origin) = origin {
            return self.set_all(names, origin, "granted").await;
        }
        {
            let mut options = self.options();
            for name in names {
                if !options.permissions.contains(name) {
                    options.permissions.push(name.clone());
                }
            }
        }
        // Whether it knows them is to be said now.
        self.set_all(names, "https://playhouse.invalid", "granted")
            .await?;
        self.take_granted_origins();
        for page in self.open_pages() {
            self.grant_to(&page.url()).await?;
        }
        Ok(())
    }

    pub(super) async fn revoke_permissions(&self) -> Result<()> {
        let names = std::mem::take(&mut self.options().permissions);
        for origin in self.take_granted_origins() {
            self.set_all(&names, &origin, "prompt").await?;
        }
        Ok(())
    }

    /// Grants the origin of an address what all are granted.
    pub(super) async fn grant_to(&self, address: &str) -> Result<()> {
        let names = self.options().permissions.clone();
        if names.is_empty() {
            return Ok(());
        }
        let Ok(url) = Url::parse(address) else {
            return Ok(());
        };
        let origin = url.origin();
        let seen = origin.ascii_serialization();
        if !origin.is_tuple() || !self.mark_granted(&seen) {
            return Ok(());
        }
        self.set_all(&names, &seen, "granted").await
    }

    async fn set_all(&self, names: &[String], origin: &str, state: &'static str) -> Result<()> {
        for name in names {
            let set = self
                .root
                .call(&SetPermission {
                    descriptor: Descriptor { name: name.clone() },
                    state,
                    origin: origin.to_owned(),
                    user_context: Some(self.id().to_owned()),
                })
                .await;
            match set {
                Err(wire::Error::Refused { .. }) => {
                    super::CAPABILITIES.require(Feature::Permission)?
                }
                other => other.map(drop).map_err(Error::from)?,
            }
        }
        Ok(())
    }
}
