//! The parts of the messages of errors.

use super::{Denial, Problem};
use std::fmt::Write as _;

/// Returns a line for each invalid argument.
pub(super) fn listed(problems: &[Problem]) -> String {
    let mut text = String::new();
    for Problem {
        parameter, message, ..
    } in problems
    {
        let _ = write!(text, "\n✖ {message}");
        if !parameter.is_empty() {
            let _ = write!(text, "\n  → at {parameter}");
        }
    }
    text
}

/// Returns the sentence about a server of the app that is not configured, or not named.
pub(super) fn unconfigured(server: Option<&str>, servers: &[String]) -> String {
    match (server, servers) {
        (_, []) => "No server of the app under test is configured".to_owned(),
        (Some(server), _) => format!(
            "Unknown server \"{server}\". Known servers: {}",
            servers.join(", ")
        ),
        (None, _) => format!("Name the server. There are: {}", servers.join(", ")),
    }
}

/// Returns the sentence about a call that requires a session with a server of the app.
pub(super) fn no_e2e_session(sessions: &[String]) -> String {
    match sessions {
        [] => "No session has a server of the app".to_owned(),
        _ => format!(
            "Name a session with a server of the app. There are: {}",
            sessions.join(", ")
        ),
    }
}

/// Returns the sentence about the tab that the next call uses.
pub(super) fn current_tab(current: Option<&str>) -> String {
    match current {
        Some(current) => format!("The current tab is {current}"),
        None => "No tab is open".to_owned(),
    }
}

/// Returns the origin of a document as a part of a sentence.
pub(super) fn on(origin: Option<&str>) -> String {
    origin.map_or_else(String::new, |origin| format!(" on {origin}"))
}

/// Returns why a rule of the policy prevented a call, as a part of a sentence.
pub(super) fn denied(denial: Denial, rule: &str) -> String {
    match denial {
        Denial::Denied => format!("is denied by {rule} of the server's policy"),
        Denial::Declined => {
            format!("has to be allowed by the user ({rule} of the server's policy), who declined")
        }
        Denial::Unanswered => format!(
            "has to be allowed by the user ({rule} of the server's policy), who did not answer in time"
        ),
        Denial::CannotAsk => format!(
            "has to be allowed by the user ({rule} of the server's policy), and this client cannot ask: it has no elicitation"
        ),
    }
}

/// Returns after how many steps a batch ended, as a part of a sentence.
pub(super) fn stopped(step: usize, ran: usize) -> String {
    match (step, ran) {
        (0, _) => "failed".to_owned(),
        (_, 0) => "was refused, and no step was carried out".to_owned(),
        (_, 1) => "failed after 1 step".to_owned(),
        (_, ran) => format!("failed after {ran} steps"),
    }
}

/// Returns the reason after a colon, if there is one.
pub(super) fn colon(reason: &str) -> String {
    if reason.is_empty() {
        String::new()
    } else {
        format!(": {reason}")
    }
}
