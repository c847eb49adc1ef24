//! The pages of the benchmark. Each shows in a heading what was done to it, so that a snapshot proves the effect of an action.

use testkit::{Resource, Site};

/// The number of fields of the form.
pub(crate) const FIELDS: usize = 30;

/// The heading shows the number in the URL, which identifies the navigation.
const ARRIVAL: &str =
    "<script>document.querySelector('h1').textContent += ' ' + location.search.slice(1)</script>";

/// Adds the pages to the site.
pub(crate) fn add(site: &Site) {
    site.add_page(
        "/tiny",
        &format!("<!doctype html><title>Tiny</title><h1>Tiny</h1>{ARRIVAL}"),
    );
    site.add_page("/form", &form());
    site.add_page("/article", &article());
    site.add_page("/table", &table());
    site.add_page("/orders", &orders());
    site.add_page("/spa", SPA);
    site.add_page("/frames", &frames());
    site.add_page("/frame", FRAME);
    site.add_page("/slow", &slow());
    site.add_page("/requests", &requests());
    let picture = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>";
    site.add("/picture.svg", Resource::new("image/svg+xml", picture));
    let late = Resource::new(
        "image/svg+xml",
        "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>",
    );
    site.add(
        "/late.svg",
        late.delay(std::time::Duration::from_millis(400)),
    );
}

/// Returns thirty fields, a counting button, and a counter of keys.
fn form() -> String {
    let fields: String = (1..=FIELDS)
        .map(|n| format!("<p><label>Field {n} <input name=f{n} id=f{n}></label></p>"))
        .collect();
    format!(
        "<!doctype html><title>Form</title><h1>Form</h1>{ARRIVAL}<h2 id=count>count 0</h2><h2 id=keys>keys 0</h2><h2 id=hovers>hovers 0</h2>
<button id=go>Count</button><button id=send>Send</button>
<form onsubmit='return false'>{fields}</form>
<script>
let count = 0, keys = 0, hovers = 0;
const tell = (id, text) => document.getElementById(id).textContent = text;
document.getElementById('go').onclick = () => tell('count', 'count ' + ++count);
document.getElementById('send').onclick = () => tell('count', 'sent ' + document.getElementById('f1').value);
for (const id of ['go', 'send']) document.getElementById(id).onmouseenter = () => tell('hovers', 'hovers ' + ++hovers);
addEventListener('keydown', () => tell('keys', 'keys ' + ++keys));
</script>"
    )
}

/// Returns five hundred elements of prose: headings, paragraphs, links, lists.
fn article() -> String {
    let parts: String = (1..=50)
        .map(|n| {
            format!(
                "<h2>Chapter {n}</h2><p>The kettle of chapter {n} is <a href='#c{n}'>described</a> with <em>care</em>.</p>
<ul><li>It boils</li><li>It whistles <b>loudly</b></li><li>It cools</li></ul>"
            )
        })
        .collect();
    format!("<!doctype html><title>Article</title><h1>Article</h1>{ARRIVAL}<main>{parts}</main>")
}

/// Returns ten thousand elements: 1,428 rows of seven, with a counting button above.
fn table() -> String {
    let rows: String = (1..=1428)
        .map(|n| format!("<tr><td>{n}</td><td>Order {n}</td><td>Kettle</td><td>{}</td><td><a href='#{n}'>Open</a></td></tr>", n % 97))
        .collect();
    format!(
        "<!doctype html><title>Table</title><h1>Table</h1>{ARRIVAL}<h2 id=count>count 0</h2><button id=go>Count</button>
<table><tbody>{rows}</tbody></table>
<script>let count = 0; document.getElementById('go').onclick = () => document.getElementById('count').textContent = 'count ' + ++count;</script>"
    )
}

/// Returns a table of 20 orders, each with a link and a button.
fn orders() -> String {
    let rows: String = (1..=20)
        .map(|n| {
            format!(
                "<tr><td>{n}</td><td><a href='/orders/{n}'>Order {n}</a></td><td>Kettle</td><td>{}.50</td><td><button>Open</button></td></tr>",
                n % 7
            )
        })
        .collect();
    format!(
        "<!doctype html><title>Orders</title><h1>Orders</h1><table><thead><tr><th>Id</th><th>Order</th><th>Item</th><th>Total</th><th>Action</th></tr></thead><tbody>{rows}</tbody></table>"
    )
}

/// Buttons that fetch data and then show it.
const SPA: &str = "<!doctype html><title>Shop</title><h1>Shop</h1><h2 id=output>nothing</h2>
<button id=b0>Load 0</button><button id=b50>Load 50</button><button id=b300>Load 300</button>
<script>
let count = 0;
for (const ms of [0, 50, 300]) document.getElementById('b' + ms).onclick = async () => {
  const answer = await fetch('/delay?ms=' + ms);
  await answer.text();
  document.getElementById('output').textContent = 'loaded ' + ms + ' no ' + ++count + '.';
};
</script>";

/// Returns twenty frames of the same origin, each with a shadow root.
fn frames() -> String {
    let frames: String = (1..=20)
        .map(|n| format!("<iframe src='/frame?{n}' width=300 height=80></iframe>"))
        .collect();
    format!("<!doctype html><title>Frames</title><h1>Frames</h1>{ARRIVAL}{frames}")
}

const FRAME: &str = "<!doctype html><title>Frame</title><div id=host></div><script>
const root = document.getElementById('host').attachShadow({ mode: 'open' }), n = location.search.slice(1);
root.innerHTML = '<h2>Frame ' + n + '.</h2><button>Press ' + n + '</button><input aria-label=\"Text ' + n + '\">';
</script>";

/// Returns a page of 50 requests: the document and 49 images.
fn requests() -> String {
    let pictures: String = (1..50)
        .map(|n| format!("<img src='/picture.svg?{n}' alt=''>"))
        .collect();
    format!(
        "<!doctype html><title>Requests</title><h1>Requests</h1>{ARRIVAL}<h2 id=count></h2>{pictures}
<script>addEventListener('load', () => {{
  const loaded = [...document.images].filter(image => image.naturalWidth);
  document.getElementById('count').textContent = loaded.length + ' pictures';
}});</script>"
    )
}

/// Returns a page whose images take 400 ms.
fn slow() -> String {
    format!(
        "<!doctype html><title>Slow</title><h1>Slow</h1>{ARRIVAL}<img src='/late.svg' alt=late>"
    )
}
