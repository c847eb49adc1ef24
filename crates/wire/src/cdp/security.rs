//! The `Security` domain: certificate errors.

use serde::Serialize;

use super::{Empty, command};

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
