//! No principal reads or changes files of another, keys, configuration, secrets or `.git`: each tool with a path, with principals of each
//! scope, over HTTP. The paths are checked before a browser receives them; those of uploads and drops are also tested on each engine,
//! because the browser opens the file.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::harness::input_step;
use testkit::{Engine, HttpServer, Site};

use super::reads;
use crate::cli::run;
use crate::launch_on;

/// Each tool with a path, and arguments with which it succeeds: `{path}` is the path, `own.…` are files of the principal, other names are
/// new.
const CALLS: &str = r##"
browser_snapshot {"filename": "{path}"} new.yml
browser_take_screenshot {"filename": "{path}"} own.png
browser_console_messages {"filename": "{path}"} new.txt
browser_network_requests {"filename": "{path}", "static": true} new-requests.txt
browser_network_request {"index": 1, "filename": "{path}"} new-request.txt
browser_find {"text": "Give", "filename": "{path}"} new-find.txt
browser_evaluate {"function": "() => 1", "filename": "{path}"} new.json
browser_pdf_save {"filename": "{path}"} new.pdf
browser_storage_state {"filename": "{path}"} new-state.json
browser_context_save_storage {"path": "{path}"} new-context.json
screenshot {"path": "{path}"} new.png
save_state {"path": "{path}"} new-saved.json
compare_screenshot {"baseline": "{path}"} own.png
compare_screenshot {"baseline": "{path}", "update": true} new-baseline.png
upload_file {"selector": "input", "files": ["{path}"]} own.txt
browser_drop {"target": "body", "paths": ["{path}"]} own.txt
browser_file_upload {"paths": ["{path}"]} own-other.txt
browser_run_code_unsafe {"filename": "{path}"} own.js
browser_set_storage_state {"filename": "{path}"} own-state.json
restore_state {"path": "{path}"} own-state.json
browser_context_create {"name": "new", "storageState": "{path}"} own-state.json
create_session {"storageState": "{path}"} own-state.json
browser_har_start {"filename": "{path}"} new.har
browser_route {"pattern": "**/replayed", "har": "{path}"} own.har
browser_start_video {"filename": "{path}"} new.webm
browser_audit_accessibility {"filename": "{path}"} new-audit.json
browser_performance_stop {"filename": "{path}"} new-trace.json
browser_heap_snapshot {"filename": "{path}"} new.heapsnapshot
browser_heap_snapshot {"compareTo": "{path}"} new.heapsnapshot
browser_coverage {"action": "stop", "filename": "{path}"} new.lcov
browser_export_test {"filename": "{path}"} new.spec.ts
"##;

/// Calls without which some of [`CALLS`] have no effect.
const PREPARATIONS: &str = r##"
browser_performance_start {}
browser_coverage {"action": "start"}
"##;

/// The tools of [`CALLS`] for which the browser opens the file.
const IN_BROWSERS: [&str; 3] = ["upload_file", "browser_drop", "browser_file_upload"];

/// The tools of [`CALLS`] that represent all others for the spellings of a path: two that read, and one that writes. The writing one is
/// last, because some spellings are names in the principal's own workspace, and a session may read what it has written there.
const EACH_SPELLING: [&str; 3] = ["upload_file", "restore_state", "browser_snapshot"];

/// Parameters that are paths.
const PATHS: [&str; 8] = [
    "filename",
    "path",
    "paths",
    "files",
    "storageState",
    "baseline",
    "har",
    "compareTo",
];

/// Tools whose parameters of these names are not paths of files: paths of cookies, and tools that need an app.
const NOT_PATHS: [&str; 5] = [
    "browser_cookie_delete",
    "browser_cookie_list",
    "browser_cookie_set",
    "screenshot_element",
    "e2e_start",
];

/// A page that shows the files that it receives.
const PAGE: &str = "<!doctype html><title>Give</title><body><input type=file><p id=out></p><script>
const show = async files => { for (const file of files) out.textContent += await file.text() };
document.querySelector('input').onchange = event => show(event.target.files);
ondragover = event => event.preventDefault();
ondrop = event => { event.preventDefault(); show(event.dataTransfer.files); };
</script>";

/// The content of files that only their owner, if any, may read; the principal's own files have another content.
const MARK: &str = "mark-of-what-is-protected";
const ARCHIVE: &str =
    r#"{"log": {"version": "1.2", "creator": {"name": "test", "version": "1"}, "entries": []}}"#;

const OWN_MARK: &str = "mark-of-its-own";

/// The principals, each with a workspace of its name.
const SCOPES: [(&str, &str); 3] = [
    ("reader", "browser:read"),
    ("actor", "browser:act"),
    ("admin", "browser:admin"),
];

/// A further principal, whose workspace contains the protected files.
const KEEPER: &str = "keeper";

/// Paths that are protected from all principals, or from all but one; `{own}` is the workspace of the principal. One of each kind.
const PROTECTED: [&str; 10] = [
    "keys.txt",
    "config.json",
    "secrets.env",
    "policy.json",
    "audit.jsonl",
    "victim/own.txt",
    "victim/own-state.json",
    "victim/.playwright-mcp/session-1/page.yml",
    "{own}/.git/config",
    "{own}/.git/hooks/pre-commit",
];

/// The folder of a server, with the workspaces of its principals and files that belong to none.
struct Folders {
    folder: tempfile::TempDir,
}

impl Folders {
    /// `origin` is the origin in the storage states.
    fn new(origin: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let place = Self { folder };
        let names = || SCOPES.iter().map(|(name, _)| *name);
        for path in PROTECTED {
            for name in names().chain(["."]) {
                place.write(&path.replace("{own}", name), MARK);
            }
        }
        let keys =
            SCOPES.map(|(name, scope)| format!("{name} {name}-key {scope} workspace={name}\n"));
        let keys = format!(
            "# {MARK}\nvictim victim-key workspace=victim\n{KEEPER} {KEEPER}-key workspace=.\n{}",
            keys.concat()
        );
        place.write("keys.txt", &keys);
        place.write(
            "config.json",
            &json!({ "testIdAttribute": MARK }).to_string(),
        );
        place.write(
            "secrets.env",
            &format!("# {MARK}\nSECRET=value-of-the-secret\n"),
        );
        let rule = json!({ "id": MARK, "action": "allow" });
        place.write("policy.json", &json!({ "rules": [rule] }).to_string());
        fs::remove_file(place.at("audit.jsonl")).expect("it is there");
        let state = |mark: &str| {
            let items = [json!({ "name": "key", "value": mark })];
            json!({ "cookies": [], "origins": [{ "origin": origin, "localStorage": items }] })
                .to_string()
        };
        place.write("victim/own-state.json", &state(MARK));
        for name in names() {
            for file in ["own.txt", "own-other.txt"] {
                place.write(&format!("{name}/{file}"), OWN_MARK);
            }
            place.write(&format!("{name}/own.js"), "async page => page.title()");
            place.write(&format!("{name}/own-state.json"), &state(OWN_MARK));
            place.write(&format!("{name}/own.har"), ARCHIVE);
            let own = |path: &str| place.at(name).join(path);
            for (to, link) in [
                ("victim/own.txt", "link.txt"),
                ("victim/own-state.json", "link.json"),
                ("victim", "link"),
                ("keys.txt", "keys-link"),
            ] {
                symlink(place.at(to), own(link)).expect("a link");
            }
            symlink(".git", own("git-link")).expect("a link");
            fs::hard_link(place.at("keys.txt"), own("hard")).expect("a link");
        }
        place
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        fs::write(&path, content).expect("writable");
    }

    /// Returns the spellings by which this principal may name a foreign file.
    fn path_variants(&self, name: &str) -> Vec<String> {
        let root = self.folder.path().display();
        let file = "victim/own-state.json";
        let mut spellings = vec![
            format!("../{file}"),
            format!("./x/../../{file}"),
            format!("link/../../{file}"),
            format!("..//./{file}"),
            format!("../{file}/"),
            format!("../{file}/."),
            format!("{root}/{name}/../{file}"),
            format!("/{root}/{file}"),
            format!("/proc/self/cwd/{file}"),
            format!("/proc/self/root{root}/{file}"),
            format!("file://{root}/{file}"),
            format!("FILE://localhost{root}/{file}"),
            format!("file:///{root}/{name}/%2e%2e/{file}"),
            format!("%2e%2e/{file}"),
            format!("..%2f{file}"),
            format!("..\\{file}"),
            format!("../{file}\0.png"),
            format!(" ../{file} "),
            format!("~/../../..{root}/{file}"),
            format!("$PWD/../{file}"),
        ];
        let others = [
            "../keys.txt",
            "/proc/self/cwd/keys.txt",
            "link.txt",
            "link.json",
            "link/own.txt",
            "link/new.txt",
            "./x/../link.json",
            "keys-link",
            "hard",
            "git-link/config",
            "git-link/hooks/new",
            ".git",
            ".git/new",
            ".GIT/config",
            ".Git/hooks/new",
            "sub/.git/config",
            "../new.txt",
            "../victim",
            "..",
            "/proc/self/environ",
            "/etc/passwd",
        ];
        spellings.extend(others.map(str::to_owned));
        spellings
    }

    /// Returns the files outside a principal's own folder, and in its `.git`. The server itself writes the audit log.
    fn contents(&self, name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut contents = BTreeMap::new();
        let own = self.at(name);
        collect(self.folder.path(), &own, &mut contents);
        for repository in [".git", "sub/.git", ".GIT", ".Git"] {
            collect(&own.join(repository), Path::new(""), &mut contents);
        }
        contents.remove(&self.at("audit.jsonl"));
        contents
    }
}

fn collect(folder: &Path, but: &Path, contents: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            _ if path == but => {}
            Ok(kind) if kind.is_dir() => collect(&path, but, contents),
            _ => drop(contents.insert(path.clone(), fs::read(&path).unwrap_or_default())),
        }
    }
}

/// Returns the arguments of a call with its path.
fn filled(arguments: &Value, path: &str) -> Value {
    match arguments {
        Value::String(text) if text == "{path}" => path.into(),
        Value::Array(items) => items.iter().map(|item| filled(item, path)).collect(),
        Value::Object(members) => {
            let members = members.iter();
            members
                .map(|(name, value)| (name.clone(), filled(value, path)))
                .collect()
        }
        other => other.clone(),
    }
}

/// A principal of a server.
struct Caller<'a> {
    server: &'a HttpServer,
    name: &'a str,
    complaints: Vec<String>,
}

impl Caller<'_> {
    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.ask("tools/call", params).await
    }

    /// Opens a URL. Panics with the whole answer if it is an error.
    async fn navigate(&self, url: &str) {
        let answer = self.call("browser_navigate", json!({ "url": url })).await;
        assert_ne!(answer["isError"], true, "{}: {url}: {answer}", self.name);
    }

    async fn ask(&self, method: &str, params: Value) -> Value {
        let key = format!("{}-key", self.name);
        let headers = [("x-api-key", &*key)];
        let answer = self.server.rpc("/message", &headers, method, params).await;
        answer.json()["result"].clone()
    }

    /// Calls a tool with a path, and reverts effects on later calls.
    async fn play(&self, tool: &str, arguments: &Value, path: &str) -> Value {
        let opens_chooser = tool == "browser_file_upload";
        if opens_chooser {
            self.call("browser_click", json!({ "target": "input" }))
                .await;
        }
        let answer = self.call(tool, filled(arguments, path)).await;
        match tool {
            _ if answer["isError"] == true && opens_chooser => {
                self.call("browser_file_upload", json!({})).await;
            }
            _ if answer["isError"] == true => {}
            "browser_context_create" => {
                let new = json!({ "name": "new" });
                self.call("browser_context_close", new).await;
            }
            "create_session" => {
                let id = &answer["structuredContent"]["sessionId"];
                self.call("close_session", json!({ "sessionId": id })).await;
            }
            _ => {}
        }
        answer
    }

    /// Records a failure if an answer shows protected content.
    fn inspect(&mut self, answer: &Value, what: &str) {
        let text = answer.to_string();
        for mark in [MARK, "value-of-the-secret", "root:x:0:0", "CORPUS_MARK="] {
            if text.contains(mark) {
                self.complaints
                    .push(format!("{}: {what}: shows {mark}: {text}", self.name));
            }
        }
    }

    /// Makes a call that must be rejected for the path, or because of the scope.
    async fn is_refused(&mut self, tool: &str, arguments: &Value, path: &str) {
        let answer = self.play(tool, arguments, path).await;
        self.inspect(&answer, &format!("{tool} {path:?}"));
        let code = &answer["structuredContent"]["errorCode"];
        let is_refused = match self.name {
            "admin" | KEEPER => code == "FILE_ACCESS_DENIED",
            _ => code == "FILE_ACCESS_DENIED" || code == "INSUFFICIENT_SCOPE",
        };
        if !is_refused {
            self.complaints
                .push(format!("{}: {tool} {path:?}: {answer}", self.name));
        }
    }
}

/// Returns all items in `make nightly`, and otherwise those whose turn it is, one of as many as `step`: each item meets some of the paths
/// and each path some of the items.
fn turns<T>(items: &[T], turn: usize, step: usize) -> impl Iterator<Item = &T> {
    let step = input_step(step);
    items.iter().skip(turn % step).step_by(step)
}

/// Returns the calls with a path, each with its control.
fn calls(engine: Engine) -> Vec<(&'static str, Value, &'static str)> {
    let lines = CALLS.lines().filter_map(|line| line.rsplit_once(' '));
    let calls = lines.flat_map(|(call, control)| {
        reads(call, 1).map(move |(tool, arguments)| (tool, arguments, control))
    });
    let is_played = |tool: &str| engine == Engine::Chromium || IN_BROWSERS.contains(&tool);
    calls.filter(|(tool, ..)| is_played(tool)).collect()
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit), slow)]
async fn no_principal_reaches_files_that_are_not_its_own(engine: Engine) {
    let site = Site::start().await;
    let url = site.add_page("/", PAGE);
    let place = Folders::new(&site.base_url());
    let flags = [
        "--api-keys=keys.txt",
        "--config=config.json",
        "--secrets=secrets.env",
        "--policy=policy.json",
        "--audit-log=audit.jsonl",
        "--caps=config,contexts,network,pdf,storage,testing,vision,devtools,audit,performance",
        "--timeout-action=2000",
    ];
    let launch = launch_on(engine, &flags).workspace(place.folder.path());
    let server = HttpServer::start_guarded(launch.env("CORPUS_MARK", "x")).await;
    let calls = calls(engine);
    let mut complaints = Vec::new();
    for (turn, (name, scope)) in SCOPES.into_iter().enumerate() {
        let mut caller = Caller {
            server: &server,
            name,
            complaints: Vec::new(),
        };
        let tools = caller.ask("tools/list", json!({})).await;
        if engine == Engine::Chromium {
            has_all_that_take_paths(&tools);
        }
        if scope != "browser:read" {
            caller.navigate(&url).await;
        }
        let before = place.contents(name);
        for (number, path) in PROTECTED.into_iter().enumerate() {
            let path = place.at(&path.replace("{own}", name)).display().to_string();
            for (tool, arguments, _) in turns(&calls, number + turn, 25) {
                caller.is_refused(tool, arguments, &path).await;
            }
            let openers = ["browser_navigate", "navigate", "new_page"];
            for tool in turns(&openers, number + turn, 3) {
                let url = format!("file://{path}");
                let answer = caller.call(tool, json!({ "url": url })).await;
                caller.inspect(&answer, &format!("{tool} {path}"));
                if answer["isError"] != true {
                    caller
                        .complaints
                        .push(format!("{name}: {tool} {url}: {answer}"));
                }
            }
        }
        let each = EACH_SPELLING.iter();
        let each = each.flat_map(|name| calls.iter().filter(move |(tool, ..)| tool == name));
        let each: Vec<_> = each.collect();
        for (number, path) in place.path_variants(name).into_iter().enumerate() {
            for (tool, arguments, _) in turns(&each, number + turn, 6) {
                let answer = caller.play(tool, arguments, &path).await;
                caller.inspect(&answer, &format!("{tool} {path:?}"));
                // A dangling path is at most a new file.
                if answer["isError"] != true && *tool != "browser_snapshot" {
                    let complaint = format!("{name}: {tool} {path:?}: {answer}");
                    caller.complaints.push(complaint);
                }
            }
        }
        caller.inspect_page().await;
        if name == "admin" {
            caller.has_own_files(&calls).await;
        }
        let after = place.contents(name);
        for path in before.keys().chain(after.keys()) {
            if before.get(path) != after.get(path) {
                let path = path.display();
                caller
                    .complaints
                    .push(format!("{name}: {path} was changed or made"));
            }
        }
        complaints.append(&mut caller.complaints);
    }
    complaints.extend(assert_keeper_is_isolated(&place, &server, &url, &calls).await);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let log = place.at("audit.jsonl").display().to_string();
    let verified = run(&["audit", "verify", &log]);
    assert!(verified.status.success(), "{verified:?}");
}

/// Asserts what the keeper can do with the protected files in its own workspace, by their names in it.
async fn assert_keeper_is_isolated(
    place: &Folders,
    server: &HttpServer,
    url: &str,
    calls: &[(&str, Value, &str)],
) -> Vec<String> {
    let mut keeper = Caller {
        server,
        name: KEEPER,
        complaints: Vec::new(),
    };
    keeper.navigate(url).await;
    let paths = PROTECTED.map(|path| path.replace("{own}", "."));
    for (number, path) in paths.into_iter().enumerate() {
        let before = fs::read(place.at(&path)).expect("it is there");
        for (tool, arguments, _) in turns(calls, number, 10) {
            keeper.is_refused(tool, arguments, &path).await;
        }
        let after = fs::read(place.at(&path)).expect("it is there");
        // The server itself appends to its log.
        if !after.starts_with(&before) || (after != before && path != "audit.jsonl") {
            keeper
                .complaints
                .push(format!("{KEEPER}: {path} was changed"));
        }
    }
    keeper.complaints
}

impl Caller<'_> {
    /// Records a failure if the page or its storage contains protected content.
    async fn inspect_page(&mut self) {
        for (tool, arguments) in [
            ("get_text", json!({ "selector": "body" })),
            ("browser_localstorage_list", json!({})),
        ] {
            let answer = self.call(tool, arguments).await;
            self.inspect(&answer, tool);
        }
    }

    /// Asserts that each call succeeds with an allowed path, and the page has only these files.
    async fn has_own_files(&mut self, calls: &[(&str, Value, &str)]) {
        for (tool, arguments) in reads(PREPARATIONS, 1) {
            self.call(tool, arguments).await;
        }
        for (tool, arguments, control) in calls {
            let answer = self.play(tool, arguments, control).await;
            // Videos need a program that may be missing.
            let is_available = answer["structuredContent"]["errorCode"] != "FFMPEG_UNAVAILABLE";
            if answer["isError"] == true && is_available {
                let name = self.name;
                self.complaints
                    .push(format!("{name}: {tool} {control}: {answer}"));
            }
            if IN_BROWSERS.contains(tool) {
                let shown = json!({ "selector": format!("#out:text('{OWN_MARK}')") });
                let shown = self.call("wait_for_selector", shown).await;
                if shown["isError"] == true {
                    let complaint = format!("{tool} {control}: the page has no file: {shown}");
                    self.complaints.push(complaint);
                }
                self.inspect_page().await;
                let empty = "document.querySelector('#out').textContent = ''";
                self.call("evaluate", json!({ "script": empty })).await;
            }
        }
    }
}

/// Asserts that [`CALLS`] contains all tools with a path.
fn has_all_that_take_paths(list: &Value) {
    let calls = calls(Engine::Chromium);
    for tool in list["tools"].as_array().expect("a list") {
        let name = tool["name"].as_str().expect("a name");
        let properties = tool["inputSchema"]["properties"].as_object();
        let has_path = properties.is_some_and(|it| PATHS.iter().any(|path| it.contains_key(*path)));
        let is_played = calls.iter().any(|(played, ..)| *played == name);
        assert!(
            !has_path || is_played || NOT_PATHS.contains(&name),
            "{name} takes a path: add it to CALLS"
        );
    }
}
