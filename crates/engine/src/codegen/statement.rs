//! Calls of Playwright's methods in Python, Java and C#. Their code in TypeScript is in `javascript`, in the format of `@playwright/mcp`.

use super::{Language, Typed, csharp, java, list, pascal, python, snake};
use crate::selector::{Selector, quoted};

/// A call of a method of the page or of one of its objects.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    receiver: Receiver,
    /// The name in TypeScript.
    method: &'static str,
    arguments: Vec<Argument>,
    options: Vec<(&'static str, Argument)>,
}

/// The object of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Receiver {
    /// The page.
    Page,
    /// The browser context of the page.
    Context,
    /// The keyboard of the page.
    Keyboard,
    /// The mouse of the page.
    Mouse,
    /// The open file chooser.
    FileChooser,
    /// An element.
    Element(Selector),
}

/// An argument or the value of an option.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// A text.
    Text(String),
    /// A text that may be a secret.
    Typed(Typed),
    /// A number.
    Number(f64),
    /// `true` or `false`.
    Bool(bool),
    /// A constant of an enumeration, such as `right` of `MouseButton`.
    Choice {
        /// The name of the enumeration.
        class: &'static str,
        /// The value in TypeScript, such as `no-preference`.
        value: String,
    },
    /// An element.
    Element(Selector),
    /// The path of a file.
    Path(String),
    /// The paths of files.
    Paths(Vec<String>),
    /// Width and height.
    Size(u32, u32),
    /// A list with one cookie: its name, its value and its other fields.
    Cookie(String, String, Vec<(&'static str, Argument)>),
    /// A handler of a route, which continues the request.
    RouteHandler,
}

impl Statement {
    /// Creates a call without arguments.
    pub fn new(receiver: Receiver, method: &'static str) -> Self {
        Self {
            receiver,
            method,
            arguments: Vec::new(),
            options: Vec::new(),
        }
    }

    /// Adds an argument.
    pub fn argument(mut self, argument: impl Into<Argument>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds an option if there is a value.
    pub fn option(mut self, name: &'static str, value: Option<impl Into<Argument>>) -> Self {
        self.options.extend(value.map(|value| (name, value.into())));
        self
    }

    /// Returns the line of code; `None` for TypeScript and [`Language::None`].
    pub fn code(&self, language: Language) -> Option<String> {
        let receiver = self.receiver.code(language);
        let mut arguments = self.arguments.iter();
        let mut arguments: Vec<String> = arguments
            .by_ref()
            .map(|argument| argument.code(language))
            .collect();
        match language {
            Language::Typescript | Language::None => None,
            Language::Python => {
                let option = |(name, value): &(&str, Argument)| {
                    format!("{}={}", snake(name), value.code(language))
                };
                arguments.extend(self.options.iter().map(option));
                let method = snake(self.method);
                Some(format!("{receiver}.{method}({})", arguments.join(", ")))
            }
            Language::Java => {
                if !self.options.is_empty() {
                    let class = self.receiver.class();
                    let setters = self.options.iter().map(|(name, value)| {
                        format!(".set{}({})", pascal(name), value.code(language))
                    });
                    let setters: String = setters.collect();
                    let method = pascal(self.method);
                    arguments.push(format!("new {class}.{method}Options(){setters}"));
                }
                let method = self.method;
                Some(format!("{receiver}.{method}({});", arguments.join(", ")))
            }
            Language::Csharp => {
                if !self.options.is_empty() {
                    let options = self.options.iter().map(|(name, value)| {
                        format!("{} = {}", pascal(name), value.code(language))
                    });
                    let options: Vec<String> = options.collect();
                    arguments.push(format!("new() {{ {} }}", options.join(", ")));
                }
                let method = pascal(self.method);
                let arguments = arguments.join(", ");
                Some(format!("await {receiver}.{method}Async({arguments});"))
            }
        }
    }
}

impl Receiver {
    fn code(&self, language: Language) -> String {
        let names = match self {
            Self::Page => ["page", "page", "page"],
            Self::Context => ["page.context", "page.context()", "page.Context"],
            Self::Keyboard => ["page.keyboard", "page.keyboard()", "page.Keyboard"],
            Self::Mouse => ["page.mouse", "page.mouse()", "page.Mouse"],
            Self::FileChooser => ["file_chooser", "fileChooser", "fileChooser"],
            Self::Element(selector) => return element(selector, language),
        };
        let [python, java, csharp] = names;
        match language {
            Language::Python => python,
            Language::Java => java,
            Language::Csharp | Language::Typescript | Language::None => csharp,
        }
        .to_owned()
    }

    /// Returns the Java class after which the options of the method are named.
    fn class(&self) -> &'static str {
        match self {
            Self::Page => "Page",
            Self::Context => "BrowserContext",
            Self::Keyboard => "Keyboard",
            Self::Mouse => "Mouse",
            Self::FileChooser => "FileChooser",
            Self::Element(_) => "Locator",
        }
    }
}

fn element(selector: &Selector, language: Language) -> String {
    format!("page.{}", super::locator(selector, language))
}

fn string(text: &str) -> String {
    quoted(text, '"')
}

impl Argument {
    fn code(&self, language: Language) -> String {
        let is_java = language == Language::Java;
        match self {
            Self::Text(text) => string(text),
            Self::Typed(typed) => match language {
                Language::Python => python::typed(typed),
                Language::Java => java::typed(typed),
                _ => csharp::typed(typed),
            },
            // The parameters of C# are floats.
            Self::Number(number) if language == Language::Csharp && number.fract() != 0.0 => {
                format!("{number}f")
            }
            Self::Number(number) => number.to_string(),
            Self::Bool(value) if language == Language::Python => pascal(&value.to_string()),
            Self::Bool(value) => value.to_string(),
            Self::Choice { class, value } => match language {
                Language::Python => string(value),
                // Java resets with null.
                Language::Java if value == "null" => value.clone(),
                Language::Java => format!("{class}.{}", value.to_uppercase().replace('-', "_")),
                _ => {
                    let words: String = value.split('-').map(pascal).collect();
                    format!("{class}.{words}")
                }
            },
            Self::Element(selector) => element(selector, language),
            Self::Path(path) if is_java => format!("Paths.get({})", string(path)),
            Self::Path(path) => string(path),
            Self::Paths(paths) => match language {
                Language::Python => format!("[{}]", list(paths, string)),
                Language::Java => {
                    let paths = list(paths, |path| format!("Paths.get({})", string(path)));
                    format!("new Path[] {{{paths}}}")
                }
                _ => match paths.as_slice() {
                    [] => "Array.Empty<string>()".to_owned(),
                    paths => format!("new[] {{ {} }}", list(paths, string)),
                },
            },
            Self::Size(width, height) => match language {
                Language::Python => format!("{{\"width\": {width}, \"height\": {height}}}"),
                _ => format!("{width}, {height}"),
            },
            Self::Cookie(name, value, fields) => cookie(name, value, fields, language),
            Self::RouteHandler => match language {
                Language::Python => "lambda route: route.continue_()",
                Language::Java => "route -> route.resume()",
                _ => "route => route.ContinueAsync()",
            }
            .to_owned(),
        }
    }
}

fn cookie(
    name: &str,
    value: &str,
    fields: &[(&'static str, Argument)],
    language: Language,
) -> String {
    let (name, value) = (string(name), string(value));
    let fields = fields
        .iter()
        .map(|(field, value)| (*field, value.code(language)));
    match language {
        Language::Python => {
            let fields: String = fields
                .map(|(field, value)| format!(", \"{field}\": {value}"))
                .collect();
            format!("[{{\"name\": {name}, \"value\": {value}{fields}}}]")
        }
        Language::Java => {
            let fields: String = fields
                .map(|(field, value)| format!(".set{}({value})", pascal(field)))
                .collect();
            format!("Arrays.asList(new Cookie({name}, {value}){fields})")
        }
        _ => {
            let fields: String = fields
                .map(|(field, value)| format!(", {} = {value}", pascal(field)))
                .collect();
            format!("new[] {{ new Cookie {{ Name = {name}, Value = {value}{fields} }} }}")
        }
    }
}

impl From<&str> for Argument {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<f64> for Argument {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Argument {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&Typed> for Argument {
    fn from(typed: &Typed) -> Self {
        Self::Typed(typed.clone())
    }
}

impl From<&Selector> for Argument {
    fn from(selector: &Selector) -> Self {
        Self::Element(selector.clone())
    }
}
