//! The pages of the benchmark. Each shows in a heading what was done to it, so that a snapshot proves the effect of an action.

use std::time::Duration;

use testkit::{Resource, Site};

/// The number of fields of the form.
const FIELDS: usize = 30;
const SVG: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>";
const FORM: &str = include_str!("pages/form.html");
/// Fifty chapters of ten elements: headings, paragraphs, links, lists.
const CHAPTER: &str = "<h2>Chapter $n</h2><p>The kettle of chapter $n is <a href='#c$n'>described</a> with <em>care</em>.</p>
<ul><li>It boils</li><li>It whistles <b>loudly</b></li><li>It cools</li></ul>";
/// Ten thousand elements: 1,428 rows of seven, with a counting button above.
const TABLE: &str = include_str!("pages/table.html");
/// A row of a list whose buttons have the same name.
const ALIKE: &str = "<li>Item $n <button>Open</button></li>";
/// Buttons that fetch data and then show it.
const SPA: &str = include_str!("pages/spa.html");
/// A shadow root; twenty frames of the same origin show it.
const FRAME: &str = include_str!("pages/frame.html");
/// A page of 50 requests: the document and 49 images.
const REQUESTS: &str = include_str!("pages/requests.html");

/// Adds the pages to the site.
pub(super) fn add(site: &Site) {
    let fields = repeat(FIELDS, "<p><label>Field $n <input id=f$n></label></p>");
    let rows = (1..=1428)
        .map(|n| format!("<tr><td>{n}</td><td>Order {n}</td><td>Kettle</td><td>{}</td><td><a href='#{n}'>Open</a></td></tr>", n % 97))
        .collect::<String>();
    let orders = (1..=20)
        .map(|n| format!("<tr><td>{n}</td><td><a href='/orders/{n}'>Order {n}</a></td><td>Kettle</td><td>{}.50</td><td><button>Open</button></td></tr>", n % 7))
        .collect::<String>();
    let orders = format!(
        "<table><thead><tr><th>Id</th><th>Order</th><th>Item</th><th>Total</th><th>Action</th></tr></thead><tbody>{orders}</tbody></table>"
    );
    let frames = repeat(20, "<iframe src='/frame?$n' width=300 height=80></iframe>");
    let images = repeat(49, "<img src='/image.svg?$n' alt=''>");
    for (title, body) in [
        ("Tiny", String::new()),
        ("Form", FORM.replace("$FIELDS", &fields)),
        ("Article", format!("<main>{}</main>", repeat(50, CHAPTER))),
        ("Table", TABLE.replace("$ROWS", &rows)),
        ("Orders", orders),
        ("Alike", format!("<ul>{}</ul>", repeat(2000, ALIKE))),
        ("Spa", SPA.to_owned()),
        ("Frames", frames),
        ("Slow", "<img src='/late.svg' alt=late>".to_owned()),
        ("Requests", REQUESTS.replace("$IMAGES", &images)),
    ] {
        // The heading shows the number in the URL, which identifies the navigation.
        let html = format!(
            "<!doctype html><title>{title}</title><h1>{title}</h1>
<script>document.querySelector('h1').textContent += ' ' + location.search.slice(1)</script>{body}"
        );
        site.add_page(&format!("/{}", title.to_lowercase()), &html);
    }
    site.add_page("/frame", FRAME);
    let image = Resource::new("image/svg+xml", SVG);
    site.add("/late.svg", image.clone().delay(Duration::from_millis(400)));
    site.add("/image.svg", image);
}

fn repeat(count: usize, template: &str) -> String {
    let each = (1..=count).map(|n| template.replace("$n", &n.to_string()));
    each.collect()
}

/// Returns the value with which a field of the form is filled.
pub(super) fn value(field: usize, n: &str) -> String {
    format!("value {field} of {n}.")
}
