//! Parsing locator expressions in the TypeScript syntax of Playwright: `getByRole('button', { name: 'Go' }).nth(1)`.

use super::literal::Cursor;
use super::{Mixed, Role, Selector, SelectorError, Step, TextMatch, Tristate, chain};

const METHODS: &str = "locator, getByRole, getByText, getByLabel, getByPlaceholder, getByAltText, getByTitle, \
     getByTestId, filter, first, last, nth, and, or, visible, frameLocator, contentFrame, owner, describe";

/// Returns whether the text begins like a locator expression, so that errors refer to that syntax.
pub(super) fn is_expression(text: &str) -> bool {
    let text = text.strip_prefix("await ").unwrap_or(text).trim_start();
    if text.starts_with("page.") {
        return true;
    }
    let length = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(length);
    rest.trim_start().starts_with('(')
        && (name.starts_with("get") || matches!(name, "locator" | "frameLocator"))
}

/// Parses a complete expression.
pub(super) fn parse(text: &str, test_id: &str) -> Result<Selector, SelectorError> {
    let mut parser = Parser {
        cursor: Cursor::new(text),
        test_id,
        depth: 0,
    };
    if parser.cursor.peek_word() == Some("await") {
        parser.cursor.word();
    }
    let selector = parser.locator()?;
    parser.cursor.take(';');
    if parser.cursor.peek().is_some() {
        return Err(parser.cursor.unexpected("`.` or the end"));
    }
    Ok(selector)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    test_id: &'a str,
    depth: usize,
}

type Parsed<T> = Result<T, SelectorError>;

impl Parser<'_> {
    fn locator(&mut self) -> Parsed<Selector> {
        self.depth += 1;
        if self.depth > super::MAX_DEPTH {
            return Err(self.cursor.unexpected("fewer locators inside one another"));
        }
        if self.cursor.peek_word() == Some("page") {
            self.cursor.word();
            self.cursor.expect('.')?;
        }
        let mut selector = self.call(Selector::default())?;
        while self.cursor.take('.') {
            selector = self.call(selector)?;
        }
        self.depth -= 1;
        Ok(selector)
    }

    /// Parses `method(arguments)` and applies it to the preceding selector.
    fn call(&mut self, on: Selector) -> Parsed<Selector> {
        self.cursor.peek();
        let start = self.cursor.position();
        let method = self.cursor.word().unwrap_or_default();
        // Python and C# have these as properties, so `.first` for `.first()` is a common mistake.
        let property = matches!(
            method,
            "first" | "last" | "visible" | "contentFrame" | "owner"
        );
        if !self.cursor.take('(') {
            if property && !on.is_empty() {
                return self.apply(method, on, start, false);
            }
            if method.is_empty() {
                return Err(self.cursor.unexpected("a method such as getByRole"));
            }
            return Err(self.cursor.unexpected(&format!("`(` after {method}")));
        }
        let selector = self.apply(method, on, start, true)?;
        self.cursor.take(',');
        self.cursor.expect(')')?;
        Ok(selector)
    }

    fn apply(
        &mut self,
        method: &str,
        on: Selector,
        start: usize,
        called: bool,
    ) -> Parsed<Selector> {
        Ok(match method {
            "locator" => {
                let inner = self.selector_argument()?;
                let selector = on.join(inner);
                self.filters(selector)?
            }
            "frameLocator" => {
                let inner = self.selector_argument()?;
                on.join(inner).then(Step::EnterFrame)
            }
            "getByRole" => {
                let role = self.role()?;
                on.then(Step::Role(role))
            }
            "getByText" => {
                let text = self.text()?;
                on.then(Step::Text { text, nodes: false })
            }
            "getByLabel" => {
                let text = self.text()?;
                on.then(Step::Label { text })
            }
            "getByPlaceholder" => self.attribute(on, "placeholder")?,
            "getByAltText" => self.attribute(on, "alt")?,
            "getByTitle" => self.attribute(on, "title")?,
            "getByTestId" => {
                let text = self.string_or_regex(true)?;
                let attribute = self.test_id.to_owned();
                on.then(Step::TestId { attribute, text })
            }
            _ if on.is_empty() => {
                self.cursor.back_to(start);
                return Err(self.cursor.unexpected(
                    "locator, frameLocator, getByRole, getByText, getByLabel, getByPlaceholder, getByAltText, getByTitle or getByTestId",
                ));
            }
            "filter" => self.filter_argument(on)?,
            "first" => on.then(Step::Nth { index: 0 }),
            "last" => on.then(Step::Nth { index: -1 }),
            "nth" => {
                let index = self.number()?;
                on.then(Step::Nth { index })
            }
            "and" => {
                let selector = self.locator()?;
                on.then(Step::And { selector })
            }
            "or" => {
                let selector = self.locator()?;
                on.then(Step::Or { selector })
            }
            "visible" => {
                let visible = !called || self.cursor.peek() == Some(')') || self.boolean()?;
                on.then(Step::Visible { visible })
            }
            "contentFrame" => on.then(Step::EnterFrame),
            "owner" => {
                let mut on = on;
                let last = on.parts.pop();
                if last.is_none_or(|part| part.step != Step::EnterFrame) {
                    self.cursor.back_to(start);
                    return Err(self
                        .cursor
                        .unexpected("owner() only after frameLocator() or contentFrame()"));
                }
                on
            }
            "describe" => {
                self.cursor.string()?;
                on
            }
            _ => {
                self.cursor.back_to(start);
                return Err(self.cursor.unexpected(&format!("one of {METHODS}")));
            }
        })
    }

    /// Parses the argument of `locator()`: a selector or a locator.
    fn selector_argument(&mut self) -> Parsed<Selector> {
        if !matches!(self.cursor.peek(), Some('\'' | '"' | '`')) {
            return self.locator();
        }
        let start = self.cursor.position();
        let text = self.cursor.string()?;
        if text.trim().is_empty() {
            self.cursor.back_to(start);
            return Err(self.cursor.unexpected("a selector that is not empty"));
        }
        chain::parse(text.trim(), self.test_id)
    }

    fn filters(&mut self, on: Selector) -> Parsed<Selector> {
        if self.cursor.take(',') && self.cursor.peek() != Some(')') {
            return self.filter_argument(on);
        }
        Ok(on)
    }

    fn filter_argument(&mut self, on: Selector) -> Parsed<Selector> {
        // Conditions are applied in this order, regardless of the order in the source.
        let mut conditions: [Option<Step>; 5] = Default::default();
        self.options(
            "has, hasText, hasNot, hasNotText or visible",
            |this, key| {
                let (slot, step) = match key {
                    "hasText" | "hasNotText" => {
                        let text = this.string_or_regex(false)?;
                        let not = key == "hasNotText";
                        (usize::from(not), Step::HasText { text, not })
                    }
                    "has" | "hasNot" => {
                        let selector = this.locator()?;
                        let not = key == "hasNot";
                        (2 + usize::from(not), Step::Has { selector, not })
                    }
                    "visible" => {
                        let visible = this.boolean()?;
                        (4, Step::Visible { visible })
                    }
                    _ => return Ok(false),
                };
                conditions[slot] = Some(step);
                Ok(true)
            },
        )?;
        Ok(conditions.into_iter().flatten().fold(on, Selector::then))
    }

    fn role(&mut self) -> Parsed<Role> {
        let mut role = Role::default();
        if self.cursor.peek_word() == Some("AriaRole") {
            self.cursor.word();
            self.cursor.expect('.')?;
            role.role = self.cursor.word().unwrap_or_default().to_ascii_lowercase();
        } else {
            role.role = self.cursor.string()?;
        }
        let mut name = None;
        let mut description = None;
        let mut exact = false;
        if self.cursor.take(',') && self.cursor.peek() != Some(')') {
            let known = "name, exact, description, checked, disabled, expanded, includeHidden, level, pressed or selected";
            self.options(known, |this, key| {
                match key {
                    "name" => name = Some(this.string_or_regex(false)?),
                    "exact" => exact = this.boolean()?,
                    "description" => description = Some(this.string_or_regex(false)?),
                    "checked" => role.checked = Some(this.tristate()?),
                    "pressed" => role.pressed = Some(this.tristate()?),
                    "disabled" => role.disabled = Some(this.boolean()?),
                    "expanded" => role.expanded = Some(this.boolean()?),
                    "selected" => role.selected = Some(this.boolean()?),
                    "includeHidden" => role.include_hidden = this.boolean()?,
                    "level" => role.level = u32::try_from(this.number()?).ok(),
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
        }
        role.name = name.map(|name| with_exact(name, exact));
        role.description = description.map(|text| with_exact(text, exact));
        Ok(role)
    }

    fn attribute(&mut self, on: Selector, name: &str) -> Parsed<Selector> {
        let text = self.text()?;
        let name = name.to_owned();
        Ok(on.then(Step::Attribute { name, text }))
    }

    /// Parses `'text'`, `'text', { exact: true }`, or `/regex/`.
    fn text(&mut self) -> Parsed<TextMatch> {
        let text = self.string_or_regex(false)?;
        let mut exact = false;
        if self.cursor.take(',') && self.cursor.peek() != Some(')') {
            self.options("exact", |this, key| {
                if key == "exact" {
                    exact = this.boolean()?;
                }
                Ok(key == "exact")
            })?;
        }
        Ok(with_exact(text, exact))
    }

    fn string_or_regex(&mut self, exact: bool) -> Parsed<TextMatch> {
        match self.cursor.peek() {
            Some('/') => Ok(self.cursor.regex()?.into()),
            Some('\'' | '"' | '`') => Ok(TextMatch::Literal {
                text: self.cursor.string()?,
                exact,
            }),
            _ => Err(self
                .cursor
                .unexpected("a string in quotes or a /regular expression/")),
        }
    }

    /// Parses `{ key: value, … }`; `read` parses the value, or returns that the key is unknown.
    fn options(
        &mut self,
        known: &str,
        mut read: impl FnMut(&mut Self, &str) -> Parsed<bool>,
    ) -> Parsed<()> {
        if !self.cursor.take('{') {
            return Err(self.cursor.unexpected(&format!("{{ }} with {known}")));
        }
        while self.cursor.peek() != Some('}') {
            let start = self.cursor.position();
            let key = match self.cursor.word() {
                Some(word) => word.to_owned(),
                None if matches!(self.cursor.peek(), Some('\'' | '"')) => self.cursor.string()?,
                None => return Err(self.cursor.unexpected(known)),
            };
            self.cursor.expect(':')?;
            if !read(self, &key)? {
                self.cursor.back_to(start);
                return Err(self.cursor.unexpected(known));
            }
            if !self.cursor.take(',') {
                break;
            }
        }
        self.cursor.expect('}')
    }

    fn boolean(&mut self) -> Parsed<bool> {
        let value = match self.cursor.peek_word() {
            Some("true") => true,
            Some("false") => false,
            _ => return Err(self.cursor.unexpected("true or false")),
        };
        self.cursor.word();
        Ok(value)
    }

    fn tristate(&mut self) -> Parsed<Tristate> {
        if matches!(self.cursor.peek(), Some('\'' | '"')) {
            let start = self.cursor.position();
            if self.cursor.string()? == "mixed" {
                return Ok(Tristate::Mixed(Mixed::Mixed));
            }
            self.cursor.back_to(start);
            return Err(self.cursor.unexpected("true, false or 'mixed'"));
        }
        self.boolean().map(Tristate::Is)
    }

    fn number(&mut self) -> Parsed<i32> {
        let start = self.cursor.position();
        let number = self.cursor.integer()?;
        i32::try_from(number).map_err(|_| {
            self.cursor.back_to(start);
            self.cursor.unexpected("a smaller number")
        })
    }
}

fn with_exact(text: TextMatch, exact: bool) -> TextMatch {
    match text {
        TextMatch::Literal { text, .. } => TextMatch::Literal { text, exact },
        regex => regex,
    }
}
