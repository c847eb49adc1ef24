//! Dispatch of calls: from a tool and its arguments to its answer, on one path for all calls.

use crate::answers::evidence::Evidence;
use crate::answers::reply::{Answer, Event, Reply};
use crate::answers::sections::Boundary;
use crate::answers::{Content, ContentItem, json, markdown, step};
use crate::calls::tool_spec::OutputFormat;
use crate::calls::{Call, Elicitation, ElicitationKind, ElicitationResult};
use crate::config::{AnswerSettings, Settings};
use crate::error::{Error, Result};
use crate::server::nearest::with_nearest;
use crate::sessions::session::feature::Answered;
use crate::tools::evidence;
use crate::tools::tool::{Arguments, Reach, ToolDef};
use engine::DialogKind;
use futures_util::FutureExt as _;
use serde_json::Value;
use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::SystemTime;

/// Runs a call and formats its result.
pub(crate) async fn run(
    tool: &'static ToolDef,
    arguments: Arguments,
    call: &Call,
    reach: &Reach,
    session_id: Option<&str>,
) -> Content {
    let began = SystemTime::now();
    // The journal has the batch and not its steps.
    let in_journal = call.settings.files.save_session && !call.is_step();
    let shown = in_journal.then(|| Value::Object(arguments.clone()));
    let limit = call.limit();
    let bounded = async {
        call.begun().await;
        tokio::time::sleep(limit).await;
    };
    let outcome = tokio::select! {
        biased;
        () = call.cancelled() => Err(Error::Cancelled {}),
        () = call.session_closed() => Err(Error::SessionClosed { tool: call.tool.name }),
        outcome = AssertUnwindSafe(Box::pin(outcome(tool, arguments, call, reach))).catch_unwind() => {
            outcome.unwrap_or_else(|panic| Err(Error::Internal { tool: call.tool.name, reason: panic_message(&*panic) }))
        }
        () = bounded => Err(Error::TookTooLong {
            tool: call.tool.name,
            limit_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
        }),
    };
    let (outcome, evidence) = tokio::select! {
        biased;
        () = call.cancelled() => (Err(Error::Cancelled {}), None),
        attach_evidence = attach_evidence(call, reach, outcome) => attach_evidence,
    };
    let is_large = match &outcome {
        Ok(answer) => answer.is_large(),
        Err(error) => task::is_large(error),
    };
    let (settings, id) = (call.settings.clone(), session_id.map(str::to_owned));
    let is_step = call.is_step();
    // References to a step contain its whole result; the batch has the limit.
    let most = match is_step {
        true => call.own_max_tokens().unwrap_or(AnswerSettings::MAX_TOKENS),
        false => call.max_tokens(),
    };
    let (content, output_format, is_surplus) = task::compute_if_large(is_large, move || {
        let (content, output_format) = match outcome {
            Ok(answer) if is_step && answer.reply.error.is_none() => {
                (step::content(tool, answer.reply), OutputFormat::Markdown)
            }
            outcome => (
                render(tool, outcome, evidence.as_ref(), id.as_deref(), &settings),
                tool.output_format,
            ),
        };
        let content = redacted(output_format, content, &settings);
        let is_surplus = content.is_larger_than(most);
        (content, output_format, is_surplus)
    })
    .await;
    let file = match is_surplus && !is_step && !content.is_error {
        true => whole_in_file(call, reach, output_format, &content).await,
        false => None,
    };
    let settings = call.settings.clone();
    let content = task::compute_if_large(is_surplus, move || {
        limited(output_format, content, most, file.as_deref(), &settings)
    });
    let content = content.await;
    if is_step {
        return content;
    }
    let images = content.items.iter().filter_map(|item| match item {
        ContentItem::Image { mime_type, .. } => Some(mime_type.as_str()),
        ContentItem::Text(_) => None,
    });
    let answered = Answered {
        // The arguments are not used afterwards.
        text: &shown
            .as_ref()
            .map(|_| content.text_without_boundary())
            .unwrap_or_default(),
        is_error: content.is_error,
        images: images.collect(),
    };
    reach
        .session
        .call_ended(call, shown, &answered, began)
        .await;
    content
}

/// Returns the answer to a cancelled call.
pub(crate) fn cancelled(
    tool: &'static ToolDef,
    session_id: Option<&str>,
    settings: &Settings,
) -> Content {
    refused(tool, Error::Cancelled {}, session_id, settings)
}

/// Returns the answer to a call that is rejected.
pub(crate) fn refused(
    tool: &'static ToolDef,
    error: Error,
    session_id: Option<&str>,
    settings: &Settings,
) -> Content {
    let content = render(tool, Err(error), None, session_id, settings);
    let content = redacted(tool.output_format, content, settings);
    let most = settings.answers.max_tokens;
    limited(tool.output_format, content, most, None, settings)
}

async fn outcome(
    tool: &'static ToolDef,
    arguments: Arguments,
    call: &Call,
    reach: &Reach,
) -> Result<Answer> {
    let again = call.settings.answers.ask_user.then(|| arguments.clone());
    let mut ran = tool.run(arguments, call, reach).await;
    if let (Err(Error::ModalState { .. }), Some(arguments)) = (&ran, again)
        && user_answered(call, reach).await
    {
        call.release_turn();
        ran = tool.run(arguments, call, reach).await;
    }
    if call.client.is_retried_by_client() {
        // The answer is not read: the events of the page are kept for the next one.
        return Err(Error::Cancelled {});
    }
    let mut reply = match ran {
        // The modal states are reported with the error.
        Err(refused @ (Error::ModalState { .. } | Error::NoModalState { .. })) => {
            Reply::error(refused)
        }
        Err(error) if error.is_dialog() => Reply::error(error),
        Err(error) if error.is_end() => {
            let part = reach.session.part(call).ok();
            let lost = match tool.output_format {
                OutputFormat::Json => part.and_then(|part| part.take_lost_state()),
                // Clients of this format know the error itself, and the next call need not repeat it.
                OutputFormat::Markdown => {
                    drop(part.and_then(|part| part.open_tabs()?.take_crash()));
                    None
                }
            };
            return Err(lost.unwrap_or(error));
        }
        Err(error) => return Err(with_nearest(&reach.session, call, error).await),
        Ok(reply) => reply,
    };
    if reply.error.as_ref().is_some_and(Error::is_dialog) {
        reply.error = Some(Error::DialogFirst {
            tool: call.tool.name,
        });
    }
    if call.has_turn()
        && tool.has_session
        && let Ok(part) = reach.session.part(call)
    {
        part.tool_ended(&mut reply, tool.acts());
    }
    let slow_mo = call.settings.browser.slow_mo;
    if tool.acts() && !slow_mo.is_zero() {
        tokio::time::sleep(slow_mo).await;
    }
    if call.has_turn() && tool.has_session && !call.is_step() {
        // The call may have closed the context that it names.
        let session = reach.session.part_or_whole(call);
        match tool.output_format {
            OutputFormat::Markdown => {
                let mut answer = session.answer(call, reply).await?;
                if !answer.tabs.is_empty() && !reach.session.named_contexts().0.is_empty() {
                    answer.tabs = reach.session.tabs_of_contexts().listed(call).await;
                }
                Ok(answer)
            }
            OutputFormat::Json => Ok(session.plain_answer(reply).await),
        }
    } else {
        Ok(Answer {
            reply,
            ..Answer::default()
        })
    }
}

/// Elicits a response to the open dialog from the user; returns whether the dialog was handled.
async fn user_answered(call: &Call, reach: &Reach) -> bool {
    let Some(page) = reach.session.page(call) else {
        return false;
    };
    let Some(dialog) = page.dialog() else {
        return false;
    };
    let question = Elicitation {
        text: format!(
            "The page {} asks ({}): {}",
            page.url(),
            dialog.kind,
            dialog.message
        ),
        kind: ElicitationKind::Confirm {
            suggestion: (dialog.kind == DialogKind::Prompt).then_some(dialog.default_value),
        },
    };
    call.set_status("waiting for the user to answer");
    let ElicitationResult::Decided(decision) = call.client.ask(&question).await else {
        return false;
    };
    let text = decision.text.as_deref();
    let progress = call.action();
    let answered = page.answer_dialog(&progress, decision.accept, text);
    answered.await.is_ok()
}

/// In a session that tests an app, adds the evidence of the app to the result.
async fn attach_evidence(
    call: &Call,
    reach: &Reach,
    outcome: Result<Answer>,
) -> (Result<Answer>, Option<Evidence>) {
    let tested = call
        .tested()
        .and_then(|id| reach.sessions.select(Some(id)).ok());
    let session = tested
        .as_ref()
        .map_or(&reach.session, |tested| &tested.session);
    // Tools that read server states only have no turn: their own errors are reported, and events of other calls are left to those.
    let has_turn = call.has_turn();
    let concerned = has_turn || (call.tested().is_some() && outcome.is_err());
    // The batch attaches the evidence of its steps.
    let app = session.app().filter(|_| !call.is_step());
    let Some(app) = app.filter(|_| concerned && session.ensure_open().is_ok()) else {
        return (outcome, None);
    };
    let session = &session.part_or_whole(call);
    let explains = async |error: &Error| evidence::explains(app, error.code()).await;
    let attach_evidence = match outcome {
        Err(error) if explains(&error).await => {
            let (error, evidence) = evidence::of_failure(call, session, app, error).await;
            (Err(error), Some(evidence))
        }
        // Events since then are reported by the next call.
        Err(error) => return (Err(error), None),
        Ok(mut answer) => match answer.reply.error.take() {
            Some(error) if explains(&error).await => {
                let (error, evidence) = evidence::of_failure(call, session, app, error).await;
                answer.reply.error = Some(error);
                (Ok(answer), Some(evidence))
            }
            Some(error) => {
                answer.reply.error = Some(error);
                return (Ok(answer), None);
            }
            None => {
                let failed = evidence::of_success(call, session, app).await;
                let event = failed.map(|(first, count)| Event::AppFailed { first, count });
                answer.events.extend(event);
                (Ok(answer), None)
            }
        },
    };
    if has_turn {
        app.call_ended();
    }
    attach_evidence
}

fn render(
    tool: &ToolDef,
    outcome: Result<Answer>,
    evidence: Option<&Evidence>,
    session_id: Option<&str>,
    settings: &Settings,
) -> Content {
    match tool.output_format {
        OutputFormat::Markdown => {
            markdown::content(tool, outcome, evidence, session_id, &settings.answers)
        }
        OutputFormat::Json => json::content(tool, outcome, evidence, session_id, &settings.answers),
    }
}

/// Writes an answer that is too large to a file; returns its link. Returns `None` if no file can be written.
async fn whole_in_file(
    call: &Call,
    reach: &Reach,
    output_format: OutputFormat,
    content: &Content,
) -> Option<String> {
    let extension = match output_format {
        OutputFormat::Markdown => "md",
        OutputFormat::Json => "json",
    };
    if !call.has_turn() {
        return None;
    }
    let session = reach.session.part_or_whole(call);
    let text = content.text_without_boundary();
    session.write_answer(call, extension, text).await.ok()
}

/// Masks secrets. This precedes the size limit, so that no part of a secret remains at a cut.
fn redacted(output_format: OutputFormat, mut content: Content, settings: &Settings) -> Content {
    for line in &mut content.step.code {
        *line = settings.secrets.redacted(std::mem::take(line));
    }
    for item in &mut content.items {
        if let ContentItem::Text(text) = item {
            *text = settings.secrets.redacted(std::mem::take(text));
            if settings.answers.content_boundaries {
                let backslash = match output_format {
                    OutputFormat::Markdown => r"\",
                    OutputFormat::Json => r"\\",
                };
                *text = engine::without_invisible(std::mem::take(text), backslash);
            }
        }
    }
    content.structured = content
        .structured
        .map(|value| settings.secrets.redacted_json(value));
    content
}

/// Applies the size limit.
fn limited(
    output_format: OutputFormat,
    content: Content,
    most: usize,
    file: Option<&str>,
    settings: &Settings,
) -> Content {
    let mut content = content.bounded(output_format, most, file);
    if output_format == OutputFormat::Json
        && settings.answers.content_boundaries
        && !content.is_error
        && let Some(object) = &content.structured
    {
        let boundary = Boundary::new();
        if let Some(text) = json::with_boundary(object, &boundary) {
            content.items[0] = ContentItem::Text(text);
            content.boundary = Some(boundary);
        }
    }
    content
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or_default()
        .to_owned()
}
