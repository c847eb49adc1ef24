//! What keeps pages from opening connections that are no requests, and so cannot be stopped: a script in each of them.

use crate::origins::OriginRules;
use serde_json::json;

/// What refuses connections that are no requests, in a page or a worker.
pub(crate) fn guard(rules: &OriginRules) -> String {
    let (allowed, blocked) = rules.expressions();
    format!("({GUARD})({}, {})", json!(allowed), json!(blocked))
}

const GUARD: &str = include_str!("guard.js");
