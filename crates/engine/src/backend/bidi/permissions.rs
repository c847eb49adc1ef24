//! Grants of permissions. Firefox grants them to single origins, so permissions for all origins are granted to each before its first visit.

use crate::backend::Feature;
use crate::error::{Error, Result};
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use url::Url;
use wire::Session;
use wire::bidi::permissions::{Descriptor, SetPermission};

/// The granted permissions of a context.
pub(super) struct Grants {
    root: Session,
    user_context: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The permissions that all origins have.
    names: Vec<String>,
    /// The origins that have received them.
    origins: HashSet<String>,
}

impl Grants {
    pub(super) fn new(root: Session, user_context: &str) -> Self {
        Self {
            root,
            user_context: user_context.to_owned(),
            state: Mutex::default(),
        }
    }

    /// Whether no permission is granted to all origins.
    pub(super) fn is_empty(&self) -> bool {
        self.state().names.is_empty()
    }

    /// Grants permissions to one origin.
    pub(super) async fn grant_to_origin(&self, names: &[String], origin: &str) -> Result<()> {
        self.set(names, origin, "granted").await
    }

    /// Grants permissions to each origin from its next visit on.
    pub(super) async fn grant_to_all(&self, names: &[String]) -> Result<()> {
        {
            let mut state = self.state();
            for name in names {
                if !state.names.contains(name) {
                    state.names.push(name.clone());
                }
            }
        }
        // An unknown name must fail now, not at the first visit.
        self.set(names, "https://playhouse.invalid", "granted")
            .await?;
        self.state().origins.clear();
        Ok(())
    }

    /// Grants the origin of a URL the permissions of all origins, once.
    pub(super) async fn grant_to_visited(&self, url: &str) -> Result<()> {
        let names = self.state().names.clone();
        if names.is_empty() {
            return Ok(());
        }
        let Ok(url) = Url::parse(url) else {
            return Ok(());
        };
        let origin = url.origin();
        let text = origin.ascii_serialization();
        if !origin.is_tuple() || !self.state().origins.insert(text.clone()) {
            return Ok(());
        }
        self.set(&names, &text, "granted").await
    }

    /// Resets the permissions of all origins.
    pub(super) async fn clear(&self) -> Result<()> {
        let State { names, origins } = std::mem::take(&mut *self.state());
        for origin in origins {
            self.set(&names, &origin, "prompt").await?;
        }
        Ok(())
    }

    async fn set(&self, names: &[String], origin: &str, state: &'static str) -> Result<()> {
        for name in names {
            let set = self
                .root
                .call(&SetPermission {
                    descriptor: Descriptor { name: name.clone() },
                    state,
                    origin: origin.to_owned(),
                    user_context: Some(self.user_context.clone()),
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

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
