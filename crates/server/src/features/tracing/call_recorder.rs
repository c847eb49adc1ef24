//! Recording the calls of a context for a trace, with DOM snapshots and images.

use super::events::Event;
use super::recorder::{OpenCall, Recorder, after_event};
use super::snapshots::{Moment, image, page_id, snapshot_name};
use crate::sessions::observers::{CallObserver, CallOutcome, ObservedCall};
use async_trait::async_trait;
use engine::{Page, Point};
use serde_json::{Map, Value, json};

/// The parameters that distinguish calls without a target in a list, the best first.
const NAMING: [&str; 3] = ["url", "key", "text"];

#[async_trait]
impl CallObserver for Recorder {
    async fn before_call(&self, call: &ObservedCall) {
        if !self.records(call.page.as_ref()) {
            return;
        }
        let id = call_id(call);
        let page = call.page.as_ref();
        let (parent, line) = {
            let mut state = self.state();
            state.calls += 1;
            let batch = state.open.last().filter(|_| call.is_step);
            let parent = batch.map(|batch| batch.id.clone());
            state.open.push(OpenCall {
                id: id.clone(),
                page: page.cloned(),
                has_input: false,
            });
            (parent, state.calls)
        };
        let mut event = json!({
            "type": "before",
            "callId": id,
            "stepId": id,
            "startTime": self.clock().now(),
            "title": call.tool.title,
            "class": "Tool",
            "method": call.tool.name,
            "stack": [{
                "file": self.source(),
                "line": line,
                "column": 1,
                "function": call.tool.name,
            }],
        });
        if let Some(page) = page {
            event["pageId"] = page_id(page).into();
        }
        let page = page.filter(|_| call.tool.acts());
        if page.is_some() {
            event["beforeSnapshot"] = snapshot_name("before", &id).into();
        }
        if let Some(parent) = parent {
            event["parentId"] = parent.into();
        }
        self.state().waiting.events.push(Event::Call {
            event,
            arguments: call.arguments.clone(),
            extra: Map::new(),
        });
        if let Some(page) = page {
            let moment = Moment {
                page,
                call: &id,
                phase: "before",
                target: None,
            };
            self.take(moment).await;
        }
    }

    async fn before_input(&self, page: &Page, at: Point) {
        let id = {
            let mut state = self.state();
            let Some(call) = state.open.last_mut() else {
                return;
            };
            // The steps of a gesture have one snapshot.
            if call.page.as_ref() != Some(page) || std::mem::replace(&mut call.has_input, true) {
                return;
            }
            let id = call.id.clone();
            state.waiting.events.push(Event::Plain(json!({
                "type": "input",
                "callId": id,
                "point": { "x": at.x, "y": at.y },
                "inputSnapshot": snapshot_name("input", &id),
            })));
            id
        };
        let moment = Moment {
            page,
            call: &id,
            phase: "input",
            target: Some(at),
        };
        self.take(moment).await;
    }

    async fn after_call(&self, call: &ObservedCall, outcome: &CallOutcome) {
        let id = call_id(call);
        {
            let mut state = self.state();
            let Some(index) = state.open.iter().rposition(|open| open.id == id) else {
                return;
            };
            state.open.truncate(index);
            let mut event = after_event(&id, self.clock().now(), outcome.error.as_deref());
            event["afterSnapshot"] = snapshot_name("after", &id).into();
            let waiting = &mut state.waiting.events;
            set_code(waiting, &id, outcome);
            waiting.push(Event::Plain(event));
        }
        // A call may close its page, or open another one in front of it.
        let own = call.page.as_ref().filter(|page| !page.is_closed());
        if let Some(page) = own
            .or(outcome.page.as_ref())
            .filter(|page| self.records(Some(page)))
        {
            let moment = Moment {
                page,
                call: &id,
                phase: "after",
                target: None,
            };
            self.take(moment).await;
            if call.tool.acts()
                && let Some(image) = image(page, self.clock()).await
            {
                self.state().waiting.events.push(image);
            }
        }
        self.write_if_idle().await;
    }

    fn on_call_cancelled(&self, call: &ObservedCall) {
        let id = call_id(call);
        let is_running = self.state().open.iter().any(|open| open.id == id);
        if is_running {
            self.end_calls(&id, Some("The call was cancelled."));
        }
    }
}

fn call_id(call: &ObservedCall) -> String {
    format!("call@{}", call.number)
}

/// Adds the targets and the code to the beginning of a call, for which they were not known.
fn set_code(waiting: &mut [Event], id: &str, outcome: &CallOutcome) {
    let begun = waiting.iter_mut().rev().find_map(|event| match event {
        Event::Call {
            event,
            arguments,
            extra,
        } if event["callId"] == id => Some((event, &*arguments, extra)),
        _ => None,
    });
    let Some((event, arguments, extra)) = begun else {
        return;
    };
    let title = event["title"].as_str().unwrap_or_default();
    // The viewer replaces names in braces by parameters.
    if let Some(target) = outcome.targets.first() {
        event["title"] = Value::from(format!("{title} {{locator}}"));
        extra.insert("locator".to_owned(), target.to_string().into());
    } else if let Some(named) = NAMING.iter().find(|name| arguments.contains_key(**name)) {
        event["title"] = Value::from(format!("{title} {{{named}}}"));
    }
    if !outcome.code.is_empty() {
        extra.insert("code".to_owned(), outcome.code.join("\n").into());
    }
}
