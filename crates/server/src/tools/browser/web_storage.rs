//! Local and session storage of the page.

use crate::access::principal::Permission;
use crate::answers::reply::Reply;
use crate::calls::Call;
use crate::config::Capability;
use crate::error::Result;
use crate::tools::scope::CurrentTab;
use crate::tools::tool::{Effect, Tool, ToolDef};
use engine::codegen::javascript::string as quote;
use engine::codegen::{Receiver, Statement};
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

/// Declares the tools of a storage. A tool has a struct, a name, a title, an effect, and a method of [`Storage`] with its parameters.
macro_rules! tools {
    ($storage:expr; $(
        #[doc = $doc:literal]
        $tool:ident, $name:literal, $title:literal, $effect:ident, $method:ident($($field:ident: $about:literal),*);
    )*) => { $(
        #[doc = $doc]
        #[derive(Deserialize, JsonSchema)]
        pub(super) struct $tool {
            $(#[doc = $about] $field: String,)*
        }

        impl Tool for $tool {
            const NAME: &'static str = $name;
            const TITLE: &'static str = $title;
            const EFFECT: Effect = Effect::$effect;
            const PERMISSION: Permission = Permission::Admin;
            const CAPABILITY: Option<Capability> = Some(Capability::Storage);
            type Scope = CurrentTab;
            type Output = Reply;

            async fn run(self, tab: CurrentTab, call: &Call) -> Result<Reply> {
                $storage.$method(&tab, call $(, &self.$field)*).await
            }
        }
    )* };
}

tools! { Storage::Local;
    /// List localStorage.
    LocalList, "browser_localstorage_list", "List localStorage", Reads, list();
    /// Show an item of localStorage.
    LocalGet, "browser_localstorage_get", "Get localStorage item", Reads, get(key: " Its key.");
    /// Set an item of localStorage.
    LocalSet, "browser_localstorage_set", "Set localStorage item", Acts, set(key: " Its key.", value: " Its value.");
    /// Delete an item of localStorage.
    LocalDelete, "browser_localstorage_delete", "Delete localStorage item", Acts, delete(key: " Its key.");
    /// Delete all of localStorage.
    LocalClear, "browser_localstorage_clear", "Clear localStorage", Acts, clear();
}

tools! { Storage::Session;
    /// List sessionStorage.
    SessionList, "browser_sessionstorage_list", "List sessionStorage", Reads, list();
    /// Show an item of sessionStorage.
    SessionGet, "browser_sessionstorage_get", "Get sessionStorage item", Reads, get(key: " Its key.");
    /// Set an item of sessionStorage.
    SessionSet, "browser_sessionstorage_set", "Set sessionStorage item", Acts, set(key: " Its key.", value: " Its value.");
    /// Delete an item of sessionStorage.
    SessionDelete, "browser_sessionstorage_delete", "Delete sessionStorage item", Acts, delete(key: " Its key.");
    /// Delete all of sessionStorage.
    SessionClear, "browser_sessionstorage_clear", "Clear sessionStorage", Acts, clear();
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
        // Sorted, because browsers differ in the order.
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
        let statement = self.statement("() => Object.entries(", ")");
        let code = format!("await page.{self}.items();");
        Ok(Reply::page(text).and_statements(call.language(), code, [statement]))
    }

    async fn get(self, tab: &CurrentTab, call: &Call, key: &str) -> Result<Reply> {
        let value = self
            .run(tab, call, &format!("s.getItem({})", json!(key)))
            .await?;
        let text = match value.as_str() {
            Some(value) => format!("{key}={value}"),
            None => format!("{self} key '{key}' not found"),
        };
        let statement = self.statement("() => ", &format!(".getItem({})", quote(key)));
        let code = format!("await page.{self}.getItem({});", quote(key));
        Ok(Reply::page(text).and_statements(call.language(), code, [statement]))
    }

    async fn set(self, tab: &CurrentTab, call: &Call, key: &str, value: &str) -> Result<Reply> {
        let expression = format!("s.setItem({}, {})", json!(key), json!(value));
        self.run(tab, call, &expression).await?;
        let code = format!(
            "await page.{self}.setItem({}, {});",
            quote(key),
            quote(value)
        );
        let called = format!(".setItem({}, {})", quote(key), quote(value));
        let statement = self.statement("() => ", &called);
        Ok(Reply::statements(call.language(), code, [statement]))
    }

    async fn delete(self, tab: &CurrentTab, call: &Call, key: &str) -> Result<Reply> {
        self.run(tab, call, &format!("s.removeItem({})", json!(key)))
            .await?;
        let code = format!("await page.{self}.removeItem({});", quote(key));
        let statement = self.statement("() => ", &format!(".removeItem({})", quote(key)));
        Ok(Reply::statements(call.language(), code, [statement]))
    }

    async fn clear(self, tab: &CurrentTab, call: &Call) -> Result<Reply> {
        self.run(tab, call, "s.clear()").await?;
        let code = format!("await page.{self}.clear();");
        let statement = self.statement("() => ", ".clear()");
        Ok(Reply::statements(call.language(), code, [statement]))
    }

    /// Returns the statement that evaluates a function with the storage between two texts.
    fn statement(self, before: &str, after: &str) -> Statement {
        let function = format!("{before}{self}{after}");
        Statement::new(Receiver::Page, "evaluate").argument(function.as_str())
    }

    /// Evaluates an expression in the page. `s` is the storage.
    async fn run(self, tab: &CurrentTab, call: &Call, expression: &str) -> Result<Value> {
        let function = format!("() => {{ const s = window.{self}; return {expression}; }}");
        let value = tab.page.evaluate(&call.action(), &function).await?;
        Ok(value.unwrap_or_default())
    }
}
