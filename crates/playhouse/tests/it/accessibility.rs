//! The accessibility audit, compared with axe-core in the world of the page: a script tag loads the npm package into each document, and
//! the documents send messages to each other.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use testkit::harness::{input_step, is_nightly};
use testkit::{Client, Engine, Site, node};

use crate::{PATIENT, shared};

const FORMS: &str = "<html><head></head><body>
<img src=/a.png><img src=/b.png alt=''><input type=image src=/c.png><area><map name=m><area href=/x></map>
<h1></h1><h4>Jump</h4><h2>Two</h2>
<form><input><input placeholder=Name><select><option>a</select><textarea></textarea><input type=checkbox id=same><input type=radio id=same>
<label for=none>No field</label><button></button><a href=/nowhere></a><a href=#gone>Skip</a></form>
<p style='color:#aaa;background:#fff'>Grey <b style='color:#bbb'>greyer</b></p><p style='color:#777;background:#888'>Unreadable</p>
<div role=button>No focus</div><div role=button tabindex=5 aria-label=''></div><span role=checkbox tabindex=0>Check</span>
<ul><div>no item</div><li>item</ul><li>stray</li><dl><dt>t<p>p</p></dl><marquee>moving</marquee><blink>x</blink>
<video src=/v.mp4 autoplay></video><object data=/o></object><svg role=img><path d=M0,0/></svg>
<meta http-equiv=refresh content='900'><meta name=viewport content='user-scalable=no, maximum-scale=1'></body></html>";

const TABLES: &str = "<!doctype html><html lang=xx-invalid><head><title>Tables</title></head><body>
<main>a</main><main>b</main><nav>c</nav><header>d<main>e</main></header><footer><div role=contentinfo>f</div></footer>
<table><tr><td scope=col>a<td headers=nothing>b<tr><th scope=wrong>c<td>d</table><table summary=x><caption>x</caption><tr><td>a</table>
<div aria-hidden=true><button>Hidden focus</button></div><div aria-wrong=1 aria-checked=maybe role=unknown>x</div>
<div role=list><div>y</div></div><div role=listitem>z</div><div role=tab aria-controls=missing>t</div>
<div role=slider tabindex=0>s</div><div role=progressbar></div><div role=dialog>d</div><div role=tooltip></div>
<button aria-expanded=maybe aria-labelledby=missing>b</button><p lang=zz-nope>w</p><div style='overflow:scroll;height:20px'><p style='height:90px'>scroll</p></div>
<a href=/a style='color:#00c'>link</a> in <span>text <a href=/b style='color:#000;text-decoration:none'>unmarked</a> here</span>
<input aria-label=x list=l role=combobox aria-required=true><summary>alone</summary><details><summary></summary>x</details></body></html>";

const SHADOW: &str = "<!doctype html><html lang=en><head><title>Shadow</title></head><body><h1>Shadow</h1><iframe title=light src='{inner}'></iframe><x-box></x-box><x-box></x-box>
<script>customElements.define('x-box', class extends HTMLElement { connectedCallback() {
const root = this.attachShadow({ mode: 'open' });
root.innerHTML = '<img src=/a.png><input><p style=\"color:#ccc\">pale</p><x-inner></x-inner><slot></slot>'; } });
customElements.define('x-inner', class extends HTMLElement { connectedCallback() {
this.attachShadow({ mode: 'open' }).innerHTML = '<button></button><iframe src=\"{inner}\"></iframe>'; } });</script></body></html>";

const FRAMES: &str = "<!doctype html><html lang=en><head><title>Frames</title></head><body><h1>Frames</h1><img src=/a.png>
<iframe src='{inner}'></iframe><iframe title=same src='{cross}'></iframe><iframe title=same src='{outer}'></iframe>
<iframe title=hidden style='display:none' src='{inner}'></iframe></body></html>";

const INNER: &str = "<body><h3>In a frame</h3><img src=/a.png><input><main>m</main><button></button><p style='color:#bbb'>pale</p>";

const OUTER: &str = "<html lang=en><title>Outer</title><body><h1>Outer</h1><select></select><iframe src='{cross}'></iframe>";

/// The numbers of nodes by the identifiers of rules: those that violate them, and those to review.
type Counts = BTreeMap<String, BTreeMap<String, u64>>;

/// Adds the pages to the site, with axe-core in each document. Returns their URLs.
fn add_pages(site: &Site, source: &str) -> Vec<String> {
    let script = site.add_page("/axe.min.js", source);
    let loading = format!(
        "<script src={script}></script><script>window.own = axe; axe.configure({{ allowedOrigins: ['<unsafe_all_origins>'] }})</script>"
    );
    let cross = site.cross_origin_url();
    let add = |path: &str, html: &str| {
        let html = html
            .replace("{cross}", &format!("{cross}/inner"))
            .replace("{inner}", "/inner")
            .replace("{outer}", "/outer");
        site.add_page(path, &format!("{html}{loading}"))
    };
    add("/inner", INNER);
    add("/outer", OUTER);
    let pages = [
        ("/forms", FORMS),
        ("/tables", TABLES),
        ("/shadow", SHADOW),
        ("/frames", FRAMES),
    ];
    pages.map(|(path, html)| add(path, html)).to_vec()
}

/// Returns the result of a function in the world of the page.
async fn evaluate(client: &Client, function: &str) -> Value {
    let answer = client
        .call("browser_evaluate", json!({ "function": function }))
        .await;
    let result = answer
        .section("Result")
        .and_then(|text| serde_json::from_str(text).ok());
    result.unwrap_or_else(|| panic!("{}", answer.text))
}

/// Audits the page. Returns the text of the answer and the report.
async fn audit(client: &Client) -> (String, Value) {
    let arguments = json!({ "filename": "report.json" });
    let answer = client.call("browser_audit_accessibility", arguments).await;
    assert!(!answer.is_error, "{}", answer.text);
    let file = answer.linked_file(&answer.text).expect("a report");
    let report = fs::read_to_string(file).unwrap();
    (answer.text, serde_json::from_str(&report).unwrap())
}

fn counts(report: &Value) -> Counts {
    let of = |kind: &str| {
        let rules = report[kind].as_array().unwrap().iter();
        let rules = rules.map(|rule| {
            let nodes = rule["nodes"].as_array().unwrap().len() as u64;
            (rule["id"].as_str().unwrap().to_owned(), nodes)
        });
        (kind.to_owned(), rules.collect())
    };
    ["violations", "incomplete"].map(of).into()
}

#[testkit::test(node, chromium, firefox, webkit, nightly(firefox, webkit), slow)]
async fn an_audit_finds_what_axe_core_finds_in_the_page(engine: Engine) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    node(&root);
    let source = fs::read_to_string(root.join("node_modules/axe-core/axe.min.js")).unwrap();
    let site = Site::start().await;
    let mut found = 0;
    let client = shared(engine, &PATIENT).await;
    // Outside of `make nightly`, the page of forms and that of frames.
    let pages = add_pages(&site, &source).into_iter();
    for url in pages.step_by(input_step(3)) {
        client.navigate(&url).await;
        let theirs = evaluate(
            &client,
            "() => axe.run({ preload: { assets: ['cssom', 'media'], timeout: 3000 } }).then(({ violations, incomplete }) => {
              const brief = (rules) => rules.map(({ id, nodes }) => ({ id, nodes: nodes.map(() => 0) }));
              return { violations: brief(violations), incomplete: brief(incomplete) };
            })",
        )
        .await;
        let (_, report) = audit(&client).await;
        assert_eq!(counts(&report), counts(&theirs), "{url}");
        let violations = report["violations"].as_array().unwrap();
        for node in violations
            .iter()
            .flat_map(|rule| rule["nodes"].as_array().unwrap())
        {
            let reference = node["ref"].as_str().unwrap_or_else(|| panic!("{node}"));
            let arguments = json!({ "target": reference, "function": "(e) => e.outerHTML" });
            let answer = client.call("browser_evaluate", arguments).await;
            // The report shortens long elements.
            let html = node["html"].as_str().unwrap();
            let tag: String = html
                .chars()
                .take_while(|c| !matches!(c, ' ' | '>'))
                .collect();
            assert!(answer.text.contains(&tag), "{node}\n{}", answer.text);
            found += 1;
        }
        assert_eq!(
            evaluate(&client, "() => window.axe === window.own").await,
            true
        );
    }
    let least = if is_nightly() { 80 } else { 10 };
    assert!(found > least, "only {found} nodes");
    let plain = site.add_page("/plain", "<!doctype html><title>Plain</title><p>x");
    client.navigate(&plain).await;
    audit(&client).await;
    assert_eq!(evaluate(&client, "() => typeof axe").await, "undefined");
}
