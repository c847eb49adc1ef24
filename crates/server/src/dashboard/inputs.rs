//! Input that waits for the shown page. Other requests do not wait for it, and its number is limited.

use engine::MouseButton;
use serde::Deserialize;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The largest number of inputs that wait.
const MAX_WAITING: usize = 64;

/// Input for the shown page. Points are in CSS pixels of its viewport; `count` is 2 for the second click of a double click.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase")]
pub(super) enum Input {
    Move {
        x: f64,
        y: f64,
    },
    Down {
        x: f64,
        y: f64,
        button: MouseButton,
        count: u32,
    },
    Up {
        x: f64,
        y: f64,
        button: MouseButton,
        count: u32,
    },
    Wheel {
        x: f64,
        y: f64,
        dx: f64,
        dy: f64,
    },
    KeyDown {
        key: String,
    },
    KeyUp {
        key: String,
    },
    Text {
        text: String,
    },
    /// The files of a complete upload, for the file chooser. The page of the dashboard cannot request it.
    #[serde(skip)]
    Files {
        paths: Vec<PathBuf>,
    },
}

/// The inputs that wait, oldest first.
#[derive(Default)]
pub(super) struct Inputs {
    waiting: Mutex<VecDeque<Input>>,
    added: Notify,
    cleared: Notify,
}

impl Inputs {
    /// Adds an input; a movement replaces the movement before it. Returns false if too many wait.
    pub(super) fn add(&self, input: Input) -> bool {
        let mut waiting = self.waiting();
        let is_move = |input: &Input| matches!(input, Input::Move { .. });
        if is_move(&input) {
            waiting.pop_back_if(|last| is_move(last));
        }
        if waiting.len() >= MAX_WAITING {
            return false;
        }
        waiting.push_back(input);
        self.added.notify_one();
        true
    }

    /// Removes the oldest input, and waits for one if there is none.
    pub(super) async fn next(&self) -> Input {
        loop {
            let next = self.waiting().pop_front();
            match next {
                Some(input) => return input,
                None => self.added.notified().await,
            }
        }
    }

    /// Removes all inputs, and interrupts the one that is executed.
    pub(super) fn clear(&self) {
        self.waiting().clear();
        self.cleared.notify_waiters();
    }

    /// Resolves with the next [`Self::clear`].
    pub(super) async fn cleared(&self) {
        self.cleared.notified().await;
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Input>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(key: &str) -> Input {
        let key = key.to_owned();
        Input::KeyDown { key }
    }

    #[tokio::test]
    async fn the_number_of_waiting_inputs_is_limited() {
        let inputs = Inputs::default();
        assert!(inputs.add(key("a")));
        for x in 0..MAX_WAITING {
            assert!(inputs.add(Input::Move {
                x: x as f64,
                y: 0.0
            }));
        }
        assert!(matches!(inputs.next().await, Input::KeyDown { .. }));
        let last = MAX_WAITING as f64 - 1.0;
        assert!(matches!(inputs.next().await, Input::Move { x, .. } if x == last));
        let added = (0..2 * MAX_WAITING)
            .filter(|_| inputs.add(key("b")))
            .count();
        assert_eq!(added, MAX_WAITING);
        inputs.clear();
        assert!(inputs.add(key("c")));
        assert!(matches!(inputs.next().await, Input::KeyDown { key } if key == "c"));
    }
}
