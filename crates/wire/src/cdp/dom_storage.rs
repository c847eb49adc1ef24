//! The `DOMStorage` domain: local and session storage.

use serde::{Deserialize, Serialize};

use super::{Empty, command};

/// [`DOMStorage.enable`](https://chromedevtools.github.io/devtools-protocol/tot/DOMStorage/#method-enable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Enable {}
command!(Enable, "DOMStorage.enable", Empty);

/// [`DOMStorage.disable`](https://chromedevtools.github.io/devtools-protocol/tot/DOMStorage/#method-disable)
#[derive(Debug, Clone, Default, Serialize)]
pub struct Disable {}
command!(Disable, "DOMStorage.disable", Empty);

/// [`DOMStorage.getDOMStorageItems`](https://chromedevtools.github.io/devtools-protocol/tot/DOMStorage/#method-getDOMStorageItems)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetDOMStorageItems {
    pub storage_id: StorageId,
}
command!(
    GetDOMStorageItems,
    "DOMStorage.getDOMStorageItems",
    GetDOMStorageItemsResponse
);

/// The answer to [`GetDOMStorageItems`].
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GetDOMStorageItemsResponse {
    pub entries: Vec<Item>,
}

/// [`DOMStorage.setDOMStorageItem`](https://chromedevtools.github.io/devtools-protocol/tot/DOMStorage/#method-setDOMStorageItem)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetDOMStorageItem {
    pub storage_id: StorageId,
    pub key: String,
    pub value: String,
}
command!(SetDOMStorageItem, "DOMStorage.setDOMStorageItem", Empty);

/// [`DOMStorage.removeDOMStorageItem`](https://chromedevtools.github.io/devtools-protocol/tot/DOMStorage/#method-removeDOMStorageItem)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoveDOMStorageItem {
    pub storage_id: StorageId,
    pub key: String,
}
command!(
    RemoveDOMStorageItem,
    "DOMStorage.removeDOMStorageItem",
    Empty
);

/// [`DOMStorage.clear`](https://chromedevtools.github.io/devtools-protocol/tot/DOMStorage/#method-clear)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Clear {
    pub storage_id: StorageId,
}
command!(Clear, "DOMStorage.clear", Empty);

/// [`DOMStorage.SerializedStorageKey`](https://chromedevtools.github.io/devtools-protocol/tot/DOMStorage/#type-SerializedStorageKey)
pub type SerializedStorageKey = String;

/// [`DOMStorage.StorageId`](https://chromedevtools.github.io/devtools-protocol/tot/DOMStorage/#type-StorageId)
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StorageId {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage_key: Option<SerializedStorageKey>,
    pub is_local_storage: bool,
}

/// [`DOMStorage.Item`](https://chromedevtools.github.io/devtools-protocol/tot/DOMStorage/#type-Item)
pub type Item = Vec<String>;
