//! Storage states: reading and restoring them, invisibly for pages and clients.

use crate::harness::{eval, goto, in_a_context, on_a_page, soon};
use engine::{ContextOptions, Cookie, OriginStorage, StorageItem, StorageState};
use serde_json::json;
use testkit::Engine;

#[testkit::test(chromium, firefox, nightly(firefox))]
fn storage_state_is_restored_in_another_context(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let there = stage.site.cross_origin_url();
        stage.show("/", "").await;
        eval(
            page,
            "() => { document.cookie = 'known=1'; localStorage.here = 'ä \"quoted\"'; }",
        )
        .await;
        goto(page, &format!("{there}/")).await;
        eval(page, "() => { localStorage.there = 2 }").await;
        goto(page, "about:blank").await;
        let asked = stage.received_requests().len();
        let pages = stage.context.changes();
        let state = stage.context.storage_state(&soon()).await.unwrap();
        assert!(!pages.has_changed().unwrap(), "a page came or went");
        let entry = |name: &str, value: &str| StorageItem {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        let mut expected = [
            OriginStorage {
                origin: stage.site.base_url(),
                local_storage: vec![entry("here", "ä \"quoted\"")],
                ..OriginStorage::default()
            },
            OriginStorage {
                origin: there.clone(),
                local_storage: vec![entry("there", "2")],
                ..OriginStorage::default()
            },
        ];
        expected.sort_by(|a, b| a.origin.cmp(&b.origin));
        assert_eq!(state.origins, expected);
        assert_eq!(state.cookies.len(), 1);

        let other = stage
            .browser
            .new_context(&soon(), ContextOptions::default())
            .await
            .unwrap();
        other.restore(&soon(), &state).await.unwrap();
        assert!(other.pages().is_empty());
        assert_eq!(
            stage.received_requests().len(),
            asked,
            "the network was asked"
        );
        assert_eq!(other.storage_state(&soon()).await.unwrap(), state);
        let page = other.new_page(&soon()).await.unwrap();
        goto(&page, &stage.site.url("/")).await;
        assert_eq!(
            eval(&page, "document.cookie + localStorage.here").await,
            "known=1ä \"quoted\""
        );
        goto(&page, &format!("{there}/")).await;
        assert_eq!(eval(&page, "localStorage.there").await, "2");
        // Entries that the state does not contain are removed.
        let empty = StorageState::default();
        other.restore(&soon(), &empty).await.unwrap();
        assert_eq!(other.storage_state(&soon()).await.unwrap(), empty);
        assert_eq!(eval(&page, "localStorage.length").await, 0);
        other.close(&soon()).await.unwrap();
    });
}

#[testkit::test(
    chromium,
    not(firefox = "no document of an origin opens while offline")
)]
fn the_storage_of_an_unreachable_origin_is_restored(engine: Engine) {
    let options = ContextOptions {
        offline: true,
        ..ContextOptions::default()
    };
    in_a_context(engine, options, async |stage| {
        let state = StorageState {
            origins: vec![OriginStorage {
                origin: "https://nowhere.invalid".to_owned(),
                local_storage: vec![StorageItem {
                    name: "a".to_owned(),
                    value: "b".to_owned(),
                }],
                ..OriginStorage::default()
            }],
            ..StorageState::default()
        };
        stage.context.restore(&soon(), &state).await.unwrap();
        assert_eq!(stage.context.storage_state(&soon()).await.unwrap(), state);
        assert_eq!(stage.context.pages().len(), 1);
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_page_that_opens_meanwhile_is_reported(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.show("/", "<script>localStorage.a = 1</script>").await;
        let (first, second) = (soon(), soon());
        let (state, page, popup) = tokio::join!(
            stage.context.storage_state(&first),
            stage.context.new_page(&second),
            stage.popup(async {
                eval(&stage.page, "void open('about:blank#popup')").await;
            })
        );
        assert_eq!(state.unwrap().origins.len(), 1);
        page.unwrap();
        assert!(!popup.is_closed());
        assert_eq!(stage.context.pages().len(), 3);
    });
}

#[testkit::test(chromium, firefox)]
fn a_cancelled_storage_read_leaves_no_page(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.show("/", "<script>localStorage.a = 1</script>").await;
        for _ in 0..5 {
            let hurry = engine::Progress::new(std::time::Duration::from_millis(5));
            let _ = stage.context.storage_state(&hurry).await;
        }
        let state = stage.context.storage_state(&soon()).await.unwrap();
        assert_eq!(state.origins.len(), 1);
        assert_eq!(stage.context.pages(), std::slice::from_ref(&stage.page));
    });
}

#[testkit::test(chromium, firefox, webkit)]
fn the_cookies_of_several_folders_of_a_site_are_listed_and_removed(engine: Engine) {
    on_a_page(engine, async |stage| {
        let cookie = |folder: u32| {
            let value = json!({ "name": "n", "value": "1", "domain": "127.0.0.1", "path": format!("/{folder}") });
            serde_json::from_value::<Cookie>(value).unwrap()
        };
        let cookies: Vec<_> = (0..6).map(cookie).collect();
        let context = &stage.context;
        context.set_cookies(&soon(), &cookies).await.unwrap();
        let listed = async || {
            let listed = context.cookies(&soon()).await.unwrap();
            let mut paths: Vec<_> = listed.into_iter().map(|cookie| cookie.path).collect();
            paths.sort();
            paths
        };
        assert_eq!(listed().await, ["/0", "/1", "/2", "/3", "/4", "/5"]);
        let some = |cookie: &Cookie| ["/1", "/2", "/4"].contains(&cookie.path.as_str());
        context.remove_cookies(&soon(), some).await.unwrap();
        assert_eq!(listed().await, ["/0", "/3", "/5"]);
    });
}
