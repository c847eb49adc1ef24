//! Operations of client code on the browser context, and global ones.

use super::route;
use super::{Host, duration};
use crate::failure::Failure;
use crate::request::ContextOp;
use engine::{Cookie, Download, DownloadState};
use serde_json::{Value, json};

/// Executes an operation.
pub(super) async fn run(host: &Host, op: ContextOp) -> Result<Value, Failure> {
    let context = &host.setting.context;
    let progress = &host.within(None, host.setting.navigation);
    match op {
        ContextOp::Sleep { ms } => tokio::time::sleep(duration(ms)).await,
        ContextOp::NewPage => {
            let page = context.new_page(progress).await?;
            return Ok(page.id().as_str().into());
        }
        ContextOp::Cookies => return Ok(json!(context.cookies(progress).await?)),
        ContextOp::AddCookies { cookies } => context.set_cookies(progress, &cookies).await?,
        ContextOp::RemoveCookies { cookies } => {
            let named = |cookie: &Cookie, gone: &Cookie| {
                (&gone.name, &gone.domain, &gone.path)
                    == (&cookie.name, &cookie.domain, &cookie.path)
            };
            let gone = |cookie: &Cookie| cookies.iter().any(|gone| named(cookie, gone));
            context.remove_cookies(progress, gone).await?;
        }
        ContextOp::StorageState => return Ok(json!(context.storage_state(progress).await?)),
        ContextOp::SetOffline { offline } => context.set_offline(progress, offline).await?,
        ContextOp::GrantPermissions {
            permissions,
            origin,
        } => {
            context
                .grant_permissions(progress, &permissions, origin.as_deref())
                .await?;
        }
        ContextOp::ClearPermissions => context.clear_permissions(progress).await?,
        ContextOp::SetGeolocation { geolocation } => {
            context.set_geolocation(progress, geolocation).await?;
        }
        ContextOp::SetExtraHeaders { headers } => {
            context.set_extra_headers(progress, &headers).await?;
        }
        ContextOp::AddInitScript { script } => context.add_init_script(progress, &script).await?,
        ContextOp::FetchRoute { pause, verdict } => {
            return route::fetch(host, progress, pause, verdict).await;
        }
        ContextOp::Decide { pause, verdict } => {
            route::decide(host, progress, pause, verdict).await?;
        }
        ContextOp::Unroute { of, wanted } => {
            route::unroute(host, of.as_deref(), wanted.as_deref());
        }
        ContextOp::Downloaded { download, path } => {
            let access = &host.setting.access;
            // Checked before the download ends, so that an error is reported at once.
            if let Some(path) = &path {
                access.check_writable(path)?;
            }
            let mut changes = context.changes();
            let over = async {
                loop {
                    changes.mark_unchanged();
                    if let Some(over) = ended(context.downloads(), download) {
                        return Ok(over);
                    }
                    if changes.changed().await.is_err() {
                        return Err(engine::Error::PageClosed {});
                    }
                }
            };
            if let Err(failure) = progress.run(over).await? {
                return Ok(json!({ "failure": failure }));
            }
            let saved = access.save_download(context, download, path.as_deref());
            return Ok(match saved.await? {
                Some(path) => json!({ "path": path }),
                None => json!({ "failure": "the file could not be kept" }),
            });
        }
    }
    Ok(Value::Null)
}

/// Returns the result of a download that has ended. Unknown downloads ended long ago.
fn ended(downloads: Vec<Download>, number: u64) -> Option<Result<(), String>> {
    let known = downloads
        .into_iter()
        .find(|download| download.number == number);
    match known.map(|download| download.state) {
        Some(DownloadState::InProgress) => None,
        Some(DownloadState::Failed(reason)) => Some(Err(reason)),
        Some(DownloadState::Finished(_)) | None => Some(Ok(())),
    }
}
