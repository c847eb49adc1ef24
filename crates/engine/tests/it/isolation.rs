//! Cookies, and the isolation of contexts.

use crate::harness::{Stage, eval, goto, on_a_page, soon};
use engine::{ContextOptions, Cookie, SameSite};
use testkit::Engine;

fn cookie(stage: &Stage, name: &str) -> Cookie {
    let _ = stage;
    Cookie {
        name: name.to_owned(),
        value: "1".to_owned(),
        domain: "127.0.0.1".to_owned(),
        path: "/".to_owned(),
        expires: -1.0,
        http_only: false,
        secure: false,
        same_site: Some(SameSite::Lax),
    }
}

#[testkit::test(chromium, firefox)]
fn cookies_are_set_read_and_removed(engine: Engine) {
    on_a_page(engine, async |stage| {
        let context = &stage.context;
        let hidden = Cookie {
            http_only: true,
            same_site: Some(SameSite::Strict),
            expires: 4_000_000_000.0,
            ..cookie(stage, "hidden")
        };
        context
            .set_cookies(&soon(), &[cookie(stage, "shown"), hidden])
            .await
            .unwrap();
        goto(&stage.page, &stage.site.url("/cookies")).await;
        assert_eq!(
            eval(&stage.page, "JSON.parse(document.body.innerText)").await,
            serde_json::json!({ "hidden": "1", "shown": "1" })
        );
        assert_eq!(eval(&stage.page, "document.cookie").await, "shown=1");
        let mut cookies = context.cookies(&soon()).await.unwrap();
        cookies.sort_by(|a, b| a.name.cmp(&b.name));
        assert_eq!(cookies.len(), 2);
        assert_eq!(cookies[1], cookie(stage, "shown"));
        assert!(cookies[0].http_only && cookies[0].expires > 1e9);
        assert_eq!(cookies[0].same_site, Some(SameSite::Strict));
        context
            .remove_cookies(&soon(), |cookie| cookie.name == "shown")
            .await
            .unwrap();
        let cookies = context.cookies(&soon()).await.unwrap();
        assert_eq!(cookies.len(), 1);
        assert_eq!(cookies[0].name, "hidden");
        context.remove_cookies(&soon(), |_| true).await.unwrap();
        assert!(context.cookies(&soon()).await.unwrap().is_empty());
    });
}

#[testkit::test(chromium, firefox)]
fn contexts_share_nothing(engine: Engine) {
    on_a_page(engine, async |stage| {
        let url = stage.show("/", "").await;
        eval(
            &stage.page,
            "() => { document.cookie = 'mine=1'; localStorage.mine = 1; }",
        )
        .await;
        let other = stage
            .browser
            .new_context(&soon(), ContextOptions::default())
            .await
            .unwrap();
        let page = other.new_page(&soon()).await.unwrap();
        goto(&page, &url).await;
        assert_eq!(
            eval(&page, "document.cookie + localStorage.length").await,
            "0"
        );
        assert!(other.cookies(&soon()).await.unwrap().is_empty());
        assert_eq!(other.pages(), std::slice::from_ref(&page));
        assert_eq!(stage.context.pages(), std::slice::from_ref(&stage.page));
        other.close(&soon()).await.unwrap();
        assert!(page.is_closed());
        assert!(!stage.page.is_closed());
        assert_eq!(eval(&stage.page, "document.cookie").await, "mine=1");
    });
}
