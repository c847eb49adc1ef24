//! The dialect of the `browser` toolset: sections under `###` headings, in the order and words that clients of
//! `@playwright/mcp` read.

use super::{Content, ContentItem, name_session};
use crate::config::{AnswerSettings, ImageResponses};
use crate::error::{Error, Result};
use crate::evidence::{Earlier, Evidence, ServerState};
use crate::reply::{Answer, Event, Image, Modal, PageFacts, Part, SnapshotFacts, TabFacts};
use engine::codegen::Language;
use std::fmt::Write as _;

/// Dresses the outcome of a call of a tool.
pub(crate) fn content(
    tool: &str,
    outcome: Result<Answer>,
    evidence: Option<&Evidence>,
    session_id: Option<&str>,
    settings: &AnswerSettings,
) -> Content {
    let mut content = match outcome {
        Ok(answer) => answered(tool, answer, settings),
        Err(error) => failed(tool, &error),
    };
    if let Some(object) = &mut content.structured {
        name_session(object, session_id);
    }
    if let Some(evidence) = evidence {
        if let Some(ContentItem::Text(text)) = content.items.first_mut() {
            let mut sections = Sections(std::mem::take(text));
            sections.evidence(evidence);
            *text = sections.0;
        }
        if let Some(object) = &mut content.structured {
            object["evidence"] = serde_json::json!(evidence);
        }
    }
    content
}

/// The lines of a list of tabs.
pub(crate) fn tab_lines(tabs: &[TabFacts]) -> Vec<String> {
    if tabs.is_empty() {
        return vec!["No open tabs. Navigate to a URL to create one.".to_owned()];
    }
    tabs.iter()
        .enumerate()
        .map(|(index, tab)| {
            let current = if tab.current { " (current)" } else { "" };
            let crashed = if tab.crashed { " [crashed]" } else { "" };
            format!("- {index}:{current} [{}]({}){crashed}", tab.title, tab.url)
        })
        .collect()
}

fn failed(tool: &str, error: &Error) -> Content {
    let mut text = Sections::default();
    text.section("Error", vec![sentence(error)]);
    Content {
        items: vec![ContentItem::Text(text.0)],
        structured: Some(error.to_json(tool)),
        is_error: true,
    }
}

fn answered(tool: &str, answer: Answer, settings: &AnswerSettings) -> Content {
    let Answer {
        reply,
        page,
        tabs,
        modals,
        snapshot,
        events,
        opened: _,
    } = answer;
    let mut text = Sections::default();
    if let Some(error) = &reply.error {
        text.section("Error", vec![sentence(error)]);
    }
    let mut images = Vec::new();
    let mut result = Vec::new();
    for part in reply.parts {
        match part {
            Part::Text(line) => result.push(line),
            Part::File { title, link } => result.push(format!("- [{title}]({link})")),
            Part::Tabs(tabs) => result.extend(tab_lines(&tabs)),
            Part::Image(Image { bytes, mime_type }) => {
                images.push(ContentItem::Image { bytes, mime_type })
            }
            Part::Object(object) => result.push(object.to_string()),
        }
    }
    text.section("Result", result);
    if let Some(language) = Language::from(settings.codegen).fence() {
        text.fenced("Ran Playwright code", language, reply.code);
    }
    if let Some(page) = page {
        if tabs.len() != 1 {
            text.section("Open tabs", tab_lines(&tabs));
        }
        text.section("Page", page_lines(&page));
    }
    text.section("Modal state", modals.iter().map(modal_line).collect());
    match snapshot {
        Some(SnapshotFacts::File(link)) => {
            text.section("Snapshot", vec![format!("- [Snapshot]({link})")]);
        }
        Some(SnapshotFacts::Inline(yaml)) => text.fenced("Snapshot", "yaml", vec![yaml]),
        Some(SnapshotFacts::Missing(reason)) => {
            text.section("Snapshot", vec![format!("- No snapshot: {reason}")]);
        }
        None => {}
    }
    text.section("Events", events.iter().map(event_line).collect());
    let mut items = vec![ContentItem::Text(text.0)];
    match settings.image_responses {
        ImageResponses::Allow => items.extend(images),
        ImageResponses::Only if !images.is_empty() => items = images,
        ImageResponses::Omit | ImageResponses::Only => {}
    }
    Content {
        items,
        structured: reply.error.as_ref().map(|error| error.to_json(tool)),
        is_error: reply.error.is_some(),
    }
}

/// Sections that have lines, one after the other.
#[derive(Default)]
struct Sections(String);

impl Sections {
    fn section(&mut self, title: &str, lines: Vec<String>) {
        if lines.is_empty() {
            return;
        }
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        let _ = write!(self.0, "### {title}\n{}", lines.join("\n"));
    }

    fn evidence(&mut self, evidence: &Evidence) {
        let mut lines = Vec::new();
        if let Some(url) = &evidence.page_url {
            lines.push(format!("- Page URL: {url}"));
        }
        if let Some(shot) = &evidence.screenshot {
            lines.push(format!("- [Screenshot]({}) {}", shot.path, shot.uri));
        }
        let console = evidence.console.iter();
        lines.extend(console.map(|message| format!("- Console: {message}")));
        let requests = evidence.requests.iter();
        lines.extend(requests.map(|failed| format!("- Failed request: {failed}")));
        lines.extend(evidence.earlier.as_ref().map(earlier_line));
        self.section("Evidence", lines);
        for server in &evidence.servers {
            self.section(&format!("Server {}", server.name), server_lines(server));
        }
    }

    fn fenced(&mut self, title: &str, language: &str, lines: Vec<String>) {
        if !lines.is_empty() {
            let body = lines.join("\n");
            self.section(title, vec![format!("```{language}\n{body}\n```")]);
        }
    }
}

/// An error as clients expect to read it: what the engine or a rule says is named, what a tool reports stands alone.
fn sentence(error: &Error) -> String {
    match error {
        Error::Engine(engine::Error::Timeout { .. }) => format!("TimeoutError: {error}"),
        // The page's own words begin with the name of its error.
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

fn earlier_line(earlier: &Earlier) -> String {
    let Earlier {
        time,
        tool,
        message,
        log,
    } = earlier;
    let logged = match &**log {
        "" => String::new(),
        log => format!(". The server logged:\n```\n{log}\n```"),
    };
    format!("- Before, with {tool} at {time}: {message}{logged}")
}

fn server_lines(server: &ServerState) -> Vec<String> {
    let answer = &server.answer;
    let mut facts = vec![answer.status.clone()];
    match answer.healthy {
        Some(true) => facts.push("healthy".to_owned()),
        Some(false) => facts.push("not healthy".to_owned()),
        None => {}
    }
    facts.extend(answer.url.clone());
    facts.extend(answer.pid.map(|pid| format!("pid {pid}")));
    facts.extend(answer.exit_code.map(|code| format!("exit code {code}")));
    facts.extend(answer.error.clone());
    let mut lines = vec![format!("- Status: {}", facts.join(", "))];
    let logs = answer.logs.paths();
    if !logs.is_empty() {
        lines.push(format!("- Log: {}", logs.join(", ")));
    }
    if server.refuses {
        lines.push("- Nothing listens at its URL".to_owned());
    }
    match (&*server.log, server.log_left_out) {
        ("", _) => lines.push("- It has logged nothing since the last call".to_owned()),
        (log, None) => lines.push(format!("- Logged since the last call:\n```\n{log}\n```")),
        (log, Some(left_out)) => lines.push(format!(
            "- Logged since the last call, {left_out} bytes of it left out at the beginning:\n```\n{log}\n```"
        )),
    }
    lines
}

fn page_lines(page: &PageFacts) -> Vec<String> {
    let mut lines = vec![format!("- Page URL: {}", page.url)];
    if !page.title.is_empty() {
        lines.push(format!("- Page Title: {}", page.title));
    }
    if page.crashed {
        lines.push("- Page status: crashed".to_owned());
    }
    if let Some((status, reason)) = &page.status
        && !(200..300).contains(status)
    {
        lines.push(
            format!("- HTTP status: {status} {reason}")
                .trim_end()
                .to_owned(),
        );
    }
    let (errors, warnings) = (page.console.errors, page.console.warnings);
    if errors > 0 || warnings > 0 {
        lines.push(format!("- Console: {errors} errors, {warnings} warnings"));
    }
    lines
}

fn modal_line(modal: &Modal) -> String {
    match modal {
        Modal::Dialog(dialog) => format!(
            "- [\"{}\" dialog with message \"{}\"]: can be handled by browser_handle_dialog",
            dialog.kind, dialog.message
        ),
        Modal::FileChooser(_) => {
            "- [File chooser]: can be handled by browser_file_upload".to_owned()
        }
    }
}

fn event_line(event: &Event) -> String {
    match event {
        Event::Console { link, first, last } if first == last => {
            format!("- New console entries: {link}#L{first}")
        }
        Event::Console { link, first, last } => {
            format!("- New console entries: {link}#L{first}-L{last}")
        }
        Event::Downloading { name } => format!("- Downloading file {name} ..."),
        Event::Downloaded { name, link } => format!("- Downloaded file {name} to \"{link}\""),
        Event::BrowserReplaced { reason } if reason.is_empty() => {
            "- The browser was gone; a new one was started".to_owned()
        }
        Event::BrowserReplaced { reason } => {
            format!("- The browser was gone ({reason}); a new one was started")
        }
        Event::TabsRefused { count } => {
            format!("- Pages keep opening tabs: {count} more were closed at once")
        }
        Event::ProfileInUse { dir } => {
            format!(
                "- The browser profile {dir} is in use; this session works in an isolated one, and nothing of it is kept"
            )
        }
        Event::NavigationFailed { reason } => format!("- The page could not be loaded: {reason}"),
        Event::AppFailed { first, count } => {
            let more = match count {
                0 | 1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            format!("- The app failed: {first}{more}. e2e_errors tells what its server logged")
        }
        Event::DownloadFailed { name, reason } => {
            format!("- Download of file {name} failed: {reason}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Reply;
    use engine::{ConsoleCounts, Dialog, DialogKind};

    use crate::dialect::tests::settings;

    fn tab(title: &str, current: bool) -> TabFacts {
        TabFacts {
            title: title.into(),
            url: format!("http://x/{title}"),
            current,
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
                crashed: false,
            }),
            tabs: vec![tab("a", false), tab("b", true)],
            modals: vec![Modal::Dialog(Dialog {
                kind: DialogKind::Alert,
                message: "Hi".into(),
                default_value: String::new(),
            })],
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
            - Console: 1 errors, 0 warnings
            ### Modal state
            - ["alert" dialog with message "Hi"]: can be handled by browser_handle_dialog
            ### Snapshot
            - [Snapshot](out/page.yml)
            ### Events
            - New console entries: out/c.log#L2-L4
            - Downloading file a.txt ..."##]]
        .assert_eq(&content("browser_click", Ok(answer), None, None, &settings()).text());
    }

    #[test]
    fn the_snapshot_of_an_empty_page_is_an_empty_line() {
        let answer = Answer {
            snapshot: Some(SnapshotFacts::Inline(String::new())),
            ..Answer::default()
        };
        assert_eq!(
            content("browser_snapshot", Ok(answer), None, None, &settings()).text(),
            "### Snapshot\n```yaml\n\n```"
        );
    }

    #[test]
    fn an_error_is_text_for_the_model_and_an_object_for_programs() {
        let content = content(
            "browser_tabs",
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
    fn a_success_has_nothing_but_content() {
        let content = content(
            "browser_click",
            Ok(Answer::default()),
            None,
            None,
            &settings(),
        );
        assert!(!content.is_error && content.structured.is_none());
    }
}
