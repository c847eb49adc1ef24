//! The mixed work that is repeated: pages, actions, tabs, dialogs, downloads, screenshots, errors.

use serde_json::{Value, json};
use testkit::Site;

/// A call, and whether its answer is expected to be an error.
pub(crate) struct Work {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    /// The expected part of the answer; empty if only `is_error` counts.
    pub(crate) says: &'static str,
    pub(crate) is_error: bool,
}

fn call(tool: &'static str, arguments: Value, says: &'static str) -> Work {
    Work {
        tool,
        arguments,
        says,
        is_error: false,
    }
}

fn mistake(tool: &'static str, arguments: Value, says: &'static str) -> Work {
    Work {
        is_error: true,
        ..call(tool, arguments, says)
    }
}

/// Adds the pages of the work to the site.
pub(crate) fn add_pages(site: &Site) {
    let rows: String = (1..=150)
        .map(|n| {
            format!("<tr><td>{n}</td><td>Kettle {n}</td><td><a href='#{n}'>Open</a></td></tr>")
        })
        .collect();
    site.add_page(
        "/work",
        &format!(
            "<!doctype html><title>Work</title><h1>Work</h1><h2 id=output>nothing yet</h2>
<label>Name <input id=name></label><label>Town <input id=town></label>
<button id=count>Count</button><button id=ask>Ask</button><button id=load>Load</button>
<a id=save href='/download?name=soak.txt&size=2000'>Save</a><iframe src='/inner'></iframe>
<table><tbody>{rows}</tbody></table>
<script>
let n = 0;
const tell = text => document.getElementById('output').textContent = text;
document.getElementById('count').onclick = () => {{ tell('count ' + ++n); console.log('counted', n, {{ n }}); }};
document.getElementById('ask').onclick = () => tell(confirm('Sure?') ? 'agreed' : 'refused');
document.getElementById('load').onclick = async () => {{ const answer = await fetch('/headers'); await answer.json(); tell('loaded'); }};
console.warn('a page begins'); setTimeout(() => {{ throw new Error('a page error'); }}, 0);
</script>"
        ),
    );
    site.add_page(
        "/inner",
        "<!doctype html><title>Inner</title><p>Inside</p><button>Inner button</button>",
    );
}

/// Returns one round of the work, which starts and ends with one tab.
pub(crate) fn turn(site: &Site) -> Vec<Work> {
    let work = site.url("/work");
    vec![
        call(
            "browser_navigate",
            json!({ "url": work }),
            "Page Title: Work",
        ),
        call("browser_snapshot", json!({}), "Kettle 150"),
        call("browser_click", json!({ "target": "#count" }), "click()"),
        call(
            "browser_type",
            json!({ "target": "#name", "text": "Ada" }),
            "",
        ),
        call(
            "browser_fill_form",
            json!({ "fields": [
                { "name": "Name", "type": "textbox", "target": "#name", "value": "Bea" },
                { "name": "Town", "type": "textbox", "target": "#town", "value": "Bath" },
            ]}),
            "",
        ),
        call(
            "browser_evaluate",
            json!({ "function": "() => document.getElementById('output').textContent" }),
            "count 1",
        ),
        call("browser_press_key", json!({ "key": "Tab" }), ""),
        call("browser_hover", json!({ "target": "#load" }), ""),
        call("browser_click", json!({ "target": "#load" }), ""),
        call("browser_wait_for", json!({ "text": "loaded" }), ""),
        call(
            "browser_console_messages",
            json!({ "level": "debug" }),
            "a page error",
        ),
        call("browser_network_requests", json!({ "static": true }), ""),
        call("browser_click", json!({ "target": "#ask" }), "Modal state"),
        call("browser_handle_dialog", json!({ "accept": true }), ""),
        call(
            "browser_evaluate",
            json!({ "function": "() => document.getElementById('output').textContent" }),
            "agreed",
        ),
        call(
            "browser_tabs",
            json!({ "action": "new", "url": site.url("/shop/") }),
            "",
        ),
        call("browser_snapshot", json!({}), ""),
        call("browser_take_screenshot", json!({ "type": "jpeg" }), ""),
        call(
            "browser_navigate",
            json!({ "url": site.url("/inner") }),
            "Inner",
        ),
        call("browser_navigate_back", json!({}), ""),
        call("browser_tabs", json!({ "action": "close" }), ""),
        call("browser_click", json!({ "target": "#save" }), ""),
        call("browser_take_screenshot", json!({}), ""),
        mistake("browser_click", json!({ "target": "e99999" }), "e99999"),
        mistake("browser_click", json!({}), "target"),
        mistake(
            "browser_evaluate",
            json!({ "function": "() => { throw new Error('on purpose'); }" }),
            "on purpose",
        ),
        mistake(
            "browser_navigate",
            json!({ "url": "http://127.0.0.1:1/" }),
            "",
        ),
    ]
}
