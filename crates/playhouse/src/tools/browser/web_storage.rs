//! Local and session storage of the page.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Capability;
use crate::error::Result;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::javascript::string as quote;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const TOOLS: &[ToolDef] = &[
    ToolDef::of::<LocalList>(),
    ToolDef::of::<LocalGet>(),
    ToolDef::of::<LocalSet>(),
    ToolDef::of::<LocalDelete>(),
    ToolDef::of::<LocalClear>(),
    ToolDef::of::<SessionList>(),
    ToolDef::of::<SessionGet>(),
    ToolDef::of::<SessionSet>(),
    ToolDef::of::<SessionDelete>(),
    ToolDef::of::<SessionClear>(),
];

/// List localStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LocalList {}

impl Tool for LocalList {
    const NAME: &'static str = "browser_localstorage_list";
    const TITLE: &'static str = "List localStorage";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        Storage::Local.list(&tab, call).await
    }
}

/// Show an item of localStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LocalGet {
    /// Its key.
    key: String,
}

impl Tool for LocalGet {
    const NAME: &'static str = "browser_localstorage_get";
    const TITLE: &'static str = "Get localStorage item";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        Storage::Local.get(&tab, call, &self.key).await
    }
}

/// Set an item of localStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LocalSet {
    /// Its key.
    key: String,
    /// Its value.
    value: String,
}

impl Tool for LocalSet {
    const NAME: &'static str = "browser_localstorage_set";
    const TITLE: &'static str = "Set localStorage item";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        Storage::Local.set(&tab, call, &self.key, &self.value).await
    }
}

/// Delete an item of localStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LocalDelete {
    /// Its key.
    key: String,
}

impl Tool for LocalDelete {
    const NAME: &'static str = "browser_localstorage_delete";
    const TITLE: &'static str = "Delete localStorage item";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        Storage::Local.delete(&tab, call, &self.key).await
    }
}

/// Delete all of localStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LocalClear {}

impl Tool for LocalClear {
    const NAME: &'static str = "browser_localstorage_clear";
    const TITLE: &'static str = "Clear localStorage";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        Storage::Local.clear(&tab, call).await
    }
}

/// List sessionStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionList {}

impl Tool for SessionList {
    const NAME: &'static str = "browser_sessionstorage_list";
    const TITLE: &'static str = "List sessionStorage";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        Storage::Session.list(&tab, call).await
    }
}

/// Show an item of sessionStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionGet {
    /// Its key.
    key: String,
}

impl Tool for SessionGet {
    const NAME: &'static str = "browser_sessionstorage_get";
    const TITLE: &'static str = "Get sessionStorage item";
    const EFFECT: Effect = Effect::Reads;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        Storage::Session.get(&tab, call, &self.key).await
    }
}

/// Set an item of sessionStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionSet {
    /// Its key.
    key: String,
    /// Its value.
    value: String,
}

impl Tool for SessionSet {
    const NAME: &'static str = "browser_sessionstorage_set";
    const TITLE: &'static str = "Set sessionStorage item";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        Storage::Session
            .set(&tab, call, &self.key, &self.value)
            .await
    }
}

/// Delete an item of sessionStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionDelete {
    /// Its key.
    key: String,
}

impl Tool for SessionDelete {
    const NAME: &'static str = "browser_sessionstorage_delete";
    const TITLE: &'static str = "Delete sessionStorage item";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        Storage::Session.delete(&tab, call, &self.key).await
    }
}

/// Delete all of sessionStorage.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionClear {}

impl Tool for SessionClear {
    const NAME: &'static str = "browser_sessionstorage_clear";
    const TITLE: &'static str = "Clear sessionStorage";
    const EFFECT: Effect = Effect::Acts;
    const PERMISSION: Permission = Permission::Admin;
    const CAPABILITY: Option<Capability> = Some(Capability::Storage);
    type Scope = CurrentTab;
    type Output = Reply;

    async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
        Storage::Session.clear(&tab, call).await
    }
}

/// One of the two storages of a page.
#[derive(Debug, Clone, Copy, strum::Display)]
enum Storage {
    #[strum(to_string = "localStorage")]
    Local,
    #[strum(to_string = "sessionStorage")]
    Session,
}

impl Storage {
    async fn list(self, tab: &CurrentTab, call: &Call) -> Result<Reply> {
        let items = self.run(tab, call, "Object.entries(s)").await?;
        let mut items: Vec<(String, String)> = serde_json::from_value(items).unwrap_or_default();
        // Not every browser keeps them in this order.
        items.sort();
        let lines: Vec<_> = items
            .into_iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let text = if lines.is_empty() {
            format!("No {self} items found")
        } else {
            lines.join("\n")
        };
        Ok(Reply::page(text).and_code(format!("await page.{self}.items();")))
    }

    async fn get(self, tab: &CurrentTab, call: &Call, key: &str) -> Result<Reply> {
        let value = self
            .run(tab, call, &format!("s.getItem({})", json!(key)))
            .await?;
        let text = match value.as_str() {
            Some(value) => format!("{key}={value}"),
            None => format!("{self} key '{key}' not found"),
        };
        Ok(Reply::page(text).and_code(format!("await page.{self}.getItem({});", quote(key))))
    }

    async fn set(self, tab: &CurrentTab, call: &Call, key: &str, value: &str) -> Result<Reply> {
        let deed = format!("s.setItem({}, {})", json!(key), json!(value));
        self.run(tab, call, &deed).await?;
        let code = format!(
            "await page.{self}.setItem({}, {});",
            quote(key),
            quote(value)
        );
        Ok(Reply::code(code))
    }

    async fn delete(self, tab: &CurrentTab, call: &Call, key: &str) -> Result<Reply> {
        self.run(tab, call, &format!("s.removeItem({})", json!(key)))
            .await?;
        Ok(Reply::code(format!(
            "await page.{self}.removeItem({});",
            quote(key)
        )))
    }

    async fn clear(self, tab: &CurrentTab, call: &Call) -> Result<Reply> {
        self.run(tab, call, "s.clear()").await?;
        Ok(Reply::code(format!("await page.{self}.clear();")))
    }

    /// Evaluates an expression about the storage `s`.
    async fn run(self, tab: &CurrentTab, call: &Call, expression: &str) -> Result<Value> {
        let function = format!("() => {{ const s = window.{self}; return {expression}; }}");
        let value = tab.page.evaluate(&call.action(), &function).await?;
        Ok(value.unwrap_or_default())
    }
}
