//! The demonstration of an agent that tests an app of two servers: it signs up, gets an error of the API with its log, fixes the error,
//! restarts the API, and passes.

use std::path::Path;

use serde_json::{Value, json};
use testkit::{Launch, NotesApp};

use crate::show::Show;

/// Tests the app.
pub(crate) async fn test(program: &Path) -> Show {
    let app = NotesApp::copy();
    let folder = app.folder();
    let server = |name: &str, script: &str, requires: &[&str]| {
        json!({
            "command": program,
            "args": ["app", "--name", name, "--", script],
            "requires": requires,
        })
    };
    let config = json!({
        "devServers": {
            "api": server("api", "npm run api", &[]),
            "web": server("web", "API_URL=$PLAYHOUSE_URL_API npm run dev", &["api"]),
        },
    });
    let file = folder.join("playhouse.json");
    std::fs::write(&file, config.to_string()).expect("it can be written");
    let args = ["--headless", "--isolated", "--config"].map(Into::into);
    let args = args.into_iter().chain([file.into_os_string()]);
    let mut show = Show::begin(Launch::new(program).args(args).workspace(folder)).await;

    show.part("The app starts: a page by Vite, its API by Express");
    let started = show
        .call("e2e_start", json!({}), &["\"status\":\"ready\"", "Sign up"])
        .await;
    let id = started.raw["structuredContent"]["sessionId"].clone();
    let on = |mut arguments: Value| {
        arguments["sessionId"] = id.clone();
        arguments
    };

    show.part("Signing up");
    sign(&mut show, &on, "Sign up", "Notes of grace").await;

    show.part("The export fails, and the API's log says why");
    let export = || on(json!({ "target": "getByRole('button', { name: 'Export' })" }));
    show.call("browser_click", export(), &["The app failed: POST", "500"])
        .await;
    let log = json!({ "server": "api", "stream": "stderr", "sinceLastCall": true });
    show.call("e2e_logs", log, &["TypeError", "printer"]).await;
    show.call("e2e_errors", json!({}), &["/api/export 500", "TypeError"])
        .await;

    show.part("A user gives the API the settings that it lacks, and restarts it");
    mend(&app.database());
    show.call(
        "e2e_restart",
        json!({ "server": "api" }),
        &["\"status\":\"restarted\"", "\"status\":200"],
    )
    .await;

    show.part("The export passes");
    sign(&mut show, &on, "Log in", "Notes of grace").await;
    let exported = show.call("browser_click", export(), &[]).await;
    show.expect(
        exported.section("Events").is_none(),
        "nothing fails any more",
    );
    show.call("e2e_stop", json!({}), &["\"status\":\"stopped\""])
        .await;
    show
}

async fn sign(show: &mut Show, on: &impl Fn(Value) -> Value, button: &str, then: &str) {
    let field = |name: &str, value: &str| json!({ "name": name, "target": format!("getByLabel('{name}')"), "type": "textbox", "value": value });
    let fields = json!([field("Name", "grace"), field("Password", "hopper")]);
    show.call("browser_fill_form", on(json!({ "fields": fields })), &[])
        .await;
    let button = format!("getByRole('button', {{ name: '{button}' }})");
    show.call("browser_click", on(json!({ "target": button })), &[])
        .await;
    show.call("browser_wait_for", on(json!({ "text": then })), &[])
        .await;
}

fn mend(database: &Path) {
    let data = std::fs::read(database).expect("the API has one");
    let mut data: Value = serde_json::from_slice(&data).expect("JSON");
    data["settings"] = json!({ "printer": "in the hall" });
    std::fs::write(database, data.to_string()).expect("it can be written");
}
