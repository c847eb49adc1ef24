//! Permissions by their Playwright names.

use super::CdpContext;
use crate::backend::{Feature, Permissions};
use crate::error::{Error, Result};
use async_trait::async_trait;
use wire::cdp::browser::{GrantPermissions, PermissionType, ResetPermissions};

const NAMES: &[(&str, PermissionType)] = &[
    ("accelerometer", PermissionType::Sensors),
    ("ambient-light-sensor", PermissionType::Sensors),
    ("background-sync", PermissionType::BackgroundSync),
    ("camera", PermissionType::VideoCapture),
    ("clipboard-read", PermissionType::ClipboardReadWrite),
    ("clipboard-write", PermissionType::ClipboardSanitizedWrite),
    ("geolocation", PermissionType::Geolocation),
    ("gyroscope", PermissionType::Sensors),
    ("local-fonts", PermissionType::LocalFonts),
    ("local-network-access", PermissionType::LocalNetworkAccess),
    ("magnetometer", PermissionType::Sensors),
    ("microphone", PermissionType::AudioCapture),
    ("midi", PermissionType::Midi),
    ("midi-sysex", PermissionType::MidiSysex),
    ("notifications", PermissionType::Notifications),
    ("payment-handler", PermissionType::PaymentHandler),
    ("storage-access", PermissionType::StorageAccess),
];

#[async_trait]
impl Permissions for CdpContext {
    async fn grant_permissions(&self, names: &[String], origin: Option<&str>) -> Result<()> {
        self.host.capabilities.require(Feature::Permission)?;
        self.host
            .root
            .call(&GrantPermissions {
                permissions: permission_types(names)?,
                origin: origin.map(str::to_owned),
                browser_context_id: self.id.clone(),
            })
            .await?;
        Ok(())
    }

    async fn clear_permissions(&self) -> Result<()> {
        self.host.capabilities.require(Feature::Permission)?;
        self.host
            .root
            .call(&ResetPermissions {
                browser_context_id: self.id.clone(),
            })
            .await?;
        Ok(())
    }
}

/// Returns Chromium's names of permissions. The error for an unknown name lists the known ones.
fn permission_types(names: &[String]) -> Result<Vec<PermissionType>> {
    names
        .iter()
        .map(|name| {
            let known = NAMES.iter().find(|(known, _)| known == name);
            known.map(|(_, kind)| *kind).ok_or_else(|| Error::Protocol {
                method: "grantPermissions".to_owned(),
                message: format!(
                    "Unknown permission: {name}. Known are {}.",
                    NAMES
                        .iter()
                        .map(|(known, _)| *known)
                        .collect::<Vec<_>>()
                        .join(", ")
                ),
            })
        })
        .collect()
}
