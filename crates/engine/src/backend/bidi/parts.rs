//! The data that a context and its pages share.

use super::interception::InterceptionSwitch;
use super::permissions::Grants;
use super::windows::Windows;
use crate::launch::source::FileStager;
use std::sync::Arc;
use wire::Session;

pub(super) struct ContextParts {
    pub(super) root: Session,
    /// The identifier of the user context.
    pub(super) id: String,
    pub(super) files: FileStager,
    pub(super) interception: Arc<InterceptionSwitch>,
    pub(super) windows: Arc<Windows>,
    pub(super) grants: Grants,
}

impl ContextParts {
    pub(super) fn new(
        root: Session,
        id: &str,
        files: FileStager,
        interception: Arc<InterceptionSwitch>,
        windows: Arc<Windows>,
    ) -> Arc<Self> {
        Arc::new(Self {
            grants: Grants::new(root.clone(), id),
            root,
            id: id.to_owned(),
            files,
            interception,
            windows,
        })
    }
}
