//! Scripts of the caller: their forms, results and errors.

use crate::harness::{eval, on_a_page, soon};
use engine::Error;
use serde_json::{Value, json};
use testkit::Engine;

#[testkit::test(chromium, firefox, nightly(firefox))]
fn expressions_functions_and_promises(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage.show("/", "<p>x</p>").await;
        for (expression, value) in [
            ("1 + 1", json!(2)),
            ("() => 3", json!(3)),
            ("async () => { await 0; return 'four'; }", json!("four")),
            ("Promise.resolve([5])", json!([5])),
            ("function () { return 6 }", json!(6)),
            ("null", Value::Null),
            ("undefined", Value::Null),
            (
                "({ a: { b: [1, 'x', null] } })",
                json!({ "a": { "b": [1, "x", null] } }),
            ),
            ("'// no comment'", json!("// no comment")),
            ("7 // a comment", json!(7)),
            ("({ inner: () => 1 })", json!({ "inner": "() => 1" })),
            ("new Map([[1, 2]])", json!([[1, 2]])),
            ("10n", json!("10n")),
            ("document.querySelector('p')", json!("ref: <Node>")),
            ("window", json!("ref: <Window>")),
            ("new Date(0)", json!("1970-01-01T00:00:00.000Z")),
            (
                "() => { const a = { n: 1 }; a.a = a; return a; }",
                json!({ "n": 1, "a": "[Circular]" }),
            ),
        ] {
            assert_eq!(eval(page, expression).await, value, "{expression}");
        }
        assert_eq!(page.evaluate(&soon(), "undefined").await.unwrap(), None);
        assert_eq!(
            page.evaluate(&soon(), "null").await.unwrap(),
            Some(Value::Null)
        );
    });
}

#[testkit::test(chromium, firefox)]
fn script_errors_are_returned(engine: Engine) {
    on_a_page(engine, async |stage| {
        for (expression, message) in [
            ("() => { throw new TypeError('no') }", "TypeError: no"),
            ("Promise.reject(new Error('later'))", "Error: later"),
            ("nothing.there", "ReferenceError: "),
            ("1 +", "SyntaxError: "),
            ("Promise.reject('plain')", "plain"),
        ] {
            let error = stage.page.evaluate(&soon(), expression).await.unwrap_err();
            let Error::Script { message: answer } = &error else {
                panic!("{expression}: {error:?}");
            };
            assert!(answer.starts_with(message), "{expression}: {answer}");
        }
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn ten_megabytes_are_returned_complete(engine: Engine) {
    on_a_page(engine, async |stage| {
        let text = eval(&stage.page, "'ä'.repeat(5_000_000)").await;
        assert_eq!(text.as_str().unwrap().len(), 10_000_000);
    });
}

#[testkit::test(chromium, firefox)]
fn pages_that_replace_built_ins_do_not_affect_the_engine(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage
            .show(
                "/",
                "<title>Bent</title><script>JSON.stringify = () => 'bent'; Object.keys = () => []; Array.prototype.map = null; Promise.prototype.then = null; document.querySelector = null; Map = Set = null;</script>",
            )
            .await;
        assert_eq!(stage.page.title(&soon()).await.unwrap(), "Bent");
    });
}
