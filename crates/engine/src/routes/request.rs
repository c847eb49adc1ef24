//! The facts of a request that routes decide about.

/// The names and values of headers.
pub(super) type Headers = Vec<(String, String)>;

/// The facts of a request that routes decide about.
#[derive(Debug, Clone, Default)]
pub(crate) struct RoutedRequest {
    pub(crate) url: String,
    pub(crate) method: String,
    pub(crate) headers: Headers,
    /// The body, if the browser reports one.
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) resource_type: &'static str,
}

/// Returns whether a header describes how a body was transferred. The body of an archive or of a changed response is decoded.
pub(super) fn is_about_encoding(name: &str) -> bool {
    ["content-encoding", "content-length", "transfer-encoding"]
        .iter()
        .any(|other| name.eq_ignore_ascii_case(other))
}
