//! The parameters with which clients configure sessions, pages and requests, and the restrictions of the operator: which of them are
//! refused. No parameter allows what a restriction forbids.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};
use testkit::harness::{input_step, is_nightly};
use testkit::{Client, Launch, Site};

use crate::{fake_launch, launch};

/// A restriction of the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Restriction {
    None,
    Domains,
    Blocked,
    Private,
    Ports,
    Proxy,
    Permissions,
    Scripts,
    Uploads,
    Paths,
    Policy,
    Safe,
}
use Restriction::{
    Blocked, Domains, Paths, Permissions, Policy, Ports, Private, Proxy, Safe, Scripts, Uploads,
};

const ALL: [Restriction; 12] = [
    Restriction::None,
    Domains,
    Blocked,
    Private,
    Ports,
    Proxy,
    Permissions,
    Scripts,
    Uploads,
    Paths,
    Policy,
    Safe,
];

impl Restriction {
    fn flags(self, policy: &str) -> Vec<String> {
        let flags: &[&str] = match self {
            Self::None => &[],
            Domains => &["--allowed-domains=127.0.0.1"],
            Blocked => &["--blocked-domains=blocked.localhost"],
            Private => &["--block-private-addresses"],
            Ports => &["--allowed-ports=9"],
            Proxy => &["--proxy-server=http://127.0.0.1:9"],
            Permissions => &["--deny-permissions"],
            Scripts => &["--no-enable-script-evaluation"],
            Uploads => &["--enable-file-upload=false"],
            Paths => &["--no-client-paths"],
            Policy => return vec![format!("--policy={policy}")],
            Safe => &["--safe", "--allowed-domains=127.0.0.1"],
        };
        flags.iter().map(|&flag| flag.to_owned()).collect()
    }
}

/// A parameter, arguments with it, and the restrictions under which such a call is refused.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static [Restriction],
);

/// The restrictions under which content of the client does not reach pages.
const CODE: &[Restriction] = &[Scripts, Safe];
const FILES: &[Restriction] = &[Paths, Safe];
const CODE_FILE: &[Restriction] = &[Scripts, Paths, Safe];
const PROXIES: &[Restriction] = &[Domains, Blocked, Private, Ports, Proxy, Scripts, Safe];
const FORBIDDEN_HOST: &[Restriction] = &[Domains, Blocked, Private, Ports, Policy, Safe];
const ALWAYS: &[Restriction] = &ALL;

/// `BLOCKED` is a URL of a host that some restrictions forbid.
const TABLE: &[Row] = &[
    (
        "create_session",
        "proxy",
        r#"{"proxy":{"server":"http://127.0.0.1:9"}}"#,
        PROXIES,
    ),
    (
        "create_session",
        "proxy",
        r#"{"proxy":{"server":"socks5://127.0.0.1:9"}}"#,
        PROXIES,
    ),
    (
        "browser_context_create",
        "proxy",
        r#"{"name":"a","proxy":{"server":"http://127.0.0.1:9"}}"#,
        PROXIES,
    ),
    (
        "create_session",
        "permissions",
        r#"{"permissions":["geolocation"]}"#,
        &[Permissions, Safe],
    ),
    (
        "browser_workers",
        "function",
        r#"{"action":"evaluate","function":"1"}"#,
        CODE,
    ),
    (
        "browser_emulate",
        "permissions",
        r#"{"permissions":["geolocation"]}"#,
        &[Permissions, Safe],
    ),
    (
        "create_session",
        "storageState",
        r#"{"storageState":"state.json"}"#,
        FILES,
    ),
    // A name is no path.
    ("create_session", "restore", r#"{"restore":"saved"}"#, &[]),
    (
        "create_session",
        "checkUrl",
        r#"{"restore":"saved","checkUrl":"BLOCKED"}"#,
        FORBIDDEN_HOST,
    ),
    (
        "create_session",
        "checkUrl",
        r#"{"restore":"saved","checkUrl":"javascript:1"}"#,
        CODE,
    ),
    (
        "create_session",
        "checkUrl",
        r#"{"restore":"saved","checkUrl":"file:///etc/hostname"}"#,
        ALWAYS,
    ),
    (
        "browser_context_create",
        "storageState",
        r#"{"name":"b","storageState":"state.json"}"#,
        FILES,
    ),
    (
        "browser_set_storage_state",
        "filename",
        r#"{"filename":"state.json"}"#,
        FILES,
    ),
    ("restore_state", "path", r#"{"path":"state.json"}"#, FILES),
    (
        "browser_navigate",
        "url",
        r#"{"url":"BLOCKED"}"#,
        FORBIDDEN_HOST,
    ),
    ("navigate", "url", r#"{"url":"BLOCKED"}"#, FORBIDDEN_HOST),
    ("new_page", "url", r#"{"url":"BLOCKED"}"#, FORBIDDEN_HOST),
    (
        "browser_tabs",
        "url",
        r#"{"action":"new","url":"BLOCKED"}"#,
        FORBIDDEN_HOST,
    ),
    (
        "browser_tabs",
        "isolatedContext",
        r#"{"action":"new","isolatedContext":"c","url":"BLOCKED"}"#,
        FORBIDDEN_HOST,
    ),
    (
        "browser_navigate",
        "url",
        r#"{"url":"data:text/html,<script>1</script>"}"#,
        CODE,
    ),
    (
        "navigate",
        "url",
        r#"{"url":"data:image/svg+xml,<svg/>"}"#,
        CODE,
    ),
    ("new_page", "url", r#"{"url":"data:text/html,x"}"#, CODE),
    (
        "browser_tabs",
        "url",
        r#"{"action":"new","url":"view-source:data:text/html,x"}"#,
        CODE,
    ),
    ("browser_navigate", "url", r#"{"url":"javascript:1"}"#, CODE),
    (
        "navigate",
        "url",
        r#"{"url":"file:///etc/hostname"}"#,
        ALWAYS,
    ),
    (
        "mock_response",
        "response",
        r#"{"url":"**/x","response":{"body":"<script>1</script>","contentType":"text/html"}}"#,
        CODE,
    ),
    (
        "mock_response",
        "response",
        r#"{"url":"**/x","response":{"body":{"a":1}}}"#,
        CODE,
    ),
    (
        "mock_response",
        "response",
        r#"{"url":"**/x","response":{"headers":{"location":"http://x/"}}}"#,
        CODE,
    ),
    (
        "mock_response",
        "response",
        r#"{"url":"**/x","response":{"status":404}}"#,
        &[],
    ),
    (
        "browser_route",
        "body",
        r#"{"pattern":"**/x","body":"alert(1)"}"#,
        CODE,
    ),
    (
        "browser_route",
        "responseHeaders",
        r#"{"pattern":"**/x","responseHeaders":["Content-Type: text/html"]}"#,
        CODE,
    ),
    (
        "browser_route",
        "patch",
        r#"{"pattern":"**/x","patch":{"a":"<script>"}}"#,
        CODE,
    ),
    (
        "browser_route",
        "url",
        r#"{"pattern":"**/x","url":"http://127.0.0.1:9/"}"#,
        CODE,
    ),
    (
        "browser_route",
        "har",
        r#"{"pattern":"**/x","har":"replay.har"}"#,
        CODE_FILE,
    ),
    (
        "browser_route",
        "status",
        r#"{"pattern":"**/x","status":404}"#,
        &[],
    ),
    ("browser_evaluate", "function", r#"{"function":"1"}"#, CODE),
    (
        "browser_evaluate",
        "filename",
        r#"{"function":"1","filename":"out.json"}"#,
        CODE_FILE,
    ),
    ("evaluate", "script", r#"{"script":"1"}"#, CODE),
    (
        "evaluate",
        "args",
        r#"{"script":"(x) => x","args":[1]}"#,
        CODE,
    ),
    (
        "browser_run_code_unsafe",
        "code",
        r#"{"code":"async (page) => 1"}"#,
        CODE,
    ),
    (
        "browser_run_code_unsafe",
        "filename",
        r#"{"filename":"code.js"}"#,
        CODE_FILE,
    ),
    (
        "browser_file_upload",
        "paths",
        r#"{"paths":["in.txt"]}"#,
        &[Uploads],
    ),
    (
        "upload_file",
        "files",
        r#"{"selector":"input","files":["in.txt"]}"#,
        &[Uploads, Paths, Safe],
    ),
    (
        "browser_drop",
        "paths",
        r#"{"target":"p","paths":["in.txt"]}"#,
        &[Uploads, Paths, Safe],
    ),
    (
        "browser_console_messages",
        "filename",
        r#"{"filename":"out.txt"}"#,
        FILES,
    ),
    (
        "browser_find",
        "filename",
        r#"{"text":"a","filename":"out.txt"}"#,
        FILES,
    ),
    (
        "browser_network_requests",
        "filename",
        r#"{"filename":"out.txt"}"#,
        FILES,
    ),
    (
        "browser_pdf_save",
        "filename",
        r#"{"filename":"out.pdf"}"#,
        FILES,
    ),
    (
        "browser_heap_snapshot",
        "filename",
        r#"{"filename":"out.heapsnapshot"}"#,
        FILES,
    ),
    (
        "browser_take_screenshot",
        "filename",
        r#"{"filename":"out.png"}"#,
        FILES,
    ),
    (
        "browser_snapshot",
        "filename",
        r#"{"filename":"out.md"}"#,
        FILES,
    ),
    (
        "browser_har_start",
        "filename",
        r#"{"filename":"out.har"}"#,
        FILES,
    ),
    (
        "browser_storage_state",
        "filename",
        r#"{"filename":"out.json"}"#,
        FILES,
    ),
    (
        "browser_audit_accessibility",
        "filename",
        r#"{"filename":"out.json"}"#,
        FILES,
    ),
    (
        "browser_context_save_storage",
        "path",
        r#"{"path":"out.json"}"#,
        FILES,
    ),
    ("screenshot", "path", r#"{"path":"out.png"}"#, FILES),
    (
        "compare_screenshot",
        "baseline",
        r#"{"baseline":"out.png","update":true}"#,
        FILES,
    ),
    ("save_state", "path", r#"{"path":"out.json"}"#, FILES),
];

/// Parameters that need a row because of their name, and are no way around a restriction, or have a test of their own.
const OTHERS: &[(&str, &[&str])] = &[
    // Patterns, and a path of the app.
    (
        "url",
        &[
            "wait_for_url",
            "wait_for_response",
            "block_resource",
            "mock_response",
            "browser_wait_for",
            "e2e_start",
        ],
    ),
    // These files are checked like the others, once there is a recording.
    (
        "filename",
        &[
            "browser_network_request",
            "browser_performance_stop",
            "browser_coverage",
            "browser_start_video",
            "browser_export_test",
        ],
    ),
    ("compareTo", &["browser_heap_snapshot"]),
    // The type of the parameters of `create_session`.
    ("permissions", &["e2e_start"]),
    ("storageState", &["e2e_start"]),
    // The path of a cookie.
    (
        "path",
        &[
            "browser_cookie_delete",
            "browser_cookie_list",
            "browser_cookie_set",
        ],
    ),
    // Data, which the page's own code handles.
    ("data", &["browser_drop"]),
    (
        "state",
        &[
            "restore_state",
            "wait_for_load",
            "wait_for_selector",
            "browser_network_state_set",
        ],
    ),
    ("cookies", &["set_cookies"]),
    // Declarations without scripts: what they load is requested by the page, under its rules.
    (
        "style",
        &["browser_highlight", "browser_video_show_actions"],
    ),
    // A URL that is only compared.
    ("urls", &["get_cookies"]),
    // The network of this machine replaces `Host`, and hop-by-hop headers go to no server.
    ("headers", &["browser_route"]),
    (
        "extraHeaders",
        &["browser_emulate", "create_session", "e2e_start"],
    ),
    (
        "httpCredentials",
        &["browser_emulate", "create_session", "e2e_start"],
    ),
    // Each step is a call of its own.
    ("steps", &["browser_batch"]),
    // The tools of a page are code of the page.
    ("params", &["browser_webmcp_call"]),
];

/// Names of parameters that select something or shape an answer, on any tool.
const SELECTING: &str = "\
    abort accept accessibleName action all annotate attribute boxes browser button checkText clear clickCount clickcount colorScheme content contentType context \
    contrast cpu cursor delay deltaX deltaY depth description device domain doubleClick download downloadSpeed duration element endElement endTarget \
    endX endY expires fields filter force forcedColors format fps frame fullPage geolocation height httpOnly ignoreCache includeStatic index \
    items key latency level limit links locale location maxResults maxTokens maxWidth media method modifiers name network notFound number offline offset part \
    pattern position postData promptText properties quality reducedMotion regex remove removeHeaders request resourceType response role rules sameSite \
    scale search secure selector server sessionId since sinceLastCall size slowly source startElement startTarget startX startY static status \
    step stream submit tail target text textGone texts threshold time timeout timezone title tool touch type update uploadSpeed userAgent value \
    values viewport wait waitUntil width worker x y";

/// The flag that enables all tools.
const CAPS: &str =
    "--caps=vision,pdf,devtools,network,storage,testing,contexts,performance,audit,webmcp,config";

/// Returns the tool and the name of each parameter of all tools.
async fn parameters() -> Vec<(String, String)> {
    let client = fake_launch(&[CAPS, "--server-command=http://127.0.0.1:9"])
        .start()
        .await;
    let tools = client.list_tools().await;
    let mut all = Vec::new();
    for tool in tools {
        let name = tool["name"].as_str().expect("a name").to_owned();
        let properties = tool["inputSchema"]["properties"].as_object();
        let properties = properties.into_iter().flatten();
        all.extend(properties.map(|(parameter, _)| (name.clone(), parameter.clone())));
    }
    all
}

#[testkit::test]
async fn each_parameter_has_a_row_or_only_selects() {
    let selecting: BTreeSet<_> = SELECTING.split_whitespace().collect();
    let judged: BTreeSet<_> = TABLE
        .iter()
        .map(|(_, parameter, ..)| *parameter)
        .chain(OTHERS.iter().map(|(parameter, _)| *parameter))
        // `status` and `response` have rows that are allowed.
        .filter(|parameter| !selecting.contains(parameter))
        .collect();
    let mut missing = Vec::new();
    let all = parameters().await;
    for (tool, parameter) in &all {
        let has_row = TABLE
            .iter()
            .any(|(row, name, ..)| row == tool && name == parameter);
        let is_other = OTHERS
            .iter()
            .any(|(name, tools)| name == parameter && tools.contains(&tool.as_str()));
        let only_selects =
            !judged.contains(parameter.as_str()) && selecting.contains(parameter.as_str());
        if !has_row && !is_other && !only_selects {
            missing.push(format!("{tool} {parameter}"));
        }
    }
    assert!(missing.is_empty(), "without a row: {missing:#?}");
    for (tool, parameter, ..) in TABLE {
        let is_real = all
            .iter()
            .any(|(row, name)| row == tool && name == parameter);
        assert!(is_real, "{tool} has no parameter {parameter}");
    }
}

/// Returns whether a restriction refused the call.
async fn is_refused(client: &Client, tool: &str, arguments: Value) -> (bool, String) {
    let answer = client.call(tool, arguments).await;
    let code = &answer.raw["structuredContent"]["errorCode"];
    let code = code.as_str().unwrap_or_default();
    let is_refused = [
        "TOOL_DISABLED",
        "FILE_ACCESS_DENIED",
        "URL_BLOCKED",
        "POLICY_DENIED",
    ]
    .contains(&code);
    (is_refused, answer.text)
}

#[testkit::test]
async fn no_parameter_allows_what_a_restriction_forbids() {
    judge_all(fake_launch, &ALL).await;
}

#[testkit::test(chromium)]
async fn no_parameter_opens_in_a_browser_what_a_restriction_forbids() {
    let tried = match is_nightly() {
        true => &ALL[..],
        false => &[Safe],
    };
    judge_all(launch, tried).await;
}

/// Makes the call of each row under each of these restrictions, and compares whether it is refused.
/// Outside of `make nightly`, each of several restrictions meets a third of the rows.
async fn judge_all(launch: fn(&[&str]) -> Launch, restrictions: &[Restriction]) {
    let site = Site::start().await;
    let page = site.add_page("/", "<p>page</p><input type=file>");
    let port = page
        .trim_end_matches('/')
        .rsplit(':')
        .next()
        .expect("a port");
    let blocked = format!("http://blocked.localhost:{port}/");
    let folder = tempfile::tempdir().expect("a folder");
    let policy = folder.path().join("policy.json");
    let rules = json!({ "default": "allow", "rules": [
        { "origins": ["http://blocked.localhost:*"], "action": "deny" },
    ] });
    fs::write(&policy, rules.to_string()).expect("writable");
    let policy = policy.display().to_string();
    let mut wrong = Vec::new();
    let step = match restrictions {
        [_] => 1,
        _ => input_step(3),
    };
    for (turn, restriction) in restrictions.iter().enumerate() {
        let flags = restriction.flags(&policy);
        let flags: Vec<_> = flags
            .iter()
            .map(String::as_str)
            .chain([CAPS, "--timeout-action=300"])
            .collect();
        let client = launch(&flags).start().await;
        let states = client.workspace().join(".playwright-mcp/states");
        fs::create_dir_all(states).expect("writable");
        for (name, text) in [
            ("state.json", r#"{"cookies":[],"origins":[]}"#),
            (
                ".playwright-mcp/states/saved.json",
                r#"{"cookies":[],"origins":[]}"#,
            ),
            ("replay.har", r#"{"log":{"entries":[]}}"#),
            ("code.js", "async (page) => 1"),
            ("in.txt", "text"),
        ] {
            fs::write(client.workspace().join(name), text).expect("writable");
        }
        // Some restrictions forbid it.
        client
            .call("browser_navigate", json!({ "url": page }))
            .await;
        let rows = TABLE.iter().skip(turn % step).step_by(step);
        for (tool, parameter, arguments, refusing) in rows {
            let arguments = arguments.replace("BLOCKED", &blocked);
            let arguments: Value = serde_json::from_str(&arguments).expect("JSON");
            let expected = refusing.contains(restriction);
            let (refused, text) = is_refused(&client, tool, arguments.clone()).await;
            if refused != expected {
                wrong.push(format!(
                    "{restriction:?}: {tool} {parameter} {arguments}: refused: {refused}: {text}"
                ));
            }
            let session = text
                .split("\"sessionId\":\"")
                .nth(1)
                .and_then(|rest| rest.split('"').next());
            if let Some(session) = session {
                client
                    .call("close_session", json!({ "sessionId": session }))
                    .await;
            }
            // Otherwise it would be the current page of the next rows.
            client
                .call("browser_tabs", json!({ "action": "select", "index": 0 }))
                .await;
        }
        client.end().await;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
