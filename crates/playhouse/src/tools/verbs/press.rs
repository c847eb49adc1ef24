//! Pressing keys.

use crate::calls::Call;
use crate::error::Result;
use crate::tools::scope::TabInAnyState;

/// Sends a key, and waits until its consequences are over: Enter often submits something, other keys seldom have any.
pub(crate) async fn press(
    tab: &TabInAnyState,
    call: &Call,
    key: &str,
    sent: impl Future<Output = engine::Result<()>>,
) -> Result<()> {
    if key == "Enter" {
        tab.act(call, sent).await
    } else {
        tab.act_briefly(call, sent).await
    }
}
