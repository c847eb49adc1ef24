//! The output format of the `browser` toolset: sections under `###` headings, in the order and words of `@playwright/mcp`.

use super::sections::{Boundary, Sections};
use super::{Content, ContentItem, name_session};
use crate::answers::StepFacts;
use crate::answers::escape::one_line;
use crate::answers::evidence::{EarlierError, Evidence, ServerState};
use crate::answers::reply::{
    Answer, Event, Image, Modal, PageFacts, Part, SnapshotFacts, TabFacts,
};
use crate::calls::tool_spec::ToolSpec;
use crate::config::{AnswerSettings, AnswerStyle, ImageResponses};
use crate::error::{Error, Result};
use engine::Obstacle;
use script::Pause;
use std::borrow::Cow;

/// Formats the result of a tool call.
pub(crate) fn content(
    tool: &ToolSpec,
    outcome: Result<Answer>,
    evidence: Option<&Evidence>,
    session_id: Option<&str>,
    settings: &AnswerSettings,
) -> Content {
    let (mut text, images, error) = match outcome {
        Ok(answer) => answered(answer, settings),
        Err(error) => (failed(&error, settings), Vec::new(), Some(error)),
    };
    let mut structured = error
        .as_ref()
        .map(|error| error.to_json(tool.code_of(error)));
    if let Some(object) = &mut structured {
        name_session(object, session_id);
    }
    if let Some(evidence) = evidence {
        add_evidence(&mut text, evidence);
        if let Some(object) = &mut structured {
            object["evidence"] = serde_json::json!(evidence);
        }
    }
    let boundary = settings.content_boundaries.then(Boundary::new);
    let mut items = vec![ContentItem::Text(text.finish(boundary.as_ref()))];
    match settings.image_responses {
        ImageResponses::Allow => items.extend(images),
        ImageResponses::Only if !images.is_empty() => items = images,
        ImageResponses::Omit | ImageResponses::Only => {}
    }
    Content {
        items,
        structured,
        step: StepFacts::default(),
        is_error: error.is_some(),
        boundary,
    }
}

/// Returns the parts of a result as lines and images. The links of files begin with `bullet`.
pub(super) fn parts(parts: Vec<Part>, bullet: &str) -> (Vec<String>, Vec<ContentItem>) {
    let (mut lines, mut images) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::Text(text) | Part::Page(text) | Part::Code { code: text, .. } => lines.push(text),
            Part::File { title, link } => lines.push(format!("{bullet}[{title}]({link})")),
            Part::Tabs(tabs) => lines.extend(tab_lines(&tabs)),
            Part::Image(Image { bytes, mime_type }) => {
                images.push(ContentItem::Image { bytes, mime_type });
            }
            Part::Object(object) => lines.push(object.to_string()),
        }
    }
    (lines, images)
}

/// Returns the lines of a list of tabs.
fn tab_lines(tabs: &[TabFacts]) -> Vec<String> {
    if tabs.is_empty() {
        return vec!["No open tabs. Navigate to a URL to create one.".to_owned()];
    }
    tabs.iter()
        .enumerate()
        .map(|(index, tab)| {
            let current = if tab.current { " (current)" } else { "" };
            let crashed = if tab.crashed { " [crashed]" } else { "" };
            let (title, url) = (one_line(&tab.title), one_line(&tab.url));
            let context = tab.context.as_ref();
            let context = context.map(|name| format!(" [isolatedContext: {name}]"));
            let context = context.unwrap_or_default();
            format!("- {index}:{current} [{title}]({url}){crashed}{context}")
        })
        .collect()
}

/// Returns the lines with what there is in place of what a call has named.
fn alternatives(error: &Error) -> Vec<String> {
    let (title, found) = match error {
        Error::Engine(engine::Error::ElementNotFound { nearest, .. }) => ("Nearest:", nearest),
        Error::Engine(engine::Error::Timeout {
            obstacle: Some(obstacle),
            ..
        }) => match &**obstacle {
            engine::Error::NotActionable {
                obstacle: Obstacle::MissingOptions { options },
                ..
            } => ("Options:", options),
            _ => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let lines = found.iter().map(|line| format!("- {}", one_line(line)));
    let title = (!found.is_empty()).then(|| title.to_owned());
    title.into_iter().chain(lines).collect()
}

fn failed(error: &Error, settings: &AnswerSettings) -> Sections {
    let mut text = Sections::default();
    add_error(&mut text, error, settings);
    text
}

/// Adds the section of an error. In the compact style it also says what to do.
fn add_error(text: &mut Sections, error: &Error, settings: &AnswerSettings) {
    let mut lines = vec![sentence(error)];
    if settings.style == AnswerStyle::Compact {
        lines.extend(error.advice().map(Cow::into_owned));
        lines.extend(alternatives(error));
    }
    text.section("Error", &lines, quotes_page(error));
}

/// Returns the sections of an answer, its images, and whether it is an error.
fn answered(
    answer: Answer,
    settings: &AnswerSettings,
) -> (Sections, Vec<ContentItem>, Option<Error>) {
    let Answer {
        reply,
        page,
        tabs,
        modals,
        pause,
        changes,
        snapshot,
        events,
        opened: _,
    } = answer;
    let mut text = Sections::default();
    if let Some(error) = &reply.error {
        add_error(&mut text, error, settings);
    }
    let is_page_text =
        |part: &Part| matches!(part, Part::Page(_) | Part::Tabs(_) | Part::Code { .. });
    let is_page = reply.parts.iter().any(is_page_text);
    let is_code = |part: &mut Part| matches!(part, Part::Code { .. });
    let mut reply_parts = reply.parts;
    let code: Vec<_> = reply_parts.extract_if(.., is_code).collect();
    let (result, images) = parts(reply_parts, "- ");
    text.section("Result", &result, is_page);
    for part in code {
        if let Part::Code { language, code } = part {
            text.and_code(language, &code);
        }
    }
    if let Some(language) = settings.codegen.fence() {
        text.fenced("Ran Playwright code", language, &reply.code, false);
    }
    if let Some(page) = page {
        if tabs.len() != 1 {
            text.section("Open tabs", &tab_lines(&tabs), !tabs.is_empty());
        }
        text.section("Page", &page_lines(&page), true);
    }
    let modal_lines: Vec<_> = modals.iter().map(modal_line).collect();
    text.section("Modal state", &modal_lines, true);
    if let Some(changes) = changes {
        text.section("Changes", &change_lines(changes), true);
    }
    match snapshot {
        Some(SnapshotFacts::File(link)) => {
            text.section("Snapshot", &[format!("- [Snapshot]({link})")], false);
        }
        Some(SnapshotFacts::Inline(snapshot)) => {
            text.fenced("Snapshot", language(settings), &[snapshot], true);
        }
        Some(SnapshotFacts::Outline {
            outline,
            link,
            tokens,
        }) => {
            text.fenced("Snapshot", language(settings), &[outline], true);
            let whole = link.map_or_else(
                || "a snapshot that could not be written to a file".to_owned(),
                |link| format!("[Snapshot]({link})"),
            );
            text.line(&format!(
                "- Outline of {whole}: {tokens} tokens. browser_snapshot opens a fold (…) with the text after `ref=` as target."
            ));
        }
        Some(SnapshotFacts::Missing(reason)) => {
            let line = format!("- No snapshot: {}", one_line(&reason));
            text.section("Snapshot", &[line], false);
        }
        None => {}
    }
    let event_lines: Vec<_> = events.iter().map(event_line).collect();
    text.section("Events", &event_lines, events.iter().any(is_of_page));
    if let Some(pause) = pause {
        text.section("Paused", &pause_lines(&pause), false);
    }
    if settings.style == AnswerStyle::Compact && text.is_empty() && images.is_empty() {
        text.section("Result", &["Done".to_owned()], false);
    }
    (text, images, reply.error)
}

/// Returns the language of the fences around snapshots.
fn language(settings: &AnswerSettings) -> &'static str {
    match settings.style {
        AnswerStyle::Playwright => "yaml",
        AnswerStyle::Compact => "",
    }
}

/// Returns whether an error quotes text of the page.
fn quotes_page(error: &Error) -> bool {
    matches!(error, Error::Engine(_) | Error::VerificationFailed { .. })
}

/// Adds the page state of the failure, and the log of the app under test.
fn add_evidence(text: &mut Sections, evidence: &Evidence) {
    text.begin("Evidence", true);
    if let Some(url) = &evidence.page_url {
        text.line(&format!("- Page URL: {}", one_line(url)));
    }
    if let Some(shot) = &evidence.screenshot {
        text.line(&format!("- [Screenshot]({}) {}", shot.path, shot.uri));
    }
    for message in &evidence.console {
        text.line(&format!("- Console: {}", one_line(message)));
    }
    for failed in &evidence.requests {
        text.line(&format!(
            "- Failed request: {}",
            one_line(&failed.to_string())
        ));
    }
    if let Some(EarlierError {
        time,
        tool,
        message,
        log,
    }) = &evidence.earlier
    {
        let logged = if log.is_empty() {
            ""
        } else {
            ". The server logged:"
        };
        let message = one_line(message);
        text.line(&format!(
            "- Before, with {tool} at {time}: {message}{logged}"
        ));
        if !log.is_empty() {
            text.and_fenced(log);
        }
    }
    for server in &evidence.servers {
        add_server(text, server);
    }
}

/// Formats an error as `@playwright/mcp` does: errors of the engine and of rules have a prefix, errors that a tool reports do not.
fn sentence(error: &Error) -> String {
    match error {
        Error::Engine(engine::Error::Timeout { .. }) => format!("TimeoutError: {error}"),
        // The message of the page begins with the name of its error.
        Error::Engine(engine::Error::Script { message }) => message.clone(),
        Error::InvalidArguments { .. }
        | Error::ToolDisabled { .. }
        | Error::SwitchedOff { .. }
        | Error::ScreenshotTooLarge { .. }
        | Error::PictureTooLarge { .. }
        | Error::RequestNotFound { .. }
        | Error::VerificationFailed { .. } => error.to_string(),
        Error::Arguments { bare: true, .. } => error.to_string(),
        _ => format!("Error: {error}"),
    }
}

fn add_server(text: &mut Sections, server: &ServerState) {
    let answer = &server.answer;
    let mut facts = vec![answer.status.to_string()];
    match answer.healthy {
        Some(true) => facts.push("healthy".to_owned()),
        Some(false) => facts.push("not healthy".to_owned()),
        None => {}
    }
    facts.extend(answer.url.clone());
    facts.extend(answer.pid.map(|pid| format!("pid {pid}")));
    facts.extend(answer.exit_code.map(|code| format!("exit code {code}")));
    facts.extend(answer.error.clone());
    text.begin(&format!("Server {}", server.name), true);
    text.line(&format!("- Status: {}", facts.join(", ")));
    let logs = answer.logs.paths();
    if !logs.is_empty() {
        text.line(&format!("- Log: {}", logs.join(", ")));
    }
    if server.refuses {
        text.line("- Nothing listens at its URL");
    }
    match (&*server.log, server.log_left_out) {
        ("", _) => text.line("- It has logged nothing since the last call"),
        (_, None) => text.line("- Logged since the last call:"),
        (_, Some(left_out)) => text.line(&format!(
            "- Logged since the last call, {left_out} bytes of it left out at the beginning:"
        )),
    }
    if !server.log.is_empty() {
        text.and_fenced(&server.log);
    }
}

fn page_lines(page: &PageFacts) -> Vec<String> {
    let mut lines = vec![format!("- Page URL: {}", one_line(&page.url))];
    if !page.title.is_empty() {
        lines.push(format!("- Page Title: {}", one_line(&page.title)));
    }
    if let Some(context) = &page.context {
        lines.push(format!("- Isolated context: {context}"));
    }
    if page.crashed {
        lines.push("- Page status: crashed".to_owned());
    }
    if let Some((status, reason)) = &page.status
        && !(200..300).contains(status)
    {
        lines.push(
            format!("- HTTP status: {status} {}", one_line(reason))
                .trim_end()
                .to_owned(),
        );
    }
    match page.document_tools {
        0 => {}
        1 => lines.push("- 1 webmcp tool available on the page".to_owned()),
        count => lines.push(format!("- {count} webmcp tools available on the page")),
    }
    let (errors, warnings) = (page.console.errors, page.console.warnings);
    if errors > 0 || warnings > 0 {
        lines.push(format!("- Console: {errors} errors, {warnings} warnings"));
    }
    lines
}

/// Returns the lines of the changes of a page.
pub(crate) fn change_lines(changes: Vec<String>) -> Vec<String> {
    match changes.is_empty() {
        true => vec!["None".to_owned()],
        false => changes,
    }
}

fn pause_lines(Pause { title, file, line }: &Pause) -> [String; 2] {
    let line = line.map_or_else(String::new, |line| format!(":{line}"));
    let at = file
        .as_ref()
        .map_or_else(String::new, |file| format!(" at {file}{line}"));
    [
        format!("- {title}{at}"),
        "- Use any tools to explore and interact, resume with browser_resume".to_owned(),
    ]
}

fn modal_line(modal: &Modal) -> String {
    match modal {
        Modal::Dialog(dialog) => format!(
            "- [\"{}\" dialog with message \"{}\"]: can be handled by browser_handle_dialog",
            dialog.kind,
            one_line(&dialog.message)
        ),
        Modal::FileChooser(_) => {
            "- [File chooser]: can be handled by browser_file_upload".to_owned()
        }
    }
}

fn event_line(event: &Event) -> String {
    let line = match event {
        Event::Console { link, first, last } if first == last => {
            format!("- New console entries: {link}#L{first}")
        }
        Event::Console { link, first, last } => {
            format!("- New console entries: {link}#L{first}-L{last}")
        }
        Event::Downloading { name } => format!("- Downloading file {name} ..."),
        Event::Downloaded {
            name,
            link,
            quarantined,
        } => {
            let quarantined = if *quarantined { " (quarantined)" } else { "" };
            format!("- Downloaded file {name} to \"{link}\"{quarantined}")
        }
        Event::BrowserReplaced { reason } if reason.is_empty() => {
            "- The browser had terminated; a new one was started".to_owned()
        }
        Event::BrowserReplaced { reason } => {
            format!("- The browser had terminated ({reason}); a new one was started")
        }
        Event::EmptyPage {} => "- The page shows nothing".to_owned(),
        Event::BusyPage {} => "- The page is still loading".to_owned(),
        Event::NotOpened { url } => {
            format!("- The page asked for a program to open '{url}'; none is started")
        }
        Event::TabsRefused { count } => {
            format!("- Pages keep opening tabs: {count} more were closed at once")
        }
        Event::TabClosed { url } => format!("- The tab with {url} has closed"),
        Event::DialogElsewhere { index, dialog } => format!(
            "- Tab {index} has an open \"{}\" dialog with message \"{}\", which may pause this page: select the tab with browser_tabs, and use browser_handle_dialog",
            dialog.kind,
            one_line(&dialog.message)
        ),
        Event::ProfileInUse { dir } => {
            format!(
                "- The browser profile {dir} is in use; this session works in an isolated one, and nothing of it is kept"
            )
        }
        Event::UserActed {} => "- The user has used the browser and handed it back".to_owned(),
        Event::UserAnnotated { notes, image } => {
            let notes = notes.join("; ");
            let image = image.as_ref().map(|link| format!(" (image: {link})"));
            format!(
                "- The user annotated the page: {notes}{}",
                image.unwrap_or_default()
            )
        }
        Event::NavigationFailed { reason } => format!("- The page could not be loaded: {reason}"),
        Event::AppFailed { first, count } => {
            let more = match count {
                0 | 1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            format!("- The app failed: {first}{more}. e2e_errors shows what its server logged")
        }
        Event::DownloadFailed { name, reason } => {
            format!("- Download of file {name} failed: {reason}")
        }
    };
    one_line(&line).into_owned()
}

/// Returns whether the event contains text of a page.
fn is_of_page(event: &Event) -> bool {
    match event {
        Event::Downloading { .. }
        | Event::Downloaded { .. }
        | Event::DownloadFailed { .. }
        | Event::NavigationFailed { .. }
        | Event::NotOpened { .. }
        | Event::TabClosed { .. }
        | Event::DialogElsewhere { .. }
        | Event::AppFailed { .. } => true,
        Event::Console { .. }
        | Event::BrowserReplaced { .. }
        | Event::EmptyPage {}
        | Event::BusyPage {}
        | Event::TabsRefused { .. }
        | Event::UserActed {}
        | Event::UserAnnotated { .. }
        | Event::ProfileInUse { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::reply::Reply;
    use crate::calls::tool_spec::OutputFormat;
    use engine::{ConsoleCounts, Dialog, DialogKind};

    const TOOL: ToolSpec = ToolSpec::internal("click", OutputFormat::Markdown);

    use crate::answers::tests::settings;

    fn tab(title: &str, current: bool) -> TabFacts {
        TabFacts {
            title: title.into(),
            url: format!("http://x/{title}"),
            current,
            context: None,
            crashed: false,
        }
    }

    #[test]
    fn sections_come_in_their_order_and_only_with_lines() {
        let answer = Answer {
            reply: Reply::text("done").and_code("await page.x();"),
            page: Some(PageFacts {
                url: "http://x/b".into(),
                title: "b".into(),
                status: Some((500, "Internal Server Error".into())),
                console: ConsoleCounts {
                    total: 3,
                    errors: 1,
                    warnings: 0,
                },
                document_tools: 2,
                context: None,
                crashed: false,
            }),
            pause: None,
            tabs: vec![tab("a", false), tab("b", true)],
            modals: vec![Modal::Dialog(Dialog {
                kind: DialogKind::Alert,
                message: "Hi".into(),
                default_value: String::new(),
            })],
            changes: Some(vec!["+ button \"Go\" [ref=e3]".into()]),
            snapshot: Some(SnapshotFacts::File("out/page.yml".into())),
            events: vec![
                Event::Console {
                    link: "out/c.log".into(),
                    first: 2,
                    last: 4,
                },
                Event::Downloading {
                    name: "a.txt".into(),
                },
            ],
            opened: Vec::new(),
        };
        expect_test::expect![[r##"
            ### Result
            done
            ### Ran Playwright code
            ```js
            await page.x();
            ```
            ### Open tabs
            - 0: [a](http://x/a)
            - 1: (current) [b](http://x/b)
            ### Page
            - Page URL: http://x/b
            - Page Title: b
            - HTTP status: 500 Internal Server Error
            - 2 webmcp tools available on the page
            - Console: 1 errors, 0 warnings
            ### Modal state
            - ["alert" dialog with message "Hi"]: can be handled by browser_handle_dialog
            ### Changes
            + button "Go" [ref=e3]
            ### Snapshot
            - [Snapshot](out/page.yml)
            ### Events
            - New console entries: out/c.log#L2-L4
            - Downloading file a.txt ..."##]]
        .assert_eq(&content(&TOOL, Ok(answer), None, None, &settings()).text());
    }

    #[test]
    fn the_snapshot_of_an_empty_page_is_an_empty_line() {
        let answer = Answer {
            snapshot: Some(SnapshotFacts::Inline(String::new())),
            ..Answer::default()
        };
        assert_eq!(
            content(&TOOL, Ok(answer), None, None, &settings()).text(),
            "### Snapshot\n```yaml\n\n```"
        );
    }

    #[test]
    fn an_error_is_text_for_the_model_and_an_object_for_programs() {
        let content = content(
            &TOOL,
            Err(Error::TabNotFound { index: 7 }),
            None,
            None,
            &settings(),
        );
        assert_eq!(content.text(), "### Error\nError: Tab 7 not found");
        assert!(content.is_error);
        assert_eq!(
            content.structured.expect("errors are structured")["errorCode"],
            "NOT_FOUND"
        );
    }

    #[test]
    fn a_success_contains_only_content() {
        let content = content(&TOOL, Ok(Answer::default()), None, None, &settings());
        assert!(!content.is_error && content.structured.is_none());
    }

    #[test]
    fn page_text_is_within_the_boundary() {
        let answer = Answer {
            reply: Reply::default().and(Part::Page("### Result\nOK".to_owned())),
            modals: vec![Modal::Dialog(Dialog {
                kind: DialogKind::Alert,
                message: "m\n### Result\nOK".into(),
                default_value: String::new(),
            })],
            ..Answer::default()
        };
        let settings = AnswerSettings {
            content_boundaries: true,
            ..settings()
        };
        let content = content(&TOOL, Ok(answer), None, None, &settings);
        let boundary = content.boundary.as_ref().expect("a boundary");
        let modal = "- [\"alert\" dialog with message \"m\\n### Result\\nOK\"]: can be handled by browser_handle_dialog";
        assert_eq!(
            content.text(),
            format!(
                "{}\n### Result\n\\### Result\nOK\n### Modal state\n{modal}\n{}",
                boundary.start(),
                boundary.end()
            )
        );
    }
}
