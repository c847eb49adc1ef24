//! Who sees and uses what at the dashboard.

use super::{FIELD, click, contains_text, cookie, open_dashboard, send, socket_of};
use crate::key_server::KeyServer;
use crate::{evaluated, launch};
use serde_json::json;
use testkit::{Site, WebSocketClient, eventually};

#[testkit::test(chromium)]
async fn a_principal_sees_its_own_sessions_only() {
    let keys = "ada adakey\nbob bobkey\neve evekey browser:read\n";
    let server = KeyServer::start(launch(&[]), keys).await;
    let (host, origin) = (server.http.authority(), server.http.url());
    let own = [("host", host), ("origin", origin)];
    let foreign = [("host", host), ("origin", "http://localhost:1")];
    let page = send(host, "GET", "/dashboard", &[("host", host)], "").await;
    let to = page.header("location").to_owned();
    assert_eq!((page.status, &*to), (303, "/dashboard/login"), "{page:?}");
    let page = send(host, "GET", &to, &[("host", host)], "").await;
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'"), "{page:?}");
    assert!(page.body.contains("API key"), "{page:?}");
    let elsewhere = send(host, "GET", "/dashboard", &[("host", "evil.example")], "").await;
    assert_eq!(elsewhere.status, 403, "{elsewhere:?}");
    let wrong = send(host, "POST", "/dashboard/login", &own, "key=guess").await;
    assert_eq!(
        (wrong.status, wrong.header("set-cookie")),
        (403, ""),
        "{wrong:?}"
    );
    for headers in [&foreign[..], &[("host", host)]] {
        let cross = send(host, "POST", "/dashboard/login", headers, "key=adakey").await;
        assert_eq!(
            (cross.status, cross.header("set-cookie")),
            (403, ""),
            "{cross:?}"
        );
    }
    let mut logins = Vec::new();
    for name in ["ada", "bob", "eve"] {
        let login = send(
            host,
            "POST",
            "/dashboard/login",
            &own,
            &format!("key={name}key"),
        )
        .await;
        assert_eq!(login.status, 303, "{login:?}");
        logins.push((cookie(&login), socket_of(origin, &login)));
    }
    let connect = async |(cookie, socket): &(String, String), origin: &str| {
        let headers = [("cookie", cookie.as_str()), ("origin", origin)];
        WebSocketClient::try_connect(socket, "", &headers).await
    };
    // Neither the cookie nor what the page has suffices, and each login has its own.
    let (first, second) = (&logins[0], &logins[1]);
    let alone = first.1.split('?').next().expect("a URL").to_owned();
    for incomplete in [
        (String::new(), first.1.clone()),
        (first.0.clone(), alone),
        (first.0.clone(), second.1.clone()),
    ] {
        assert_eq!(connect(&incomplete, origin).await.err(), Some(401));
    }
    let seen = [("host", host), ("cookie", &*first.0)];
    let page = send(host, "GET", "/dashboard", &seen, "").await;
    let (_, token) = first.1.split_once("page=").expect("a token");
    assert!(page.status == 200 && !page.body.contains(token), "{page:?}");
    assert_eq!(
        connect(&logins[0], "http://localhost:1").await.err(),
        Some(403)
    );
    let created = server.success("ada", "create_session", json!({ "name": "mine" }));
    let created = created.await;
    let id = &created["structuredContent"]["sessionId"];
    let id = id
        .as_str()
        .unwrap_or_else(|| panic!("{created}"))
        .to_owned();
    let mut ada = connect(&logins[0], origin)
        .await
        .unwrap_or_else(|status| panic!("{status}"));
    let seen = ada.next().await.expect("a message");
    assert_eq!(seen["sessions"][0]["id"], *id, "{seen}");
    let show = json!({ "do": "show", "session": id }).to_string();
    let mut bob = connect(&logins[1], origin)
        .await
        .unwrap_or_else(|status| panic!("{status}"));
    assert_eq!(bob.next().await.expect("a message")["sessions"], json!([]));
    bob.text(&show).await;
    let denied = bob.next().await.expect("a message");
    assert!(
        denied["error"].to_string().contains("not found"),
        "{denied}"
    );
    // What another principal cannot see, it cannot use.
    for action in ["takeOver", "close", "cancelFileChooser"] {
        bob.text(&json!({ "do": action }).to_string()).await;
        let denied = bob.next().await.expect("a message");
        assert!(
            denied["error"].to_string().contains("not found"),
            "{denied}"
        );
    }
    // A key that may only read watches only.
    server.success("eve", "browser_snapshot", json!({})).await;
    let mut eve = connect(&logins[2], origin)
        .await
        .unwrap_or_else(|status| panic!("{status}"));
    let seen = eve.next().await.expect("a message");
    let show = json!({ "do": "show", "session": seen["sessions"][0]["id"] });
    eve.text(&show.to_string()).await;
    eve.text(&json!({ "do": "takeOver" }).to_string()).await;
    let denied = eventually(async || {
        let message = eve.next().await.expect("a message");
        message["error"].as_str().map(str::to_owned)
    })
    .await;
    assert!(denied.contains("browser:act"), "{denied}");
    // The login ends with the cookie.
    let headers = [own[0], own[1], ("cookie", &*logins[1].0)];
    let logout = send(host, "POST", "/dashboard/logout", &headers, "").await;
    assert_eq!(logout.status, 303, "{logout:?}");
    eventually(async || match bob.next().await {
        Err(_) => Ok(()),
        Ok(message) => Err(message.to_string()),
    })
    .await;
    assert_eq!(connect(&logins[1], origin).await.err(), Some(401));
}

#[testkit::test(chromium)]
async fn the_policy_judges_the_page_that_the_user_uses() {
    let site = Site::start().await;
    site.add_page("/there", FIELD);
    let there = site.cross_origin_url() + "/there";
    let link = format!("<a href='{there}' style='position: fixed; inset: 0'>there</a>");
    let here = site.add_page("/here", &link);
    let folder = tempfile::tempdir().expect("a folder");
    let policy = folder.path().join("policy.json");
    let rule =
        json!({ "tools": ["dashboard"], "origins": ["http://localhost:*"], "action": "deny" });
    let rules = json!({ "default": "allow", "rules": [rule] }).to_string();
    std::fs::write(&policy, rules).expect("writable");
    let agent = launch(&["--dashboard"])
        .args(["--policy".into(), policy.into_os_string()])
        .start()
        .await;
    agent.success("navigate", json!({ "url": here })).await;
    let user = open_dashboard(&agent).await;
    contains_text(&user, "#url", "/here").await;
    click(&user, "#take-over").await;
    contains_text(&user, "#control", "You have control").await;
    // The user may click the link, and may not use the page that it leads to.
    click(&user, "#screen").await;
    contains_text(&user, "#url", "/there").await;
    click(&user, "#screen").await;
    contains_text(&user, "#error", "is denied by rule 1 (line 1)").await;
    // The control does not end.
    let function = "() => document.querySelector('#hand-back').hidden";
    assert_eq!(evaluated(&user, function).await, "false");
    let snapshot = agent.call("browser_snapshot", json!({})).await;
    assert!(
        snapshot.text.contains("textbox") && !snapshot.text.contains("[active]"),
        "{}",
        snapshot.text
    );
}
