//! MCP resources: sessions, pages, elements, screenshots, network logs, and artifacts. Reading waits for no turn and changes nothing.

use crate::config::Secrets;
use crate::error::Error;
use crate::files::artifacts::{Artifact, ScreenshotInfo};
use crate::files::resource_uri::{ResourceUri, brief};
use crate::sessions::session::{Session, TITLE_TIMEOUT, Tab};
use crate::sessions::{Visible, unix_ms};
use crate::tools;
use engine::{Page, Progress};
use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long an element is waited for.
const FIND_TIMEOUT: Duration = Duration::from_secs(5);

/// The largest file that is read into an answer, in bytes.
const MAX_FILE_BYTES: u64 = 32 * 1024 * 1024;

/// The interval between checks of a subscribed resource, because pages change in bursts.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

const JSON: &str = "application/json";

/// The resources of a caller.
pub(crate) struct Resources(Visible);

/// A resource in a list.
pub(crate) struct Resource {
    /// The URI.
    pub(crate) address: ResourceUri,
    /// The name.
    pub(crate) name: String,
    /// The MIME type.
    pub(crate) mime_type: String,
    /// The size in bytes, if known.
    pub(crate) size: Option<u64>,
    /// Further facts.
    pub(crate) metadata: Map<String, Value>,
}

/// The contents of a resource.
pub(crate) struct Contents {
    /// The MIME type.
    pub(crate) mime_type: String,
    /// Text, or bytes.
    pub(crate) body: Body,
    /// Further facts.
    pub(crate) metadata: Map<String, Value>,
}

/// Text or bytes.
pub(crate) enum Body {
    Text(String),
    Bytes(Vec<u8>),
}

/// Why a resource cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    /// The resource does not exist, or it belongs to another principal.
    #[error("Resource not found: {}. See resources/list.", brief(.0))]
    Unknown(String),
    /// The resource exists but cannot be read.
    #[error("{} cannot be read: {}", brief(.uri), brief(.reason))]
    Failed { uri: String, reason: String },
}

/// A session and its name.
type Named = (String, Arc<Session>);

impl Resources {
    pub(crate) fn new(sessions: Visible) -> Self {
        Self(sessions)
    }

    /// Returns all resources, sessions first, oldest first. Elements are not listed, because there are too many; a template describes their
    /// URIs.
    pub(crate) async fn list(&self) -> Vec<Resource> {
        let mut list = Vec::new();
        for (id, session) in self.sessions() {
            let first = list.len();
            list.push(Resource {
                address: ResourceUri::Session {
                    session: id.clone(),
                },
                name: format!("Session {id}"),
                mime_type: JSON.to_owned(),
                size: None,
                metadata: Map::new(),
            });
            let pages = tabs(&session).into_iter().map(|tab| async {
                let metadata = page(&tab).await;
                (tab, metadata)
            });
            for (tab, metadata) in join_all(pages).await {
                let named = |address, what: &str, metadata| Resource {
                    address,
                    name: format!("{what} {}", tab.page.url()),
                    mime_type: JSON.to_owned(),
                    size: None,
                    metadata,
                };
                let (session, page) = (id.clone(), tab.page.id().0.to_string());
                let address = ResourceUri::Page {
                    session: session.clone(),
                    page: page.clone(),
                };
                list.push(named(address, "Page", metadata));
                let address = ResourceUri::NetworkLog { session, page };
                let (_, metadata) = tools::network_log(&tab.page);
                list.push(named(address, "Network log of", metadata));
            }
            for artifact in artifacts(&session) {
                list.extend(listed(&id, &artifact).await);
            }
            let secrets = &session.settings().secrets;
            for resource in &mut list[first..] {
                resource.name = secrets.redacted(std::mem::take(&mut resource.name));
                redact(secrets, &mut resource.metadata);
            }
        }
        list
    }

    /// Reads a resource, with the same masking of secrets as answers of tools.
    pub(crate) async fn read(&self, address: &ResourceUri) -> Result<Contents, ReadError> {
        let session = self.session(address.session());
        let mut contents = self.contents(address).await?;
        if let Some(session) = session {
            let secrets = &session.settings().secrets;
            if let Body::Text(text) = &mut contents.body {
                *text = secrets.redacted(std::mem::take(text));
            }
            redact(secrets, &mut contents.metadata);
        }
        Ok(contents)
    }

    async fn contents(&self, address: &ResourceUri) -> Result<Contents, ReadError> {
        let unknown = || ReadError::Unknown(address.to_string());
        let failed = |reason: String| ReadError::Failed {
            uri: address.to_string(),
            reason,
        };
        let session = self.session(address.session()).ok_or_else(unknown)?;
        let tab = |id: &str| {
            let mut tabs = tabs(&session).into_iter();
            tabs.find(|tab| *tab.page.id().0 == *id).ok_or_else(unknown)
        };
        match address {
            ResourceUri::Session { session: id } => {
                let tabs = tabs(&session);
                let pages = join_all(tabs.iter().map(|tab| async {
                    let address = ResourceUri::Page {
                        session: id.clone(),
                        page: tab.page.id().0.to_string(),
                    };
                    let mut facts = page(tab).await;
                    facts.insert("uri".to_owned(), address.to_string().into());
                    facts
                }));
                let object = json!({ "sessionId": id, "pages": pages.await });
                Ok(Contents::json(&object, Map::new()))
            }
            ResourceUri::Page { page: id, .. } => {
                let facts = page(&*tab(id)?).await;
                Ok(Contents::json(&Value::Object(facts.clone()), facts))
            }
            ResourceUri::NetworkLog { page: id, .. } => {
                let (entries, metadata) = tools::network_log(&tab(id)?.page);
                Ok(Contents::json(&entries, metadata))
            }
            ResourceUri::Element {
                page: id, element, ..
            } => {
                let tab = tab(id)?;
                let facts = tools::element(&tab.page, element, &Progress::new(FIND_TIMEOUT)).await;
                let facts = facts.map_err(|error| match error {
                    Error::Engine(
                        engine::Error::ElementNotFound { .. } | engine::Error::StaleRef { .. },
                    ) => unknown(),
                    error => failed(error.to_string()),
                })?;
                let metadata = facts.as_object().cloned().unwrap_or_default();
                Ok(Contents::json(&facts, metadata))
            }
            ResourceUri::Screenshot { page, time, .. } => {
                let all = artifacts(&session);
                let artifact = all.iter().find(|artifact| artifact.shows(page, time));
                let artifact = artifact.ok_or_else(unknown)?;
                file(&session, artifact).await.map_err(failed)
            }
            ResourceUri::Artifact { number, .. } => {
                let all = artifacts(&session);
                let artifact = all.iter().find(|artifact| artifact.number == *number);
                let artifact = artifact.ok_or_else(unknown)?;
                if artifact.guarded && !self.0.has_sensitive_access() {
                    return Err(failed(
                        "what may hold a login needs the scope browser:admin".to_owned(),
                    ));
                }
                file(&session, artifact).await.map_err(failed)
            }
        }
    }

    /// Returns whether the caller has such a resource; for an element, whether its page is open.
    pub(crate) fn has(&self, address: &ResourceUri) -> bool {
        let Some(session) = self.session(address.session()) else {
            return false;
        };
        match address {
            ResourceUri::Session { .. } => true,
            ResourceUri::Page { .. }
            | ResourceUri::Element { .. }
            | ResourceUri::NetworkLog { .. } => self.page(address).is_some(),
            ResourceUri::Screenshot { page, time, .. } => artifacts(&session)
                .iter()
                .any(|artifact| artifact.shows(page, time)),
            ResourceUri::Artifact { number, .. } => artifacts(&session)
                .iter()
                .any(|artifact| artifact.number == *number),
        }
    }

    /// Returns a number that changes with the list, without a command to any page.
    pub(crate) fn list_mark(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (id, session) in self.sessions() {
            id.hash(&mut hasher);
            for tab in tabs(&session) {
                tab.page.id().0.hash(&mut hasher);
            }
            for artifact in artifacts(&session) {
                artifact.number.hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    /// Watches a resource for changes from now on.
    pub(crate) fn watch(&self, address: ResourceUri) -> Watch<'_> {
        Watch {
            known: self.mark(&address),
            resources: self,
            address,
        }
    }

    /// Returns a number that changes with the resource, without a command to any page.
    fn mark(&self, address: &ResourceUri) -> u64 {
        let mut hasher = DefaultHasher::new();
        let session = self.session(address.session());
        let tabs = session.as_ref().map(tabs);
        let pages = tabs.iter().flatten();
        match address {
            ResourceUri::Session { .. } => pages.for_each(|tab| {
                (tab.page.id().0.to_string(), tab.page.url()).hash(&mut hasher);
            }),
            ResourceUri::Page { page, .. } | ResourceUri::Element { page, .. } => {
                for tab in pages.filter(|tab| *tab.page.id().0 == **page) {
                    let main = tab.page.frames().into_iter().next();
                    let main = main.map(|frame| (frame.url, frame.document, frame.loaded));
                    (tab.page.status(), tab.page.is_crashed(), main).hash(&mut hasher);
                    tab.page.is_closed().hash(&mut hasher);
                }
            }
            ResourceUri::NetworkLog { page, .. } => {
                for tab in pages.filter(|tab| *tab.page.id().0 == **page) {
                    let requests = tab.page.requests();
                    let over = requests.iter().filter(|request| request.outcome.is_some());
                    (requests.len(), over.count()).hash(&mut hasher);
                }
            }
            // Written files do not change.
            ResourceUri::Screenshot { .. } | ResourceUri::Artifact { .. } => {}
        }
        hasher.finish()
    }

    /// Returns the page of the resource, while it is open.
    fn page(&self, address: &ResourceUri) -> Option<Page> {
        let (ResourceUri::Page { page, .. }
        | ResourceUri::Element { page, .. }
        | ResourceUri::NetworkLog { page, .. }) = address
        else {
            return None;
        };
        let tabs = tabs(&self.session(address.session())?);
        let tab = tabs.iter().find(|tab| *tab.page.id().0 == **page)?;
        Some(tab.page.clone())
    }

    /// Returns the URL of the page of a resource, while it is open.
    pub(crate) fn page_url(&self, address: &ResourceUri) -> Option<String> {
        Some(self.page(address)?.url())
    }

    /// Returns the ids of pages, for completions.
    pub(crate) fn page_ids(&self, session: Option<&str>) -> Vec<String> {
        let sessions = self.sessions().into_iter();
        let wanted = sessions.filter(|(id, _)| session.is_none_or(|wanted| wanted == id));
        wanted
            .flat_map(|(_, session)| tabs(&session))
            .map(|tab| tab.page.id().0.to_string())
            .collect()
    }

    /// Returns the ids of sessions, for completions.
    pub(crate) fn session_ids(&self) -> Vec<String> {
        self.sessions().into_iter().map(|(id, _)| id).collect()
    }

    fn sessions(&self) -> Vec<Named> {
        let default = self.0.shared_default().into_iter();
        let created = self.0.list();
        let created = created.iter().map(|created| created.session.clone());
        default
            .chain(created)
            .map(|session| (session.id().to_owned(), session))
            .collect()
    }

    fn session(&self, id: &str) -> Option<Arc<Session>> {
        let mut sessions = self.sessions().into_iter();
        sessions
            .find(|(known, _)| known == id)
            .map(|(_, session)| session)
    }
}

/// Detects changes of a resource.
pub(crate) struct Watch<'a> {
    resources: &'a Resources,
    address: ResourceUri,
    known: u64,
}

impl Watch<'_> {
    /// Resolves when the resource has changed.
    pub(crate) async fn changed(&mut self) {
        loop {
            // Subscribed before the check, so that no change is missed.
            let changes = self
                .resources
                .page(&self.address)
                .map(|page| page.changes());
            let now = self.resources.mark(&self.address);
            if now != self.known {
                self.known = now;
                return;
            }
            if let Some(mut changes) = changes {
                // The end of a page is a change.
                let _ = changes.changed().await;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

impl Contents {
    fn json(value: &Value, metadata: Map<String, Value>) -> Self {
        Self {
            mime_type: JSON.to_owned(),
            body: Body::Text(value.to_string()),
            metadata,
        }
    }
}

/// Returns the tabs of a session, including those of its named contexts.
fn tabs(session: &Arc<Session>) -> Vec<Arc<Tab>> {
    let (named, _) = session.named_contexts();
    let parts = named.into_iter().map(|(_, part)| part);
    std::iter::once(session.clone())
        .chain(parts)
        .filter_map(|part| part.open_tabs())
        .flat_map(|tabs| tabs.all())
        .collect()
}

/// Masks secrets in the facts of a resource.
fn redact(secrets: &Secrets, metadata: &mut Map<String, Value>) {
    let known = std::mem::take(metadata).into_iter();
    *metadata = known
        .map(|(name, value)| (name, secrets.redacted_json(value)))
        .collect();
}

fn artifacts(session: &Session) -> Vec<Artifact> {
    let known = session.known_output();
    known.map_or_else(Vec::new, |output| output.artifacts().all())
}

async fn page(tab: &Tab) -> Map<String, Value> {
    let facts = tab.facts(&Progress::new(TITLE_TIMEOUT)).await;
    let viewport = tab.page.viewport().map(|viewport| viewport.size);
    let object = json!({
        "url": facts.url,
        "title": facts.title,
        "viewport": viewport.map(|size| json!({ "width": size.width, "height": size.height })),
        "createdAt": unix_ms(tab.opened),
    });
    match object {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Returns the list entry of a file, unless it was removed.
async fn listed(session: &str, artifact: &Artifact) -> Option<Resource> {
    let size = tokio::fs::metadata(&artifact.path).await.ok()?.len();
    let name = artifact.path.file_name()?.to_string_lossy().into_owned();
    let (address, metadata) = match &artifact.picture {
        Some(picture) => (picture.address(session), screenshot_facts(picture)),
        None => (
            ResourceUri::Artifact {
                session: session.to_owned(),
                number: artifact.number,
                name: name.clone(),
            },
            Map::new(),
        ),
    };
    Some(Resource {
        address,
        name,
        mime_type: mime_type(&artifact.path).to_owned(),
        size: Some(size),
        metadata,
    })
}

fn screenshot_facts(picture: &ScreenshotInfo) -> Map<String, Value> {
    Map::from_iter([
        ("width".to_owned(), picture.width.into()),
        ("height".to_owned(), picture.height.into()),
        ("fullPage".to_owned(), picture.full_page.into()),
        ("capturedAt".to_owned(), unix_ms(picture.at).into()),
    ])
}

async fn file(session: &Session, artifact: &Artifact) -> Result<Contents, String> {
    let gone = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => "the file does not exist any more".to_owned(),
        _ => error.to_string(),
    };
    let size = tokio::fs::metadata(&artifact.path)
        .await
        .map_err(gone)?
        .len();
    if size > MAX_FILE_BYTES {
        return Err(format!(
            "it has {size} bytes; at most {MAX_FILE_BYTES} fit an answer"
        ));
    }
    let output = session
        .known_output()
        .ok_or("the file does not exist any more")?;
    let bytes = output.read(&artifact.path).await;
    let bytes = bytes.map_err(|error| error.to_string())?;
    let mime_type = mime_type(&artifact.path);
    let is_text = mime_type.starts_with("text/") || mime_type == JSON;
    let body = match String::from_utf8(bytes) {
        Ok(text) if is_text => Body::Text(text),
        Ok(text) => Body::Bytes(text.into_bytes()),
        Err(error) => Body::Bytes(error.into_bytes()),
    };
    Ok(Contents {
        mime_type: mime_type.to_owned(),
        body,
        metadata: artifact
            .picture
            .as_ref()
            .map(screenshot_facts)
            .unwrap_or_default(),
    })
}

/// Returns the MIME type by the file extension.
fn mime_type(path: &Path) -> &'static str {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    match &*extension.to_ascii_lowercase() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        "json" => JSON,
        "yml" | "yaml" => "text/yaml",
        "html" | "htm" => "text/html",
        "csv" => "text/csv",
        "md" => "text/markdown",
        "txt" | "log" => "text/plain",
        "zip" => "application/zip",
        "webm" => "video/webm",
        _ => "application/octet-stream",
    }
}
