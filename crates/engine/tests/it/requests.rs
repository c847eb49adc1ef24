//! The request log: redirects, headers, bodies, failures, credentials.

use crate::harness::{Stage, eval, frame_at, goto, in_a_context, on_a_page, soon};
use engine::{
    ContextOptions, Error, Headers, HttpCredentials, LoadState, Mock, NetError, Page, Request,
    RequestOutcome, Route, RouteAnswer, UrlPattern,
};
use testkit::{Engine, Resource, eventually};

fn header<'a>(headers: &'a Headers, name: &str) -> Option<&'a str> {
    headers
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
}

/// Returns the request for a URL after it has ended.
async fn ended(page: &Page, url: &str) -> Request {
    eventually(async || {
        page.requests()
            .into_iter()
            .find(|request| request.url == url && request.outcome.is_some())
    })
    .await
}

#[testkit::test(chromium, firefox)]
fn each_hop_of_a_redirect_is_a_request_with_its_own_facts(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let site = &stage.site;
        site.add(
            "/first",
            Resource::html("")
                .status(302)
                .header("location", "/second")
                .header("set-cookie", "hop=1"),
        );
        site.add(
            "/second",
            Resource::html("").status(307).header("location", "/third"),
        );
        site.add_page("/third", "<title>Third</title>");
        goto(page, &site.url("/first")).await;
        eventually(async || {
            page.requests()
                .iter()
                .all(|request| request.outcome.is_some())
        })
        .await;
        let requests = page.requests();
        let answer: Vec<_> = requests
            .iter()
            .map(|request| {
                let status = request.response.as_ref().map(|response| response.status);
                (request.number, request.url.clone(), status)
            })
            .collect();
        assert_eq!(
            answer,
            [
                (1, site.url("/first"), Some(302)),
                (2, site.url("/second"), Some(307)),
                (3, site.url("/third"), Some(200)),
            ]
        );
        assert_eq!(requests[0].outcome, Some(RequestOutcome::Redirected));
        assert!(requests.iter().all(|request| request.is_navigation));
        let response = requests[0].response.as_ref().unwrap();
        assert_eq!(header(&response.headers, "set-cookie"), Some("hop=1"));
        assert_eq!(header(&response.headers, "location"), Some("/second"));
        // Headers belong to the hop with which they were sent.
        assert_eq!(header(&requests[0].headers, "cookie"), None);
        assert_eq!(header(&requests[1].headers, "cookie"), Some("hop=1"));
        assert_eq!(header(&requests[2].headers, "cookie"), Some("hop=1"));
        assert!(header(&requests[2].headers, "host").is_some());
        assert_eq!(page.request(2).unwrap().url, site.url("/second"));
    });
}

#[testkit::test(chromium, firefox)]
fn request_and_response_bodies_are_available(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let bytes: Vec<u8> = (0..=255).collect();
        stage.site.add(
            "/binary",
            Resource::new("application/octet-stream", bytes.clone()),
        );
        stage.show("/", "<p>the page</p>").await;
        eval(
            page,
            "fetch('/binary').then(r => r.arrayBuffer()).then(() => 1)",
        )
        .await;
        let request = ended(page, &stage.site.url("/binary")).await;
        assert_eq!(
            page.response_body(&soon(), &request.id).await.unwrap(),
            bytes
        );
        assert_eq!(page.request_body(&soon(), &request.id).await.unwrap(), None);
        assert_eq!(request.resource_type, "fetch");

        let document = ended(page, &stage.site.url("/")).await;
        assert_eq!(
            page.response_body(&soon(), &document.id).await.unwrap(),
            b"<p>the page</p>"
        );
        assert_eq!(document.resource_type, "document");

        eval(page, "fetch('/echo', { method: 'POST', body: '{\"a\":\"ä\"}', headers: { 'content-type': 'application/json' } }).then(r => r.text())").await;
        let request = ended(page, &stage.site.url("/echo")).await;
        assert!(request.has_body);
        assert_eq!(request.method, "POST");
        assert_eq!(
            page.request_body(&soon(), &request.id)
                .await
                .unwrap()
                .unwrap(),
            "{\"a\":\"ä\"}".as_bytes()
        );
        assert_eq!(
            header(&request.headers, "content-type"),
            Some("application/json")
        );

        eval(page, "fetch('/echo?binary', { method: 'POST', body: new Uint8Array([0, 255, 1, 254]) }).then(r => r.text())").await;
        let request = ended(page, &stage.site.url("/echo?binary")).await;
        assert_eq!(
            page.request_body(&soon(), &request.id)
                .await
                .unwrap()
                .unwrap(),
            [0, 255, 1, 254]
        );
    });
}

#[testkit::test(chromium, firefox)]
fn a_compressed_body_is_decoded(engine: Engine) {
    on_a_page(engine, async |stage| {
        // gzip of 'zipped zipped zipped'
        let zipped: &[u8] = &[
            0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xab, 0xca, 0x2c, 0x28,
            0x48, 0x4d, 0x51, 0xa8, 0x42, 0xa6, 0x00, 0x0a, 0x34, 0xfc, 0x2a, 0x14, 0x00, 0x00,
            0x00,
        ];
        stage.site.add(
            "/zipped",
            Resource::new("text/plain", zipped).header("content-encoding", "gzip"),
        );
        stage.show("/", "").await;
        let text = eval(&stage.page, "fetch('/zipped').then(r => r.text())").await;
        let request = ended(&stage.page, &stage.site.url("/zipped")).await;
        let body = stage
            .page
            .response_body(&soon(), &request.id)
            .await
            .unwrap();
        assert_eq!(text, "zipped zipped zipped");
        assert_eq!(String::from_utf8(body).unwrap(), "zipped zipped zipped");
    });
}

#[testkit::test(chromium, firefox)]
fn failed_requests_have_a_net_error(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage.show("/", "").await;
        eval(page, "fetch('http://127.0.0.1:1023/x').catch(() => 1)").await;
        let request = ended(page, "http://127.0.0.1:1023/x").await;
        assert_eq!(
            request.outcome,
            Some(RequestOutcome::Failed {
                reason: NetError::ConnectionRefused,
                cancelled: false
            })
        );
        eval(page, "() => { const c = new AbortController(); const p = fetch('/hang', { signal: c.signal }).catch(() => 1); setTimeout(() => c.abort(), 20); return p; }").await;
        let request = ended(page, &stage.site.url("/hang")).await;
        assert!(
            matches!(
                &request.outcome,
                Some(RequestOutcome::Failed {
                    reason: NetError::Aborted,
                    cancelled: true
                })
            ),
            "{request:?}"
        );
    });
}

#[testkit::test(chromium, firefox)]
fn favicon_requests_are_not_reported(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage
            .show(
                "/",
                "<link rel=icon href=/favicon.ico><img src=/status/200>",
            )
            .await;
        eventually(async || stage.page.requests().len() >= 2).await;
        assert!(
            stage
                .page
                .requests()
                .iter()
                .all(|request| !request.url.contains("favicon"))
        );
        assert_eq!(stage.page.requests()[1].resource_type, "image");
    });
}

#[testkit::test(chromium, firefox)]
fn a_cached_response_is_marked(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        stage.site.add(
            "/cached.js",
            Resource::new("text/javascript", "1").header("cache-control", "max-age=1000"),
        );
        for path in ["/one", "/two"] {
            stage.show(path, "<script src=/cached.js></script>").await;
        }
        let request = ended(page, &stage.site.url("/cached.js")).await;
        assert!(request.response.unwrap().from_cache);
        let sent = stage
            .site
            .requests()
            .iter()
            .filter(|sent| sent.target == "/cached.js")
            .count();
        assert_eq!(sent, 1);
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn frames_of_other_processes_have_requests_with_bodies(engine: Engine) {
    on_a_page(engine, async |stage| {
        let page = &stage.page;
        let there = format!("{}/inner", stage.site.cross_origin_url());
        stage.site.add_page(
            "/inner",
            "<p>inner</p><script>fetch('/echo').then(r => r.text())</script>",
        );
        stage
            .show("/", &format!("<iframe src='{there}'></iframe>"))
            .await;
        let frame = frame_at(page, &there).await;
        let echo = ended(page, &format!("{}/echo", stage.site.cross_origin_url())).await;
        assert_eq!(echo.frame.as_ref(), Some(&frame.id));
        let body = page.response_body(&soon(), &echo.id).await.unwrap();
        assert!(
            String::from_utf8(body)
                .unwrap()
                .contains("\"method\":\"GET\"")
        );
        let document = ended(page, &there).await;
        assert!(document.is_navigation);
        let body = page.response_body(&soon(), &document.id).await.unwrap();
        assert!(body.starts_with(b"<p>inner"));
        assert_eq!(document.response.unwrap().status, 200);
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn http_credentials_are_sent_on_request(engine: Engine) {
    let right = HttpCredentials {
        username: "user".to_owned(),
        password: "secret".to_owned(),
        origin: None,
    };
    let wrong = HttpCredentials {
        password: "guess".to_owned(),
        ..right.clone()
    };
    let other = HttpCredentials {
        origin: Some("http://elsewhere.example".to_owned()),
        ..right.clone()
    };
    for (credentials, status) in [(right, 200), (wrong, 401), (other, 401)] {
        let options = ContextOptions {
            http_credentials: Some(credentials),
            ..ContextOptions::default()
        };
        in_a_context(engine, options, async |stage| {
            let page = &stage.page;
            for _ in 0..2 {
                assert_eq!(answer(stage).await, status);
            }
            goto(page, &stage.site.url("/status/200")).await;
            let fetched = eval(page, "fetch('/auth/basic').then(r => r.status)").await;
            assert_eq!(fetched, status);
            // Other requests continue unchanged.
            assert_eq!(eval(page, "fetch('/echo', { method: 'POST', body: 'x' }).then(r => r.json()).then(j => j.body)").await, "x");
        });
    }
    on_a_page(engine, async |stage| assert_eq!(answer(stage).await, 401));
}

/// Returns the status of a page that requires authentication. A headed Chromium shows an error page instead of the 401 response.
async fn answer(stage: &Stage) -> u16 {
    let url = stage.site.url("/auth/basic");
    let page = &stage.page;
    match page.goto(&soon(), &url, LoadState::Loaded).await {
        Ok(_) => page.status().unwrap().0,
        Err(Error::NavigationFailed { reason, .. }) => {
            assert_eq!(reason, NetError::InvalidAuthCredentials);
            401
        }
        Err(error) => panic!("{error:?}"),
    }
}

#[testkit::test(chromium, firefox)]
fn a_route_applies_to_the_first_request_of_a_popup(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.show("/", "").await;
        let mock = Mock {
            status: 200,
            headers: vec![("content-type".into(), "text/html".into())],
            body: b"<title>Mocked</title>".to_vec(),
            delay: std::time::Duration::from_millis(1),
        };
        let rule = |url: &str, answer| Route {
            url: Some(UrlPattern::new(url).unwrap()),
            resource_type: None,
            answer,
            details: None,
        };
        let rules = vec![
            rule("**/mocked", RouteAnswer::Mock(mock.into())),
            rule(
                "**/blocked",
                RouteAnswer::Abort(engine::FailureReason::BlockedByClient),
            ),
        ];
        stage
            .context
            .set_routes(&soon(), rules.into())
            .await
            .unwrap();
        let popup = stage
            .popup(async {
                eval(&stage.page, "() => { window.open('/mocked') }").await;
            })
            .await;
        popup
            .settle_opened(std::time::Duration::from_secs(10))
            .await;
        assert_eq!(popup.title(&soon()).await.unwrap(), "Mocked");
        let came = "fetch('/blocked').then(() => true, () => false)";
        assert_eq!(eval(&popup, came).await, false);
        stage
            .context
            .set_routes(&soon(), engine::Routes::default())
            .await
            .unwrap();
        assert_eq!(eval(&popup, came).await, true);
        assert!(
            !stage
                .received_requests()
                .iter()
                .any(|request| request.target == "/mocked")
        );
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_cancelled_change_of_routes_leaves_no_request_paused(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage.show("/", "").await;
        let rule = Route {
            url: Some(UrlPattern::new("**/blocked").unwrap()),
            resource_type: None,
            answer: RouteAnswer::Abort(engine::FailureReason::BlockedByClient),
            details: None,
        };
        let came = |path: &str| format!("fetch('/{path}').then(() => true, () => false)");
        for polls in 1..8 {
            for rules in [vec![rule.clone()], Vec::new()] {
                let progress = soon();
                let change = stage.context.set_routes(&progress, rules.into());
                let mut change = Box::pin(change);
                for _ in 0..polls {
                    if futures_util::poll!(&mut change).is_ready() {
                        break;
                    }
                    tokio::task::yield_now().await;
                }
            }
            stage
                .context
                .set_routes(&soon(), vec![rule.clone()].into())
                .await
                .unwrap();
            assert_eq!(eval(&stage.page, &came("blocked")).await, false);
            stage
                .context
                .set_routes(&soon(), engine::Routes::default())
                .await
                .unwrap();
            assert_eq!(eval(&stage.page, &came("blocked")).await, true);
        }
    });
}
