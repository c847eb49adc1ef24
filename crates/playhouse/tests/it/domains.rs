//! `--blocked-domains` in a browser that Playhouse did not start: no request of any script or element reaches the server of a blocked
//! domain. `corpus` proves the rules in other browsers.

use serde_json::json;
use testkit::{Client, RemoteBrowser, Resource, Site, eventually};

use crate::server;

/// Sends requests to `OTHER` in every way that scripts can, and then reports to its own site that it has tried.
const ASKS: &str = "
const tried = [
  fetch('OTHER/WHO-fetch', { mode: 'no-cors' }).catch(() => {}),
  fetch('/redirect?to=OTHER/WHO-redirected').catch(() => {}),
  new Promise(done => {
    try {
      const socket = new WebSocket('SOCKET/WHO-socket');
      socket.onopen = socket.onerror = done;
    } catch { done(); }
  }),
];
if (self.EventSource) tried.push(new Promise(done => {
  const events = new EventSource('OTHER/WHO-events');
  events.onopen = events.onerror = () => { events.close(); done(); };
}));
if (self.importScripts) try { importScripts('OTHER/WHO-script') } catch {}
Promise.all(tried).then(() => fetch('/WHO-tried'));
";

/// A site, another one, and the requests of the first one's pages to the second.
struct Scene {
    site: Site,
    other: Site,
}

impl Scene {
    /// Only a separate host is blocked.
    async fn new() -> Self {
        let scene = Self {
            site: Site::start().await,
            other: Site::start().await,
        };
        for worker in ["dedicated", "inner", "shared", "service"] {
            let nested = match worker {
                "dedicated" => "new Worker('/inner.js');",
                _ => "",
            };
            let script =
                Resource::new("text/javascript", nested.to_owned() + &scene.script(worker));
            scene.site.add(&format!("/{worker}.js"), script);
        }
        let other = scene.other();
        let child = format!(
            "<title>child</title><img src={other}/child-img><script>{}</script>",
            scene.script("child")
        );
        scene.site.add_page("/child", &child);
        let grandchild = format!("<script>{}</script>", scene.script("srcdoc"));
        let page = format!(
            "<title>open</title><link rel=stylesheet href={other}/style><link rel=preload as=image href={other}/preload>
            <link rel=icon href={other}/icon><style>@import '{other}/import'; body {{ background: url({other}/background) }}</style>
            <img src={other}/img><img src='/redirect?to={other}/redirected'><script src={other}/script></script>
            <script type=module>import '{other}/module'</script><video src={other}/video></video><object data={other}/object></object>
            <iframe src={other}/frame></iframe><iframe src='/redirect?to={other}/frame-redirected'></iframe>
            <iframe src={}/child></iframe><iframe srcdoc=\"{}\"></iframe>
            <a id=link href={other}/link>Link</a><a id=blank href={other}/blank target=_blank>New</a>
            <a id=download href={other}/download download>Get</a>
            <a id=redirected href='/redirect?to={other}/download-redirected' download>Get</a>
            <form action={other}/form method=post><button id=send>Send</button></form>
            <script>{}
            new Worker('/dedicated.js'); new SharedWorker('/shared.js'); navigator.serviceWorker.register('/service.js');
            navigator.sendBeacon('{other}/beacon', 'x');</script>",
            scene.frame(),
            grandchild.replace('"', "&quot;"),
            scene.script("page"),
        );
        scene.site.add_page("/", &page);
        scene
    }

    /// Returns the origin of the blocked site.
    fn other(&self) -> String {
        self.other.cross_origin_url()
    }

    /// Returns the origin of the site as another allowed one.
    fn frame(&self) -> String {
        format!("http://frame.localhost:{}", self.site.port())
    }

    fn script(&self, who: &str) -> String {
        ASKS.replace("OTHER", &self.other())
            .replace("SOCKET", &self.other().replace("http", "ws"))
            .replace("WHO", who)
    }

    /// Waits until every script has tried all requests.
    async fn all_have_tried(&self) {
        for who in [
            "page",
            "child",
            "srcdoc",
            "dedicated",
            "inner",
            "shared",
            "service",
        ] {
            self.has_tried(who, 1).await;
        }
    }

    /// Waits until the last worker of each opened page has tried.
    async fn innermost_have_tried(&self) {
        self.has_tried("inner", self.requests_of("/")).await;
    }

    async fn has_tried(&self, who: &str, times: usize) {
        let target = format!("/{who}-tried");
        eventually(async || self.requests_of(&target) >= times).await;
    }

    fn requests_of(&self, target: &str) -> usize {
        let asked = self.site.requests();
        asked.iter().filter(|it| it.target == target).count()
    }

    /// Opens the page in a session, acts on it like a user, and checks the requests.
    async fn is_played(&self, client: &Client, rule: &str) {
        let home = json!({ "url": self.site.url("/") });
        let arrived = client.object("navigate", home.clone()).await;
        assert_eq!(arrived["title"], "open", "{arrived}");
        self.all_have_tried().await;
        let log = json!({ "filter": "**/img" });
        let log = client.object("get_request_log", log).await;
        let error = log["requests"][0]["error"].as_str().unwrap_or_default();
        assert!(error.contains("ERR_BLOCKED_BY_CLIENT"), "{log}");
        for button in ["#download", "#redirected", "#blank", "#send", "#link"] {
            let click = json!({ "selector": button });
            client.object("click", click).await;
            // Independently of the result.
            let first = json!({ "action": "select", "index": 0 });
            client.call("browser_tabs", first).await;
            client.object("navigate", home.clone()).await;
            // A nested worker whose page navigates while it starts is resumed by the browser before rules are applied, and nothing else
            // blocks its WebSockets there: decision 16.
            self.innermost_have_tried().await;
        }
        let direct = format!("{}/direct", self.other());
        let redirected = self.site.url(&format!("/redirect?to={direct}"));
        for url in [direct, redirected] {
            for tool in ["navigate", "browser_navigate"] {
                let answer = client.object(tool, json!({ "url": url })).await;
                assert_eq!(answer["errorCode"], "URL_BLOCKED", "{answer}");
                assert_eq!(answer["details"]["rule"], rule, "{answer}");
            }
        }
        let asked = self.other.requests();
        let asked: Vec<_> = asked.iter().map(|request| &request.target).collect();
        assert!(asked.is_empty(), "{asked:?}");
    }
}

#[testkit::test(chromium, nightly)]
async fn a_blocked_domain_gets_no_request_of_a_remote_browser() {
    let browser = RemoteBrowser::start().await;
    let endpoint = browser.http();
    let flags = ["--cdp-endpoint", &endpoint, "--blocked-domains=localhost"];
    let client = server(&flags).await;
    let scene = Scene::new().await;
    scene.is_played(&client, "localhost is blocked").await;
}
