//! PDFs, read by `pdftotext` and `pdfinfo` of Poppler.

use serde_json::json;
use std::path::Path;
use std::process::Command;
use testkit::{Engine, Site};

use crate::shared;

const PAGES: &str = "<!doctype html><title>Report</title>
<style>@media print { .screen { display: none } } section { break-after: page }</style>
<nav class=screen>Only on a screen</nav>
<section><h1>Grüße, Ελλάδα</h1><p>First page</section>
<p>Second page";

#[expect(clippy::disallowed_methods, reason = "a test runs the reader")]
fn run(program: &str, arguments: &[&Path]) -> String {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Returns the text of each page, without the white space around it.
fn texts(file: &Path) -> Vec<String> {
    let text = run("pdftotext", &[file, Path::new("-")]);
    let pages = text.trim_end_matches('\u{c}').split('\u{c}');
    pages
        .map(|page| page.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

/// Returns the width and the height of the first page, in points.
fn size(file: &Path) -> (f64, f64) {
    let boxes = run("pdfinfo", &[Path::new("-box"), file]);
    let line = boxes.lines().find(|line| line.starts_with("MediaBox:"));
    let numbers: Vec<f64> = line
        .unwrap_or_else(|| panic!("no MediaBox in {boxes}"))
        .split_whitespace()
        .skip(1)
        .map(|number| number.parse().expect("a number"))
        .collect();
    (numbers[2] - numbers[0], numbers[3] - numbers[1])
}

fn assert_size(file: &Path, (width, height): (f64, f64)) {
    let (got_width, got_height) = size(file);
    assert!(
        (got_width - width).abs() < 1.0 && (got_height - height).abs() < 1.0,
        "{got_width} × {got_height}"
    );
}

#[testkit::test(
    chromium,
    firefox,
    not(webkit = "prints no PDF"),
    poppler,
    nightly(firefox)
)]
async fn a_pdf_has_the_text_and_the_size_of_the_printed_page(engine: Engine) {
    let client = shared(engine, &[]).await;
    let site = Site::start().await;
    let url = site.add_page("/", PAGES);
    for (tool, arguments) in [
        ("browser_navigate", json!({ "url": url })),
        ("browser_pdf_save", json!({ "filename": "page.pdf" })),
        (
            "browser_run_code_unsafe",
            json!({ "code": "page => page.pdf({ path: 'landscape.pdf', format: 'A4', landscape: true })" }),
        ),
    ] {
        let answer = client.call(tool, arguments).await;
        assert!(!answer.is_error, "{tool}: {}", answer.text);
    }
    let pages = ["Grüße, Ελλάδα First page", "Second page"];
    let letter = client.workspace().join("page.pdf");
    assert_eq!(texts(&letter), pages);
    assert_size(&letter, (612.0, 792.0));
    let landscape = client.workspace().join("landscape.pdf");
    assert_eq!(texts(&landscape), pages);
    assert_size(&landscape, (842.4, 595.4));
}
