//! The `Security` domain: certificate errors.

use serde::Serialize;

use super::{Empty, command};

/// [`Security.enable`](https://chromedevtools.github.io/devtools-protocol/tot/Security/#method-enable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Enable {}
command!(Enable, "Security.enable", Empty);

/// [`Security.disable`](https://chromedevtools.github.io/devtools-protocol/tot/Security/#method-disable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Disable {}
command!(Disable, "Security.disable", Empty);

/// [`Security.setIgnoreCertificateErrors`](https://chromedevtools.github.io/devtools-protocol/tot/Security/#method-setIgnoreCertificateErrors)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetIgnoreCertificateErrors {
    pub ignore: bool,
}
command!(
    SetIgnoreCertificateErrors,
    "Security.setIgnoreCertificateErrors",
    Empty
);
