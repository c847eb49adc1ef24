//! The templates of prompts: Jinja templates, which use the arguments and the enabled tools.

use super::file::Mistake;
use super::{Kind, Prompt};
use crate::config::ToolsetName;
use minijinja::value::Rest;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};

/// The templates of all prompts.
pub(super) struct Templates {
    environment: Environment<'static>,
}

/// The value of an argument in a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Given {
    Text(String),
    /// For `{% for name, text in argument %}`.
    Pairs(Vec<(String, String)>),
}

impl Templates {
    /// Creates an empty set of templates. Besides the built-in functions, templates have `tool(a, b…)`: the first of these tools that is
    /// enabled, as code, or nothing; `toolset(name)`; and the filter `code`.
    pub(super) fn new(tools: Vec<&'static str>, toolsets: &[ToolsetName]) -> Self {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let mut syntax = minijinja::syntax::SyntaxConfig::builder();
        let syntax = syntax.trim_blocks(true).lstrip_blocks(true).build();
        // The default delimiters are valid.
        if let Ok(syntax) = syntax {
            environment.set_syntax(syntax);
        }
        environment.add_function("tool", move |names: Rest<String>| {
            let on = names.iter().find(|name| tools.contains(&name.as_str()));
            on.map(|name| format!("`{name}`")).unwrap_or_default()
        });
        let toolsets: Vec<&'static str> = toolsets.iter().map(Into::into).collect();
        environment.add_function("toolset", move |name: String| {
            toolsets.contains(&name.as_str())
        });
        environment.add_filter("code", |text: String| code(&text));
        Self { environment }
    }

    /// Adds the template of a prompt; `line` is the number of its first line in the file.
    pub(super) fn add(
        &mut self,
        prompt: &Prompt,
        body: String,
        first_line: usize,
    ) -> Result<(), Mistake> {
        let mistake = |error: &Error| Mistake {
            line: first_line + error.line().unwrap_or(1) - 1,
            reason: reason(error),
        };
        self.environment
            .add_template_owned(prompt.name.clone(), body.clone())
            .map_err(|error| mistake(&error))?;
        if let Some(name) = self.undeclared(prompt) {
            let at = body.lines().position(|line| {
                let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
                line.contains('{') && words.into_iter().any(|word| word == name)
            });
            return Err(Mistake {
                line: first_line + at.unwrap_or_default(),
                reason: format!("the text uses \"{name}\", which is none of the arguments"),
            });
        }
        // Filters and functions are resolved at run time.
        let sample = prompt.arguments.iter().map(|argument| {
            let value = match &argument.kind {
                Kind::Object => Given::Pairs(vec![("1".to_owned(), "1".to_owned())]),
                Kind::OneOf(values) => Given::Text(values[0].clone()),
                _ => Given::Text(argument.default.clone().unwrap_or_else(|| "1".to_owned())),
            };
            (argument.name.clone(), value)
        });
        match self.try_render(&prompt.name, sample.collect()) {
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::UnknownFilter
                        | ErrorKind::UnknownFunction
                        | ErrorKind::UnknownTest
                        | ErrorKind::UnknownMethod
                        | ErrorKind::TemplateNotFound
                ) =>
            {
                Err(mistake(&error))
            }
            _ => Ok(()),
        }
    }

    /// Renders a prompt with a value for each of its arguments.
    pub(super) fn render(&self, name: &str, given: Vec<(String, Given)>) -> Result<String, String> {
        self.try_render(name, given)
            .map_err(|error| match error.line() {
                Some(line) => format!("{}, in line {line} of its text", reason(&error)),
                None => reason(&error),
            })
    }

    fn try_render(&self, name: &str, given: Vec<(String, Given)>) -> Result<String, Error> {
        let values = given.into_iter().map(|(name, given)| {
            let value = match given {
                Given::Text(text) => Value::from(text),
                Given::Pairs(pairs) => pairs
                    .into_iter()
                    .map(|(name, text)| Value::from(vec![name, text]))
                    .collect(),
            };
            (name, value)
        });
        let text = self
            .environment
            .get_template(name)?
            .render(Value::from_pairs(values))?;
        Ok(text.trim().to_owned())
    }

    /// Returns a variable of the template that is not an argument.
    fn undeclared(&self, prompt: &Prompt) -> Option<String> {
        let template = self.environment.get_template(&prompt.name).ok()?;
        let mut names: Vec<_> = template.undeclared_variables(false).into_iter().collect();
        names.sort();
        names.into_iter().find(|name| {
            !prompt.arguments.iter().any(|known| known.name == *name)
                && !self.environment.globals().any(|(known, _)| known == name)
        })
    }
}

/// Returns the text in as many backticks as it requires.
fn code(text: &str) -> String {
    let longest = text
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let ticks = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

fn reason(error: &Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn code_may_hold_backticks() {
        assert_eq!(code("h1"), "`h1`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("``x`"), "``` ``x` ```");
    }
}
