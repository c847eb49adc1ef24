//! Identifiers of pages, frames, documents, requests and workers.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(pub Arc<str>);

        impl<T: AsRef<str>> From<T> for $name {
            fn from(id: T) -> Self {
                Self(id.as_ref().into())
            }
        }

        impl $name {
            /// Returns the identifier as the browser writes it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}

id! {
    /// The identifier of a page.
    PageId
}
id! {
    /// The identifier of a frame, which navigations do not change.
    FrameId
}
id! {
    /// The identifier of a load of a document in a frame.
    LoaderId
}
id! {
    /// The identifier of a request, which redirects do not change.
    RequestId
}
id! {
    /// The identifier of a running worker.
    WorkerId
}

/// The identifier of an element that the injected script stores. It is valid until the document is replaced.
pub type Handle = u64;
