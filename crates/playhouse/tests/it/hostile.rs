//! Hostile pages: calls return and the session remains usable whatever a page does.

mod answers;
mod floods;
mod frames;
mod large_pages;
mod loops;
mod page_overrides;

use crate::{CAPABILITIES, launch};
use serde_json::json;
use std::ops::Deref;
use std::time::Duration;
use testkit::{Client, Launch, Site};

/// The longest call on a busy machine takes less.
const LIMIT: Duration = Duration::from_secs(150);

/// A site with a working page, and a server.
struct HostilePage {
    site: Site,
    client: Box<dyn Deref<Target = Client>>,
}

impl HostilePage {
    async fn with(args: &[&str]) -> Self {
        Self::on_shared(launch(args)).await
    }

    /// Creates one whose pages have a fifth of a second to respond before a navigation.
    async fn with_hurry(args: &[&str]) -> Self {
        Self::on_shared(launch(args).timeout_divisor(5)).await
    }

    /// Creates one with a server of its own, whose memory is measured.
    async fn measured(args: &[&str]) -> Self {
        let client = launch(args).limit(LIMIT).start().await;
        Self::on(Box::new(Box::new(client))).await
    }

    async fn on_shared(launch: Launch) -> Self {
        let launch = launch.args(["--caps", CAPABILITIES]).limit(LIMIT);
        Self::on(Box::new(launch.pooled().await)).await
    }

    async fn on(client: Box<dyn Deref<Target = Client>>) -> Self {
        let site = Site::start().await;
        site.add_page(
            "/fine",
            "<title>Fine</title><button onclick=\"this.textContent = 'done'\">Go</button>",
        );
        Self { site, client }
    }

    /// Opens a page with this HTML; any result is accepted.
    async fn open(&self, html: &str) -> testkit::CallResult {
        let url = self.site.add_page("/", html);
        self.client
            .call("browser_navigate", json!({ "url": url }))
            .await
    }

    async fn call(&self, tool: &str, arguments: serde_json::Value) -> testkit::CallResult {
        self.client.call(tool, arguments).await
    }

    /// Asserts that the server's memory was always small: page content is limited before it arrives.
    fn is_lean(&self) {
        self.uses_less_than(200_000);
    }

    /// Asserts that the server's memory was always smaller than that many kilobytes.
    fn uses_less_than(&self, limit: u64) {
        let process = self.client.pid().expect("it runs");
        let output = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let peak = output.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = peak.and_then(|peak| peak.trim().split(' ').next()?.parse::<u64>().ok());
        // Not available on all systems.
        assert!(kilobytes.unwrap_or(0) < limit, "{kilobytes:?} kB");
    }

    /// Asserts that the next page works, and its tab can be closed.
    async fn assert_usable(&self, after: &str) {
        let url = self.site.url("/fine");
        let gone = self.call("browser_navigate", json!({ "url": url })).await;
        assert!(!gone.is_error, "{after}: {}", gone.text);
        assert!(
            gone.text.contains("Page Title: Fine"),
            "{after}: {}",
            gone.text
        );
        let clicked = self
            .call("browser_click", json!({ "target": "getByRole('button')" }))
            .await;
        assert!(!clicked.is_error, "{after}: {}", clicked.text);
        let seen = self.call("browser_snapshot", json!({})).await;
        assert!(
            seen.text.contains("button \"done\""),
            "{after}: {}",
            seen.text
        );
        let tabs = self.call("browser_tabs", json!({ "action": "list" })).await;
        assert!(
            tabs.text.contains("(current) [Fine]"),
            "{after}: {}",
            tabs.text
        );
        let closed = self
            .call("browser_tabs", json!({ "action": "close" }))
            .await;
        assert!(!closed.is_error, "{after}: {}", closed.text);
    }
}
