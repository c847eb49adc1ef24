//! What a client configures never allows what the operator has forbidden.

use crate::config::{Risk, Settings};
use crate::error::{Error, Result};

/// Refuses a proxy of a client that would replace rules about the network or the proxy of the operator, or could change pages where clients
/// run no code.
pub(crate) fn check_proxy(settings: &Settings) -> Result<()> {
    let browser = &settings.browser;
    let reason = if !browser.origins.is_empty() || !browser.addresses.is_empty() {
        "it would connect to hosts that the rules about the network (such as --allowed-domains) forbid"
    } else if browser.proxy.is_some() {
        "it would replace the proxy of --proxy-server"
    } else if !runs_client_code(settings) {
        "a proxy can change pages, and the server was started with --no-enable-script-evaluation"
    } else {
        return Ok(());
    };
    Err(Error::ParameterSwitchedOff {
        parameter: "proxy",
        reason,
    })
}

/// Refuses what a page would get from the client and could run as code.
pub(crate) fn check_content(settings: &Settings, parameter: &'static str) -> Result<()> {
    if runs_client_code(settings) {
        return Ok(());
    }
    Err(Error::ParameterSwitchedOff {
        parameter,
        reason: "pages could run it as code, and the server was started with --no-enable-script-evaluation",
    })
}

/// Refuses code of the client.
pub(crate) fn check_evaluation(settings: &Settings, parameter: &'static str) -> Result<()> {
    if runs_client_code(settings) {
        return Ok(());
    }
    Err(Error::ParameterSwitchedOff {
        parameter,
        reason: "it runs code, and the server was started with --no-enable-script-evaluation",
    })
}

fn runs_client_code(settings: &Settings) -> bool {
    !settings.tools.forbidden.contains(&Risk::Evaluation)
}
