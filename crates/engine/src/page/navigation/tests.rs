use super::*;
use crate::backend::{PageEvent, RequestEvent};
use crate::page::fake::Fake;
use serde_json::Value;

fn started(loader: &str) -> PageEvent {
    PageEvent::NavigationStarted {
        frame: "main".into(),
        loader: Some(loader.into()),
        url: format!("http://{loader}/"),
    }
}

fn ended(loader: &str, reason: NetError) -> PageEvent {
    PageEvent::NavigationAborted {
        frame: "main".into(),
        loader: Some(loader.into()),
        reason: Some(reason),
    }
}

fn committed(loader: &str, failed: Option<String>) -> PageEvent {
    PageEvent::NavigationCommitted {
        frame: "main".into(),
        loader: loader.into(),
        url: format!("http://{loader}/"),
        name: String::new(),
        failed,
    }
}

fn loaded(loader: &str) -> PageEvent {
    PageEvent::Load {
        frame: "main".into(),
        loader: loader.into(),
    }
}

/// Returns the result of a navigation to the document `asked` when all these events arrive at once.
async fn going(events: Vec<PageEvent>) -> Result<NavigationOutcome> {
    going_until(LoadState::Loaded, events).await
}

async fn going_until(until: LoadState, events: Vec<PageEvent>) -> Result<NavigationOutcome> {
    let fake = Fake::answering(|_, _| Value::Null);
    let progress = Progress::new(Duration::from_secs(5));
    let going = fake.page.goto(&progress, "http://asked/", until);
    let telling = async {
        for event in events {
            fake.report(event);
        }
    };
    tokio::join!(going, telling).0
}

#[tokio::test(start_paused = true)]
async fn the_network_is_idle_when_no_request_is_under_way() {
    let request = PageEvent::Request(RequestEvent::Started {
        id: "1".into(),
        frame: Some("main".into()),
        loader: Some("asked".into()),
        url: "http://asked/data".to_owned(),
        method: "GET".to_owned(),
        resource_type: "fetch".to_owned(),
        headers: vec![],
        has_body: false,
        body: None,
        is_navigation: false,
        at: 1.0,
    });
    let finished = PageEvent::Request(RequestEvent::Finished {
        id: "1".into(),
        size: 3,
        at: 1.5,
    });
    let mut events = vec![
        started("asked"),
        committed("asked", None),
        loaded("asked"),
        request,
    ];
    let loaded = going_until(LoadState::Loaded, events.clone()).await;
    assert_eq!(loaded.unwrap(), NavigationOutcome::Shown);
    let busy = going_until(LoadState::NetworkIdle, events.clone()).await;
    assert!(matches!(busy, Err(Error::Timeout { .. })), "{busy:?}");
    events.push(finished);
    let idle = going_until(LoadState::NetworkIdle, events).await;
    assert_eq!(idle.unwrap(), NavigationOutcome::Shown);
}

#[tokio::test(start_paused = true)]
async fn a_navigation_that_another_one_replaces_is_not_waited_for() {
    let gone = going(vec![
        started("asked"),
        ended("asked", NetError::Aborted),
        started("other"),
    ]);
    let gone = gone.await.unwrap_err();
    assert_eq!(gone.to_string(), "net::ERR_ABORTED at http://asked/");
}

#[tokio::test(start_paused = true)]
async fn a_document_that_leads_to_an_error_page_fails() {
    let moves = || vec![started("asked"), committed("asked", None), started("dead")];
    let refused = ended("dead", NetError::ConnectionRefused);
    let shown = committed("dead", Some("http://dead/".to_owned()));
    for last in [
        vec![refused.clone(), shown.clone(), loaded("dead")],
        // The reason is reported late, or there is no error page.
        vec![shown, loaded("dead"), refused.clone()],
        vec![refused],
    ] {
        let gone = going([moves(), last].concat()).await.unwrap_err();
        assert_eq!(
            gone.to_string(),
            "net::ERR_CONNECTION_REFUSED at http://dead/"
        );
    }
}
