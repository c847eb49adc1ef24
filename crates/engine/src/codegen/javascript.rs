//! Generated code in TypeScript: the actions, and expressions of tools whose code is JavaScript in every language.

use super::{Action, ClickOptions, Selector, Typed, list, quote};
use std::fmt::{self, Display, Formatter};

/// A value in code.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// A string, in single quotes.
    Text(String),
    /// A number.
    Number(f64),
    /// `true` or `false`.
    Bool(bool),
    /// An environment variable.
    Variable(String),
    /// A list, in one line.
    List(Vec<Literal>),
    /// An object; keys are shown sorted.
    Object(Options),
}

/// An object of options: one per line, sorted by key; nothing if empty.
///
/// ```
/// use engine::codegen::javascript::Options;
/// let options = Options::default().with("type", "png").with("scale", "css");
/// assert_eq!(options.to_string(), "{\n  scale: 'css',\n  type: 'png'\n}");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options(Vec<(String, Literal)>);

impl Options {
    /// Adds an option.
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Literal>) -> Self {
        self.0.push((key.into(), value.into()));
        self
    }

    /// Adds an option if there is a value.
    pub fn with_some(self, key: impl Into<String>, value: Option<impl Into<Literal>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// Returns whether there are no options.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns the text as a string in single quotes.
pub fn string(text: &str) -> String {
    quote(text)
}

/// Returns `page.` and the locator expression.
pub fn on_page(locator: &Selector) -> String {
    format!("page.{locator}")
}

/// Returns `await page.LOCATOR.METHOD(ARGUMENTS…, OPTIONS);`
pub fn call(
    locator: &Selector,
    method: &str,
    arguments: impl IntoIterator<Item = Literal>,
    options: Options,
) -> String {
    let mut arguments: Vec<String> = arguments.into_iter().map(|a| a.to_string()).collect();
    if !options.is_empty() {
        arguments.push(options.to_string());
    }
    let receiver = if locator.is_empty() {
        "page".to_owned()
    } else {
        on_page(locator)
    };
    format!("await {receiver}.{method}({});", arguments.join(", "))
}

/// Returns the code that drags one element to another.
pub fn drag_to(from: &Selector, to: &Selector) -> String {
    format!("await page.{from}.dragTo(page.{to});")
}

/// Returns the code that drops files or data onto an element.
pub fn drop_onto(
    target: &Selector,
    files: &[String],
    data: impl IntoIterator<Item = (String, String)>,
) -> String {
    let data = data
        .into_iter()
        .fold(Options::default(), |all, (kind, text)| all.with(kind, text));
    let files = match files {
        [] => None,
        [one] => Some(one.as_str().into()),
        many => Some(Literal::List(many.iter().map(Literal::from).collect())),
    };
    let options = Options::default()
        .with_some("data", (!data.is_empty()).then_some(Literal::Object(data)))
        .with_some("files", files);
    call(target, "drop", [], options)
}

/// Returns the code that types keys one after another.
pub fn press_sequentially(locator: &Selector, text: &Typed) -> String {
    call(
        locator,
        "pressSequentially",
        [text.into()],
        Options::default(),
    )
}

/// Returns the code that evaluates a function in the page, or on the element of a locator.
pub fn evaluate(locator: Option<&Selector>, function: &str) -> String {
    let page = Selector::default();
    call(
        locator.unwrap_or(&page),
        "evaluate",
        [function.into()],
        Options::default(),
    )
}

/// Returns the code that waits until a function returns a truthy value.
pub fn wait_for_function(function: &str) -> String {
    let page = Selector::default();
    call(
        &page,
        "waitForFunction",
        [function.into()],
        Options::default(),
    )
}

/// Returns the code that waits until the first element with a text is visible or hidden.
pub fn wait_for_text(text: &str, visible: bool) -> String {
    let state = if visible { "visible" } else { "hidden" };
    let text = serde_json::Value::from(text);
    format!("await page.getByText({text}).first().waitFor({{ state: '{state}' }});")
}

/// Waits for a `request`, a `response`, or the `url` of the page.
pub fn wait_for_network(event: &str, glob: &str) -> String {
    let mut chars = event.chars();
    let name: String = match event {
        "url" => "URL".to_owned(),
        _ => chars
            .next()
            .into_iter()
            .flat_map(char::to_uppercase)
            .chain(chars)
            .collect(),
    };
    format!("await page.waitFor{name}({});", quote(glob))
}

pub(super) fn action(action: &Action) -> String {
    let simple = |locator: &Selector, method: &str, arguments: Vec<Literal>| {
        call(locator, method, arguments, Options::default())
    };
    let expect =
        |locator: &Selector, condition: &str| format!("await expect(page.{locator}).{condition};");
    match action {
        Action::Goto { url } => format!("await page.goto({});", quote(url)),
        Action::Click {
            locator,
            button,
            modifiers,
            count,
            position,
        } => {
            let options = ClickOptions::of(*button, modifiers, *position);
            let method = if *count == 2 { "dblclick" } else { "click" };
            let modifiers = (!options.modifiers.is_empty())
                .then(|| Literal::List(options.modifiers.into_iter().map(Literal::from).collect()));
            let position = options
                .position
                .map(|(x, y)| Literal::Object(Options::default().with("x", x).with("y", y)));
            let options = Options::default()
                .with_some("button", options.button)
                .with_some("clickCount", (*count > 2).then_some(f64::from(*count)))
                .with_some("modifiers", modifiers)
                .with_some("position", position);
            call(locator, method, [], options)
        }
        Action::Hover { locator } => simple(locator, "hover", vec![]),
        Action::Fill { locator, value } => simple(locator, "fill", vec![value.into()]),
        Action::Press { locator, key } => simple(locator, "press", vec![key.into()]),
        Action::SetChecked { locator, checked } => {
            simple(locator, if *checked { "check" } else { "uncheck" }, vec![])
        }
        Action::SelectOption { locator, values } => {
            simple(locator, "selectOption", vec![one_or_many(values)])
        }
        Action::SetInputFiles { locator, files } => {
            simple(locator, "setInputFiles", vec![one_or_many(files)])
        }
        Action::ExpectVisible { locator } => expect(locator, "toBeVisible()"),
        Action::ExpectValue { locator, value } if value.is_empty() => {
            expect(locator, "toBeEmpty()")
        }
        Action::ExpectValue { locator, value } => {
            expect(locator, &format!("toHaveValue({})", quote(value)))
        }
        Action::ExpectSnapshot { locator, snapshot } => {
            let lines = snapshot.lines().map(|line| format!("\n  {line}"));
            let lines = lines.collect::<String>();
            let lines = lines
                .replace('\\', "\\\\")
                .replace('`', "\\`")
                .replace("${", "\\${");
            expect(locator, &format!("toMatchAriaSnapshot(`{lines}\n  `)"))
        }
        Action::ExpectChecked { locator, checked } => expect(
            locator,
            if *checked {
                "toBeChecked()"
            } else {
                "not.toBeChecked()"
            },
        ),
    }
}

fn one_or_many(values: &[String]) -> Literal {
    match values {
        [one] => one.into(),
        many => Literal::List(many.iter().map(Literal::from).collect()),
    }
}

impl Display for Options {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("{}");
        }
        let mut sorted: Vec<&(String, Literal)> = self.0.iter().collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        f.write_str("{")?;
        for (index, (key, value)) in sorted.into_iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            // A nested object is not indented further, as in `@playwright/mcp`.
            write!(f, "{comma}\n  {key}: {value}")?;
        }
        f.write_str("\n}")
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&quote(text)),
            Self::Variable(name) => write!(f, "process.env[{}]", quote(name)),
            Self::Number(number) => number.fmt(f),
            Self::Bool(value) => value.fmt(f),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", list(&items, str::to_owned))
            }
            Self::Object(options) => options.fmt(f),
        }
    }
}

impl From<&str> for Literal {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Literal {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for Literal {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&Typed> for Literal {
    fn from(typed: &Typed) -> Self {
        match typed {
            Typed::Text(text) => text.into(),
            Typed::Variable(name) => Self::Variable(name.clone()),
        }
    }
}

impl From<f64> for Literal {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Literal {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}
