//! Fields that a user fills in on a page of the server: the request, and the typed text until it is in the field. The client does not
//! receive the text.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use uuid::Uuid;

/// How long the user may take to type the value.
const HANDOVER_TIMEOUT: Duration = Duration::from_secs(600);

/// The largest number of open handovers; the oldest one is closed for a new one.
const MAX_OPEN: usize = 64;

/// The path below which each handover has its page.
pub(crate) const PATH: &str = "/handover";

/// The request to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HandoverRequest {
    /// The text of the agent.
    pub(crate) request: String,
    /// The site that receives the text, which the user can judge.
    pub(crate) site: String,
    /// The session, the page and the field.
    pub(crate) field: [String; 3],
}

/// A field that waits for the user.
pub(crate) struct Handover {
    /// The identifier, which also authorizes access to the page.
    id: Uuid,
    /// The request to the user.
    pub(crate) wanted: HandoverRequest,
    began: Instant,
    typed: watch::Sender<Option<String>>,
}

/// The handovers of a server.
pub(crate) struct Handovers {
    open: Mutex<Vec<Arc<Handover>>>,
    /// The addresses of the server, the preferred one first; empty until it listens.
    addresses: watch::Sender<Vec<String>>,
    needed: Notify,
}

impl Default for Handovers {
    fn default() -> Self {
        Self {
            open: Mutex::default(),
            addresses: watch::Sender::default(),
            needed: Notify::new(),
        }
    }
}

impl Handover {
    /// Stores the typed text; returns `false` if a text was submitted before.
    pub(crate) fn submit(&self, text: String) -> bool {
        self.typed.send_if_modified(|typed| match typed.is_none() {
            true => {
                *typed = Some(text);
                true
            }
            false => false,
        })
    }

    /// Returns whether a text was submitted.
    pub(crate) fn is_done(&self) -> bool {
        self.typed.borrow().is_some()
    }

    /// Waits for the typed text and returns it.
    pub(crate) async fn typed(&self) -> String {
        let mut typed = self.typed.subscribe();
        // The sender is a field of `self`, so the channel is open.
        let text = typed.wait_for(Option::is_some).await;
        text.ok().and_then(|text| text.clone()).unwrap_or_default()
    }
}

impl Handovers {
    /// Opens a handover; `true` if the same one is open already.
    pub(crate) fn open(&self, wanted: HandoverRequest) -> (Arc<Handover>, bool) {
        let mut open = self.all();
        let known = open.iter().find(|one| one.wanted == wanted);
        if let Some(known) = known {
            return (known.clone(), true);
        }
        if open.len() >= MAX_OPEN {
            open.remove(0);
        }
        let handover = Arc::new(Handover {
            id: Uuid::new_v4(),
            wanted,
            began: Instant::now(),
            typed: watch::Sender::default(),
        });
        open.push(handover.clone());
        (handover, false)
    }

    /// Returns the handover with that id.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<Handover>> {
        let id = Uuid::parse_str(id).ok()?;
        self.all().iter().find(|one| one.id == id).cloned()
    }

    /// Closes a handover.
    pub(crate) fn close(&self, handover: &Handover) {
        self.all().retain(|one| one.id != handover.id);
    }

    /// Returns the URL of the handover's page, for a client that reaches the server by the name `host`.
    pub(crate) async fn url(&self, handover: &Handover, host: Option<&str>) -> String {
        self.needed.notify_one();
        let mut addresses = self.addresses.subscribe();
        // The sender is a field of `self`, so the channel is open.
        let known = addresses.wait_for(|known| !known.is_empty()).await;
        let known = known.map(|known| known.clone()).unwrap_or_default();
        let base = base(&known, host);
        format!("{base}{PATH}/{}", handover.id)
    }

    /// Sets the addresses on which the server listens, such as `http://localhost:8931`.
    pub(crate) fn set_addresses(&self, addresses: Vec<String>) {
        self.addresses.send_replace(addresses);
    }

    /// Resolves when a handover needs an address.
    pub(crate) async fn needed(&self) {
        self.needed.notified().await;
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Handover>>> {
        let mut all = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.began.elapsed() < HANDOVER_TIMEOUT);
        all
    }
}

/// Returns the address with this host name. Another name is that of a proxy with TLS, because keys must not cross a network unencrypted.
fn base(addresses: &[String], host: Option<&str>) -> String {
    let own = |host: &str| {
        let authority =
            |address: &&String| address.split_once("://").map(|(_, name)| name) == Some(host);
        addresses.iter().find(authority).cloned()
    };
    match host {
        Some(host) => own(host).unwrap_or_else(|| format!("https://{host}")),
        None => addresses.first().cloned().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(field: &str) -> HandoverRequest {
        HandoverRequest {
            request: "Type the code".to_owned(),
            site: "https://bank.example".to_owned(),
            field: ["default", "page", field].map(str::to_owned),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_text_is_taken_once_and_not_for_ever() {
        let handovers = Handovers::default();
        let (first, again) = handovers.open(wanted("#code"));
        assert!(!again && handovers.open(wanted("#code")).1);
        assert!(!handovers.open(wanted("#other")).1);
        assert!(first.submit("123456".to_owned()) && !first.submit("654321".to_owned()));
        assert_eq!(first.typed().await, "123456");
        let id = first.id.to_string();
        assert!(handovers.find(&id).is_some());
        tokio::time::advance(HANDOVER_TIMEOUT).await;
        assert!(handovers.find(&id).is_none());
    }

    #[tokio::test]
    async fn a_page_is_where_its_client_finds_us() {
        let handovers = Handovers::default();
        let (one, _) = handovers.open(wanted("#code"));
        handovers.set_addresses(
            ["http://localhost:8931", "http://127.0.0.1:8931"]
                .map(str::to_owned)
                .to_vec(),
        );
        for (host, base) in [
            (None, "http://localhost:8931"),
            (Some("127.0.0.1:8931"), "http://127.0.0.1:8931"),
            (Some("tools.example.com"), "https://tools.example.com"),
        ] {
            let url = handovers.url(&one, host).await;
            assert_eq!(url, format!("{base}{PATH}/{}", one.id));
        }
    }
}
