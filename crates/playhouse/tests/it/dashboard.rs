//! The dashboard in real browsers: what it shows, how a user takes a browser over, and who may see what.

use crate::{evaluated, launch, launch_on};
use serde_json::{Value, json};
use testkit::{
    Client, Connection, Engine, HttpAnswer, HttpServer, Site, WebSocketClient, eventually,
};

const FORM: &str = "application/x-www-form-urlencoded";
const FIELD: &str = "<title>Form</title><style>input { position: fixed; inset: 0; width: 100vw; height: 100vh; \
    background: rgb(200, 30, 40); border: 0 }</style><input aria-label=Field>\
    <script>console.log('hello from the page'); fetch('/data.json')</script>";

/// A server with the keys of two principals, and a browser with the dashboard of one of them.
struct House {
    _folder: tempfile::TempDir,
    server: HttpServer,
    /// Drives the browser of the user.
    user: Client,
}

impl House {
    /// Starts both; the user is logged in as `ada`.
    async fn start(engine: Engine) -> Self {
        Self::with_user(engine, &json!({})).await
    }

    /// Like [`Self::start`], with this configuration of the user's browser.
    async fn with_user(engine: Engine, user: &Value) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("keys.txt"), "ada adakey\nbob bobkey\n")
            .expect("writable");
        let args = ["--api-keys", "keys.txt", "--caps=devtools"];
        let launch = launch_on(engine, &args).workspace(folder.path());
        let server = HttpServer::start_guarded(launch).await;
        let config = folder.path().join("user.json");
        std::fs::write(&config, user.to_string()).expect("writable");
        let user = launch_on(engine, &["--caps=vision,audit"])
            .args(["--config".into(), config.into_os_string()])
            .start()
            .await;
        let house = Self {
            _folder: folder,
            server,
            user,
        };
        let url = format!("{}/dashboard", house.server.url());
        house.user.success("navigate", json!({ "url": url })).await;
        let login = json!({ "selector": "#key", "value": "adakey" });
        house.user.success("fill", login).await;
        house.click("button").await;
        house.shows("#connection", "Connected").await;
        house
    }

    /// Calls a tool as an agent with the key of that principal, in the session of that name.
    async fn call(&self, name: &str, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let key = format!("{name}key");
        let header = [("x-api-key", key.as_str())];
        let answer = self.server.rpc("/message", &header, "tools/call", params);
        let answer = answer.await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()["result"].clone()
    }

    async fn done(&self, name: &str, tool: &str, arguments: Value) -> Value {
        let result = self.call(name, tool, arguments).await;
        assert_ne!(result["isError"], true, "{tool}: {result}");
        result
    }

    /// Opens a page in a session of that name.
    async fn open(&self, principal: &str, session: &str, url: &str) {
        self.done(principal, "create_session", json!({ "name": session }))
            .await;
        let navigate = json!({ "sessionId": session, "url": url });
        self.done(principal, "navigate", navigate).await;
    }

    async fn click(&self, selector: &str) {
        click(&self.user, selector).await;
    }

    async fn shows(&self, selector: &str, text: &str) {
        shows(&self.user, selector, text).await;
    }

    /// Waits until a function in the page of the dashboard returns true.
    async fn holds(&self, function: &str) {
        eventually(async || match evaluated(&self.user, function).await {
            holds if holds == "true" => Ok(()),
            other => Err(other),
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

/// Returns the link to the dashboard that a server prints over stdio.
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
pub(crate) async fn shows(user: &Client, selector: &str, text: &str) {
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
    let house = House::start(engine).await;
    house.open("ada", "shopping", &url).await;
    house.shows("#sessions", "shopping").await;
    house.shows("#sessions", &url).await;
    house.shows("#sessions", "key:ada").await;
    house.shows("#sessions", "expires in").await;
    house.click("#sessions button").await;
    house.shows("#calls", "navigate").await;
    house.shows("#console", "hello from the page").await;
    house.shows("#requests", "200 GET").await;
    house.shows("#requests", "/data.json").await;
    house
        .holds(
            "() => { const screen = document.querySelector('#screen');
            const [red, green, blue] = screen.getContext('2d').getImageData(screen.width / 2, screen.height / 2, 1, 1).data;
            return red > 150 && green < 90 && blue < 90; }",
        )
        .await;
    // A call appears while it runs, and with its duration when it has ended.
    let failing = json!({ "sessionId": "shopping", "selector": "#missing", "timeout": 100 });
    house.call("ada", "click", failing).await;
    house.shows("#calls", "failed").await;
    house
        .holds("() => /^click failed, [0-9.]+ m?s$/.test(document.querySelector('#calls summary').textContent)")
        .await;
    let foreign = "() => performance.getEntriesByType('resource').filter(({ name }) => new URL(name).origin !== location.origin).length";
    assert_eq!(evaluated(&house.user, foreign).await, "0");
}

#[testkit::test(chromium, firefox, webkit)]
async fn a_user_takes_a_session_over_and_hands_it_back(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page("/form", FIELD);
    let house = House::start(engine).await;
    house.open("ada", "shopping", &url).await;
    house.shows("#sessions", "shopping").await;
    house.click("#sessions button").await;
    house.shows("#calls", "navigate").await;
    house.click("#take-over").await;
    house.shows("#control", "You have control").await;
    house.shows("#sessions", "taken over").await;
    house.click("#screen").await;
    for key in ["H", "i", "Backspace", "o", " "] {
        house.press(key).await;
    }
    // A key of another layout.
    let other = "() => document.querySelector('#screen').dispatchEvent(new KeyboardEvent('keydown', { key: 'ü' }))";
    evaluated(&house.user, other).await;
    // Tools that only read are not held up.
    let in_session = json!({ "sessionId": "shopping" });
    eventually(async || {
        let snapshot = house
            .done("ada", "browser_snapshot", in_session.clone())
            .await;
        let text = snapshot.to_string();
        if text.contains("Ho ü") {
            Ok(())
        } else {
            Err(text)
        }
    })
    .await;
    let fill = json!({ "sessionId": "shopping", "selector": "input", "value": "agent" });
    let mut brief = fill.clone();
    brief["timeout"] = json!(100);
    let refused = house.call("ada", "fill", brief).await;
    let code = &refused["structuredContent"]["errorCode"];
    assert_eq!(code, "USER_HAS_CONTROL", "{refused}");
    assert_eq!(refused["structuredContent"]["retryable"], true, "{refused}");
    // A call that waits is executed when the user hands the session back.
    let hand_back = async {
        house
            .holds("() => document.querySelector('#calls').innerText.includes('fill running')")
            .await;
        house.click("#hand-back").await;
    };
    let (filled, ()) = tokio::join!(house.done("ada", "fill", fill), hand_back);
    assert_eq!(filled["structuredContent"]["userActed"], true, "{filled}");
    house
        .holds("() => document.querySelector('#hand-back').hidden")
        .await;
    // The view shows the page only.
    house.click("#screen").await;
    house.press("x").await;
    let snapshot = house.done("ada", "browser_snapshot", in_session).await;
    assert!(snapshot.to_string().contains("agent"), "{snapshot}");
    house.click("#close").await;
    house.shows("#columns", "There are no sessions").await;
    let closed = house
        .call(
            "ada",
            "browser_snapshot",
            json!({ "sessionId": "shopping" }),
        )
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
    let house = House::start(Engine::Chromium).await;
    house.open("ada", "shopping", &url).await;
    house.shows("#sessions", "shopping").await;
    house.click("#sessions button").await;
    house.click("#take-over").await;
    house.shows("#control", "You have control").await;
    // A key that is pressed is released.
    let down = "() => document.querySelector('#screen').dispatchEvent(new KeyboardEvent('keydown', { key: 'w' }))";
    house.click("#screen").await;
    evaluated(&house.user, down).await;
    let in_session = json!({ "sessionId": "shopping" });
    let has = async |text: &str| {
        eventually(async || {
            let snapshot = house
                .done("ada", "browser_snapshot", in_session.clone())
                .await;
            let shown = snapshot.to_string();
            if shown.contains(text) {
                Ok(shown)
            } else {
                Err(shown)
            }
        })
        .await
    };
    let shown = has(": w").await;
    assert!(!shown.contains("released w"), "{shown}");
    house.user.success("navigate", json!({ "url": url })).await;
    has("released w").await;
    let fill = json!({ "sessionId": "shopping", "selector": "input", "value": "agent" });
    house.done("ada", "fill", fill).await;
}

#[testkit::test(chromium)]
async fn a_user_annotates_a_page_without_a_window() {
    let site = Site::start().await;
    let url = site.add_page("/form", FIELD);
    let house = House::start(Engine::Chromium).await;
    house.open("ada", "shopping", &url).await;
    house.shows("#sessions", "shopping").await;
    house.click("#sessions button").await;
    house.shows("#calls", "navigate").await;
    let mark = async |note: &str| {
        // The tools are dark, at the bottom of the page.
        house
            .holds(
                "() => { const screen = document.querySelector('#screen');
                const [red, , , alpha] = screen.getContext('2d').getImageData(screen.width / 2 - 100, screen.height - 30, 1, 1).data;
                return alpha > 0 && red < 90 && /annotations|Mark/.test(document.querySelector('#control').textContent); }",
            )
            .await;
        house.click("#screen").await;
        for key in note.chars() {
            house.press(&key.to_string()).await;
        }
        house.press("Control+Enter").await;
    };
    // The agent requests annotations.
    let in_session = json!({ "sessionId": "shopping" });
    let (annotated, ()) = tokio::join!(
        house.done("ada", "browser_annotate", in_session),
        mark("red")
    );
    let text = annotated.to_string();
    assert!(
        text.contains(r#"[ref=e"#) && text.contains(r#"\"red\""#) || text.contains("red"),
        "{text}"
    );
    // The user annotates by themselves.
    house.click("#take-over").await;
    house.shows("#control", "You have control").await;
    house.click("#annotate").await;
    mark("blue").await;
    house.shows("#control", "You have control").await;
    house.click("#hand-back").await;
    let fill = json!({ "sessionId": "shopping", "selector": "input", "value": "agent" });
    let filled = house.done("ada", "fill", fill).await;
    let notes = &filled["structuredContent"]["userAnnotations"]["notes"];
    let note = notes[0].as_str().unwrap_or_default();
    assert!(
        note.contains("[ref=e") && note.ends_with("\"blue\""),
        "{filled}"
    );
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
        let house = House::with_user(engine, &json!({ "browser": config })).await;
        house
            .holds(&format!(
                "() => matchMedia('(prefers-color-scheme: {scheme})').matches"
            ))
            .await;
        let audit = async |what: &str| {
            let audit = house
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
        house.open("ada", "shopping", &url).await;
        house.shows("#sessions", "shopping").await;
        house.click("#sessions button").await;
        house.shows("#calls", "navigate").await;
        house.shows("#console", "hello").await;
        house.click("#calls summary").await;
        audit("a session").await;
        house.click("#take-over").await;
        house.shows("#control", "You have control").await;
        audit("control").await;
        house.click("header button").await;
        house.shows("label", "API key").await;
        audit("login").await;
    }
}

#[testkit::test(chromium, firefox, webkit)]
async fn the_dashboard_is_used_by_keyboard(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page("/form", FIELD);
    let house = House::start(engine).await;
    house.open("ada", "first", &url).await;
    house.open("ada", "second", &url).await;
    house.shows("#sessions", "second").await;
    // The first stop is the button that logs out.
    for _ in 0..3 {
        house.press("Tab").await;
    }
    house.press("Enter").await;
    house.shows("#title", "second").await;
    house.shows("#calls", "navigate").await;
    house.shows("#console", "hello").await;
    let is_focused = async |id: &str| {
        house
            .holds(&format!("() => document.activeElement.id === '{id}'"))
            .await;
    };
    house.press("Tab").await;
    is_focused("take-over").await;
    house.press("Enter").await;
    house.shows("#control", "You have control").await;
    is_focused("screen").await;
    // Keys go to the page, and Tab does not leave the view.
    for key in ["Tab", "a", "b"] {
        house.press(key).await;
    }
    eventually(async || {
        let snapshot = house
            .done("ada", "browser_snapshot", json!({ "sessionId": "second" }))
            .await;
        let text = snapshot.to_string();
        if text.contains("ab") {
            Ok(())
        } else {
            Err(text)
        }
    })
    .await;
    house.press("F8").await;
    is_focused("hand-back").await;
    house.press("Enter").await;
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
    let folder = tempfile::tempdir().expect("a folder");
    let keys = "ada adakey\nbob bobkey\neve evekey browser:read\n";
    std::fs::write(folder.path().join("keys.txt"), keys).expect("writable");
    let launch = launch(&["--api-keys", "keys.txt"]).workspace(folder.path());
    let server = HttpServer::start_guarded(launch).await;
    let (host, origin) = (server.authority(), server.url());
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
    let create = json!({ "name": "create_session", "arguments": { "name": "mine" } });
    let key = [("x-api-key", "adakey")];
    let created = server
        .rpc("/message", &key, "tools/call", create)
        .await
        .json();
    let id = &created["result"]["structuredContent"]["sessionId"];
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
    for action in ["takeOver", "close"] {
        bob.text(&json!({ "do": action }).to_string()).await;
        let denied = bob.next().await.expect("a message");
        assert!(
            denied["error"].to_string().contains("not found"),
            "{denied}"
        );
    }
    // A key that may only read watches only.
    let look = json!({ "name": "browser_snapshot", "arguments": {} });
    server
        .rpc("/message", &[("x-api-key", "evekey")], "tools/call", look)
        .await;
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
    let house = House::start(Engine::Chromium).await;
    house.open("ada", "login", &url).await;
    let fill = |selector: &str, value: &str| json!({ "sessionId": "login", "selector": selector, "value": value });
    house
        .done("ada", "fill", fill("#b", "correct horse battery"))
        .await;
    house
        .done(
            "ada",
            "fill",
            fill("#a", "correct horse battery, and plain text"),
        )
        .await;
    house.shows("#sessions", "login").await;
    house.click("#sessions button").await;
    house.shows("#console", "plain text").await;
    house
        .holds("() => document.querySelectorAll('#calls li').length >= 3")
        .await;
    let all = evaluated(&house.user, "() => document.body.textContent").await;
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
    shows(&user, "#url", "/here").await;
    click(&user, "#take-over").await;
    shows(&user, "#control", "You have control").await;
    // The user may click the link, and may not use the page that it leads to.
    click(&user, "#screen").await;
    shows(&user, "#url", "/there").await;
    click(&user, "#screen").await;
    shows(&user, "#error", "is denied by rule 1 (line 1)").await;
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
    let told = agent.stderr();
    assert_eq!(told.matches("?token=").count(), 2, "{told}");
    let none = launch(&[]).start().await;
    none.success("navigate", json!({ "url": url })).await;
    assert!(!none.stderr().contains("Dashboard"), "{}", none.stderr());
}
