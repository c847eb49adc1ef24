//! Parsing locator expressions in the languages of Playwright. Each of these is the button "Go":
//!
//! ```text
//! getByRole('button', { name: 'Go' })
//! get_by_role("button", name="Go")
//! getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Go"))
//! GetByRole(AriaRole.Button, new() { Name = "Go" })
//! ```

use super::literal::Cursor;
use super::{Mixed, Role, Selector, SelectorError, Step, TextMatch, Tristate, chain};

const METHODS: &str = "locator, getByRole, getByText, getByLabel, getByPlaceholder, getByAltText, getByTitle, \
     getByTestId, filter, first, last, nth, and, or, visible, frameLocator, contentFrame, owner, describe";

/// Returns whether the text begins like a locator expression, so that errors refer to that syntax.
pub(super) fn is_expression(text: &str) -> bool {
    let mut cursor = Cursor::new(text.strip_prefix("await ").unwrap_or(text));
    let mut on_page = false;
    while let Some(word) = cursor.peek_word() {
        if is_page(word) || word == "this" || word == "self" {
            on_page |= is_page(word);
            cursor.word();
            if cursor.rest().starts_with('.') {
                cursor.take('.');
                continue;
            }
            return false;
        }
        cursor.word();
        let name = camel(word);
        return on_page
            || cursor.peek() == Some('(')
                && (name.starts_with("get") || matches!(&*name, "locator" | "frameLocator"));
    }
    on_page
}

/// Returns whether the word is a variable of a page in generated code: `page`, `page1` or `Page`.
fn is_page(word: &str) -> bool {
    let number = word
        .strip_prefix("page")
        .or_else(|| word.strip_prefix("Page"));
    number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
}

/// Returns the name in TypeScript of a method or an option: `getByRole` for `get_by_role` and `GetByRole`.
fn camel(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    for word in name.split('_') {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        match camel.is_empty() {
            true => camel += &first.to_ascii_lowercase(),
            false => camel += &first.to_ascii_uppercase(),
        }
        camel += rest;
    }
    camel
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
        while let Some(word) = self.cursor.peek_word()
            && (is_page(word) || word == "this" || word == "self")
        {
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
        let written = self.cursor.word().unwrap_or_default();
        let method = camel(written);
        let method = method.as_str();
        // These are properties in Python and C#.
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
            return Err(self.cursor.unexpected(&format!("`(` after {written}")));
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
        if !self.cursor.is_string() {
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
        if self.cursor.is_string() {
            let text = self.cursor.string()?;
            return Ok(TextMatch::Literal { text, exact });
        }
        if self.cursor.is_pattern() {
            return Ok(self.cursor.pattern()?.into());
        }
        let expected = "a string in quotes or a /regular expression/";
        Err(self.cursor.unexpected(expected))
    }

    /// Parses options in any language: `{ key: value, … }`, `key=value, …`, `new Options().setKey(value)…` or `new() { Key = value, … }`.
    /// `read` parses the value, or returns that the key is unknown.
    fn options(
        &mut self,
        known: &str,
        mut read: impl FnMut(&mut Self, &str) -> Parsed<bool>,
    ) -> Parsed<()> {
        if self.cursor.peek() == Some('{') {
            return self.members(':', known, &mut read);
        }
        match self.cursor.peek_word() {
            Some("new") => {
                self.cursor.word();
                // The name of the class, `Page.GetByRoleOptions`.
                while self.cursor.word().is_some() && self.cursor.take('.') {}
                let is_called = self.cursor.take('(');
                if is_called {
                    self.cursor.expect(')')?;
                }
                if !is_called || self.cursor.peek() == Some('{') {
                    return self.members('=', known, &mut read);
                }
                while self.cursor.take('.') {
                    self.cursor.peek();
                    let start = self.cursor.position();
                    let setter = self.cursor.word().unwrap_or_default();
                    self.cursor.expect('(')?;
                    let key = setter.strip_prefix("set").unwrap_or_default();
                    self.option(key, start, known, &mut read)?;
                    self.cursor.expect(')')?;
                }
                Ok(())
            }
            Some(_) => self.assignments('=', known, &mut read, ')'),
            None => Err(self.cursor.unexpected(&format!("{{ }} with {known}"))),
        }
    }

    /// Parses the members of an object or initializer.
    fn members(
        &mut self,
        assign: char,
        known: &str,
        read: &mut impl FnMut(&mut Self, &str) -> Parsed<bool>,
    ) -> Parsed<()> {
        self.cursor.expect('{')?;
        self.assignments(assign, known, read, '}')?;
        self.cursor.expect('}')
    }

    /// Parses `key: value, …` up to the character that ends the list.
    fn assignments(
        &mut self,
        assign: char,
        known: &str,
        read: &mut impl FnMut(&mut Self, &str) -> Parsed<bool>,
        end: char,
    ) -> Parsed<()> {
        while self.cursor.peek() != Some(end) {
            let start = self.cursor.position();
            let key = match self.cursor.word() {
                Some(word) => word.to_owned(),
                None if self.cursor.is_string() => self.cursor.string()?,
                None => return Err(self.cursor.unexpected(known)),
            };
            self.cursor.expect(assign)?;
            self.option(&key, start, known, read)?;
            if !self.cursor.take(',') {
                break;
            }
        }
        Ok(())
    }

    /// Parses the value of the option whose key begins at `start`.
    fn option(
        &mut self,
        key: &str,
        start: usize,
        known: &str,
        read: &mut impl FnMut(&mut Self, &str) -> Parsed<bool>,
    ) -> Parsed<()> {
        // In C#, the type of a value is a part of the name: `NameRegex`.
        let untyped = key
            .strip_suffix("Regex")
            .or_else(|| key.strip_suffix("String"));
        if read(self, &camel(untyped.unwrap_or(key)))? {
            return Ok(());
        }
        self.cursor.back_to(start);
        Err(self.cursor.unexpected(known))
    }

    fn boolean(&mut self) -> Parsed<bool> {
        let value = match self.cursor.peek_word() {
            Some("true" | "True") => true,
            Some("false" | "False") => false,
            _ => return Err(self.cursor.unexpected("true or false")),
        };
        self.cursor.word();
        Ok(value)
    }

    fn tristate(&mut self) -> Parsed<Tristate> {
        if self.cursor.is_string() {
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
