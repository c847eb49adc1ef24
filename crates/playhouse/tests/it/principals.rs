//! Files of principals over HTTP: ownership, the permissions of scopes, and protected files.

use crate::key_server::KeyServer;
use crate::{fake_launch, launch};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use testkit::{Site, WebSocketClient};

impl KeyServer {
    /// Calls a tool, which must be rejected by a file rule.
    async fn refused(&self, principal: &str, tool: &str, arguments: Value) -> Value {
        let result = self.call(principal, tool, arguments.clone()).await;
        let code = &result["structuredContent"]["errorCode"];
        assert_eq!(
            code, "FILE_ACCESS_DENIED",
            "{principal} {tool} {arguments}: {result}"
        );
        result
    }

    /// Returns the workspace of a principal.
    fn workspace_of(&self, principal: &str) -> PathBuf {
        let all = self.path(".playwright-mcp/workspaces");
        let begin = format!("key-{principal}-");
        let mut entries = all.read_dir().expect("there are some").flatten();
        let own = entries.find(|entry| entry.file_name().to_string_lossy().starts_with(&begin));
        own.expect("there is one").path()
    }
}

fn mode(path: &Path) -> u32 {
    path.metadata().expect("it is there").permissions().mode() & 0o777
}

#[testkit::test(chromium)]
async fn no_principal_reads_the_files_of_another() {
    let keys = "ada adakey browser:act\nbob bobkey\n";
    let server = KeyServer::start(launch(&["--caps=storage"]), keys).await;
    let site = Site::start().await;
    let url = site.add_page("/", "<title>t</title><input type=file>");
    let snapshot = "browser_snapshot";
    let named = json!({ "filename": "mine.yml" });
    server.success("ada", snapshot, named.clone()).await;
    server
        .success("ada", "browser_take_screenshot", json!({}))
        .await;
    server
        .success("bob", "browser_navigate", json!({ "url": url }))
        .await;
    let (ada, bob) = (server.workspace_of("ada"), server.workspace_of("bob"));
    let mine = ada.join("mine.yml");
    let text = fs::read_to_string(&mine).expect("it is there");
    for private in [&ada, &bob, &ada.join(".playwright-mcp")] {
        assert_eq!(mode(private), 0o700, "{private:?}");
    }

    symlink(&ada, bob.join("link")).expect("a link");
    symlink(&mine, bob.join("file.yml")).expect("a link");
    let relative = format!("../{}/mine.yml", ada.file_name().expect("a name").display());
    let spellings = [
        mine.display().to_string(),
        relative.clone(),
        format!("./.playwright-mcp/../{relative}"),
        "link/mine.yml".to_owned(),
        "file.yml".to_owned(),
    ];
    for path in spellings {
        for (tool, parameter) in [
            (snapshot, "filename"),
            ("browser_take_screenshot", "filename"),
            ("browser_storage_state", "filename"),
            ("browser_set_storage_state", "filename"),
            ("browser_run_code_unsafe", "filename"),
            ("screenshot", "path"),
            ("save_state", "path"),
            ("restore_state", "path"),
            ("create_session", "storageState"),
        ] {
            server
                .refused("bob", tool, json!({ parameter: path }))
                .await;
        }
        let upload = json!({ "selector": "input", "files": [path] });
        server.refused("bob", "upload_file", upload).await;
        let drop = json!({ "target": "input", "paths": [path] });
        server.refused("bob", "browser_drop", drop).await;
        let code = format!("async page => page.screenshot({{ path: {} }})", json!(path));
        let ran = server.call("bob", "browser_run_code_unsafe", json!({ "code": code }));
        let ran = ran.await.to_string();
        assert!(ran.contains("File access denied"), "{ran}");
    }
    let shown = json!({ "url": format!("file://{}", mine.display()) });
    let shown = server.call("bob", "browser_navigate", shown).await;
    assert_eq!(shown["structuredContent"]["errorCode"], "URL_BLOCKED");
    assert_eq!(fs::read_to_string(&mine).expect("it is there"), text);

    let resources = async |name: &str| {
        let list = server.request(name, "resources/list", json!({})).await;
        list["resources"].to_string()
    };
    assert!(resources("ada").await.contains("mine.yml"));
    assert!(!resources("bob").await.contains("mine.yml"));
    // The same name is another file.
    server.success("bob", snapshot, named).await;
    assert!(bob.join("mine.yml").is_file());
    assert_eq!(fs::read_to_string(&mine).expect("it is there"), text);
}

#[testkit::test]
async fn a_state_saved_by_name_belongs_to_its_principal() {
    let keys = "ada adakey\nbob bobkey\ncarl carlkey browser:act\n";
    let server = KeyServer::start(fake_launch(&["--workspace-root=all"]), keys).await;
    let named = json!({ "name": "shop" });
    server.success("ada", "save_state", named.clone()).await;
    let restore = json!({ "restore": "shop" });
    server
        .success("ada", "create_session", restore.clone())
        .await;
    let answer = server.call("bob", "create_session", restore.clone()).await;
    let answer = answer["structuredContent"].to_string();
    assert!(
        answer.contains("INVALID_PARAMETERS") && answer.contains("No state is saved by a name"),
        "{answer}"
    );
    server
        .success("bob", "save_state", json!({ "name": "mine" }))
        .await;
    let answer = server.call("bob", "create_session", restore.clone()).await;
    let answer = answer["structuredContent"].to_string();
    assert!(answer.contains("Saved: mine\\n"), "{answer}");
    // Logins require `browser:admin`.
    server.refused("carl", "create_session", restore).await;
}

#[testkit::test]
async fn principals_have_parts_of_a_chosen_output_folder_and_workspaces_of_their_own() {
    let server = KeyServer::start(
        fake_launch(&[
            "--output-dir=out",
            "--workspace-root=all",
            "--readable-roots=.,out",
        ]),
        "ada adakey workspace=ada\nbob bobkey\n",
    )
    .await;
    let picture = server.success("ada", "screenshot", json!({})).await;
    let picture = picture["structuredContent"]["path"]
        .as_str()
        .expect("a path");
    assert!(server.path("ada").join(picture).is_file(), "{picture}");
    let saved = json!({ "path": "login.json" });
    server.success("ada", "save_state", saved.clone()).await;
    server.success("bob", "save_state", saved.clone()).await;
    assert_eq!(mode(&server.path("ada/login.json")), 0o600);
    let all = server
        .path("all")
        .read_dir()
        .expect("there is one")
        .flatten();
    let all: Vec<_> = all.map(|entry| entry.path()).collect();
    assert!(
        all.len() == 1 && all[0].join("login.json").is_file(),
        "{all:?}"
    );
    let of_ada = server
        .path("out")
        .read_dir()
        .expect("there are some")
        .flatten();
    let mut of_ada = of_ada.map(|entry| entry.path());
    let of_ada = of_ada.find(|path| path.display().to_string().contains("key-ada-"));
    let of_ada = of_ada.expect("a folder of its own");
    assert_eq!(mode(&of_ada), 0o700);
    let listed = fs::read_dir(&of_ada).expect("readable").count();
    for (name, path) in [
        ("bob", server.path("ada/login.json")),
        ("ada", all[0].join("login.json")),
        ("bob", of_ada.join("new.json")),
    ] {
        for tool in ["save_state", "restore_state"] {
            server.refused(name, tool, json!({ "path": path })).await;
        }
        let session = json!({ "storageState": path });
        server.refused(name, "create_session", session).await;
    }
    assert_eq!(fs::read_dir(&of_ada).expect("readable").count(), listed);
    server.success("ada", "restore_state", saved).await;
}

#[testkit::test]
async fn roots_of_a_client_name_no_folder_outside_of_its_workspace() {
    let server = KeyServer::start(fake_launch(&[]), "ada adakey workspace=ada\n").await;
    fs::create_dir_all(server.path("ada/project")).expect("a folder");
    fs::create_dir_all(server.path("elsewhere")).expect("a folder");
    let url = server.http.web_socket();
    let shot = async |root: PathBuf| {
        let mut client = WebSocketClient::connect(&url, "mcp", &[("x-api-key", "adakey")]).await;
        let hello = json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": { "roots": {} },
                "clientInfo": { "name": "testkit", "version": "1" },
            },
        });
        client.text(&hello.to_string()).await;
        client.answer(&json!(1)).await;
        client
            .text(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        let call = json!({
            "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": { "name": "browser_snapshot", "arguments": { "filename": "page.yml" } },
        });
        client.text(&call.to_string()).await;
        loop {
            let reply = client.next().await.expect("an answer");
            if reply["method"] == "roots/list" {
                assert_eq!(reply["params"], Value::Null, "{reply}");
                let roots = json!([{ "uri": format!("file://{}", root.display()) }]);
                let answer =
                    json!({ "jsonrpc": "2.0", "id": reply["id"], "result": { "roots": roots } });
                client.text(&answer.to_string()).await;
            } else if reply["id"] == 2 {
                assert_ne!(reply["result"]["isError"], true, "{reply}");
                return;
            }
        }
    };
    shot(server.path("elsewhere")).await;
    assert!(server.path("ada/page.yml").is_file());
    assert!(!server.path("elsewhere/page.yml").exists());
    shot(server.path("ada/project")).await;
    assert!(server.path("ada/project/page.yml").is_file());
}

#[testkit::test]
async fn with_read_permission_only_new_output_files_are_created() {
    let keys = "eve evekey browser:read workspace=.\n";
    let server = KeyServer::start(fake_launch(&["--caps=pdf,testing"]), keys).await;
    fs::create_dir_all(server.path(".git/hooks")).expect("a folder");
    fs::write(server.path("page.yml"), "before").expect("writable");
    server
        .success("eve", "browser_take_screenshot", json!({}))
        .await;
    let mut tools = 0;
    for (tool, parameter) in [
        ("browser_snapshot", "filename"),
        ("browser_take_screenshot", "filename"),
        ("browser_console_messages", "filename"),
        ("browser_network_requests", "filename"),
        ("browser_find", "filename"),
        ("browser_pdf_save", "filename"),
        ("screenshot", "path"),
    ] {
        let arguments = |path: &str| match tool {
            "browser_find" => json!({ parameter: path, "text": "a" }),
            _ => json!({ parameter: path }),
        };
        let new = format!(".playwright-mcp/new-{tool}");
        for path in [
            "page.yml",
            "new.yml",
            "keys.txt",
            ".git/hooks/pre-commit",
            ".playwright-mcp/../new.yml",
            ".playwright-mcp/.git/config",
            "/tmp/new.yml",
        ] {
            server.refused("eve", tool, arguments(path)).await;
        }
        server.success("eve", tool, arguments(&new)).await;
        let first = fs::read(server.path(&new)).expect("it was made");
        server.refused("eve", tool, arguments(&new)).await;
        assert_eq!(fs::read(server.path(&new)).expect("it is there"), first);
        tools += 1;
    }
    assert_eq!(tools, 7);
    assert_eq!(
        fs::read_to_string(server.path("page.yml")).expect("there"),
        "before"
    );
    assert_eq!(
        fs::read_to_string(server.path("keys.txt")).expect("there"),
        keys
    );
    assert_eq!(
        server.path(".git/hooks").read_dir().expect("there").count(),
        0
    );
    assert!(!server.path("new.yml").exists());
}

#[testkit::test(chromium)]
async fn files_go_into_pages_and_sessions_for_an_admin_or_from_a_readable_root() {
    let keys = "ada adakey workspace=ada\neve evekey browser:act workspace=eve readable=fixtures\n";
    let server = KeyServer::start(launch(&[]), keys).await;
    let site = Site::start().await;
    let url = site.add_page(
        "/",
        "<input type=file><div id=zone ondragover='event.preventDefault()'>Drop</div>",
    );
    let state = json!({ "cookies": [], "origins": [] }).to_string();
    for (name, may_read) in [("eve", "fixtures/"), ("ada", "")] {
        fs::create_dir_all(server.path(name).join("fixtures")).expect("a folder");
        for file in ["login.json", "fixtures/login.json"] {
            fs::write(server.path(name).join(file), &state).expect("writable");
        }
        server
            .success(name, "browser_navigate", json!({ "url": url }))
            .await;
        let uses = |path: String| {
            [
                ("create_session", json!({ "storageState": path })),
                (
                    "browser_context_create",
                    json!({ "name": "other", "storageState": path }),
                ),
                (
                    "upload_file",
                    json!({ "selector": "input", "files": [path] }),
                ),
                (
                    "browser_drop",
                    json!({ "target": "#zone", "paths": [path] }),
                ),
            ]
        };
        for (tool, arguments) in uses(format!("{may_read}login.json")) {
            server.success(name, tool, arguments).await;
            // Later calls use the created context.
            if tool == "browser_context_create" {
                let context = json!({ "name": "other" });
                server.success(name, "browser_context_close", context).await;
            }
        }
        if name == "eve" {
            for path in ["login.json", "fixtures/../login.json"] {
                for (tool, arguments) in uses(path.to_owned()) {
                    let refused = server.refused(name, tool, arguments).await;
                    let details = &refused["structuredContent"]["details"];
                    assert_eq!(details["rule"], "READS_ROOTS_ONLY", "{refused}");
                }
            }
            server
                .success(name, "browser_click", json!({ "target": "input" }))
                .await;
            let chosen = json!({ "paths": [server.path("eve/login.json")] });
            server.refused(name, "browser_file_upload", chosen).await;
            let baseline = json!({ "baseline": "login.json" });
            server.success(name, "browser_file_upload", json!({})).await;
            server.refused(name, "compare_screenshot", baseline).await;
        }
    }
    // A file that the session itself wrote may be compared.
    let baseline = json!({ "baseline": "page.png", "update": true });
    server.success("eve", "compare_screenshot", baseline).await;
    let baseline = json!({ "baseline": "page.png" });
    server.success("eve", "compare_screenshot", baseline).await;
    // Inline contents are not files.
    let inline = json!({ "selector": "input", "files": [{ "name": "a", "base64": "" }] });
    server.success("eve", "upload_file", inline).await;
}
