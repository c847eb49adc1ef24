//! Generated code in Java.

use super::{Action, ClickOptions, Typed, list, pascal};
use crate::selector::{Call, Selector, Value, quoted};

pub(super) fn locator(selector: &Selector) -> String {
    // Option classes are named after the receiver of the method.
    let mut class = "Page";
    let calls: Vec<String> = selector
        .calls()
        .map(|each| {
            let text = call(&each, class);
            class = if each.method == "contentFrame" {
                "FrameLocator"
            } else {
                "Locator"
            };
            text
        })
        .collect();
    calls.join(".")
}

fn call(call: &Call<'_>, class: &str) -> String {
    let mut arguments: Vec<String> = call.arguments.iter().map(value).collect();
    if !call.options.is_empty() {
        let setters: String = call
            .options
            .iter()
            .map(|(key, option)| format!(".set{}({})", pascal(key), value(option)))
            .collect();
        let options = format!("new {class}.{}Options()", pascal(call.method));
        arguments.push(options + &setters);
    }
    format!("{}({})", call.method, arguments.join(", "))
}

fn value(value: &Value<'_>) -> String {
    match value {
        Value::Text(text) => string(text),
        Value::Role(role) => format!("AriaRole.{}", role.to_uppercase()),
        Value::Regex { regex, flags } => pattern(regex, flags),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Locator(selector) => locator(selector),
    }
}

fn string(text: &str) -> String {
    quoted(text, '"')
}

fn pattern(regex: &str, flags: &str) -> String {
    let flags: Vec<&str> = [
        ('i', "Pattern.CASE_INSENSITIVE"),
        ('m', "Pattern.MULTILINE"),
        ('s', "Pattern.DOTALL"),
    ]
    .into_iter()
    .filter_map(|(flag, name)| flags.contains(flag).then_some(name))
    .collect();
    let suffix = match flags.as_slice() {
        [] => String::new(),
        flags => format!(", {}", flags.join(" | ")),
    };
    format!("Pattern.compile({}{suffix})", string(regex))
}

pub(super) fn typed(typed: &Typed) -> String {
    match typed {
        Typed::Text(text) => string(text),
        Typed::Variable(name) => format!("System.getenv({})", string(name)),
    }
}

pub(super) fn action(action: &Action) -> String {
    let on = |selector: &Selector, call: String| format!("page.{}.{call};", locator(selector));
    let expect = |selector: &Selector, call: String| {
        format!("assertThat(page.{}).{call};", locator(selector))
    };
    match action {
        Action::Goto { url } => format!("page.navigate({});", string(url)),
        Action::Click {
            locator,
            button,
            modifiers,
            count,
            position,
        } => {
            let options = ClickOptions::of(*button, modifiers, *position);
            let method = if *count == 2 { "dblclick" } else { "click" };
            let arguments = click_options(&options, method, *count);
            on(locator, format!("{method}({arguments})"))
        }
        Action::Hover { locator } => on(locator, "hover()".into()),
        Action::Fill { locator, value } => on(locator, format!("fill({})", typed(value))),
        Action::Press { locator, key } => on(locator, format!("press({})", string(key))),
        Action::SetChecked { locator, checked } => {
            let method = if *checked { "check()" } else { "uncheck()" };
            on(locator, method.into())
        }
        Action::SelectOption { locator, values } => {
            on(locator, format!("selectOption({})", strings(values)))
        }
        Action::SetInputFiles { locator, files } => {
            let paths = match files.as_slice() {
                [one] => format!("Paths.get({})", string(one)),
                many => format!(
                    "new Path[] {{{}}}",
                    list(many, |file| format!("Paths.get({})", string(file)))
                ),
            };
            on(locator, format!("setInputFiles({paths})"))
        }
        Action::ExpectVisible { locator } => expect(locator, "isVisible()".into()),
        Action::ExpectValue { locator, value } if value.is_empty() => {
            expect(locator, "isEmpty()".to_owned())
        }
        Action::ExpectValue { locator, value } => {
            expect(locator, format!("hasValue({})", string(value)))
        }
        Action::ExpectSnapshot { locator, snapshot } => expect(
            locator,
            format!("matchesAriaSnapshot({})", string(snapshot)),
        ),
        Action::ExpectChecked { locator, checked } => {
            let not = if *checked { "" } else { "not()." };
            expect(locator, format!("{not}isChecked()"))
        }
    }
}

/// Returns the options of `click` or `dblclick`, whose class is named after the method.
fn click_options(options: &ClickOptions, method: &str, count: u32) -> String {
    if options.is_empty() && count <= 2 {
        return String::new();
    }
    let mut lines = vec![format!("new Locator.{}Options()", pascal(method))];
    if let Some(button) = options.button {
        lines.push(format!(".setButton(MouseButton.{})", button.to_uppercase()));
    }
    if count > 2 {
        lines.push(format!(".setClickCount({count})"));
    }
    if !options.modifiers.is_empty() {
        let keys: Vec<String> = options
            .modifiers
            .iter()
            .map(|key| format!("KeyboardModifier.{}", key.to_uppercase()))
            .collect();
        lines.push(format!(".setModifiers(Arrays.asList({}))", keys.join(", ")));
    }
    if let Some((x, y)) = options.position {
        lines.push(format!(".setPosition({x}, {y})"));
    }
    lines.join("\n  ")
}

fn strings(values: &[String]) -> String {
    match values {
        [one] => string(one),
        many => format!("new String[] {{{}}}", list(many, string)),
    }
}
