//! The fifteen correctness properties of sessions on random input: those about configuration are in `config/tests/sessions.rs`, the others
//! are here, with one server and one browser. Also random sequences of calls, compared with a simple model.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::Deref;
use testkit::harness::input_size;
use testkit::{Client, Site, eventually};
use tokio::runtime::Runtime;

use crate::faults::{browsers, kill};
use crate::launch;

/// The longest timeout of a call, in milliseconds.
const LONGEST: u64 = 60_000;

/// No call has effects that must be waited for.
const USUAL: [&str; 4] = ["--toolsets", "session", "--timeout-settle", "0"];

struct World {
    runtime: Runtime,
    client: Box<dyn Deref<Target = Client>>,
    site: Site,
}

impl World {
    /// Creates one with a server that tests share.
    fn shared() -> Self {
        let client = async { Box::new(launch(&USUAL).pooled().await) as Box<_> };
        Self::with(client)
    }

    /// Creates one with a server of its own.
    fn with_args(args: &[&str]) -> Self {
        let launch = launch(&USUAL).args(args.iter().copied());
        Self::with(async { Box::new(Box::new(launch.start().await)) as Box<_> })
    }

    fn with(client: impl Future<Output = Box<dyn Deref<Target = Client>>>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let (client, site) = runtime.block_on(async { (client.await, Site::start().await) });
        site.add_page(
            "/",
            "<title>Here</title><input><button onclick=\"n = (window.n ?? 0) + 1\">Go</button>",
        );
        Self {
            runtime,
            client,
            site,
        }
    }

    /// Checks many cases of a property.
    fn holds<S: Strategy>(&self, of: S, property: impl Fn(&Self, S::Value)) {
        let mut runner = TestRunner::new(ProptestConfig {
            cases: u32::try_from(input_size(100)).expect("a small number"),
            max_shrink_iters: 16,
            failure_persistence: None,
            ..ProptestConfig::default()
        });
        let held = runner.run(&of, |case| {
            property(self, case);
            Ok(())
        });
        if let Err(why) = held {
            panic!("{why}");
        }
    }

    fn call(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.runtime.block_on(self.client.call(tool, arguments));
        answer.raw["structuredContent"].clone()
    }

    /// Waits until a session is no longer listed.
    fn session_expires(&self, id: &str) {
        self.runtime.block_on(eventually(async || {
            let list = self.client.call("list_sessions", json!({})).await;
            !ids(&list.raw["structuredContent"]).contains(id)
        }));
    }

    /// Waits until no browser runs.
    fn browsers_end(&self) {
        let ended = eventually(async || browsers(&self.client).is_empty());
        self.runtime.block_on(ended);
    }

    fn created(&self, options: Value) -> Value {
        let session = self.call("create_session", options);
        assert_eq!(session["success"], true, "{session}");
        session
    }
}

fn ids(list: &Value) -> BTreeSet<String> {
    let sessions = list["sessions"].as_array().expect("a list");
    let ids = sessions.iter().filter_map(|session| session["id"].as_str());
    ids.map(str::to_owned).collect()
}

fn id(session: &Value) -> String {
    session["sessionId"].as_str().unwrap_or_default().to_owned()
}

/// Generates a call of a tool that works on a session, without its id.
fn call_on_a_session() -> impl Strategy<Value = (&'static str, Value)> {
    prop_oneof![
        Just(("navigate", json!({ "url": "http://127.0.0.1:1/" }))),
        Just(("click", json!({ "selector": "button" }))),
        Just(("type", json!({ "selector": "input", "text": "x" }))),
        Just(("close_session", json!({}))),
        Just(("evaluate", json!({ "script": "1" }))),
        Just(("get_text", json!({ "selector": "body" }))),
    ]
}

/// Properties 1, 2, 3 and 11: ids are unique, expiry is creation plus lifetime, closing removes, the browser is shared.
#[testkit::test(chromium)]
fn sessions_are_created_and_closed_as_promised() {
    let world = World::with_args(&["--max-sessions", "20", "--session-timeout", "10000000"]);
    let seen = std::cell::RefCell::new(BTreeSet::new());
    world.holds(
        (1usize..4, 1_000u64..10_000_000),
        |world, (count, timeout)| {
            let sessions: Vec<_> = (0..count)
                .map(|_| world.created(json!({ "timeout": timeout })))
                .collect();
            for session in &sessions {
                assert!(seen.borrow_mut().insert(id(session)), "{session} again");
                let (created, expires) = (&session["createdAt"], &session["expiresAt"]);
                let lifetime = expires.as_u64().zip(created.as_u64());
                let lifetime = lifetime.map(|(end, start)| end - start);
                assert_eq!(lifetime, Some(timeout), "{session}");
            }
            let list = world.call("list_sessions", json!({}));
            let listed = list["sessions"].as_array().expect("a list");
            let homes: BTreeSet<_> = listed
                .iter()
                .map(|session| session["browserId"].as_u64())
                .collect();
            assert_eq!((listed.len(), homes.len()), (count, 1), "{list}");
            for session in &sessions {
                let closed = world.call("close_session", json!({ "sessionId": id(session) }));
                assert_eq!(closed["success"], true, "{closed}");
                assert!(!ids(&world.call("list_sessions", json!({}))).contains(&id(session)));
            }
        },
    );
}

/// Properties 4, 13 and 14: an invalid id gives the same error everywhere, which names it.
#[testkit::test(chromium)]
fn an_id_that_is_none_is_refused_alike_by_every_tool() {
    let world = World::shared();
    let ids = prop_oneof![
        "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
        "\\PC{1,40}",
    ];
    world.holds(
        (call_on_a_session(), ids),
        |world, ((tool, mut arguments), id)| {
            prop_assume_not_default(&id);
            arguments["sessionId"] = id.as_str().into();
            let answer = world.call(tool, arguments);
            assert_eq!(answer["errorCode"], "SESSION_NOT_FOUND", "{tool} {answer}");
            assert_eq!(answer["sessionId"], id.as_str());
            assert!(
                answer["message"]
                    .as_str()
                    .is_some_and(|text| !text.is_empty())
            );
        },
    );
}

fn prop_assume_not_default(id: &str) {
    assert_ne!(id, "default", "forty random characters");
}

/// Properties 5 and 6: a success is reported with everything that was promised.
#[testkit::test(chromium)]
fn successful_calls_return_the_required_fields() {
    let world = World::shared();
    let session = id(&world.created(json!({})));
    let of = ("[a-z]{1,12}", "[a-zA-Z0-9 .,]{0,6}", 200u16..500);
    world.holds(of, |world, (path, text, status)| {
        let html = format!("<title>{path}</title><input><button>Go</button>");
        // Browsers cache some, such as 410, unless the headers prevent it.
        let resource = testkit::Resource::html(&html).header("cache-control", "no-store");
        // Some have no document; and 407 is for proxies, so browsers fail if another server sends it.
        let fine = !matches!(status, 204 | 205 | 300..400 | 407);
        let status = if fine { status } else { 200 };
        let url = world.site.add(&format!("/{path}"), resource.status(status));
        let arrived = world.call("navigate", json!({ "sessionId": session, "url": url }));
        assert_eq!(arrived["success"], true, "{arrived}");
        assert_eq!(
            (&arrived["title"], &arrived["url"], &arrived["status"]),
            (&path.as_str().into(), &url.as_str().into(), &status.into())
        );
        let typed = json!({ "sessionId": session, "selector": "input", "text": text });
        assert_eq!(world.call("type", typed)["success"], true);
        let value = json!({ "sessionId": session, "selector": "input" });
        assert_eq!(world.call("get_value", value)["value"], text);
        let clicked = json!({ "sessionId": session, "selector": "button" });
        assert_eq!(world.call("click", clicked)["success"], true);
    });
}

/// Property 12: the storage of one session is invisible to another.
#[testkit::test(chromium)]
fn what_one_session_stores_another_does_not_see() {
    let world = World::shared();
    let url = world.site.url("/");
    let (one, other) = (id(&world.created(json!({}))), id(&world.created(json!({}))));
    for session in [&one, &other] {
        world.call("navigate", json!({ "sessionId": session, "url": url }));
    }
    let store =
        "(k, v) => { document.cookie = k + '=' + v; localStorage[k] = v; sessionStorage[k] = v; }";
    let look =
        "() => document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)";
    world.holds(
        ("[a-z]{6,12}", "[a-z0-9]{6,20}", any::<bool>()),
        |world, (key, value, swapped)| {
            let (writer, reader) = if swapped {
                (&other, &one)
            } else {
                (&one, &other)
            };
            let key = format!("{key}{swapped}");
            let stored = json!({ "sessionId": writer, "script": store, "args": [key, value] });
            let stored = world.call("evaluate", stored);
            assert_eq!(stored["success"], true, "{stored}");
            let seen = |session| {
                let seen = world.call("evaluate", json!({ "sessionId": session, "script": look }));
                seen["result"].as_str().unwrap_or_default().to_owned()
            };
            assert_eq!(seen(writer).matches(&key).count(), 3);
            assert!(!seen(reader).contains(&key));
        },
    );
}

/// Properties 13, 14 and 15: every error has a code and a message, names its session, and other mistakes have other codes.
#[testkit::test(chromium)]
fn other_mistakes_have_other_codes() {
    let world = World::shared();
    let session = id(&world.created(json!({})));
    let url = world.site.url("/");
    world.call("navigate", json!({ "sessionId": session, "url": url }));
    let mistakes = prop_oneof![
        "[a-z]{3,9}".prop_map(|name| (
            "click",
            json!({ "selector": format!("#{name}"), "timeout": 20 }),
            "ELEMENT_NOT_FOUND"
        )),
        "[a-z]{3,9}".prop_map(|name| (
            "click",
            json!({ "selector": format!("{name}[[") }),
            "INVALID_SELECTOR"
        )),
        "[a-z]{3,9}".prop_map(|text| (
            "type",
            json!({ "selector": "button", "text": text, "timeout": 20 }),
            "ELEMENT_NOT_EDITABLE"
        )),
        (1u16..9).prop_map(|port| (
            "navigate",
            json!({ "url": format!("http://127.0.0.1:{port}/") }),
            "NAVIGATION_FAILED"
        )),
        "[a-z]{3,9}".prop_map(|name| ("navigate", json!({ name: 1 }), "INVALID_PARAMETERS")),
        "[a-z]{3,9}".prop_map(|path| (
            "navigate",
            json!({ "url": format!("file:///{path}") }),
            "URL_BLOCKED"
        )),
        "[a-z]{3,9}".prop_map(|text| (
            "evaluate",
            json!({ "script": format!("() => {{ throw new Error('{text}') }}") }),
            "SCRIPT_FAILED"
        )),
    ];
    world.holds(mistakes, |world, (tool, mut arguments, code)| {
        arguments["sessionId"] = session.as_str().into();
        let mut answer = world.call(tool, arguments.clone());
        // The timeout may have been too short.
        while answer["errorCode"] == "TIMEOUT" {
            let timeout = arguments["timeout"].as_u64().expect("it has one");
            assert!(timeout < LONGEST, "{tool} {arguments}: {answer}");
            arguments["timeout"] = (2 * timeout).into();
            answer = world.call(tool, arguments.clone());
        }
        assert_eq!(answer["errorCode"], code, "{tool} {arguments}: {answer}");
        assert_eq!(answer["sessionId"], session.as_str(), "{answer}");
        assert!(
            answer["message"]
                .as_str()
                .is_some_and(|text| !text.is_empty())
        );
        assert!(answer["retryable"].is_boolean());
        if code == "NAVIGATION_FAILED" {
            // Its error page has no clickable element.
            world.call("navigate", json!({ "sessionId": session, "url": url }));
        }
    });
}

/// An action of a client, or the passing of time.
#[derive(Debug, Clone, Copy)]
enum Step {
    Create,
    /// A session that expires at once.
    CreateShort,
    Use(usize),
    Close(usize),
    Crash,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => Just(Step::Create),
        2 => Just(Step::CreateShort),
        16 => (0usize..8).prop_map(Step::Use),
        8 => (0usize..8).prop_map(Step::Close),
        // It takes as long as many of the others.
        1 => Just(Step::Crash),
    ];
    proptest::collection::vec(step, 1..12)
}

/// The state of a session in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Live,
    /// Its browser crashed, and that was not reported.
    Crashed,
    /// Its browser crashed, and that was reported. The next call opens a browser.
    WithoutBrowser,
    Closed,
    Expired,
}

impl Life {
    fn is_open(self) -> bool {
        matches!(self, Self::Live | Self::Crashed | Self::WithoutBrowser)
    }
}

const MOST: usize = 3;

/// Property 10, and all others together: a server behaves like a list of lifetimes.
#[testkit::test(chromium, slow)]
fn sessions_match_a_simple_model() {
    let world = World::with_args(&["--max-sessions", "3"]);
    world.holds(steps(), |world, steps| {
        let mut model: Vec<(String, Life)> = Vec::new();
        for step in steps {
            play(world, &mut model, step);
        }
        let left: BTreeSet<_> = model
            .iter()
            .filter(|(_, life)| life.is_open())
            .map(|(id, _)| id.clone())
            .collect();
        assert_eq!(ids(&world.call("list_sessions", json!({}))), left);
        for id in left {
            world.call("close_session", json!({ "sessionId": id }));
        }
    });
}

/// A browser that is lost twice, with no browser in between.
#[testkit::test(chromium)]
fn a_crash_is_reported_once_per_browser() {
    use Step::{Crash, Create, Use};
    let world = World::with_args(&[]);
    let mut model = Vec::new();
    for step in [Create, Crash, Use(0), Crash, Use(0), Crash, Use(0), Use(0)] {
        play(&world, &mut model, step);
    }
}

fn play(world: &World, model: &mut Vec<(String, Life)>, step: Step) {
    let open = model.iter().filter(|(_, life)| life.is_open());
    let full = open.count() >= MOST;
    match step {
        Step::Create | Step::CreateShort if full => {
            let answer = world.call("create_session", json!({}));
            assert_eq!(answer["errorCode"], "MAX_SESSIONS_REACHED", "{answer}");
        }
        Step::Create => model.push((id(&world.created(json!({}))), Life::Live)),
        Step::CreateShort => {
            let short = id(&world.created(json!({ "timeout": 1 })));
            world.session_expires(&short);
            model.push((short, Life::Expired));
        }
        Step::Use(index) => {
            let count = model.len().max(1);
            let Some((id, life)) = model.get_mut(index % count) else {
                return;
            };
            let answer = world.call("evaluate", json!({ "sessionId": id, "script": "1" }));
            let expected = match life {
                Life::Live | Life::WithoutBrowser => Value::Null,
                Life::Crashed => "BROWSER_CRASHED".into(),
                Life::Closed => "SESSION_NOT_FOUND".into(),
                Life::Expired => "SESSION_EXPIRED".into(),
            };
            assert_eq!(answer["errorCode"], expected, "{life:?}: {answer}");
            match life {
                Life::Crashed => *life = Life::WithoutBrowser,
                Life::WithoutBrowser => *life = Life::Live,
                Life::Live | Life::Closed | Life::Expired => {}
            }
        }
        Step::Close(index) => {
            let count = model.len().max(1);
            let Some((id, life)) = model.get_mut(index % count) else {
                return;
            };
            let answer = world.call("close_session", json!({ "sessionId": id }));
            match life {
                Life::Live | Life::Crashed | Life::WithoutBrowser => {
                    assert_eq!(answer["success"], true, "{answer}");
                    *life = Life::Closed;
                }
                Life::Closed => assert_eq!(answer["errorCode"], "SESSION_NOT_FOUND", "{answer}"),
                Life::Expired => assert_eq!(answer["errorCode"], "SESSION_EXPIRED", "{answer}"),
            }
        }
        Step::Crash => {
            for browser in browsers(&world.client) {
                kill(browser);
            }
            world.browsers_end();
            for (_, life) in model {
                if *life == Life::Live {
                    *life = Life::Crashed;
                }
            }
        }
    }
}
