//! The text of an exported test.

use super::RecordedStatements;
use engine::codegen::javascript::string as quote;

/// An exported test.
#[derive(Debug)]
pub(super) struct TestFile {
    /// The text in TypeScript.
    pub(super) text: String,
    /// The first line of each statement, from 1.
    pub(super) lines: Vec<usize>,
}

impl TestFile {
    /// Creates a test with this title.
    pub(super) fn new(title: &str, recorded: &RecordedStatements) -> Self {
        let mut text = String::new();
        let names: Vec<_> = recorded.variables.names().collect();
        if !names.is_empty() {
            text += "// Environment variables that the test needs:\n";
            for name in &names {
                text += &format!("// - {name}\n");
            }
        }
        if recorded.left_out > 0 {
            let left_out = recorded.left_out;
            text +=
                &format!("// {left_out} earlier or long statements of the session are missing.\n");
        }
        text += "import { expect, test } from '@playwright/test';\n\n";
        let title = quote(&title.replace(['\n', '\r'], " "));
        text += &format!("test({title}, async ({{ page }}) => {{\n");
        let mut lines = Vec::new();
        for statement in &recorded.statements {
            lines.push(text.lines().count() + 1);
            let mut code = statement.code.clone();
            for name in &names {
                // The type of a variable includes `undefined`.
                let variable = format!("process.env[{}]", quote(name));
                code = code.replace(&variable, &format!("{variable}!"));
            }
            for line in code.lines() {
                text += &format!("  {line}\n");
            }
        }
        text += "});\n";
        Self { text, lines }
    }
}

#[cfg(test)]
mod tests {
    use super::super::TestStatement;
    use super::*;
    use crate::config::{Secrets, Variables};

    #[test]
    fn a_test_names_its_variables_and_the_lines_of_its_statements() {
        let secrets = Secrets::new([("KEY".to_owned(), "value-of-key".to_owned())]);
        let mut variables = Variables::default();
        let codes = [
            "// Press Enter\nawait a();",
            "await b.fill('value-of-key');",
        ];
        let statements = codes.map(|code| TestStatement {
            code: variables.substituted(code.to_owned(), &secrets),
            is_derived: false,
        });
        let recorded = RecordedStatements {
            statements: statements.into(),
            variables,
            ..RecordedStatements::default()
        };
        let test = TestFile::new("it's\none", &recorded);
        let expected = "// Environment variables that the test needs:
// - KEY
import { expect, test } from '@playwright/test';

test('it\\'s one', async ({ page }) => {
  // Press Enter
  await a();
  await b.fill(process.env['KEY']!);
});
";
        assert_eq!(test.text, expected);
        assert_eq!(test.lines, [6, 8]);
    }
}
