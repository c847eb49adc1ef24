//! Masking values that differ between runs: addresses, times, durations, temporary names.

use std::path::Path;

use regress::Regex;

use crate::site::Site;
use crate::spec::Placeholders;

/// Masks the answers of one server.
pub(super) struct Normal {
    names: Placeholders,
    patterns: Vec<(Regex, &'static str)>,
}

/// Patterns of values that depend on the time, and their placeholders.
const PASSING: [(&str, &str); 7] = [
    // Lines of console logs begin with the time since the creation of the file.
    (r"^\[ *\d+ms\]", "[{ms}]"),
    (r"duration: +\d+ms", "duration: {ms}"),
    (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", "{time}"),
    (r"(trace|session)-\d{13}", "$1-{time}"),
    (r"^<launching> .*", "<launching> {command}"),
    (r"pid=\d+", "pid={pid}"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "{time}"),
];

impl Normal {
    /// Creates the masks for a server that uses this site and this workspace.
    pub(super) fn new(site: &Site, workspace: &Path) -> Self {
        let patterns = PASSING.map(|(pattern, name)| {
            (
                Regex::with_flags(pattern, "m").expect("a valid pattern"),
                name,
            )
        });
        Self {
            names: Placeholders::new(site, workspace, false),
            patterns: patterns.into(),
        }
    }

    /// Replaces placeholders in pages, flags and arguments by addresses.
    pub(super) fn fill(&self, text: &str) -> String {
        self.names.fill(text)
    }

    /// Replaces addresses in an answer by placeholders.
    pub(super) fn mask(&self, text: &str) -> String {
        let text = self.names.mask(text);
        self.patterns.iter().fold(text, |text, (pattern, name)| {
            pattern.replace_all(&text, name)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_passes_has_placeholders() {
        let site = Site::start().await;
        let normal = Normal::new(&site, Path::new("/tmp/work"));
        let text = format!("[     12ms] [LOG] x @ {}:4\nduration: 7ms", site.url("/a"));
        assert_eq!(
            normal.mask(&text),
            "[{ms}] [LOG] x @ {site}/a:4\nduration: {ms}"
        );
        assert_eq!(
            normal.mask("/tmp/work/session-1795248561218/session.md"),
            "{workspace}/session-{time}/session.md"
        );
    }
}
