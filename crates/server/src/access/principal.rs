//! Principals, the identities of clients, and their permissions.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

/// The identity of a client: a name. Sessions belong to a principal and do not exist for others. Equality compares the name only, because
/// permissions can change from one request to the next.
#[derive(Debug, Clone)]
pub(crate) struct Principal {
    name: Arc<str>,
    permission: Permission,
    folders: Arc<Folders>,
}

/// The configured folders of a principal, in addition to those of all principals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Folders {
    /// The absolute path of the workspace; `None`: a folder below the root of all workspaces.
    pub(crate) workspace: Option<PathBuf>,
    /// Folders with files that the principal may read without `browser:admin`. Relative paths are relative to the workspace.
    pub(crate) readable: Vec<PathBuf>,
    /// The workspaces of other principals.
    pub(crate) others: Vec<PathBuf>,
}

/// What a principal may do; each permission includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// Read pages, lists and logs.
    Read,
    /// Act: navigate, click, type, run scripts in pages, create sessions.
    Act,
    /// Read and write credentials (cookies, storage, storage states, the server's configuration), and run code outside the page.
    Admin,
}

impl Permission {
    /// All permissions, in ascending order.
    pub(crate) const ALL: [Self; 3] = [Self::Read, Self::Act, Self::Admin];

    /// Returns the OAuth scope.
    pub fn scope(self) -> &'static str {
        match self {
            Self::Read => "browser:read",
            Self::Act => "browser:act",
            Self::Admin => "browser:admin",
        }
    }

    /// Returns the highest permission that these scopes grant.
    pub(crate) fn of_scopes<'a>(scopes: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let known = |scope| Self::ALL.into_iter().find(|one| one.scope() == scope);
        scopes.into_iter().filter_map(known).max()
    }
}

impl Principal {
    /// Returns the principal of all clients over stdio and without authentication.
    pub(crate) fn anonymous() -> Self {
        Self::named("anybody")
    }

    /// Returns a named principal with all permissions.
    pub(crate) fn named(name: &str) -> Self {
        Self {
            name: name.into(),
            permission: Permission::Admin,
            folders: Arc::default(),
        }
    }

    /// Returns the principal with these folders.
    pub(crate) fn with_folders(self, folders: Folders) -> Self {
        Self {
            folders: Arc::new(folders),
            ..self
        }
    }

    /// Returns the folders that the configuration gives to the principal.
    pub(crate) fn folders(&self) -> &Folders {
        &self.folders
    }

    /// Returns the principal with this permission.
    pub(crate) fn with(self, permission: Permission) -> Self {
        Self { permission, ..self }
    }

    /// Returns the permission of the principal.
    pub(crate) fn permission(&self) -> Permission {
        self.permission
    }

    /// Returns whether this is the principal of clients without authentication.
    pub(crate) fn is_anonymous(&self) -> bool {
        *self == Self::anonymous()
    }
}

impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Principal {}

impl Hash for Principal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_scope_counts_and_others_are_none() {
        let of = |scopes: &str| Permission::of_scopes(scopes.split(' '));
        assert_eq!(of("openid browser:read"), Some(Permission::Read));
        assert_eq!(of("browser:admin browser:read"), Some(Permission::Admin));
        assert_eq!(of("browser:acts BROWSER:READ browser"), None);
        assert!(Permission::Read < Permission::Act && Permission::Act < Permission::Admin);
    }

    #[test]
    fn identity_does_not_depend_on_permission() {
        let ada = Principal::named("key:ada");
        assert_eq!(ada, ada.clone().with(Permission::Read));
        assert_ne!(ada, Principal::anonymous());
    }
}
