//! Pages that override built-in functions.

use serde_json::json;

use super::HostilePage;
use crate::PATIENT;

/// Fields that shadow the properties of elements.
const CLOBBERS: &str = "children parentNode parentElement tagName localName nodeType nodeName nodeValue firstChild nextSibling childNodes \
    attributes getAttribute hasAttribute matches closest querySelector querySelectorAll getRootNode ownerDocument isConnected checkVisibility \
    getBoundingClientRect getClientRects textContent innerText contains scrollIntoView focus dispatchEvent isContentEditable clientLeft \
    clientTop labels shadowRoot assignedSlot firstElementChild id className classList style offsetWidth offsetHeight innerHTML hidden role \
    title name action submit length elements compareDocumentPosition previousElementSibling";

#[testkit::test(chromium)]
async fn fields_named_after_properties_do_not_hide_their_form() {
    let visit = HostilePage::with(&[]).await;
    let fields: String = CLOBBERS
        .split_whitespace()
        .map(|name| format!("<input type=hidden name={name}>"))
        .collect();
    visit
        .open(&format!(
            "<title>Form</title><form aria-label=Order onsubmit=\"document.title = 'Sent'; return false\">\
             <label>Name <input></label><button>Go</button>{fields}</form>"
        ))
        .await;
    for (tool, arguments) in [
        (
            "browser_type",
            json!({ "target": "getByLabel('Name')", "text": "typed" }),
        ),
        ("browser_hover", json!({ "target": "form" })),
        (
            "browser_evaluate",
            json!({ "target": "form", "function": "() => 1" }),
        ),
        (
            "browser_take_screenshot",
            json!({ "target": "getByRole('form')" }),
        ),
        ("browser_click", json!({ "target": "text=Go" })),
    ] {
        let done = visit.call(tool, arguments).await;
        assert!(!done.is_error, "{tool}: {}", done.text);
    }
    let seen = visit.call("browser_snapshot", json!({})).await;
    for shown in [
        "Page Title: Sent",
        "form \"Order\"",
        "textbox \"Name\"",
        "typed",
        "button \"Go\"",
    ] {
        assert!(seen.text.contains(shown), "{shown}: {}", seen.text);
    }
    let located = visit
        .call("browser_generate_locator", json!({ "target": "form" }))
        .await;
    assert!(located.text.contains("locator('form')"), "{}", located.text);
    visit.assert_usable("a form").await;
}

const REPLACES: &str = "
    Array.prototype.toJSON = Object.prototype.toJSON = () => { throw 1; };
    Array.prototype.map = Array.prototype.push = Array.prototype[Symbol.iterator] = () => { throw 2; };
    JSON.stringify = JSON.parse = () => 'no';
    Promise.prototype.then = Promise.resolve = () => { throw 3; };
    document.querySelector = document.querySelectorAll = () => { throw 4; };
    Element.prototype.matches = Element.prototype.closest = Element.prototype.getAttribute = () => { throw 5; };
    Function.prototype.call = Function.prototype.apply = () => { throw 6; };
    window.getComputedStyle = window.setTimeout = window.requestAnimationFrame = () => { throw 7; };
    window.Promise = window.Map = window.Set = window.Error = window.Node = window.Element = window.Symbol = window.MutationObserver = null;
    performance.now = Date.now = () => NaN;";

#[testkit::test(chromium)]
async fn a_page_that_replaces_what_scripts_rely_on_is_used_all_the_same() {
    let visit = HostilePage::with(&[]).await;
    visit
        .open(&format!(
            "<title>Replaced</title><label>Name <input></label><select><option>one<option>two</select>\
             <button onclick=\"document.title = 'Clicked'\">Go</button><script>{REPLACES}</script>"
        ))
        .await;
    for (tool, arguments) in [
        ("browser_click", json!({ "target": "getByRole('button')" })),
        (
            "browser_type",
            json!({ "target": "getByLabel('Name')", "text": "typed" }),
        ),
        (
            "browser_select_option",
            json!({ "target": "select", "values": ["two"] }),
        ),
        ("browser_wait_for", json!({ "text": "Go" })),
    ] {
        let done = visit.call(tool, arguments).await;
        assert!(!done.is_error, "{tool}: {}", done.text);
    }
    let seen = visit.call("browser_snapshot", json!({})).await;
    for shown in ["Page Title: Clicked", "typed", "option \"two\" [selected]"] {
        assert!(seen.text.contains(shown), "{shown}: {}", seen.text);
    }
    for (arguments, result) in [
        (json!({ "function": "() => document.title" }), "\"Clicked\""),
        (json!({ "function": "async () => 7" }), "7"),
        (
            json!({ "function": "e => e.value", "target": "select" }),
            "\"two\"",
        ),
    ] {
        let answer = visit.call("browser_evaluate", arguments).await;
        assert_eq!(answer.result(), result, "{}", answer.text);
    }
    visit.assert_usable("replaced functions").await;
}

#[testkit::test(chromium)]
async fn a_page_that_never_rests_or_lies_too_deep_can_be_used() {
    let visit = HostilePage::with(&PATIENT).await;
    let restless = "new MutationObserver(() => setTimeout(() => d.append(document.createElement('p')))).observe(d, { childList: true }); d.append('x');";
    let deep = "let e = d; for (let i = 0; i < 300; i++) { const next = document.createElement(i % 2 ? 'section' : 'div'); e.append(next); e = next; } \
        e.append(document.querySelector('button'));";
    let closed = "d.attachShadow({ mode: 'closed' }).innerHTML = '<p>closed</p>';";
    for script in [restless, deep, closed] {
        visit
            .open(&format!(
                "<button onclick=\"document.title = 'Clicked'\">Go</button><div id=d></div><script>{script}</script>"
            ))
            .await;
        let clicked = visit
            .call("browser_click", json!({ "target": "getByRole('button')" }))
            .await;
        assert!(!clicked.is_error, "{script}: {}", clicked.text);
        let seen = visit.call("browser_snapshot", json!({})).await;
        assert!(
            seen.text.contains("Page Title: Clicked"),
            "{script}: {}",
            seen.text
        );
        assert!(
            seen.text.contains("button \"Go\""),
            "{script}: {}",
            seen.text
        );
        visit.assert_usable(script).await;
    }
    // Deeper than the snapshot shows; another snapshot reaches it.
    visit
        .open(&format!(
            "<button>Go</button><div id=d></div><script>{}</script>",
            deep.replace("300", "1000")
        ))
        .await;
    let seen = visit.call("browser_snapshot", json!({})).await;
    assert!(seen.text.contains("nested deeper"), "{}", seen.text);
    let part = visit
        .call("browser_snapshot", json!({ "target": "button" }))
        .await;
    assert!(part.text.contains("button \"Go\""), "{}", part.text);
    // So deep that the browser itself may fail.
    visit
        .open(&format!(
            "<div id=d></div><button>Go</button><script>{}</script>",
            deep.replace("300", "5000")
        ))
        .await;
    visit.assert_usable("a page that is far too deep").await;
}
