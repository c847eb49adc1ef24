//! Workers: their console messages and requests are attributed to their page, and none of them blocks the page.

use crate::harness::{eval, goto, in_a_context, on_a_page};
use engine::ContextOptions;
use testkit::{Engine, Resource, eventually};

fn script(source: &str) -> Resource {
    Resource::new("text/javascript", source)
}

#[testkit::test(
    chromium,
    not(firefox = "no protocol of Firefox reaches scripts in workers")
)]
fn console_messages_and_requests_of_workers_are_reported(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage.site.add(
            "/worker.js",
            script("console.log('from the worker'); fetch('/data').then(r => r.text()).then(postMessage)"),
        );
        stage
            .site
            .add("/data", Resource::new("text/plain", "the data"));
        stage
            .show(
                "/",
                "<script>new Worker('/worker.js').onmessage = e => { got = e.data }; got = ''</script>",
            )
            .await;
        eventually(async || {
            page.console(0)
                .iter()
                .any(|entry| entry.message.text == "from the worker")
        })
        .await;
        let data = stage.site.url("/data");
        eventually(async || {
            page.requests()
                .iter()
                .any(|request| request.url == data && request.outcome.is_some())
        })
        .await;
        let request = page
            .requests()
            .into_iter()
            .find(|request| request.url == data)
            .unwrap();
        assert_eq!(
            page.response_body(&crate::harness::soon(), &request.id)
                .await
                .unwrap(),
            b"the data"
        );
    });
}

#[testkit::test(
    chromium,
    not(firefox = "no protocol of Firefox reaches scripts in workers")
)]
fn workers_of_workers_run(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.site.add(
            "/outer.js",
            script("new Worker('/inner.js').onmessage = e => postMessage(e.data)"),
        );
        stage.site.add(
            "/inner.js",
            script("console.log('deep'); postMessage('nested')"),
        );
        stage.show("/", "").await;
        let asked = "new Promise(done => new Worker('/outer.js').onmessage = e => done(e.data))";
        assert_eq!(eval(&stage.page, asked).await, "nested");
        eventually(async || !stage.page.console(0).is_empty()).await;
        assert_eq!(stage.page.console(0)[0].message.text, "deep");
    });
}

#[testkit::test(
    chromium,
    not(firefox = "no protocol of Firefox reaches scripts in workers")
)]
fn shared_workers_run(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.site.add(
            "/shared.js",
            script("onconnect = e => e.ports[0].postMessage('shared')"),
        );
        stage.show("/", "").await;
        let asked = "new Promise(done => new SharedWorker('/shared.js').port.onmessage = e => done(e.data))";
        assert_eq!(eval(&stage.page, asked).await, "shared");
    });
}

#[testkit::test(
    chromium,
    not(firefox = "no protocol of Firefox reaches scripts in workers")
)]
fn service_workers_run(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage.site.add(
            "/service.js",
            script("onfetch = e => { if (e.request.url.endsWith('/made')) e.respondWith(new Response('made')) }; oninstall = () => skipWaiting(); onactivate = e => e.waitUntil(clients.claim())"),
        );
        stage.show("/", "").await;
        let served = "async () => { await navigator.serviceWorker.register('/service.js'); await navigator.serviceWorker.ready; while (!navigator.serviceWorker.controller) await new Promise(done => navigator.serviceWorker.oncontrollerchange = done); return (await fetch('/made')).text() }";
        assert_eq!(eval(page, served).await, "made");
        goto(page, &stage.site.url("/")).await;
        assert_eq!(
            eval(page, "fetch('/made').then(r => r.text())").await,
            "made"
        );
        let made = stage.site.url("/made");
        let request = eventually(async || {
            let mut requests = page.requests().into_iter();
            requests.find(|request| request.url == made && request.outcome.is_some())
        })
        .await;
        assert!(request.response.as_ref().unwrap().from_service_worker);
    });
}

#[testkit::test(
    chromium,
    not(firefox = "no protocol of Firefox reaches scripts in workers")
)]
fn service_workers_can_be_blocked(engine: Engine) {
    let options = ContextOptions {
        block_service_workers: true,
        ..ContextOptions::default()
    };
    in_a_context(engine, options, async |stage| {
        stage.site.add("/service.js", script(""));
        stage.show("/", "").await;
        assert_eq!(
            eval(
                &stage.page,
                "navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.getRegistrations()).then(all => all.length)"
            )
            .await,
            0
        );
        assert!(
            !stage
                .site
                .requests()
                .iter()
                .any(|request| request.target == "/service.js")
        );
    });
}

#[testkit::test(
    chromium,
    not(firefox = "no protocol of Firefox reaches scripts in workers")
)]
fn context_changes_apply_to_pages_with_workers(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.site.add(
            "/worker.js",
            script("onmessage = async () => postMessage(await (await fetch('/headers')).json())"),
        );
        stage
            .show("/", "<script>w = new Worker('/worker.js')</script>")
            .await;
        let asked = "new Promise(done => { w.onmessage = e => done(e.data['x-test'] ?? null); w.postMessage(1) })";
        assert_eq!(eval(&stage.page, asked).await, serde_json::Value::Null);
        let soon = crate::harness::soon;
        let headers = vec![("X-Test".to_owned(), "yes".to_owned())];
        stage
            .context
            .set_extra_headers(&soon(), &headers)
            .await
            .unwrap();
        assert_eq!(eval(&stage.page, asked).await, "yes");
        stage.context.add_init_script(&soon(), "1").await.unwrap();
        let media = engine::MediaFeatures {
            color_scheme: Some("dark".to_owned()),
            ..engine::MediaFeatures::default()
        };
        stage.page.emulate_media(&soon(), media).await.unwrap();
        stage.context.set_offline(&soon(), true).await.unwrap();
        let failed = "new Promise(done => { w.onerror = null; fetch('/headers').then(() => done('fetched'), () => done('failed')) })";
        assert_eq!(eval(&stage.page, failed).await, "failed");
    });
}
