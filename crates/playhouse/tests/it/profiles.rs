//! Browsers with a persistent profile: the preserved state, and exclusive use.

use serde_json::{Value, json};
use testkit::harness::input_step;
use testkit::{Client, Engine, HttpServer, Launch, Site, eventually};

async fn with_profile(profile: &std::path::Path, args: &[&str]) -> Client {
    Launch::new(env!("CARGO_BIN_EXE_playhouse"))
        .args(["--headless", "--user-data-dir"])
        .args([profile.to_str().expect("a temporary folder")])
        .args(args.iter().copied())
        .start()
        .await
}

#[testkit::test(chromium)]
async fn a_browser_that_could_not_be_set_up_gives_its_profile_back() {
    let profile = tempfile::tempdir().expect("a temporary folder");
    let client = with_profile(profile.path(), &["--grant-permissions", "bogus"]).await;
    for _ in 0..2 {
        let answer = client
            .call("browser_navigate", json!({ "url": "about:blank" }))
            .await;
        assert!(answer.is_error, "{}", answer.text);
        assert!(answer.text.contains("bogus"), "{}", answer.text);
    }
    assert!(client.end().await.success());
}

#[testkit::test(chromium, webkit, nightly(webkit))]
async fn a_storage_state_joins_what_the_profile_remembers(engine: Engine) {
    let site = Site::start().await;
    let page = site.add_page("/", "<title>Here</title>");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let profile = folder.path().join("profile");
    let client = with_profile(&profile, engine.args()).await;
    client.navigate(&page).await;
    let remember =
        "() => { document.cookie = 'old=1; max-age=10000'; localStorage.setItem('old', '1'); }";
    client
        .call("browser_evaluate", json!({ "function": remember }))
        .await;
    client.call("browser_close", json!({})).await;
    assert!(client.end().await.success());

    let file = folder.path().join("state.json");
    let host = page
        .strip_prefix("http://")
        .and_then(|rest| rest.split([':', '/']).next())
        .expect("the site has an address");
    let state = json!({
        "cookies": [{ "name": "new", "value": "2", "domain": host, "path": "/" }],
        "origins": [{ "origin": page.trim_end_matches('/'), "localStorage": [{ "name": "new", "value": "2" }] }],
    });
    std::fs::write(&file, state.to_string()).expect("the folder can be written");
    let file = file.to_str().expect("a temporary folder");
    let args = [engine.args(), &["--storage-state", file]].concat();
    let client = with_profile(&profile, &args).await;
    client.navigate(&page).await;
    let tell = "() => [document.cookie.split('; ').sort().join(), localStorage.old, localStorage.new].join(' ')";
    let answer = client
        .call("browser_evaluate", json!({ "function": tell }))
        .await;
    assert!(answer.text.contains("new=2,old=1 1 2"), "{}", answer.text);
    assert!(client.end().await.success());
}

/// Copies the files of a folder, without links: a profile has some that tell which browser uses it.
fn copy_folder(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in from.read_dir().expect("a folder").flatten() {
        let (kind, to) = (
            entry.file_type().expect("a type"),
            to.join(entry.file_name()),
        );
        if kind.is_dir() {
            copy_folder(&entry.path(), &to);
        } else if kind.is_file() {
            std::fs::copy(entry.path(), to).expect("a copy");
        }
    }
}

#[testkit::test(chromium)]
async fn a_copy_of_a_profile_has_its_logins() {
    let site = Site::start().await;
    let page = site.add_page("/", "<title>Here</title>");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (own, copy) = (folder.path().join("own"), folder.path().join("copy"));
    // As a user starts the browser: the keyring has the key of the cookies if there is one.
    let config = folder.path().join("config.json");
    let flags = json!({ "browser": { "launchOptions": { "ignoreDefaultArgs": ["--password-store=basic"] } } });
    std::fs::write(&config, flags.to_string()).expect("a file");
    let config = config.to_str().expect("a plain path");
    let client = with_profile(&own, &["--config", config]).await;
    client.navigate(&page).await;
    let sign_in = "() => { document.cookie = 'login=ada; max-age=10000'; localStorage.setItem('user', 'ada'); }";
    client
        .call("browser_evaluate", json!({ "function": sign_in }))
        .await;
    client.call("browser_close", json!({})).await;
    assert!(client.end().await.success());
    copy_folder(&own, &copy);
    let tell = "() => document.cookie + ' ' + localStorage.user";
    for (profile, flags) in [(&copy, &["--config", config][..]), (&own, &[])] {
        let client = with_profile(profile, flags).await;
        client.navigate(&page).await;
        let answer = client
            .call("browser_evaluate", json!({ "function": tell }))
            .await;
        assert!(answer.text.contains("login=ada ada"), "{}", answer.text);
        assert!(client.end().await.success());
    }
}

/// Starts a server with default flags, whose default profile is below `profiles`.
fn by_default(workspace: &std::path::Path, profiles: &std::path::Path) -> Launch {
    Launch::new(env!("CARGO_BIN_EXE_playhouse"))
        .args(["--headless"])
        .workspace(workspace)
        .env(
            "PWMCP_PROFILES_DIR_FOR_TEST",
            profiles.to_str().expect("a plain path"),
        )
}

#[testkit::test(chromium)]
async fn a_new_tab_of_a_profile_comes_after_the_blank_one_that_its_browser_began_with() {
    let (workspace, profiles) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let client = by_default(workspace.path(), profiles.path()).start().await;
    let here = "data:text/html,<title>Here</title>";
    let new = json!({ "action": "new", "url": here });
    let answer = client.call("browser_tabs", new).await;
    // As in `@playwright/mcp`, whose clients count the blank tab.
    let tabs = format!("- 0: [](about:blank)\n- 1: (current) [Here]({here})");
    assert_eq!(answer.result(), tabs, "{}", answer.text);
    assert!(client.end().await.success());
}

#[testkit::test(chromium)]
async fn a_client_whose_folder_is_on_another_machine_has_a_profile_of_its_own() {
    let (workspace, profiles) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let go = json!({ "url": "about:blank" });
    for root in ["file:///not/here/one", "file:///not/here/two"] {
        let launch = by_default(workspace.path(), profiles.path()).roots(&[root]);
        let client = launch.start().await;
        let answer = client.call("browser_navigate", go.clone()).await;
        assert!(!answer.is_error, "{}", answer.text);
        assert!(client.end().await.success());
    }
    let made = std::fs::read_dir(profiles.path())
        .expect("profiles")
        .count();
    assert_eq!(made, 2);
}

#[testkit::test(chromium)]
async fn a_second_server_uses_a_temporary_profile_and_reports_it_once() {
    let (workspace, profiles) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let go = json!({ "url": "data:text/html,<title>Here</title>" });
    let first = by_default(workspace.path(), profiles.path()).start().await;
    let answer = first.call("browser_navigate", go.clone()).await;
    assert!(!answer.text.contains("is in use"), "{}", answer.text);

    let second = by_default(workspace.path(), profiles.path()).start().await;
    for reply in [true, false] {
        let answer = second.call("browser_navigate", go.clone()).await;
        assert!(!answer.is_error, "{}", answer.text);
        assert_eq!(answer.text.contains("is in use"), reply, "{}", answer.text);
    }
    // After its release, the next server uses it.
    assert!(first.end().await.success());
    let third = by_default(workspace.path(), profiles.path()).start().await;
    let answer = third.call("browser_navigate", go).await;
    assert!(!answer.text.contains("is in use"), "{}", answer.text);
    assert!(second.end().await.success());
    assert!(third.end().await.success());
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn rules_of_a_server_do_not_remain_in_the_profile(engine: Engine) {
    let (profile, site) = (tempfile::tempdir().unwrap(), Site::start().await);
    let allowed = ["--allowed-domains=127.0.0.1"];
    for rules in [&allowed[..], &[]] {
        let args = [engine.args(), rules].concat();
        let client = with_profile(profile.path(), &args).await;
        let answer = client.navigate(&site.url("/status/200")).await;
        assert!(!answer.is_error, "{rules:?}: {}", answer.text);
        assert!(client.end().await.success());
    }
}

#[testkit::test(chromium, webkit, nightly(webkit))]
async fn a_profile_chosen_by_name_is_required(engine: Engine) {
    let profile = tempfile::tempdir().unwrap();
    let first = with_profile(profile.path(), engine.args()).await;
    first.navigate("about:blank").await;
    let second = with_profile(profile.path(), engine.args()).await;
    let go = json!({ "url": "about:blank" });
    let answer = second.call("browser_navigate", go).await;
    let expected = format!(
        "Error: Browser is already in use for {}, use --isolated to run multiple instances of the same browser",
        profile.path().display()
    );
    assert_eq!(answer.error(), expected);
}

#[testkit::test(chromium)]
async fn ten_servers_in_one_folder_all_navigate() {
    let (workspace, profiles) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let one = async || {
        let client = by_default(workspace.path(), profiles.path())
            .limit(std::time::Duration::from_secs(60))
            .start()
            .await;
        let answer = client
            .call("browser_navigate", json!({ "url": "about:blank" }))
            .await;
        assert!(!answer.is_error, "{}", answer.text);
        (client, answer.text.contains("is in use"))
    };
    let all = futures_util::future::join_all((0..10).map(|_| one())).await;
    let without = all.iter().filter(|(_, without)| *without).count();
    assert_eq!(without, 9);
}

#[testkit::test(chromium, webkit)]
async fn the_profile_is_saved_on_every_kind_of_shutdown(engine: Engine) {
    use rustix::process::{Pid, Signal, kill_process};
    let site = Site::start().await;
    let page = site.add_page("/", "<title>Here</title>");
    let profile = tempfile::tempdir().unwrap();
    let mut known = Vec::new();
    for end in [None, Some(Signal::TERM), Some(Signal::INT), None] {
        let mut client = with_profile(profile.path(), engine.args()).await;
        client.navigate(&page).await;
        let name = format!("n{}", known.len());
        let script = format!(
            "async () => {{ \
               const databases = (await indexedDB.databases()).map((it) => it.name).sort().join(); \
               const reply = [document.cookie.split('; ').sort().join(), Object.keys(localStorage).sort().join(), databases].join('|'); \
               document.cookie = '{name}=1; max-age=10000'; localStorage.setItem('{name}', 1); \
               await new Promise((resolve) => {{ \
                 const opened = indexedDB.open('{name}'); \
                 opened.onupgradeneeded = () => opened.result.createObjectStore('all').put(1, 1); \
                 opened.onsuccess = () => {{ opened.result.close(); resolve(); }}; \
               }}); \
               return reply; \
             }}"
        );
        let answer = client
            .call("browser_evaluate", json!({ "function": script }))
            .await;
        let cookies: Vec<_> = known.iter().map(|name| format!("{name}=1")).collect();
        let names = known.join(",");
        let expected = format!("{}|{names}|{names}", cookies.join(","));
        assert_eq!(answer.result(), format!("\"{expected}\""));
        known.push(name);
        // Immediately: data that the browser saves only in intervals must be saved too.
        match end {
            None => assert!(client.end().await.success()),
            Some(signal) => {
                let pid = client.pid().expect("the server runs");
                let pid = Pid::from_raw(pid.cast_signed()).expect("not 0");
                kill_process(pid, signal).expect("it is ours");
                assert!(client.exit_status().await.success(), "{signal:?}");
            }
        }
    }
}

/// The engine saves the profile of WebKit, which keeps none itself, while it is used.
#[cfg(unix)]
#[testkit::test(webkit, nightly(webkit))]
async fn a_killed_server_loses_little_of_a_profile() {
    use rustix::process::{Pid, Signal, kill_process};
    use std::os::unix::fs::PermissionsExt as _;
    let engine = Engine::Webkit;
    let site = Site::start().await;
    let page = site.add_page("/", "<title>Here</title>");
    let other = site.add_page("/other", "<title>There</title>");
    let profile = tempfile::tempdir().unwrap();
    let mut client = with_profile(profile.path(), engine.args()).await;
    client.navigate(&page).await;
    let store =
        "() => { document.cookie = 'kept=1; path=/; max-age=10000'; localStorage.kept = 1; }";
    client
        .call("browser_evaluate", json!({ "function": store }))
        .await;
    client.navigate(&other).await;
    let file = profile.path().join("storage-state.json");
    let is_saved = |text: String| {
        text.contains("localStorage\":[{\"name\":\"kept")
            && text.contains("\"kept\",\"value\":\"1\",\"domain")
    };
    eventually(async || std::fs::read_to_string(&file).is_ok_and(is_saved)).await;
    let pid = client.pid().expect("the server runs");
    let pid = Pid::from_raw(pid.cast_signed()).expect("not 0");
    kill_process(pid, Signal::KILL).expect("it is ours");
    client.exit_status().await;
    let mode = file.metadata().expect("the file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let client = with_profile(profile.path(), engine.args()).await;
    client.navigate(&page).await;
    let tell = "() => document.cookie + ' ' + localStorage.kept";
    let answer = client
        .call("browser_evaluate", json!({ "function": tell }))
        .await;
    assert_eq!(answer.result(), "\"kept=1 1\"");
    assert!(client.end().await.success());

    std::fs::write(&file, "{").expect("the folder can be written");
    let client = with_profile(profile.path(), engine.args()).await;
    let go = json!({ "url": page });
    let answer = client.call("browser_navigate", go).await;
    assert!(
        answer.is_error && answer.text.contains("remove the file"),
        "{}",
        answer.text
    );
    assert!(client.end().await.success());
}

/// Starts a server over HTTP whose browser has a profile: a default one, or a configured one.
async fn served(folder: &std::path::Path, named: bool) -> HttpServer {
    let (profiles, workspace) = (folder.join("profiles"), folder.join("workspace"));
    std::fs::create_dir_all(&workspace).expect("a temporary folder");
    let launch = by_default(&workspace, &profiles);
    let named = named.then(|| format!("--user-data-dir={}", folder.join("own").display()));
    HttpServer::start(launch.args(named)).await
}

/// Returns the cookies of the page, after `script`.
async fn cookies(server: &HttpServer, session: &str, script: &str) -> String {
    let function = format!("() => {{ {script}; return 'cookies: ' + document.cookie; }}");
    let answer = server
        .call(
            Some(session),
            "browser_evaluate",
            json!({ "function": function }),
        )
        .await;
    answer["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[testkit::test(chromium)]
async fn a_client_that_reconnects_finds_the_session_that_has_its_profile() {
    let site = Site::start().await;
    let page = json!({ "url": site.add_page("/", "<title>Here</title>") });
    for named in [true, false].into_iter().step_by(input_step(2)) {
        let folder = tempfile::tempdir().unwrap();
        let server = served(folder.path(), named).await;
        let listen = async |session: &str| {
            let mut stream = server.connection().await;
            let headers = [
                ("host", server.authority()),
                ("accept", "text/event-stream"),
                ("mcp-session-id", session),
            ];
            stream.ask("GET", "/mcp", &headers, "").await;
            assert_eq!(stream.head().await.expect("an answer").status, 200);
            stream
        };
        let first = server.begin_session().await;
        let stream = listen(&first).await;
        server
            .call(Some(&first), "browser_navigate", page.clone())
            .await;
        // A session cookie, which no profile stores: the browser is the same.
        assert!(
            cookies(&server, &first, "document.cookie = 'login=1'")
                .await
                .contains("login=1")
        );

        // An existing one is not changed.
        let second = server.begin_session().await;
        let answered = async {
            let mut stream = stream;
            loop {
                let event = stream.event().await.expect("the stream goes on");
                let Ok(asked) = serde_json::from_str::<Value>(&event.data) else {
                    continue;
                };
                if asked["method"] == "ping" {
                    let pong = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": {} });
                    let headers = [
                        ("content-type", "application/json"),
                        ("accept", "application/json, text/event-stream"),
                        ("mcp-session-id", &*first),
                    ];
                    server
                        .ask("POST", "/mcp", &headers, &pong.to_string())
                        .await;
                    return stream;
                }
            }
        };
        let opened = server.call(Some(&second), "browser_navigate", page.clone());
        let (stream, opened) = tokio::join!(answered, opened);
        let opened = opened["content"][0]["text"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let refusal = if named { "already in use" } else { "is in use" };
        assert!(opened.contains(refusal), "{opened}");

        // A disconnected one releases it for the next.
        drop(stream);
        let third = server.begin_session().await;
        let reply = cookies(&server, &third, "").await;
        assert!(reply.contains("cookies: login=1"), "{named} {reply}");
        // It belongs to the third by now, which may just be silent.
        let late = server
            .call(Some(&first), "browser_navigate", page.clone())
            .await;
        assert!(late.to_string().contains(refusal), "{late}");

        // The end of an MCP session releases it at once.
        let id = [("mcp-session-id", &*third)];
        assert_eq!(server.ask("DELETE", "/mcp", &id, "").await.status, 200);
        let fourth = server.begin_session().await;
        let reply = cookies(&server, &fourth, "").await;
        assert!(reply.contains("cookies: login=1"), "{named} {reply}");
    }
}
