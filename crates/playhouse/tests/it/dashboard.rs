//! The dashboard in real browsers.

mod access;
mod accessibility;
mod annotations;
mod control;
mod file_chooser;
mod input;
mod link;
mod view;

use crate::key_server::KeyServer;
use crate::{evaluated, launch, launch_on};
use serde_json::{Value, json};
use testkit::{Client, Connection, Engine, HttpAnswer, eventually};

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
pub(crate) async fn contains_text(user: &Client, selector: &str, text: &str) {
    let function = format!("() => document.querySelector({selector:?})?.innerText ?? ''");
    eventually(async || match evaluated(user, &function).await {
        shown if shown.contains(text) => Ok(()),
        shown => Err(format!("{selector} shows {shown}")),
    })
    .await;
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

/// Returns the address of the WebSocket of a page, with what the response to its login gave to the page.
fn socket_of(origin: &str, login: &HttpAnswer) -> String {
    let (path, page) = login
        .header("location")
        .split_once('#')
        .expect("a fragment");
    assert_eq!(path, "/dashboard");
    format!(
        "{}/dashboard/socket?page={page}",
        origin.replacen("http", "ws", 1)
    )
}
