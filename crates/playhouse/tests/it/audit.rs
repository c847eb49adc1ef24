//! The audit log: its records of calls, its verification, and the rejection of calls that cannot be recorded.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use testkit::{Client, Engine, HttpServer, Launch, NoAnswer, Site, eventually};

use crate::cli::run;
use crate::{launch, launch_on};

/// A folder with the path of a log, and the flags for it.
struct Log {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Log {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self {
            path: folder.path().join("audit.jsonl"),
            _folder: folder,
        }
    }

    fn name(&self) -> &str {
        self.path.to_str().expect("UTF-8")
    }

    fn flags(&self) -> [&str; 2] {
        ["--audit-log", self.name()]
    }

    fn records(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.path).expect("a log");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a record"))
            .collect()
    }

    fn last(&self) -> Value {
        self.records().pop().expect("a record")
    }
}

/// Returns the output of `playhouse audit verify`, and its exit code.
fn verified(args: &[&str]) -> (String, Option<i32>) {
    let output = run(&[&["audit", "verify"], args].concat());
    let text = [output.stdout, output.stderr].concat();
    (
        String::from_utf8(text).expect("UTF-8"),
        output.status.code(),
    )
}

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn a_record_has_principal_tool_page_and_outcome(engine: Engine) {
    let (log, site) = (Log::new(), Site::start().await);
    let there = site.cross_origin_url();
    let page = format!("<a href='{there}/there'>Go</a>");
    let here = site.add_page("/here", &page);
    site.add_page("/there", "<title>There</title><input id=field>");
    let secrets = log.path.with_file_name("secrets.env");
    fs::write(&secrets, "PASSWORD=hunter22hunter22").expect("writable");
    let client = launch_on(engine, &log.flags())
        .args(["--secrets".into(), secrets.into_os_string()])
        .start()
        .await;
    client.success("navigate", json!({ "url": here })).await;
    let click = json!({ "selector": "a", "timeout": 20_000 });
    client.success("click", click.clone()).await;
    let text = "hunter22hunter22 ".to_owned() + &"x".repeat(5_000);
    let typing = json!({ "selector": "#field", "value": text });
    client.call("fill", typing).await;
    client.call("click", json!({ "wrong": 1 })).await;
    let unknown = client.try_call("browser_clik", json!({})).await;
    assert!(matches!(
        unknown,
        Err(NoAnswer::Refused { code: -32601, .. })
    ));
    let listed = client.request("resources/list", json!({})).await;
    let uri = listed.expect("a list")["resources"][0]["uri"].clone();
    let read = client.request("resources/read", json!({ "uri": uri }));
    read.await.expect("a resource");
    let prompt = json!({ "name": "none" });
    client
        .request("prompts/get", prompt)
        .await
        .expect_err("no prompt");

    let records = log.records();
    let shown: Vec<_> = records
        .iter()
        .map(|record| {
            let of = |name: &str| record[name].as_str().unwrap_or("-");
            [
                of("method"),
                of("tool"),
                of("originBefore"),
                of("originAfter"),
                of("result"),
            ]
        })
        .collect();
    let origin = |url: &str| {
        url::Url::parse(url)
            .expect("a URL")
            .origin()
            .ascii_serialization()
    };
    let (here, there) = (origin(&here), origin(&there));
    assert_eq!(
        shown,
        [
            ["tools/call", "navigate", "about:", &here, "ok"],
            ["tools/call", "click", &here, &there, "ok"],
            ["tools/call", "fill", &there, &there, "ok"],
            ["tools/call", "click", "-", "-", "INVALID_PARAMETERS"],
            ["tools/call", "browser_clik", "-", "-", "-32601"],
            ["resources/read", "-", "-", "-", "ok"],
            ["prompts/get", "-", "-", "-", "-32602"],
        ],
    );
    let names: Vec<_> = records[0].as_object().expect("an object").keys().collect();
    assert_eq!(
        names,
        [
            "seq",
            "time",
            "requestId",
            "principal",
            "session",
            "method",
            "tool",
            "arguments",
            "originBefore",
            "originAfter",
            "result",
            "durationMs",
            "prev",
            "hash"
        ]
    );
    assert_eq!(records[1]["arguments"]["selector"], "a");
    assert_eq!(
        (&records[1]["principal"], &records[1]["session"]),
        (&"anybody".into(), &"default".into())
    );
    let time = records[0]["time"].as_str().expect("a time");
    assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
    assert!(records[1]["durationMs"].is_u64(), "{}", records[1]);
    let filled = records[2]["arguments"]["value"].as_str().expect("a text");
    assert!(
        filled.starts_with("<secret>PASSWORD</secret> xxx"),
        "{filled}"
    );
    assert!(filled.len() < 1_100, "{filled}");
    let (text, code) = verified(&[log.name()]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("OK, 7 records, the last hash is "), "{text}");
}

/// Calls with passwords, all of which begin with `hidden`: calls that type them, calls that fail before that, and others that accept
/// passwords.
const PASSWORDS: &str = r##"
browser_type {"target": "#password", "text": "hidden-typed"}
browser_type {"target": "#password", "text": "hidden-slowly", "slowly": true}
browser_fill_form {"fields": [{"target": "#name", "name": "Name", "type": "textbox", "value": "Ada Lovelace"}, {"target": "#password", "name": "Password", "type": "textbox", "value": "hidden-in-form"}]}
fill {"selector": "#password", "value": "hidden-filled"}
type {"selector": "#password", "text": "hidden-by-keys", "clear": true}
click {"selector": "button"}
fill {"selector": "#shown", "value": "hidden-in-a-field-that-was-one"}
browser_fill_form {"fields": [{"target": "#password", "name": "Password", "type": "textbox", "value": "hidden-first"}, {"target": "#none", "name": "None", "type": "textbox", "value": "hidden-second"}]}
browser_type {"target": "#none", "text": "hidden-for-no-field"}
fill {"selector": "#none", "value": "hidden-for-none", "timeout": 500}
fill {"selector": "#disabled", "value": "hidden-for-disabled", "timeout": 500}
type {"selector": "#password", "text": "hidden-but-wrong", "delay": "much"}
fil {"selector": "#password", "value": "hidden-from-no-tool"}
browser_fill_form {"fields": "hidden-in-no-list"}
create_session {"proxy": {"server": "http://me:hidden-in-proxy@127.0.0.1:9", "username": "me", "password": "hidden-for-proxy"}}
navigate {"url": "http://me:hidden-in-url@127.0.0.1:9/"}
"##;

#[testkit::test(chromium, firefox, webkit, nightly(firefox, webkit))]
async fn no_record_shows_a_password(engine: Engine) {
    let (log, site) = (Log::new(), Site::start().await);
    let field = |id: &str| format!("<input type=password id={id}>");
    let fields: String = ["password", "pin", "shown", "asks"].map(field).concat();
    let page = format!(
        "<input id=name>{fields}<input type=password id=disabled disabled>\
         <button onclick=\"shown.type = 'text'\">Show</button>\
         <script>asks.onfocus = () => alert('hello')</script>"
    );
    let url = site.add_page("/", &page);
    let client = launch_on(engine, &log.flags()).start().await;
    client.success("navigate", json!({ "url": url })).await;
    for line in PASSWORDS.lines().filter(|line| !line.is_empty()) {
        let (tool, arguments) = line.split_once(' ').expect("a call");
        let arguments: Value = serde_json::from_str(arguments).expect("JSON");
        // Some of them fail.
        drop(client.try_call(tool, arguments).await);
        if tool == "navigate" {
            client.success("navigate", json!({ "url": url })).await;
        }
    }
    let text = fs::read_to_string(&log.path).expect("a log");
    let shown: Vec<_> = text.lines().filter(|it| it.contains("hidden")).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
    assert!(text.contains("Ada Lovelace"), "{text}");
    assert!(text.contains("••••••••••••"), "{text}");

    // Regardless of its length and frequency.
    for (value, mask) in [("73", "••"), ("admin", "•••••")] {
        let pin = json!({ "selector": "#pin", "value": value });
        client.success("fill", pin).await;
        assert_eq!(log.last()["arguments"]["value"], mask);
    }
    // A dialog that the field opens blocks the page.
    let asking = json!({ "target": "#asks", "text": "hidden-by-a-dialog" });
    client.call("browser_type", asking).await;
    let record = log.last().to_string();
    assert!(!record.contains("hidden"), "{record}");
}

#[testkit::test]
async fn the_chain_continues_after_a_restart_and_has_one_writer() {
    let log = Log::new();
    let mut client = launch(&log.flags()).start().await;
    client.success("list_sessions", json!({})).await;
    let second = launch(&log.flags()).spawn();
    let stderr = second.whole_stderr().await;
    assert!(stderr.contains("is in use by another server"), "{stderr}");
    // Answered calls are recorded, however the server ends.
    client.success("list_sessions", json!({})).await;
    client.kill().await;
    assert_eq!(log.records().len(), 2);
    let unfinished = fs::read_to_string(&log.path).expect("a log") + "{\"seq\":3,\"time\":\"20";
    fs::write(&log.path, unfinished).expect("writable");
    let (text, code) = verified(&[log.name()]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("line 3: it has no end"), "{text}");
    let client = launch(&log.flags()).start().await;
    client.success("list_sessions", json!({})).await;
    let stderr = client.stderr();
    assert!(stderr.contains("is unfinished"), "{stderr}");
    client.end().await;
    let (text, code) = verified(&[log.name()]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("OK, 4 records") && text.contains("line 3 is unfinished"),
        "{text}"
    );

    let changed = fs::read_to_string(&log.path).expect("a log");
    fs::write(&log.path, changed.replace("\"ok\"", "\"no\"")).expect("writable");
    let client = launch(&log.flags()).spawn();
    let stderr = client.whole_stderr().await;
    assert!(stderr.contains("cannot be continued"), "{stderr}");
}

#[testkit::test]
async fn verify_finds_what_was_changed_and_what_was_cut_off() {
    let log = Log::new();
    let client = launch(&log.flags()).start().await;
    for _ in 0..4 {
        client.success("list_sessions", json!({})).await;
    }
    client.end().await;
    let name = log.name();
    let whole = fs::read_to_string(&log.path).expect("a log");
    let last = log.last()["hash"].as_str().expect("a hash").to_owned();
    let first = log.records()[0]["hash"]
        .as_str()
        .expect("a hash")
        .to_owned();
    for (args, code) in [
        (&[name][..], 0),
        (&[name, "--expect-hash", &first], 0),
        (&[name, "--expect-hash", &last, "--expect-records", "4"], 0),
        (&[name, "--expect-records", "5"], 1),
        (&["/nowhere/audit.jsonl"], 2),
        (&[name, "--expect-records", "many"], 2),
        (&[], 2),
    ] {
        let (text, found) = verified(args);
        assert_eq!(found, Some(code), "{args:?}: {text}");
    }
    let lines: Vec<_> = whole.lines().collect();
    let write = |lines: &[&str]| {
        fs::write(&log.path, lines.join("\n") + "\n").expect("writable");
    };
    write(&lines[..3]);
    assert_eq!(verified(&[name]).1, Some(0));
    let (text, code) = verified(&[name, "--expect-hash", &last]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("no record has the hash"), "{text}");
    assert_eq!(verified(&[name, "--expect-records", "4"]).1, Some(1));
    let changed = lines[1].replace("\"ok\"", "\"no\"");
    for (lines, flaw) in [
        (&[lines[0], &changed, lines[2]][..], "line 2: its content"),
        (
            &[lines[0], lines[2], lines[3]],
            "line 2: it is record 3 where record 2",
        ),
        (&[lines[1]], "line 1: it is record 2 where record 1"),
    ] {
        write(lines);
        let (text, code) = verified(&[name]);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains(flaw), "{text}");
    }
}

#[testkit::test(chromium)]
async fn an_unresponsive_page_delays_no_record_and_a_cancelled_call_has_one() {
    let (log, site) = (Log::new(), Site::start().await);
    let client = launch(&log.flags()).start().await;
    let url = site.add_page("/", "<title>busy</title>");
    client.success("navigate", json!({ "url": url })).await;
    let busy = json!({ "script": "for (;;);", "timeout": 500 });
    let answer = client.call("evaluate", busy).await;
    assert!(answer.is_error, "{}", answer.text);
    let record = log.last();
    assert_eq!(record["result"], "TIMEOUT", "{record}");
    assert_eq!(record["originBefore"], record["originAfter"], "{record}");
    assert!(record["originAfter"].is_string(), "{record}");

    client.navigate(&url).await;
    let known = log.records().len();
    let never = json!({ "name": "wait_for_selector", "arguments": { "selector": "#never", "timeout": 60_000 } });
    let pending = client.begin("tools/call", never).await;
    let cancel = json!({ "requestId": pending.id() });
    client.notify("notifications/cancelled", cancel).await;
    eventually(async || log.records().len() > known).await;
    let record = log.last();
    assert_eq!(record["tool"], "wait_for_selector", "{record}");
    assert_eq!(record["result"], "CANCELLED", "{record}");
}

#[testkit::test]
async fn records_name_the_key_and_what_it_may_not() {
    let log = Log::new();
    let keys = log.path.with_file_name("keys");
    let file = "ada adas-long-secret-key\nbob bobs-long-secret-key browser:read\n";
    fs::write(&keys, file).expect("writable");
    let keys = format!("--api-keys={}", keys.display());
    let flags = [&log.flags()[..], &[&keys]].concat();
    let server = HttpServer::start_guarded(launch(&flags)).await;
    let call = async |key: &str, tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        let headers = [("x-api-key", key)];
        server.rpc("/message", &headers, "tools/call", params).await
    };
    call("adas-long-secret-key", "list_sessions", json!({})).await;
    let navigate = json!({ "url": "http://example.org/" });
    call("bobs-long-secret-key", "navigate", navigate).await;
    let records = log.records();
    let principal = |index: usize| records[index]["principal"].as_str().unwrap_or_default();
    assert!(principal(0).contains("ada"), "{records:?}");
    assert!(principal(1).contains("bob"), "{records:?}");
    assert_eq!(records[1]["result"], "INSUFFICIENT_SCOPE", "{records:?}");
    let text = fs::read_to_string(&log.path).expect("a log");
    assert!(!text.contains("long-secret-key"), "{text}");
}

/// Starts the built server with a limit of file sizes in blocks of 1024 bytes.
#[cfg(target_os = "linux")]
fn cramped(blocks: u64, args: &[&str]) -> Launch {
    let shell = format!("trap '' XFSZ; ulimit -S -f {blocks}; exec \"$0\" \"$@\"");
    Launch::new("bash")
        .args(["-c", &shell, env!("CARGO_BIN_EXE_playhouse")])
        .args(["--headless", "--isolated", "--toolsets=all"])
        .args(args.iter().copied())
}

#[cfg(target_os = "linux")]
fn make_room(client: &Client) {
    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
    let pid = client.pid().and_then(|pid| i32::try_from(pid).ok());
    let pid = pid.and_then(Pid::from_raw).expect("it runs");
    let Rlimit { maximum, .. } = getrlimit(Resource::Fsize);
    let wide = Rlimit {
        current: maximum,
        maximum,
    };
    prlimit(Some(pid), Resource::Fsize, wide).expect("the limit of a child can be raised");
}

#[cfg(target_os = "linux")]
#[testkit::test]
async fn no_call_runs_without_space_for_its_record() {
    let log = Log::new();
    let client = cramped(2, &log.flags()).start().await;
    let mut calls = 0;
    let withheld = loop {
        calls += 1;
        let reply = client.object("list_sessions", json!({})).await;
        if reply["success"] != true {
            break reply;
        }
        assert!(calls < 100, "the log has room for more than 2048 bytes");
    };
    assert_eq!(withheld["errorCode"], "AUDIT_FAILED", "{withheld}");
    assert_eq!(withheld["details"]["ran"], true, "{withheld}");
    let refused = client.object("list_sessions", json!({})).await;
    assert_eq!(refused["errorCode"], "AUDIT_FAILED", "{refused}");
    assert_eq!(refused["details"]["ran"], false, "{refused}");
    let uri = json!({ "uri": "playwright:///session/default" });
    let read = client.request("resources/read", uri).await;
    let NoAnswer::Refused { data, .. } = read.expect_err("it cannot be recorded") else {
        panic!("the server has ended");
    };
    assert_eq!(data["errorCode"], "AUDIT_FAILED");
    // The record that exceeded the limit left nothing.
    assert_eq!(verified(&[log.name()]).1, Some(0));
    assert_eq!(log.records().len(), calls - 1);

    make_room(&client);
    client.success("list_sessions", json!({})).await;
    // Including that of the call whose answer was withheld.
    assert_eq!(log.records().len(), calls + 1);
    assert_eq!(verified(&[log.name()]).1, Some(0));
}

#[cfg(unix)]
#[testkit::test]
async fn the_log_is_its_owners() {
    use std::os::unix::fs::PermissionsExt as _;
    let log = Log::new();
    let path: &Path = &log.path;
    fs::write(path, "").expect("writable");
    fs::set_permissions(path, fs::Permissions::from_mode(0o666)).expect("ours");
    let client = launch(&log.flags()).start().await;
    client.success("list_sessions", json!({})).await;
    let mode = fs::metadata(path).expect("a log").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
