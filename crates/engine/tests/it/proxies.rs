//! Proxies of contexts: authentication, and bypassed hosts.

use crate::harness::{eval, goto, soon, with_options};
use engine::{Browser, ContextOptions, Proxy};
use testkit::{Engine, Site};

/// Runs a test with a browser that is launched for contexts with proxies.
fn with_confined_browser(engine: Engine, test: impl AsyncFnOnce(&Browser)) {
    with_options(engine, async |mut options| {
        options.is_confined = true;
        let browser = Browser::launch(&soon(), &options).await.unwrap();
        test(&browser).await;
        browser.close(&soon()).await.unwrap();
    });
}

#[testkit::test(chromium, firefox)]
fn a_context_uses_its_proxy_with_credentials(engine: Engine) {
    with_confined_browser(engine, async |browser| {
        let site = Site::start().await;
        let url = site.add_page("/", "<title>Through</title>");
        let proxy = testkit::Proxy::http(Some(("me", "open sesame"))).await;
        let options = ContextOptions {
            proxy: Some(Proxy {
                server: proxy.address(),
                username: Some("me".to_owned()),
                password: Some("open sesame".to_owned()),
                ..Proxy::default()
            }),
            ..ContextOptions::default()
        };
        let context = browser.new_context(&soon(), options).await.unwrap();
        let page = context.new_page(&soon()).await.unwrap();
        goto(&page, &url).await;
        assert_eq!(eval(&page, "document.title").await, "Through");
        assert_eq!(page.status().unwrap().0, 200);
        assert_eq!(proxy.seen()[0], format!("GET {url} HTTP/1.1"));
        context.close(&soon()).await.unwrap();
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_wrong_proxy_password_fails(engine: Engine) {
    with_confined_browser(engine, async |browser| {
        let site = Site::start().await;
        let url = site.add_page("/", "<title>Through</title>");
        let proxy = testkit::Proxy::http(Some(("me", "open sesame"))).await;
        let options = ContextOptions {
            proxy: Some(Proxy {
                server: proxy.address(),
                username: Some("me".to_owned()),
                password: Some("guess".to_owned()),
                ..Proxy::default()
            }),
            ..ContextOptions::default()
        };
        let context = browser.new_context(&soon(), options).await.unwrap();
        let page = context.new_page(&soon()).await.unwrap();
        let _ = page.goto(&soon(), &url, engine::LoadState::Loaded).await;
        assert!(proxy.seen().is_empty());
        assert!(site.requests().is_empty());
        context.close(&soon()).await.unwrap();
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn hosts_on_the_bypass_list_are_reached_without_the_proxy(engine: Engine) {
    with_confined_browser(engine, async |browser| {
        let site = Site::start().await;
        site.add_page("/", "<title>Near</title>");
        let near = format!("http://near.localhost:{}/", site.port());
        let far = format!("{}/", site.cross_origin_url());
        let proxy = testkit::Proxy::http(None).await;
        let options = ContextOptions {
            proxy: Some(Proxy {
                server: proxy.address(),
                bypass: vec!["near.localhost".to_owned()],
                ..Proxy::default()
            }),
            ..ContextOptions::default()
        };
        let context = browser.new_context(&soon(), options).await.unwrap();
        let page = context.new_page(&soon()).await.unwrap();
        goto(&page, &near).await;
        assert!(proxy.seen().is_empty());
        goto(&page, &far).await;
        assert_eq!(proxy.seen()[0], format!("GET {far} HTTP/1.1"));
        context.close(&soon()).await.unwrap();
    });
}
