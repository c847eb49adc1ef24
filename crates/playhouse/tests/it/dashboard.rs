//! The dashboard in real browsers: what it shows, how a user takes a browser over, and who may see what.

mod control;
mod file_chooser;
mod input;
mod link;

use crate::key_server::KeyServer;
use crate::{evaluated, launch, launch_on};
use serde_json::{Value, json};
use testkit::{Client, Connection, Engine, HttpAnswer, Site, WebSocketClient, eventually};

const FORM: &str = "application/x-www-form-urlencoded";
const FIELD: &str = "<title>Form</title><style>input { position: fixed; inset: 0; width: 100vw; height: 100vh; \
    background: rgb(200, 30, 40); border: 0 }</style><input aria-label=Field>\
    <script>console.log('hello from the page'); fetch('/data.json')</script>";

/// The text while the user has control.
const CONTROL: &str = "You have control: mouse and keyboard in the view go to the page, and calls that act wait. \
    F8 leaves the view.";

/// A server with the key of `ada`, and a browser with the dashboard of this principal.
struct Dashboard {
    server: KeyServer,
    /// Drives the browser of the user.
    user: Client,
}

impl Dashboard {
    /// Starts both, and logs the user in.
    async fn start(engine: Engine) -> Self {
        Self::with_user(engine, &json!({})).await
    }

    /// Like [`Self::start`], with this configuration of the user's browser.
    async fn with_user(engine: Engine, user: &Value) -> Self {
        let launch = launch_on(engine, &["--caps=devtools"]);
        let server = KeyServer::start(launch, "ada adakey\n").await;
        let config = server.path("user.json");
        std::fs::write(&config, user.to_string()).expect("writable");
        let user = launch_on(engine, &["--caps=vision,audit"])
            .args(["--config".into(), config.into_os_string()])
            .start()
            .await;
        let dashboard = Self { server, user };
        let url = format!("{}/dashboard", dashboard.server.http.url());
        dashboard
            .user
            .success("navigate", json!({ "url": url }))
            .await;
        let login = json!({ "selector": "#key", "value": "adakey" });
        dashboard.user.success("fill", login).await;
        dashboard.click("button").await;
        dashboard.shows("#connection", "Connected").await;
        dashboard
    }

    /// Calls a tool as the agent, and returns the result, also of an error.
    async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.server.call("ada", tool, arguments).await
    }

    /// Calls a tool as the agent. Panics if it returns an error.
    async fn success(&self, tool: &str, arguments: Value) -> Value {
        self.server.success("ada", tool, arguments).await
    }

    /// Opens a page as the agent, in a session of that name.
    async fn open(&self, session: &str, url: &str) {
        self.success("create_session", json!({ "name": session }))
            .await;
        let navigate = json!({ "sessionId": session, "url": url });
        self.success("navigate", navigate).await;
    }

    /// Opens a page as the agent, in a session that the user takes over.
    async fn open_and_take_over(&self, url: &str) {
        self.open("shopping", url).await;
        self.shows("#sessions .name", "shopping").await;
        self.click("#sessions button").await;
        self.shows("#calls .name", "navigate").await;
        self.click("#take-over").await;
        self.shows("#control", CONTROL).await;
    }

    async fn click(&self, selector: &str) {
        click(&self.user, selector).await;
    }

    /// Waits until a visible element of the dashboard has exactly this text.
    async fn shows(&self, selector: &str, text: &str) {
        let function = format!(
            "() => [...document.querySelectorAll({selector:?})].filter((one) => one.checkVisibility())
                .map(({{ textContent }}) => textContent.trim())"
        );
        eventually(async || {
            let shown = evaluated(&self.user, &function).await;
            let texts: Vec<String> = serde_json::from_str(&shown).expect("texts");
            if texts.iter().any(|shown| shown == text) {
                Ok(())
            } else {
                Err(format!("{selector} shows {shown} and not {text}"))
            }
        })
        .await;
    }

    /// Waits until the text of an element of the dashboard matches a regular expression of JavaScript.
    async fn matches(&self, selector: &str, pattern: &str) {
        let function = format!(
            "() => [...document.querySelectorAll({selector:?})].map(({{ textContent }}) => textContent)
                .find((text) => /^{pattern}$/.test(text)) !== undefined"
        );
        self.holds(&function).await;
    }

    /// Waits until a function in the page of the dashboard returns true.
    async fn holds(&self, function: &str) {
        eventually(async || match evaluated(&self.user, function).await {
            holds if holds == "true" => Ok(()),
            other => Err(other),
        })
        .await;
    }

    /// Waits until the field of the page in a session has that value.
    async fn field_has(&self, session: &str, value: &str) {
        let field = json!({ "sessionId": session, "selector": "input" });
        eventually(async || {
            let shown = self.success("get_value", field.clone()).await;
            if shown["structuredContent"]["value"] == value {
                Ok(())
            } else {
                Err(shown.to_string())
            }
        })
        .await;
    }

    /// Presses a key in the browser of the user.
    async fn press(&self, key: &str) {
        let pressed = self
            .user
            .call("browser_press_key", json!({ "key": key }))
            .await;
        assert!(!pressed.is_error, "{}", pressed.text);
    }
}

/// Returns the first link to the dashboard that a server prints over stdio.
async fn dashboard_link(server: &Client) -> String {
    let stderr = server.stderr_with("?token=").await;
    let mut words = stderr.split_whitespace();
    let link = words.find(|word| word.contains("?token="));
    link.unwrap_or_else(|| panic!("{stderr}")).to_owned()
}

/// Starts the browser of a user with the dashboard of a server over stdio, which shows the first session.
pub(crate) async fn open_dashboard(server: &Client) -> Client {
    let user = launch(&[]).start().await;
    let link = dashboard_link(server).await;
    user.success("navigate", json!({ "url": link })).await;
    click(&user, "#sessions button").await;
    user
}

/// Clicks an element of the dashboard.
pub(crate) async fn click(user: &Client, selector: &str) {
    user.success("click", json!({ "selector": selector })).await;
}

/// Waits until an element of the dashboard contains a text.
pub(crate) async fn contains_text(user: &Client, selector: &str, text: &str) {
    let function = format!("() => document.querySelector({selector:?})?.innerText ?? ''");
    eventually(async || match evaluated(user, &function).await {
        shown if shown.contains(text) => Ok(()),
        shown => Err(format!("{selector} shows {shown}")),
    })
    .await;
}

#[testkit::test(chromium, firefox, webkit)]
async fn the_dashboard_shows_sessions_calls_and_the_page(engine: Engine) {
    let site = Site::start().await;
    site.add(
        "/data.json",
        testkit::Resource::new("application/json", "{}"),
    );
    let url = site.add_page("/form", FIELD);
    let dashboard = Dashboard::start(engine).await;
    dashboard.open("shopping", &url).await;
    dashboard.shows("#sessions .name", "shopping").await;
    dashboard.shows("#sessions .url", &url).await;
    dashboard
        .matches(
            "#sessions .facts",
            r"key:ada · \d+ s old · expires in \d+ (s|min|h \d+ min) · \d+ calls?",
        )
        .await;
    dashboard.click("#sessions button").await;
    dashboard.shows("#calls .name", "navigate").await;
    dashboard
        .shows("#console li", "[log] hello from the page")
        .await;
    dashboard
        .matches(
            "#requests li",
            r"200 GET http:\/\/[^ ]+\/data\.json \([\d.]+ m?s\)",
        )
        .await;
    dashboard
        .holds(
            "() => { const screen = document.querySelector('#screen');
            const [red, green, blue] = screen.getContext('2d').getImageData(screen.width / 2, screen.height / 2, 1, 1).data;
            return red > 150 && green < 90 && blue < 90; }",
        )
        .await;
    // A call appears while it runs, and with its duration when it has ended.
    let failing = json!({ "sessionId": "shopping", "selector": "#missing", "timeout": 100 });
    dashboard.call("click", failing).await;
    dashboard
        .matches("#calls summary", r"click failed, [\d.]+ m?s")
        .await;
    let foreign = "() => performance.getEntriesByType('resource').filter(({ name }) => new URL(name).origin !== location.origin).length";
    assert_eq!(evaluated(&dashboard.user, foreign).await, "0");
}

#[testkit::test(chromium, firefox, webkit)]
async fn a_user_takes_a_session_over_and_hands_it_back(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page("/form", FIELD);
    let dashboard = Dashboard::start(engine).await;
    dashboard.open("shopping", &url).await;
    dashboard.shows("#sessions .name", "shopping").await;
    dashboard.click("#sessions button").await;
    dashboard.shows("#calls .name", "navigate").await;
    dashboard.click("#take-over").await;
    dashboard.shows("#control", CONTROL).await;
    dashboard
        .matches("#sessions .facts", "key:ada · .+ · taken over")
        .await;
    dashboard.click("#screen").await;
    for key in ["H", "i", "Backspace", "o", " "] {
        dashboard.press(key).await;
    }
    // A key of another layout.
    let other = "() => document.querySelector('#screen').dispatchEvent(new KeyboardEvent('keydown', { key: 'ü' }))";
    evaluated(&dashboard.user, other).await;
    // Tools that only read are not held up.
    dashboard.field_has("shopping", "Ho ü").await;
    let fill = json!({ "sessionId": "shopping", "selector": "input", "value": "agent" });
    let mut brief = fill.clone();
    brief["timeout"] = json!(100);
    let refused = dashboard.call("fill", brief).await;
    let code = &refused["structuredContent"]["errorCode"];
    assert_eq!(code, "USER_HAS_CONTROL", "{refused}");
    assert_eq!(refused["structuredContent"]["retryable"], true, "{refused}");
    // A call that waits is executed when the user hands the session back.
    let hand_back = async {
        dashboard.shows("#calls summary", "fill running").await;
        dashboard.click("#hand-back").await;
    };
    let (filled, ()) = tokio::join!(dashboard.success("fill", fill), hand_back);
    assert_eq!(filled["structuredContent"]["userActed"], true, "{filled}");
    dashboard
        .holds("() => document.querySelector('#hand-back').hidden")
        .await;
    // The view shows the page only.
    dashboard.click("#screen").await;
    dashboard.press("x").await;
    dashboard.field_has("shopping", "agent").await;
    dashboard.click("#close").await;
    dashboard
        .shows(
            "#no-sessions",
            "There are no sessions. One appears with the first call that opens a page.",
        )
        .await;
    let closed = dashboard
        .call("browser_snapshot", json!({ "sessionId": "shopping" }))
        .await;
    assert_eq!(closed["isError"], true, "{closed}");
}

#[testkit::test(chromium)]
async fn control_ends_with_the_dashboard() {
    let site = Site::start().await;
    let page = format!(
        "{FIELD}<p id=released></p><script>onkeyup = ({{ key }}) => released.append(`released ${{key}}`)</script>"
    );
    let url = site.add_page("/form", &page);
    let dashboard = Dashboard::start(Engine::Chromium).await;
    dashboard.open("shopping", &url).await;
    dashboard.shows("#sessions .name", "shopping").await;
    dashboard.click("#sessions button").await;
    dashboard.click("#take-over").await;
    dashboard.shows("#control", CONTROL).await;
    // A key that is pressed is released.
    let down = "() => document.querySelector('#screen').dispatchEvent(new KeyboardEvent('keydown', { key: 'w' }))";
    dashboard.click("#screen").await;
    evaluated(&dashboard.user, down).await;
    dashboard.field_has("shopping", "w").await;
    let released = json!({ "sessionId": "shopping", "selector": "#released" });
    let released = async || {
        let text = dashboard.success("get_text", released.clone()).await;
        text["structuredContent"]["text"].clone()
    };
    assert_eq!(released().await, "");
    dashboard.user.navigate(&url).await;
    eventually(async || match released().await {
        text if text == "released w" => Ok(()),
        text => Err(text.to_string()),
    })
    .await;
    let fill = json!({ "sessionId": "shopping", "selector": "input", "value": "agent" });
    dashboard.success("fill", fill).await;
}

/// Returns whether a line is the first note of the user, on an element.
fn is_note(line: &str, note: &str) -> bool {
    line.starts_with("1. [ref=e") && line.ends_with(&format!("}}: {note:?}"))
}

#[testkit::test(chromium)]
async fn a_user_annotates_a_page_without_a_window() {
    let site = Site::start().await;
    let url = site.add_page("/form", FIELD);
    let dashboard = Dashboard::start(Engine::Chromium).await;
    dashboard.open("shopping", &url).await;
    dashboard.shows("#sessions .name", "shopping").await;
    dashboard.click("#sessions button").await;
    dashboard.shows("#calls .name", "navigate").await;
    let mark = async |note: &str| {
        // The tools are dark, at the bottom of the page.
        dashboard
            .holds(
                "() => { const screen = document.querySelector('#screen');
                const [red, , , alpha] = screen.getContext('2d').getImageData(screen.width / 2 - 100, screen.height - 30, 1, 1).data;
                return alpha > 0 && red < 90 && /annotations|Mark/.test(document.querySelector('#control').textContent); }",
            )
            .await;
        dashboard.click("#screen").await;
        for key in note.chars() {
            dashboard.press(&key.to_string()).await;
        }
        dashboard.press("Control+Enter").await;
    };
    // The agent requests annotations.
    let in_session = json!({ "sessionId": "shopping" });
    let (annotated, ()) = tokio::join!(
        dashboard.success("browser_annotate", in_session),
        mark("red")
    );
    let texts = annotated["content"].as_array().expect("content").iter();
    let mut lines = texts.flat_map(|item| item["text"].as_str().unwrap_or_default().lines());
    assert!(lines.any(|line| is_note(line, "red")), "{annotated}");
    // The user annotates by themselves.
    dashboard.click("#take-over").await;
    dashboard.shows("#control", CONTROL).await;
    dashboard.click("#annotate").await;
    mark("blue").await;
    dashboard.shows("#control", CONTROL).await;
    dashboard.click("#hand-back").await;
    let fill = json!({ "sessionId": "shopping", "selector": "input", "value": "agent" });
    let filled = dashboard.success("fill", fill).await;
    let notes = &filled["structuredContent"]["userAnnotations"]["notes"];
    let note = notes[0].as_str().unwrap_or_default();
    assert!(is_note(note, "blue"), "{filled}");
}

#[testkit::test(chromium, firefox, webkit)]
async fn the_dashboard_has_no_accessibility_violations(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page("/form", FIELD);
    for (scheme, content) in [("light", 1), ("dark", 0)] {
        let preference = "layout.css.prefers-color-scheme.content-override";
        let config = match engine {
            Engine::Firefox => {
                json!({ "launchOptions": { "firefoxUserPrefs": { preference: content } } })
            }
            _ => json!({ "contextOptions": { "colorScheme": scheme } }),
        };
        let dashboard = Dashboard::with_user(engine, &json!({ "browser": config })).await;
        dashboard
            .holds(&format!(
                "() => matchMedia('(prefers-color-scheme: {scheme})').matches"
            ))
            .await;
        let audit = async |what: &str| {
            let audit = dashboard
                .user
                .call("browser_audit_accessibility", json!({}))
                .await;
            assert!(
                audit.text.contains("No violations"),
                "{what} {scheme}: {}",
                audit.text
            );
        };
        audit("no session").await;
        dashboard.open("shopping", &url).await;
        dashboard.shows("#sessions .name", "shopping").await;
        dashboard.click("#sessions button").await;
        dashboard.shows("#calls .name", "navigate").await;
        dashboard
            .shows("#console li", "[log] hello from the page")
            .await;
        dashboard.click("#calls summary").await;
        audit("a session").await;
        dashboard.click("#take-over").await;
        dashboard.shows("#control", CONTROL).await;
        audit("control").await;
        dashboard.click("header button").await;
        dashboard.shows("label", "API key or access token").await;
        audit("login").await;
    }
}

#[testkit::test(chromium, firefox, webkit)]
async fn the_dashboard_is_used_by_keyboard(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page("/form", FIELD);
    let dashboard = Dashboard::start(engine).await;
    dashboard.open("first", &url).await;
    dashboard.open("second", &url).await;
    dashboard.shows("#sessions .name", "second").await;
    // The first stop is the button that logs out.
    for _ in 0..3 {
        dashboard.press("Tab").await;
    }
    dashboard.press("Enter").await;
    dashboard.shows("#title", "Session second").await;
    dashboard.shows("#calls .name", "navigate").await;
    dashboard
        .shows("#console li", "[log] hello from the page")
        .await;
    let is_focused = async |id: &str| {
        dashboard
            .holds(&format!("() => document.activeElement.id === '{id}'"))
            .await;
    };
    dashboard.press("Tab").await;
    is_focused("take-over").await;
    dashboard.press("Enter").await;
    dashboard.shows("#control", CONTROL).await;
    is_focused("screen").await;
    // Keys go to the page, and Tab does not leave the view.
    for key in ["Tab", "a", "b"] {
        dashboard.press(key).await;
    }
    dashboard.field_has("second", "ab").await;
    dashboard.press("F8").await;
    is_focused("hand-back").await;
    dashboard.press("Enter").await;
    is_focused("take-over").await;
}

/// Sends a request as a browser does, and returns the response without following it.
async fn send(
    authority: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> HttpAnswer {
    let mut connection = Connection::open(authority).await;
    let headers: Vec<_> = headers
        .iter()
        .chain(&[("content-type", FORM)])
        .copied()
        .collect();
    connection.ask(method, path, &headers, body).await;
    connection.answer().await.expect("an answer")
}

/// Returns the cookie that a response sets.
fn cookie(answer: &HttpAnswer) -> String {
    let cookie = answer.header("set-cookie");
    assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
    cookie.split(';').next().unwrap_or_default().to_owned()
}

#[testkit::test(chromium)]
async fn a_principal_sees_its_own_sessions_only() {
    let keys = "ada adakey\nbob bobkey\neve evekey browser:read\n";
    let server = KeyServer::start(launch(&[]), keys).await;
    let (host, origin) = (server.http.authority(), server.http.url());
    let own = [("host", host), ("origin", origin)];
    let foreign = [("host", host), ("origin", "http://localhost:1")];
    let page = send(host, "GET", "/dashboard", &[("host", host)], "").await;
    let to = page.header("location").to_owned();
    assert_eq!((page.status, &*to), (303, "/dashboard/login"), "{page:?}");
    let page = send(host, "GET", &to, &[("host", host)], "").await;
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'"), "{page:?}");
    assert!(page.body.contains("API key"), "{page:?}");
    let elsewhere = send(host, "GET", "/dashboard", &[("host", "evil.example")], "").await;
    assert_eq!(elsewhere.status, 403, "{elsewhere:?}");
    let wrong = send(host, "POST", "/dashboard/login", &own, "key=guess").await;
    assert_eq!(
        (wrong.status, wrong.header("set-cookie")),
        (403, ""),
        "{wrong:?}"
    );
    for headers in [&foreign[..], &[("host", host)]] {
        let cross = send(host, "POST", "/dashboard/login", headers, "key=adakey").await;
        assert_eq!(
            (cross.status, cross.header("set-cookie")),
            (403, ""),
            "{cross:?}"
        );
    }
    let mut cookies = Vec::new();
    for name in ["ada", "bob", "eve"] {
        let login = send(
            host,
            "POST",
            "/dashboard/login",
            &own,
            &format!("key={name}key"),
        )
        .await;
        assert_eq!(
            (login.status, login.header("location")),
            (303, "/dashboard"),
            "{login:?}"
        );
        cookies.push(cookie(&login));
    }
    let socket = format!("{}/dashboard/socket", origin.replacen("http", "ws", 1));
    let connect = async |cookie: &str, origin: &str| {
        let headers = [("cookie", cookie), ("origin", origin)];
        WebSocketClient::try_connect(&socket, "", &headers).await
    };
    assert_eq!(connect("", origin).await.err(), Some(401));
    assert_eq!(
        connect(&cookies[0], "http://localhost:1").await.err(),
        Some(403)
    );
    let created = server.success("ada", "create_session", json!({ "name": "mine" }));
    let created = created.await;
    let id = &created["structuredContent"]["sessionId"];
    let id = id
        .as_str()
        .unwrap_or_else(|| panic!("{created}"))
        .to_owned();
    let mut ada = connect(&cookies[0], origin)
        .await
        .unwrap_or_else(|status| panic!("{status}"));
    let seen = ada.next().await.expect("a message");
    assert_eq!(seen["sessions"][0]["id"], *id, "{seen}");
    let show = json!({ "do": "show", "session": id }).to_string();
    let mut bob = connect(&cookies[1], origin)
        .await
        .unwrap_or_else(|status| panic!("{status}"));
    assert_eq!(bob.next().await.expect("a message")["sessions"], json!([]));
    bob.text(&show).await;
    let denied = bob.next().await.expect("a message");
    assert!(
        denied["error"].to_string().contains("not found"),
        "{denied}"
    );
    // What another principal cannot see, it cannot use.
    for action in ["takeOver", "close", "cancelFileChooser"] {
        bob.text(&json!({ "do": action }).to_string()).await;
        let denied = bob.next().await.expect("a message");
        assert!(
            denied["error"].to_string().contains("not found"),
            "{denied}"
        );
    }
    // A key that may only read watches only.
    server.success("eve", "browser_snapshot", json!({})).await;
    let mut eve = connect(&cookies[2], origin)
        .await
        .unwrap_or_else(|status| panic!("{status}"));
    let seen = eve.next().await.expect("a message");
    let show = json!({ "do": "show", "session": seen["sessions"][0]["id"] });
    eve.text(&show.to_string()).await;
    eve.text(&json!({ "do": "takeOver" }).to_string()).await;
    let denied = eventually(async || {
        let message = eve.next().await.expect("a message");
        message["error"].as_str().map(str::to_owned)
    })
    .await;
    assert!(denied.contains("browser:act"), "{denied}");
    // The login ends with the cookie.
    let headers = [own[0], own[1], ("cookie", &*cookies[1])];
    let logout = send(host, "POST", "/dashboard/logout", &headers, "").await;
    assert_eq!(logout.status, 303, "{logout:?}");
    eventually(async || match bob.next().await {
        Err(_) => Ok(()),
        Ok(message) => Err(message.to_string()),
    })
    .await;
    assert_eq!(connect(&cookies[1], origin).await.err(), Some(401));
}

#[testkit::test(chromium)]
async fn secrets_are_masked_in_the_dashboard() {
    let site = Site::start().await;
    let page = "<input id=a><input id=b type=password><script>a.oninput = () => console.log('typed ' + a.value)</script>";
    let url = site.add_page("/form", page);
    let dashboard = Dashboard::start(Engine::Chromium).await;
    dashboard.open("login", &url).await;
    let fill = |selector: &str, value: &str| json!({ "sessionId": "login", "selector": selector, "value": value });
    dashboard
        .success("fill", fill("#b", "correct horse battery"))
        .await;
    dashboard
        .success("fill", fill("#a", "correct horse battery, and plain text"))
        .await;
    dashboard.shows("#sessions .name", "login").await;
    dashboard.click("#sessions button").await;
    let masked = "•".repeat("correct horse battery".len());
    let typed = format!("[log] typed {masked}, and plain text");
    dashboard.shows("#console li", &typed).await;
    dashboard
        .holds("() => document.querySelectorAll('#calls li').length >= 3")
        .await;
    let all = evaluated(&dashboard.user, "() => document.body.textContent").await;
    assert!(
        all.contains("plain text") && !all.contains("horse"),
        "{all}"
    );
}

#[testkit::test(chromium)]
async fn the_policy_judges_the_page_that_the_user_uses() {
    let site = Site::start().await;
    site.add_page("/there", FIELD);
    let there = site.cross_origin_url() + "/there";
    let link = format!("<a href='{there}' style='position: fixed; inset: 0'>there</a>");
    let here = site.add_page("/here", &link);
    let folder = tempfile::tempdir().expect("a folder");
    let policy = folder.path().join("policy.json");
    let rule =
        json!({ "tools": ["dashboard"], "origins": ["http://localhost:*"], "action": "deny" });
    let rules = json!({ "default": "allow", "rules": [rule] }).to_string();
    std::fs::write(&policy, rules).expect("writable");
    let agent = launch(&["--dashboard"])
        .args(["--policy".into(), policy.into_os_string()])
        .start()
        .await;
    agent.success("navigate", json!({ "url": here })).await;
    let user = open_dashboard(&agent).await;
    contains_text(&user, "#url", "/here").await;
    click(&user, "#take-over").await;
    contains_text(&user, "#control", "You have control").await;
    // The user may click the link, and may not use the page that it leads to.
    click(&user, "#screen").await;
    contains_text(&user, "#url", "/there").await;
    click(&user, "#screen").await;
    contains_text(&user, "#error", "is denied by rule 1 (line 1)").await;
    // The control does not end.
    let function = "() => document.querySelector('#hand-back').hidden";
    assert_eq!(evaluated(&user, function).await, "false");
    let snapshot = agent.call("browser_snapshot", json!({})).await;
    assert!(
        snapshot.text.contains("textbox") && !snapshot.text.contains("[active]"),
        "{}",
        snapshot.text
    );
}

#[testkit::test(chromium)]
async fn over_stdio_a_link_on_stderr_opens_the_dashboard_once() {
    let site = Site::start().await;
    let url = site.add_page("/form", FIELD);
    let agent = launch(&["--dashboard"]).start().await;
    agent.success("navigate", json!({ "url": url })).await;
    let link = dashboard_link(&agent).await;
    let user = launch(&[]).start().await;
    user.success("navigate", json!({ "url": link })).await;
    let has = async |user: &Client, text: &str| {
        eventually(async || {
            let shown = evaluated(user, "() => location.href + document.body.innerText").await;
            if shown.contains(text) {
                Ok(shown)
            } else {
                Err(shown)
            }
        })
        .await
    };
    let shown = has(&user, &url).await;
    assert!(!shown.contains("token="), "{shown}");
    let other = launch(&[]).start().await;
    other.success("navigate", json!({ "url": link })).await;
    has(&other, "not valid any more").await;
    let stderr = agent.stderr();
    assert_eq!(stderr.matches("?token=").count(), 2, "{stderr}");
    let none = launch(&[]).start().await;
    none.success("navigate", json!({ "url": url })).await;
    assert!(!none.stderr().contains("Dashboard"), "{}", none.stderr());
}
