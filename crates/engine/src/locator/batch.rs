//! Generating the locators of several elements: those of one document need one round trip, and share intermediate results.

use super::{About, Locator, Lookup, Target};
use crate::backend::FrameId;
use crate::error::Result;
use crate::page::Page;
use crate::progress::Progress;
use crate::selector::Selector;
use futures_util::future::join_all;
use serde_json::json;
use std::collections::HashMap;

impl Page {
    /// Returns the result of [`Locator::generated`] for each locator.
    pub async fn generated(
        &self,
        progress: &Progress,
        locators: &[Locator],
    ) -> Vec<Result<Selector>> {
        let known = progress.run(async { Ok(self.locate_batch(locators).await) });
        let mut known = known.await.unwrap_or_default();
        let each = locators.iter().enumerate().map(|(index, locator)| {
            let known = known.remove(&index);
            async move {
                match known {
                    Some(selector) => Ok(selector),
                    // Errors and waits are handled individually.
                    None => locator.generated(progress).await,
                }
            }
        });
        join_all(each).await
    }

    /// Returns those that are available at once, by their index.
    async fn locate_batch(&self, locators: &[Locator]) -> HashMap<usize, Selector> {
        let mut documents: HashMap<FrameId, Vec<(usize, Lookup<'_>)>> = HashMap::new();
        for (index, locator) in locators.iter().enumerate() {
            if let (Target::Ref(_), Ok(look)) = (&locator.target, locator.lookup().await) {
                let looks = documents.entry(look.frame.clone()).or_default();
                looks.push((index, look));
            }
        }
        let test_id = self.state().test_id.clone();
        let argument = json!({ "testIdAttribute": test_id.as_ref() });
        let mut known = HashMap::new();
        for (frame, looks) in documents {
            let ask = |(_, look): &(usize, Lookup<'_>)| json!({ "find": look.find, "which": look.which, "ask": "locator", "argument": argument });
            let questions: Vec<_> = looks.iter().map(ask).collect();
            let answers: Vec<About> = match self.call(&frame, "abouts", &json!(questions)).await {
                Ok(answers) => answers,
                Err(_) => continue,
            };
            for ((index, look), About { found, answer }) in looks.iter().zip(answers) {
                let Ok(element) = locators[*index].found(look, found).await else {
                    continue;
                };
                let own = element.read("locator", answer).ok().flatten();
                if let Ok(selector) = element.in_its_frames(own).await {
                    known.insert(*index, selector);
                }
            }
        }
        known
    }
}
