//! Waiting for conditions in other processes or tasks.

use std::fmt::Display;
use std::panic::Location;
use std::time::Duration;

use tokio::time::{sleep, timeout};

/// How long a condition may take to hold on a busy machine; only a failure takes so long.
const TIMEOUT: Duration = Duration::from_secs(120);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The result of a condition: `bool`, an `Option` with a value, or a `Result` with a value or the reason why it does not hold.
pub trait Condition {
    /// The value that [`eventually`] returns.
    type Value;

    /// Returns the value, or the reason why the condition does not hold.
    fn check(self) -> Result<Self::Value, String>;
}

impl Condition for bool {
    type Value = ();

    fn check(self) -> Result<(), String> {
        if self { Ok(()) } else { Err(String::new()) }
    }
}

impl<T> Condition for Option<T> {
    type Value = T;

    fn check(self) -> Result<T, String> {
        self.ok_or_else(String::new)
    }
}

impl<T, E: Display> Condition for Result<T, E> {
    type Value = T;

    fn check(self) -> Result<T, String> {
        self.map_err(|error| error.to_string())
    }
}

/// Waits until a condition holds, and returns its value.
///
/// # Panics
/// If it does not hold within two minutes. The message has the line of the caller and the last reason.
#[track_caller]
pub fn eventually<C: Condition>(
    mut condition: impl AsyncFnMut() -> C,
) -> impl Future<Output = C::Value> {
    let caller = Location::caller();
    async move {
        let mut obstacle = String::new();
        let holds = async {
            loop {
                match condition().await.check() {
                    Ok(value) => return value,
                    Err(still) => obstacle = still,
                }
                sleep(POLL_INTERVAL).await;
            }
        };
        let value = timeout(TIMEOUT, holds).await.ok();
        value.unwrap_or_else(|| panic!("{caller}: not so within {TIMEOUT:?}. {obstacle}"))
    }
}
