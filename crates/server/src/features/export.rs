//! The statements of a session, from which `browser_export_test` writes a test: the code of its calls, and assertions of what they changed.

mod assertions;
mod replay;
mod test_file;
mod tools;

use crate::answers::reply::Reply;
use crate::config::{Capability, Secrets, Variables};
use crate::error::Error;
use crate::sessions::session::Session;
use crate::sessions::session::feature::SessionFeature;
use crate::tools::tool::ToolDef;
use engine::codegen::{Action, Language};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) const TOOLS: &[ToolDef] = tools::TOOLS;

/// The largest number of statements that a session keeps.
const MAX_STATEMENTS: usize = 1_000;
/// The longest statement that a session keeps, in bytes.
const MAX_BYTES: usize = 16 * 1024;
/// The most assertions about the changes of one call.
const MAX_ASSERTIONS: usize = 2;

/// The beginnings of code that navigates, and of code that closes the page.
const GOTO: &str = "await page.goto(";
const CLOSE: &str = "await page.close(";

/// The statements of a session.
#[derive(Debug, Default)]
pub(super) struct Statements(Mutex<RecordedStatements>);

/// Statements with the variables that they use.
#[derive(Debug, Clone, Default)]
pub(super) struct RecordedStatements {
    /// The statements, in order.
    pub(super) statements: Vec<TestStatement>,
    /// The number of statements that were too many or too long.
    pub(super) left_out: usize,
    /// The environment variables that stand for secrets.
    pub(super) variables: Variables,
    /// How many assertions about the last call may follow.
    open: usize,
    /// The URL of the page after the last call.
    url: Option<String>,
    /// Whether the browser was closed since the last statement.
    is_closed: bool,
}

/// A statement of a test, in one line or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TestStatement {
    /// The code in TypeScript that is also JavaScript.
    pub(super) code: String,
    /// Whether it is an assertion of what a call changed, and not the code of a call.
    pub(super) is_derived: bool,
}

impl SessionFeature for Statements {
    /// Records the code of a call that has succeeded.
    fn after_tool(&self, session: &Session, reply: &mut Reply, acts: bool) {
        let settings = session.settings();
        if !settings.tools.capabilities.contains(&Capability::Testing) {
            return;
        }
        let is_done = reply.error.as_ref().is_none_or(Error::is_dialog);
        let lines = match is_done && (acts || reply.is_test_step) {
            true => std::mem::take(&mut reply.test_code),
            false => Vec::new(),
        };
        let url = session.current_page().map(|page| page.url());
        self.add(lines, url, &settings.secrets);
    }

    /// Records assertions of what the last call changed: the lines of its answer.
    fn after_changes(&self, session: &Session, changes: &[String]) {
        let page = session.current_page();
        let prefix = page.map_or_else(String::new, |page| page.ref_prefix());
        self.add_changes(changes, &prefix, &session.settings().secrets);
    }

    /// Records an assertion of the document that the last call opened: its first heading.
    fn after_document(&self, session: &Session, snapshot: &str) {
        let heading = snapshot.lines().find(|line| assertions::is_heading(line));
        if let Some(heading) = heading {
            self.after_changes(session, &[format!("+ {}", heading.trim_start())]);
        }
    }

    /// Ends the statements: the next one begins others, in another browser.
    fn closed(&self) {
        self.lock().is_closed = true;
    }
}

impl Statements {
    /// Adds the code of a call. The URL is that of the page after the call.
    fn add(&self, mut lines: Vec<String>, url: Option<String>, secrets: &Secrets) {
        let mut all = self.lock();
        lines.retain(|line| !line.starts_with(CLOSE));
        let before = std::mem::replace(&mut all.url, url.clone());
        if lines.is_empty() {
            return;
        }
        if std::mem::take(&mut all.is_closed) {
            *all = RecordedStatements {
                url: url.clone(),
                ..RecordedStatements::default()
            };
        }
        let navigates = lines.iter().any(|line| line.starts_with(GOTO));
        if all.statements.is_empty() && all.left_out == 0 && !navigates {
            let first = before.as_ref().or(url.as_ref());
            let first = first.filter(|url| !url.starts_with("about:")).cloned();
            let goto = first.map(|url| Action::Goto { url });
            if let Some(code) = goto.and_then(|goto| goto.code(Language::Typescript)) {
                all.push(code, secrets);
            }
        }
        for line in lines {
            all.push(line, secrets);
        }
        all.open = MAX_ASSERTIONS;
        if !navigates && before.is_some() && url != before {
            let assertion = url.as_deref().and_then(assertions::of_url);
            all.assert(assertion.into_iter().collect(), secrets);
        }
    }

    /// Adds assertions of what the last call changed: the lines of its answer. `prefix` is that of the refs of the main document.
    fn add_changes(&self, changes: &[String], prefix: &str, secrets: &Secrets) {
        let mut all = self.lock();
        let most = std::mem::take(&mut all.open);
        if most > 0 {
            let call = all.statements.iter().rfind(|it| !it.is_derived);
            let code = call.map_or("", |call| &call.code);
            let derived = assertions::of_changes(changes, prefix, code, most);
            all.assert(derived, secrets);
        }
    }

    /// Returns the statements since the browser was opened.
    fn recorded(&self) -> RecordedStatements {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, RecordedStatements> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecordedStatements {
    fn push(&mut self, code: String, secrets: &Secrets) {
        if code.len() > MAX_BYTES {
            self.left_out += 1;
            return;
        }
        let code = self.variables.substituted(code, secrets);
        let call = self.statements.iter_mut().rfind(|it| !it.is_derived);
        match call {
            // The handler must be there before the action that opens the dialog.
            Some(call) if code.starts_with("page.once('dialog'") => {
                call.code = format!("{code}\n{}", call.code);
            }
            _ if code.starts_with("await fileChooser.setFiles(undefined)") => {}
            Some(call) if code.starts_with("await fileChooser.") => {
                let opening = call.code.replace('\n', "\n  ");
                call.code = format!(
                    "{{\n  const opened = page.waitForEvent('filechooser');\n  {opening}\n  const fileChooser = await opened;\n  {code};\n}}"
                );
            }
            _ => self.add(code, false),
        }
    }

    /// Adds assertions that contain no secrets.
    fn assert(&mut self, assertions: Vec<String>, secrets: &Secrets) {
        for code in assertions {
            let is_known = self.statements.last().is_some_and(|last| last.code == code);
            if !is_known && secrets.redacted(code.clone()) == code {
                self.open = self.open.saturating_sub(1);
                self.add(code, true);
            }
        }
    }

    fn add(&mut self, code: String, is_derived: bool) {
        if self.statements.len() == MAX_STATEMENTS {
            self.statements.remove(0);
            self.left_out += 1;
        }
        self.statements.push(TestStatement { code, is_derived });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(statements: &Statements) -> Vec<String> {
        let recorded = statements.lock().statements.clone();
        recorded.into_iter().map(|it| it.code).collect()
    }

    fn add(statements: &Statements, line: &str) {
        let url = Some("http://a/".to_owned());
        statements.add(vec![line.to_owned()], url, &Secrets::default());
    }

    #[test]
    fn the_first_statement_navigates_and_changes_follow_their_call() {
        let (statements, secrets) = (Statements::default(), Secrets::default());
        statements.add(Vec::new(), Some("http://a/".to_owned()), &secrets);
        statements.add(
            vec!["await page.getByText('Go').click();".to_owned()],
            Some("http://a/done".to_owned()),
            &secrets,
        );
        let changes = ["+ # Done".to_owned(), "+ Order placed".to_owned()];
        statements.add_changes(&changes, "", &secrets);
        statements.add_changes(&changes, "", &secrets);
        assert_eq!(
            codes(&statements),
            [
                "await page.goto('http://a/');",
                "await page.getByText('Go').click();",
                "await expect(page).toHaveURL('http://a/done');",
                "await expect(page.getByRole('heading', { name: 'Done', exact: true })).toBeVisible();",
            ]
        );
    }

    #[test]
    fn dialogs_and_file_choosers_are_handled_before_they_open() {
        let statements = Statements::default();
        add(&statements, "await page.goto('http://a/');");
        add(&statements, "await a.click();");
        add(
            &statements,
            "page.once('dialog', (dialog) => dialog.accept());",
        );
        add(&statements, "await b.click();");
        add(&statements, "await fileChooser.setFiles([\"/a\"])");
        assert_eq!(
            codes(&statements)[1..],
            [
                "page.once('dialog', (dialog) => dialog.accept());\nawait a.click();",
                "{\n  const opened = page.waitForEvent('filechooser');\n  await b.click();\n  const fileChooser = await opened;\n  await fileChooser.setFiles([\"/a\"]);\n}",
            ]
        );
    }

    #[test]
    fn statements_are_bounded_and_end_with_the_browser() {
        let statements = Statements::default();
        for _ in 0..=MAX_STATEMENTS {
            add(&statements, "await page.goto('http://a/');");
        }
        add(&statements, &"x".repeat(MAX_BYTES + 1));
        let recorded = statements.lock().clone();
        assert_eq!(
            (recorded.statements.len(), recorded.left_out),
            (MAX_STATEMENTS, 2)
        );
        statements.closed();
        assert_eq!(codes(&statements).len(), MAX_STATEMENTS);
        add(&statements, "await page.goto('http://b/');");
        assert_eq!(codes(&statements), ["await page.goto('http://b/');"]);
    }

    #[test]
    fn assertions_with_secrets_are_left_out() {
        let (statements, secrets) = (Statements::default(), Secrets::default());
        secrets.mask_passwords(&["correct horse".to_owned()]);
        statements.add(vec!["await a.click();".to_owned()], None, &secrets);
        statements.add_changes(&["+ correct horse".to_owned()], "", &secrets);
        assert_eq!(codes(&statements), ["await a.click();"]);
    }
}
