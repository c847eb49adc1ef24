//! The `permissions` module, which the Permissions specification defines.

use serde::Serialize;

use super::browser::UserContext;
use super::{Empty, command};

/// [`permissions.setPermission`](https://www.w3.org/TR/permissions/#webdriver-bidi-command-permissions-setPermission)
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetPermission {
    pub descriptor: Descriptor,
    /// `granted`, `denied` or `prompt`.
    pub state: &'static str,
    pub origin: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_context: Option<UserContext>,
}
command!(SetPermission, "permissions.setPermission", Empty);

/// [`permissions.PermissionDescriptor`](https://www.w3.org/TR/permissions/#webdriver-bidi-type-permissions-PermissionDescriptor)
#[derive(Debug, Clone, Serialize)]
pub struct Descriptor {
    pub name: String,
}
