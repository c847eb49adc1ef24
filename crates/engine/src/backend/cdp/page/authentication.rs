//! Who we are, for servers and proxies that ask.

use super::CdpPage;
use crate::backend::ContextOptions;
use wire::Session;
use wire::cdp::fetch;

/// Whether anybody has an answer; only then does every request stop by us.
pub(super) fn is_wanted(options: &ContextOptions) -> bool {
    options.http_credentials.is_some()
        || options
            .proxy
            .as_ref()
            .is_some_and(|proxy| proxy.username.is_some())
}

/// Lets a request go on that stopped only because its server might ask.
pub(super) fn continue_request(session: &Session, paused: fetch::RequestPaused) {
    drop(session.send(&fetch::ContinueRequest {
        request_id: paused.request_id,
        ..Default::default()
    }));
}

/// Tells name and password, once; asked again, they were wrong, and the page gets the refusal.
pub(super) fn answer(page: &CdpPage, session: &Session, required: &fetch::AuthRequired) {
    let known = credentials(&page.options(), required);
    let auth_challenge_response = match known {
        Some((username, password)) if page.first_challenge(&required.request_id) => {
            fetch::AuthChallengeResponse {
                response: fetch::AuthResponse::ProvideCredentials,
                username: Some(username),
                password: Some(password),
            }
        }
        _ => fetch::AuthChallengeResponse {
            response: fetch::AuthResponse::CancelAuth,
            ..Default::default()
        },
    };
    drop(session.send(&fetch::ContinueWithAuth {
        request_id: required.request_id.clone(),
        auth_challenge_response,
    }));
}

fn credentials(
    options: &ContextOptions,
    required: &fetch::AuthRequired,
) -> Option<(String, String)> {
    if required.auth_challenge.source == Some(fetch::AuthSource::Proxy) {
        let proxy = options.proxy.as_ref()?;
        let password = proxy.password.clone().unwrap_or_default();
        return Some((proxy.username.clone()?, password));
    }
    let known = options.http_credentials.as_ref()?;
    known.for_origin(&required.auth_challenge.origin)
}
