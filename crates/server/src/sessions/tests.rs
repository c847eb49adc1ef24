//! Limits and expiry of sessions.

use super::*;
use crate::error::Error;
use proptest::prelude::*;

const LIFETIME: Duration = Duration::from_secs(60);

fn sessions(flags: &[&str]) -> Arc<Sessions> {
    let settings = Arc::new(Settings::of_flags(flags));
    let browsers = Arc::new(Browsers::new(settings.clone()));
    let dev_servers = Arc::new(DevServers::new(&settings.dev_servers));
    Arc::new(Sessions::new(settings, browsers, dev_servers, Vec::new))
}

/// Creates another session, which never needed a browser.
fn one_more(sessions: &Arc<Sessions>) -> Result<Arc<Created>> {
    let (settings, browsers) = (sessions.settings.clone(), sessions.browsers.clone());
    let owner = Principal::anonymous();
    let place = Slot::take(sessions, "create_session", &owner, None)?;
    let session = Arc::new(Session::new(settings, browsers, Vec::new));
    let origin = Origin {
        kind: Kind::Created,
        owner,
        default_session: Weak::new(),
        name: None,
    };
    let created = sessions.add(Uuid::new_v4(), session, origin, LIFETIME, None);
    drop(place);
    Ok(created)
}

fn begun() -> (Arc<Sessions>, Arc<Created>) {
    let sessions = sessions(&["--headless"]);
    let created = one_more(&sessions).unwrap();
    (sessions, created)
}

fn seen(sessions: &Arc<Sessions>) -> Visible {
    Visible::new(sessions.clone(), sessions.caller(Principal::anonymous()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Property 10 of S1.
    #[test]
    fn the_session_limit_is_never_exceeded(most in 1_usize..60, ends in 1_usize..60) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _guard = runtime.enter();
        let most_flag = most.to_string();
        let sessions = sessions(&["--headless", "--max-sessions", &most_flag]);
        for _ in 0..most {
            prop_assert!(one_more(&sessions).is_ok());
        }
        let refused = |sessions| {
            let refused = one_more(sessions).map(|created| created.id);
            matches!(refused, Err(Error::MaxSessionsReached { max_sessions }) if max_sessions == most)
        };
        prop_assert!(refused(&sessions));
        // Expired sessions make room for as many new ones.
        let ends = ends.min(most);
        sessions.table().live.truncate(most - ends);
        for _ in 0..ends {
            prop_assert!(one_more(&sessions).is_ok());
        }
        prop_assert!(refused(&sessions));
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_does_not_expire_during_a_call() {
    let (sessions, created) = begun();
    let sessions = seen(&sessions);
    let id = created.id.to_string();
    let call = sessions.select(Some(&id)).unwrap();
    tokio::time::advance(LIFETIME * 2).await;
    assert_eq!(sessions.list().len(), 1);
    assert!(sessions.select(Some(&id)).is_ok());
    drop(call);
    tokio::time::advance(LIFETIME).await;
    assert_eq!(sessions.list().len(), 0);
    let late = sessions.select(Some(&id));
    assert!(matches!(late, Err(Error::SessionExpired { .. })));
}

#[tokio::test(start_paused = true)]
async fn no_task_waits_for_the_expiry_of_a_closed_session() {
    let tasks = || {
        tokio::runtime::Handle::current()
            .metrics()
            .num_alive_tasks()
    };
    let before = tasks();
    let (sessions, created) = begun();
    assert_eq!(tasks(), before + 1);
    sessions.table().live.clear();
    drop(created);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(tasks(), before);
}

#[tokio::test(start_paused = true)]
async fn a_default_session_expires_when_its_client_has_gone_and_not_before() {
    let (sessions, _created) = begun();
    let caller = sessions.connected_caller(Principal::anonymous(), Arc::default());
    let client = Visible::new(sessions.clone(), caller);
    let others = seen(&sessions);
    drop(client.select(None).unwrap());
    let id = |sessions: &Visible| {
        let list = sessions.list();
        let default = list.iter().find(|created| created.kind == Kind::Default);
        default.map(|created| created.id.to_string())
    };
    let reported = id(&others).unwrap();
    tokio::time::advance(LIFETIME * 100).await;
    assert_eq!(id(&others), Some(reported.clone()));
    drop(client);
    // A client that knows the id can use the session until it expires.
    assert!(others.select(Some(&reported)).is_ok());
    tokio::time::advance(LIFETIME * 100).await;
    let late = others.select(Some(&reported));
    assert!(matches!(late, Err(Error::SessionExpired { .. })));
}

#[tokio::test(start_paused = true)]
async fn sessions_of_others_do_not_exist() {
    let (sessions, created) = begun();
    let stranger = sessions.caller(Principal::named("stranger"));
    let stranger = Visible::new(sessions, stranger);
    let id = created.id.to_string();
    let found = stranger.select(Some(&id));
    assert!(matches!(found, Err(Error::SessionNotFound { .. })));
    assert!(stranger.list().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_fixed_expiry_is_not_extended_by_overlapping_calls() {
    let sessions = sessions(&["--headless", "--session-expiry=fixed"]);
    let created = one_more(&sessions).unwrap();
    let sessions = seen(&sessions);
    let id = created.id.to_string();
    let under_way = sessions.select(Some(&id)).unwrap();
    tokio::time::advance(LIFETIME * 2).await;
    let late = sessions.select(Some(&id));
    assert!(matches!(late, Err(Error::SessionExpired { .. })));
    drop(under_way);
}

#[tokio::test(start_paused = true)]
async fn reconnecting_clients_do_not_exceed_the_session_limit() {
    let sessions = sessions(&["--headless", "--max-sessions=3", "--session-timeout=0"]);
    for _ in 0..20 {
        let caller = sessions.connected_caller(Principal::anonymous(), Arc::default());
        drop(Visible::new(sessions.clone(), caller).default_session());
        tokio::task::yield_now().await;
    }
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(
        sessions.table().live.len() <= 4,
        "{}",
        sessions.table().live.len()
    );
}

#[tokio::test(start_paused = true)]
async fn a_session_that_a_user_has_taken_over_does_not_expire() {
    let (sessions, created) = begun();
    let owner = Principal::anonymous();
    let owned = sessions.owned(&owner, &created.id.to_string()).unwrap();
    let in_use = owned.keep();
    tokio::time::advance(LIFETIME * 2).await;
    assert_eq!(sessions.list(&owner).len(), 1);
    drop(in_use);
    tokio::time::advance(LIFETIME).await;
    assert_eq!(sessions.list(&owner).len(), 0);
}
