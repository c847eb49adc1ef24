//! Credentials for servers and proxies that require authentication.

use super::CdpPage;
use crate::backend::ContextOptions;
use wire::Session;
use wire::cdp::fetch;

/// Whether there are credentials. Only then must all requests be intercepted.
pub(super) fn is_wanted(options: &ContextOptions) -> bool {
    options.http_credentials.is_some()
        || options
            .proxy
            .as_ref()
            .is_some_and(|proxy| proxy.username.is_some())
}

/// Continues a request that was paused only because its server might send a challenge.
pub(super) fn continue_request(session: &Session, paused: fetch::RequestPaused) {
    session.post(&fetch::ContinueRequest {
        request_id: paused.request_id,
        ..Default::default()
    });
}

/// Sends the credentials once. On a second challenge they were wrong, and the page gets the 401 or 407 response.
pub(super) fn answer(page: &CdpPage, session: &Session, required: &fetch::AuthRequired) {
    let credentials = credentials(&page.options(), required);
    let auth_challenge_response = match credentials {
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
    session.post(&fetch::ContinueWithAuth {
        request_id: required.request_id.clone(),
        auth_challenge_response,
    });
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
    let credentials = options.http_credentials.as_ref()?;
    credentials.for_origin(&required.auth_challenge.origin)
}
