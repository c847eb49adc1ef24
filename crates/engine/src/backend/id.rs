//! Names of pages, frames, documents and requests.

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
            /// The identifier as the browser writes it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}

id! {
    /// Identifies a page for as long as it lives.
    PageId
}
id! {
    /// Identifies a frame of a page; survives navigations.
    FrameId
}
id! {
    /// Identifies one load of one document in a frame.
    LoaderId
}
id! {
    /// Identifies a request; a redirect keeps it.
    RequestId
}

/// An element of a frame's document, kept by the injected code; valid until the document is replaced.
pub type Handle = u64;
