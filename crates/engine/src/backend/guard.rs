//! The script that prevents pages from opening connections that cannot be intercepted.

use crate::origins::OriginRules;
use serde_json::json;

/// Returns a script for pages and workers that blocks connections that are not requests, according to the rules.
pub(crate) fn guard(rules: &OriginRules) -> String {
    let (allowed, blocked) = rules.expressions();
    format!("({GUARD})({}, {})", json!(allowed), json!(blocked))
}

const GUARD: &str = include_str!("guard.js");
