//! Console messages: all kinds of calls, uncaught errors, and messages of the browser.

use crate::harness::{eval, on_a_page, soon, with_options};
use engine::{Browser, ContextOptions, LaunchOptions, MessageKind, Page};
use testkit::{Engine, eventually};

fn lines(page: &Page) -> Vec<(String, String)> {
    page.console(0)
        .iter()
        .map(|entry| (entry.message.kind.to_string(), entry.message.text.clone()))
        .collect()
}

async fn lines_of(page: &Page, count: usize) -> Vec<(String, String)> {
    eventually(async || page.console(0).len() >= count).await;
    lines(page)
}

#[testkit::test(
    chromium,
    not(
        firefox = "the end of a group is not reported, and maps, functions and symbols have only their types"
    )
)]
fn every_kind_of_console_call_is_reported(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage.show("/", "<div id=a class=b></div>").await;
        let calls = [
            (
                "console.log('a', 1, true, null, undefined)",
                "log",
                "a 1 true null undefined",
            ),
            ("console.debug('x')", "debug", "x"),
            ("console.info('x')", "info", "x"),
            ("console.warn('x')", "warning", "x"),
            ("console.error('x')", "error", "x"),
            ("console.dir({ a: 1 })", "dir", "{a: 1}"),
            (
                "console.dirxml(document.querySelector('div'))",
                "dirxml",
                "div#a.b",
            ),
            ("console.table([1, 2])", "table", "[1, 2]"),
            ("console.trace('x')", "trace", "x"),
            ("console.group('x')", "startGroup", "x"),
            ("console.groupCollapsed('x')", "startGroupCollapsed", "x"),
            ("console.groupEnd()", "endGroup", "console.groupEnd"),
            ("console.assert(false, 'x')", "assert", "x"),
            ("console.count('x')", "count", "x: 1"),
            (
                "console.log({ a: 'b', c: [1, { d: 2 }] })",
                "log",
                "{a: b, c: Array(2)}",
            ),
            ("console.log([1, 'two'])", "log", "[1, two]"),
            ("console.log(new Map([[1, 2]]))", "log", "Map(1)"),
            ("console.log(() => 1)", "log", "() => 1"),
            (
                "console.log(10n, -0, NaN, Symbol('s'))",
                "log",
                "10n -0 NaN Symbol(s)",
            ),
            ("console.log(document)", "log", "#document"),
        ];
        for (index, (call, kind, text)) in calls.iter().enumerate() {
            eval(page, &format!("void {call}")).await;
            let lines = lines_of(page, index + 1).await;
            assert_eq!(lines.len(), index + 1, "{call}");
            assert_eq!(
                lines[index],
                ((*kind).to_owned(), (*text).to_owned()),
                "{call}"
            );
        }
        let counts = page.console_counts();
        assert_eq!(
            (counts.total, counts.errors, counts.warnings),
            (calls.len(), 1, 1)
        );
    });
}

#[testkit::test(chromium, firefox)]
fn an_uncaught_error_is_reported_with_its_stack(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let url = stage
            .show(
                "/",
                "<script>\nfunction fails() { throw new TypeError('boom') }\nfails()\n</script>",
            )
            .await;
        eventually(async || !page.console(0).is_empty()).await;
        let entry = page.console(0)[0].clone();
        assert_eq!(entry.message.kind, MessageKind::PageError);
        assert!(
            entry.message.text.starts_with("TypeError: boom\n"),
            "{}",
            entry.message.text
        );
        assert!(
            entry.message.text.contains("at fails"),
            "{}",
            entry.message.text
        );
        let location = entry.message.location.clone().unwrap();
        assert_eq!((location.url.as_str(), location.line), (url.as_str(), 1));

        eval(page, "void document.body.append(Object.assign(document.createElement('script'), { text: `Promise.reject(new Error('rejected'))` }))").await;
        eventually(async || page.console(0).len() == 2).await;
        let entry = page.console(0)[1].clone();
        assert_eq!(entry.message.kind, MessageKind::PageError);
        assert!(
            entry.message.text.starts_with("Error: rejected"),
            "{}",
            entry.message.text
        );

        eval(page, "void setTimeout(() => { throw 'a string' })").await;
        eventually(async || page.console(0).len() == 3).await;
        assert_eq!(page.console(0)[2].message.text, "a string");
        eval(page, "void setTimeout(() => { throw { a: 1 } })").await;
        eventually(async || page.console(0).len() == 4).await;
        assert!(!page.console(0)[3].message.text.is_empty());
        assert_eq!(page.console_counts().errors, 4);
    });
}

#[testkit::test(chromium, not(firefox = "a 404 response is no console message"))]
fn a_resource_that_is_missing_is_an_error_of_the_browser(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage.show("/", "<img src=/status/404>").await;
        eventually(async || !page.console(0).is_empty()).await;
        let entry = page.console(0)[0].clone();
        assert_eq!(entry.message.kind, MessageKind::Error);
        let text = &entry.message.text;
        assert!(text.contains("404 (Not Found)"), "{text}");
        assert_eq!(
            entry.message.location.clone().unwrap().url,
            stage.site.url("/status/404")
        );
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn console_messages_of_out_of_process_frames_are_reported(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let there = format!("{}/inner", stage.site.cross_origin_url());
        stage.site.add_page(
            "/inner",
            "<script>console.warn('inside'); setTimeout(() => { throw new Error('inside too') })</script>",
        );
        stage
            .show("/", &format!("<iframe src='{there}'></iframe>"))
            .await;
        let lines = lines_of(page, 2).await;
        assert_eq!(lines[0], ("warning".to_owned(), "inside".to_owned()));
        assert_eq!(lines[1].0, "pageError");
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn each_document_resets_the_counts_and_keeps_the_messages(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage
            .show("/a", "<script>console.error('a')</script>")
            .await;
        eventually(async || page.console_counts().errors == 1).await;
        stage
            .show("/b", "<script>console.error('b')</script>")
            .await;
        eventually(async || page.console(0).len() == 2).await;
        assert_eq!(page.console_counts().errors, 1);
        let current: Vec<_> = page.console(0).iter().map(|entry| entry.current).collect();
        assert_eq!(current, [false, true]);
    });
}

#[testkit::test(chromium, not(firefox = "no command collects garbage"))]
fn a_logged_object_is_not_kept_alive(engine: Engine) {
    with_options(engine, async |options| {
        let options = LaunchOptions {
            args: vec!["--js-flags=--expose-gc".to_owned()],
            ..options
        };
        let browser = Browser::launch(&soon(), &options).await.unwrap();
        let context = browser
            .new_context(&soon(), ContextOptions::default())
            .await
            .unwrap();
        let page = context.new_page(&soon()).await.unwrap();
        let log = "(() => {
            const large = { data: new Array(1000).fill(1) };
            globalThis.kept = new WeakRef(large);
            console.log(large);
            setTimeout(() => { throw large; });
            // A page keeps its last thousand messages for later readers.
            setTimeout(() => { for (let n = 0; n < 1000; n++) console.log(n); }, 1);
        })()";
        eval(&page, log).await;
        eventually(async || page.console(0).len() == 1002).await;
        let gone = "gc({ execution: 'async' }).then(() => kept.deref() === undefined)";
        let mut tries = 0;
        while eval(&page, gone).await != true {
            tries += 1;
            assert!(tries < 100, "it is still alive");
        }
        browser.close(&soon()).await.unwrap();
    });
}
