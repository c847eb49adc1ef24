//! The workers of a page. Firefox reports the dedicated ones of a page, and does not say to which user context the others belong. It runs no
//! scripts of clients in workers.

use super::BidiPage;
use crate::backend::{RunningWorker, WorkerKind, Workers};
use crate::error::Result;
use async_trait::async_trait;
use wire::bidi::script;

#[async_trait]
impl Workers for BidiPage {
    async fn workers(&self) -> Result<Vec<RunningWorker>> {
        let command = script::GetRealms {
            context: self.name(),
        };
        let realms = self.root().call(&command).await?.realms.into_iter();
        let dedicated = realms.filter(|realm| realm.kind == "dedicated-worker");
        Ok(dedicated
            .map(|realm| RunningWorker {
                id: realm.realm.into(),
                kind: WorkerKind::Dedicated,
                url: realm.origin.into(),
            })
            .collect())
    }
}
