//! `resources/list`, `resources/templates/list`, `resources/read`, and notifications of changes.

use crate::files::resource_uri::{ResourceUri, TEMPLATES, brief};
use crate::server::resources::{Body, Contents, ReadError, Resource, Resources};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::RoleServer;
use rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, ListResourceTemplatesResult,
    ListResourcesResult, MetaObject, ReadResourceResult, ResourceContents, ResourceTemplate,
    ResourceUpdatedNotificationParam, ResourcesCapability, ServerCapabilities,
};
use rmcp::service::{Peer, SubscriptionContext};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;
use task::Task;

/// The methods of this module.
pub(super) const METHODS: &[&str] = &[
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// The page size of lists.
const PAGE: usize = 100;

/// The largest number of subscriptions of a connection.
const SUBSCRIPTIONS: usize = 100;

/// The interval between checks of the list for a client that has read it.
pub(super) const LIST_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Declares the capabilities of resources, subscriptions and list changes.
pub(super) fn enable(capabilities: &mut ServerCapabilities) {
    let mut resources = ResourcesCapability::default();
    resources.subscribe = Some(true);
    resources.list_changed = Some(true);
    capabilities.resources = Some(resources);
}

/// Returns a page of the list; a cursor is the number of the entries before it.
pub(super) async fn list(
    resources: &Resources,
    cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    let first: usize = match &cursor {
        None => 0,
        Some(cursor) => cursor.parse().map_err(|_| invalid_cursor(cursor))?,
    };
    let all = resources.list().await;
    let next = first.saturating_add(PAGE);
    let more = next < all.len();
    let shown = all.into_iter().skip(first).take(PAGE).map(described);
    let mut list = ListResourcesResult::with_all_items(shown.collect());
    list.next_cursor = more.then(|| next.to_string());
    Ok(list)
}

/// Returns the error for an invalid cursor.
pub(super) fn invalid_cursor(cursor: &str) -> ErrorData {
    ErrorData::invalid_params(format!("Invalid cursor: {}", brief(cursor)), None)
}

pub(super) fn templates() -> ListResourceTemplatesResult {
    let templates = TEMPLATES
        .iter()
        .map(|(name, template, description, mime_type)| {
            let mut shown = ResourceTemplate::new(*template, *name).with_description(*description);
            shown.mime_type = mime_type.map(str::to_owned);
            shown
        });
    ListResourceTemplatesResult::with_all_items(templates.collect())
}

pub(super) async fn read(
    resources: &Resources,
    uri: &str,
    modern: bool,
) -> Result<ReadResourceResult, ErrorData> {
    let address = address(uri, modern)?;
    let contents = resources.read(&address).await;
    let contents = contents.map_err(|error| refused(uri, &error, modern))?;
    Ok(ReadResourceResult::new(vec![shown(uri, contents)]))
}

/// Returns completions of a template's variable.
pub(super) fn complete(
    resources: &Resources,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let context = request.context.as_ref();
    let session = context.and_then(|context| context.get_argument("sessionId"));
    let values = match &*request.argument.name {
        "sessionId" => resources.session_ids(),
        "pageId" => resources.page_ids(session.map(String::as_str)),
        _ => Vec::new(),
    };
    let typed = &request.argument.value;
    let fitting = values.into_iter().filter(|value| value.starts_with(typed));
    completed(fitting.collect())
}

/// Limits the values to the number that the specification permits.
pub(super) fn completed(mut values: Vec<String>) -> Result<CompleteResult, ErrorData> {
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let more = values.len() < total;
    let info = CompletionInfo::with_pagination(values, u32::try_from(total).ok(), more);
    let info = info.map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(info))
}

fn described(resource: Resource) -> rmcp::model::Resource {
    let mut shown = rmcp::model::Resource::new(resource.address.to_string(), resource.name)
        .with_mime_type(resource.mime_type);
    shown.size = resource.size;
    shown.meta = meta(resource.metadata);
    shown
}

fn shown(uri: &str, contents: Contents) -> ResourceContents {
    let shown = match contents.body {
        Body::Text(text) => ResourceContents::text(text, uri),
        Body::Bytes(bytes) => ResourceContents::blob(STANDARD.encode(bytes), uri),
    };
    let shown = shown.with_mime_type(contents.mime_type);
    match meta(contents.metadata) {
        Some(meta) => shown.with_meta(meta),
        None => shown,
    }
}

fn meta(metadata: Map<String, Value>) -> Option<MetaObject> {
    (!metadata.is_empty()).then(|| MetaObject(metadata))
}

fn address(uri: &str, modern: bool) -> Result<ResourceUri, ErrorData> {
    let unknown = || refused(uri, &ReadError::Unknown(uri.to_owned()), modern);
    ResourceUri::parse(uri).ok_or_else(unknown)
}

/// Revisions up to 2025-11-25 have a separate error code for missing resources.
fn refused(uri: &str, error: &ReadError, modern: bool) -> ErrorData {
    let data = Some(json!({ "uri": brief(uri) }));
    match error {
        ReadError::Unknown(_) if !modern => ErrorData::resource_not_found(error.to_string(), data),
        ReadError::Unknown(_) => ErrorData::invalid_params(error.to_string(), data),
        ReadError::Failed { .. } => ErrorData::internal_error(error.to_string(), data),
    }
}

/// The subscriptions of a connection.
#[derive(Default)]
pub(super) struct Subscriptions {
    resources: Mutex<HashMap<String, Task>>,
    /// Set when the client reads the list.
    list: OnceLock<Task>,
}

impl Subscriptions {
    pub(super) fn add(
        &self,
        resources: Resources,
        peer: Peer<RoleServer>,
        uri: String,
    ) -> Result<(), ErrorData> {
        let address = address(&uri, false)?;
        if !resources.has(&address) {
            return Err(refused(&uri, &ReadError::Unknown(uri.clone()), false));
        }
        let mut all = self
            .resources
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if all.len() >= SUBSCRIPTIONS && !all.contains_key(&uri) {
            let message = format!("A connection may subscribe to {SUBSCRIPTIONS} resources");
            return Err(ErrorData::invalid_params(message, None));
        }
        let reported = uri.clone();
        let watching = task::spawn("subscription", async move {
            let mut watch = resources.watch(address);
            loop {
                watch.changed().await;
                let updated = ResourceUpdatedNotificationParam::new(reported.clone());
                // A disconnected client drops this task with the connection.
                let _ = peer.notify_resource_updated(updated).await;
            }
        });
        all.insert(uri, watching);
        Ok(())
    }

    /// Notifies a client that has read the list in state `known` of changes.
    pub(super) fn follow_list(&self, resources: Resources, mut known: u64, peer: Peer<RoleServer>) {
        self.list.get_or_init(|| {
            task::spawn("resource list", async move {
                loop {
                    list_changed(&resources, &mut known).await;
                    let _ = peer.notify_resource_list_changed().await;
                }
            })
        });
    }

    pub(super) fn remove(&self, uri: &str) {
        self.resources
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(uri);
    }
}

/// Resolves when the list has changed from the known state, which is updated.
async fn list_changed(resources: &Resources, known: &mut u64) {
    loop {
        tokio::time::sleep(LIST_POLL_INTERVAL).await;
        let now = resources.list_mark();
        if std::mem::replace(known, now) != now {
            return;
        }
    }
}

/// Sends notifications of changes until the client ends the request.
pub(super) async fn listen(resources: Resources, context: &SubscriptionContext) {
    let uris = context.accepted().resource_subscriptions.clone();
    let known = uris.into_iter().flatten().take(SUBSCRIPTIONS);
    let watched = known.filter_map(|uri| Some((ResourceUri::parse(&uri)?, uri)));
    let watches = watched.map(|(address, uri)| {
        let mut watch = resources.watch(address);
        let sink = context.sink();
        async move {
            loop {
                watch.changed().await;
                let _ = sink.notify_resource_updated(uri.clone()).await;
            }
        }
    });
    let watches: Vec<_> = watches.collect();
    let watching = async {
        futures_util::future::join_all(watches).await;
        // There are no subscriptions.
        std::future::pending().await
    };
    let listing = async {
        if context.accepted().resources_list_changed != Some(true) {
            return std::future::pending().await;
        }
        let mut known = resources.list_mark();
        loop {
            list_changed(&resources, &mut known).await;
            let _ = context.sink().notify_resource_list_changed().await;
        }
    };
    tokio::select! {
        () = context.cancelled() => {}
        () = watching => {}
        () = listing => {}
    }
}
