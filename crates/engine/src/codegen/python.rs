//! Generated code in synchronous Python.

use super::{Action, ClickOptions, Typed, list, snake};
use crate::selector::{Selector, Value, quoted};

pub(super) fn locator(selector: &Selector) -> String {
    let calls: Vec<String> = selector
        .calls()
        .map(|call| {
            let name = match call.method {
                "and" | "or" => format!("{}_", call.method),
                method => snake(method),
            };
            if matches!(call.method, "first" | "last" | "visible" | "contentFrame") {
                return name;
            }
            let options = call
                .options
                .iter()
                .map(|(key, option)| format!("{}={}", snake(key), value(option)));
            let arguments: Vec<String> = call.arguments.iter().map(value).chain(options).collect();
            format!("{name}({})", arguments.join(", "))
        })
        .collect();
    calls.join(".")
}

fn value(value: &Value<'_>) -> String {
    match value {
        Value::Text(text) => string(text),
        Value::Role(role) => string(role),
        Value::Regex { regex, flags } => pattern(regex, flags),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Number(number) => number.to_string(),
        Value::Locator(selector) => locator(selector),
    }
}

fn string(text: &str) -> String {
    quoted(text, '"')
}

fn pattern(regex: &str, flags: &str) -> String {
    let flags: Vec<&str> = [
        ('i', "re.IGNORECASE"),
        ('m', "re.MULTILINE"),
        ('s', "re.DOTALL"),
    ]
    .into_iter()
    .filter_map(|(flag, name)| flags.contains(flag).then_some(name))
    .collect();
    let suffix = match flags.as_slice() {
        [] => String::new(),
        flags => format!(", {}", flags.join(" | ")),
    };
    let raw = regex.replace("\\/", "/").replace('"', "\\\"");
    format!("re.compile(r\"{raw}\"{suffix})")
}

pub(super) fn typed(typed: &Typed) -> String {
    match typed {
        Typed::Text(text) => string(text),
        Typed::Variable(name) => format!("os.environ[{}]", string(name)),
    }
}

pub(super) fn action(action: &Action) -> String {
    let on = |selector: &Selector, call: String| format!("page.{}.{call}", locator(selector));
    let expect =
        |selector: &Selector, call: String| format!("expect(page.{}).{call}", locator(selector));
    match action {
        Action::Goto { url } => format!("page.goto({})", string(url)),
        Action::Click {
            locator,
            button,
            modifiers,
            count,
            position,
        } => {
            let options = ClickOptions::of(*button, modifiers, *position);
            let method = if *count == 2 { "dblclick" } else { "click" };
            let mut arguments = Vec::new();
            if let Some(button) = options.button {
                arguments.push(format!("button={}", string(button)));
            }
            if *count > 2 {
                arguments.push(format!("click_count={count}"));
            }
            if !options.modifiers.is_empty() {
                let keys: Vec<String> = options.modifiers.iter().map(|m| string(m)).collect();
                arguments.push(format!("modifiers=[{}]", keys.join(", ")));
            }
            if let Some((x, y)) = options.position {
                arguments.push(format!("position={{\"x\": {x}, \"y\": {y}}}"));
            }
            on(locator, format!("{method}({})", arguments.join(", ")))
        }
        Action::Hover { locator } => on(locator, "hover()".into()),
        Action::Fill { locator, value } => on(locator, format!("fill({})", typed(value))),
        Action::Press { locator, key } => on(locator, format!("press({})", string(key))),
        Action::SetChecked { locator, checked } => {
            let method = if *checked { "check()" } else { "uncheck()" };
            on(locator, method.into())
        }
        Action::SelectOption { locator, values } => {
            on(locator, format!("select_option({})", one_or_many(values)))
        }
        Action::SetInputFiles { locator, files } => {
            on(locator, format!("set_input_files({})", one_or_many(files)))
        }
        Action::ExpectVisible { locator } => expect(locator, "to_be_visible()".into()),
        Action::ExpectValue { locator, value } if value.is_empty() => {
            expect(locator, "to_be_empty()".to_owned())
        }
        Action::ExpectValue { locator, value } => {
            expect(locator, format!("to_have_value({})", string(value)))
        }
        Action::ExpectSnapshot { locator, snapshot } => expect(
            locator,
            format!("to_match_aria_snapshot({})", string(snapshot)),
        ),
        Action::ExpectChecked { locator, checked } => {
            let not = if *checked { "" } else { "not_" };
            expect(locator, format!("{not}to_be_checked()"))
        }
    }
}

fn one_or_many(values: &[String]) -> String {
    match values {
        [one] => string(one),
        many => format!("[{}]", list(many, string)),
    }
}
