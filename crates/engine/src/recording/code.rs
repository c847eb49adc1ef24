//! The code of a recording in each language.

use super::{Recorded, StepKind};
use crate::codegen::{Action, Language, Typed};

/// The environment variable that stands for passwords in the code.
pub(super) const PASSWORD_VARIABLE: &str = "PASSWORD";

impl Recorded {
    /// Returns whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Replaces the typed texts, for example by the names of secrets.
    pub fn replace_texts(&mut self, replacement: impl Fn(&str) -> Option<Typed>) {
        for step in &mut self.steps {
            if let StepKind::Action {
                action: Action::Fill { value, .. },
                ..
            } = &mut step.kind
                && let Typed::Text(text) = value
                && let Some(replaced) = replacement(text)
            {
                *value = replaced;
            }
        }
    }

    /// Returns the lines of code. The first page is in the variable `page`, the others in `page1`, `page2` …
    pub fn code(&self, language: Language) -> Vec<String> {
        let mut lines = Vec::new();
        for step in &self.steps {
            let page = variable(step.page);
            match &step.kind {
                StepKind::Action { action, popups } => {
                    let code = action.code_for(language, &page).unwrap_or_default();
                    let popups = popups.iter().map(|popup| variable(*popup));
                    let code = popups.fold(code, |code, popup| {
                        around_popup(language, &page, &popup, &code)
                    });
                    lines.push(code);
                }
                StepKind::Open => lines.push(open(language, &page)),
                StepKind::Close => lines.push(close(language, &page)),
            }
        }
        lines
    }
}

/// Returns the name of the variable of a page.
fn variable(page: usize) -> String {
    match page {
        0 => "page".to_owned(),
        number => format!("page{number}"),
    }
}

/// Returns the code of an action that opens a popup.
fn around_popup(language: Language, page: &str, popup: &str, action: &str) -> String {
    let indented = |by: &str| {
        let lines = action.lines().map(|line| format!("{by}{line}"));
        lines.collect::<Vec<_>>().join("\n")
    };
    match language {
        Language::Typescript | Language::None => format!(
            "const {popup}Promise = {page}.waitForEvent('popup');\n{action}\nconst {popup} = await {popup}Promise;"
        ),
        Language::Python => format!(
            "with {page}.expect_popup() as {popup}_info:\n{}\n{popup} = {popup}_info.value",
            indented("    ")
        ),
        Language::Java => format!(
            "Page {popup} = {page}.waitForPopup(() -> {{\n{}\n}});",
            indented("  ")
        ),
        Language::Csharp => format!(
            "var {popup} = await {page}.RunAndWaitForPopupAsync(async () =>\n{{\n{}\n}});",
            indented("    ")
        ),
    }
}

/// Returns the code that opens a page in the browser context of the first one.
fn open(language: Language, page: &str) -> String {
    match language {
        Language::Typescript | Language::None => {
            format!("const {page} = await page.context().newPage();")
        }
        Language::Python => format!("{page} = page.context.new_page()"),
        Language::Java => format!("Page {page} = page.context().newPage();"),
        Language::Csharp => format!("var {page} = await page.Context.NewPageAsync();"),
    }
}

fn close(language: Language, page: &str) -> String {
    match language {
        Language::Typescript | Language::None => format!("await {page}.close();"),
        Language::Python => format!("{page}.close()"),
        Language::Java => format!("{page}.close();"),
        Language::Csharp => format!("await {page}.CloseAsync();"),
    }
}
