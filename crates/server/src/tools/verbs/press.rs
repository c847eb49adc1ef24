//! Pressing keys.

use crate::calls::Call;
use crate::error::Result;
use crate::tools::scope::TabInAnyState;

/// Sends a key and waits until the page has settled. Enter often submits a form; the effects of other keys are waited for only briefly.
pub(crate) async fn press(
    tab: &TabInAnyState,
    call: &Call,
    key: &str,
    sent: impl Future<Output = engine::Result<()>> + Send,
) -> Result<()> {
    if key == "Enter" {
        tab.act(call, sent).await
    } else {
        tab.act_briefly(call, sent).await
    }
}
