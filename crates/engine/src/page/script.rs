//! The value of a script: that of its last statement, as in the console of a browser.

mod statements;

use super::Page;
use crate::error::Result;
use crate::progress::Progress;
use serde_json::Value;
use statements::Statements;

impl Page {
    /// Returns a function that runs a script and returns its value: that of the expression, of the function's call with the arguments, of a
    /// `return`, or of the last statement. The script may contain `await`.
    pub async fn script_as_function(
        &self,
        progress: &Progress,
        script: String,
        args: &[Value],
    ) -> Result<String> {
        let is_large = task::is_large(&(&script, args));
        let args = serde_json::to_string(args).unwrap_or_default();
        let outline = task::compute_if_large(is_large, move || Outline::of(script, args));
        let Outline {
            script,
            args,
            expression,
            has_return,
            end,
            last_starts,
        } = outline.await;
        // Only the browser can decide whether the script is an expression, because functions in an expression contain statements too.
        if self.is_function_valid(progress, &expression).await? {
            return Ok(expression);
        }
        let body = as_body(&script, &args);
        // A script with its own `return` determines its value. A `return` in a function of the script does not count.
        let returns_value = has_return && !self.parses(progress, &script).await?;
        if returns_value || !self.is_function_valid(progress, &body).await? {
            return Ok(body);
        }
        for start in last_starts {
            let (before, last) = (&script[..start], &script[start..end]);
            let returning = as_body(&format!("{before}\nreturn (\n{last}\n)"), &args);
            // The last statement must be a value by itself, not the rest of an expression before it.
            let value = format!("async () => (\n{last}\n)");
            if self.is_function_valid(progress, &value).await?
                && self.is_function_valid(progress, &returning).await?
            {
                return Ok(returning);
            }
        }
        Ok(body)
    }

    async fn is_function_valid(&self, progress: &Progress, function: &str) -> Result<bool> {
        self.parses(progress, &format!("({function})")).await
    }
}

/// The possible forms of a script.
struct Outline {
    script: String,
    /// The arguments, as a JSON array.
    args: String,
    /// A function that returns the value of the script if the script is an expression.
    expression: String,
    /// Whether the script contains the word `return`.
    has_return: bool,
    /// The offset of the end of the last statement.
    end: usize,
    /// The offsets at which the last statement may begin.
    last_starts: Vec<usize>,
}

impl Outline {
    fn of(script: String, args: String) -> Self {
        let statements = Statements::of(&script);
        let expression = statements.trimmed();
        Self {
            has_return: statements.has_word("return"),
            end: expression.len(),
            last_starts: statements.last().map(|(before, _)| before.len()).collect(),
            expression: as_expression(expression, is_function(&script), &args),
            script,
            args,
        }
    }
}

/// Returns a function that returns the value of the expression. If the expression is a function, it is called.
fn as_expression(expression: &str, is_function: bool, args: &str) -> String {
    if is_function {
        format!(
            "async () => {{ const value = (\n{expression}\n); return typeof value === 'function' ? value(...{args}) : value; }}"
        )
    } else {
        format!("async () => (\n{expression}\n)")
    }
}

/// Returns a function with the statements as its body.
fn as_body(script: &str, args: &str) -> String {
    format!("() => (async function () {{\n{script}\n}})(...{args})")
}

/// Returns whether a script begins like a function. Otherwise it is treated as an expression.
pub fn is_function(text: &str) -> bool {
    let text = text.trim_start();
    let text = text.strip_prefix("async").map_or(text, str::trim_start);
    if text.starts_with("function") {
        return true;
    }
    let after_parameters = match text.strip_prefix('(') {
        Some(rest) => after_bracket(rest),
        None => {
            let name = |char: char| char.is_alphanumeric() || char == '_' || char == '$';
            let rest = text.trim_start_matches(name);
            (rest.len() < text.len()).then_some(rest)
        }
    };
    after_parameters.is_some_and(|rest| rest.trim_start().starts_with("=>"))
}

/// Returns the text after the bracket that closes the one before `text`.
fn after_bracket(text: &str) -> Option<&str> {
    let mut depth = 1_u32;
    for (index, char) in text.char_indices() {
        match char {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[index + 1..]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::is_function;

    #[test]
    fn functions_are_distinguished_from_expressions() {
        for function in [
            "() => 1",
            "async (a, {b: [c]}) => 1",
            "el => el.id",
            "async el => 1",
            "function () {}",
            "async function f() {}",
            "(a = (1)) => a",
        ] {
            assert!(is_function(function), "{function}");
        }
        for expression in [
            "1",
            "document.title",
            "(1)",
            "[1].map(x => x)",
            "(() => 1)()",
            "a",
        ] {
            assert!(!is_function(expression), "{expression}");
        }
    }
}
