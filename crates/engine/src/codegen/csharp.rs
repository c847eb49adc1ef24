//! Generated code in C#.

use super::{Action, ClickOptions, Typed, list, pascal};
use crate::selector::{Call, Selector, Value, quoted};

pub(super) fn locator(selector: &Selector) -> String {
    let calls: Vec<String> = selector.calls().map(|each| call(&each)).collect();
    calls.join(".")
}

fn call(call: &Call<'_>) -> String {
    let name = pascal(call.method);
    if matches!(call.method, "first" | "last" | "visible" | "contentFrame") {
        return name;
    }
    let mut arguments: Vec<String> = call.arguments.iter().map(value).collect();
    if !call.options.is_empty() {
        let options: Vec<String> = call
            .options
            .iter()
            .map(|(key, option)| {
                let suffix = if matches!(option, Value::Regex { .. }) {
                    "Regex"
                } else {
                    ""
                };
                format!("{}{suffix} = {}", pascal(key), value(option))
            })
            .collect();
        arguments.push(format!("new() {{ {} }}", options.join(", ")));
    }
    format!("{name}({})", arguments.join(", "))
}

fn value(value: &Value<'_>) -> String {
    match value {
        Value::Text(text) => string(text),
        Value::Role(role) => format!("AriaRole.{}", pascal(&role.to_lowercase())),
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
        ('i', "RegexOptions.IgnoreCase"),
        ('m', "RegexOptions.Multiline"),
        ('s', "RegexOptions.Singleline"),
    ]
    .into_iter()
    .filter_map(|(flag, name)| flags.contains(flag).then_some(name))
    .collect();
    let suffix = match flags.as_slice() {
        [] => String::new(),
        flags => format!(", {}", flags.join(" | ")),
    };
    format!("new Regex({}{suffix})", string(regex))
}

pub(super) fn typed(typed: &Typed) -> String {
    match typed {
        Typed::Text(text) => string(text),
        Typed::Variable(name) => {
            format!("Environment.GetEnvironmentVariable({})", string(name))
        }
    }
}

pub(super) fn action(action: &Action) -> String {
    let on =
        |selector: &Selector, call: String| format!("await page.{}.{call};", locator(selector));
    let expect = |selector: &Selector, call: String| {
        format!("await Expect(page.{}).{call};", locator(selector))
    };
    match action {
        Action::Goto { url } => format!("await page.GotoAsync({});", string(url)),
        Action::Click {
            locator,
            button,
            modifiers,
            count,
            position,
        } => {
            let options = ClickOptions::of(*button, modifiers, *position);
            let method = if *count == 2 { "DblClick" } else { "Click" };
            on(
                locator,
                format!("{method}Async({})", click_options(&options, *count)),
            )
        }
        Action::Hover { locator } => on(locator, "HoverAsync()".into()),
        Action::Fill { locator, value } => on(locator, format!("FillAsync({})", typed(value))),
        Action::Press { locator, key } => on(locator, format!("PressAsync({})", string(key))),
        Action::SetChecked { locator, checked } => {
            let method = if *checked {
                "CheckAsync()"
            } else {
                "UncheckAsync()"
            };
            on(locator, method.into())
        }
        Action::SelectOption { locator, values } => {
            let values = list(values, string);
            on(locator, format!("SelectOptionAsync(new[] {{ {values} }})"))
        }
        Action::SetInputFiles { locator, files } => {
            let files = list(files, string);
            on(locator, format!("SetInputFilesAsync(new[] {{ {files} }})"))
        }
        Action::ExpectVisible { locator } => expect(locator, "ToBeVisibleAsync()".into()),
        Action::ExpectValue { locator, value } if value.is_empty() => {
            expect(locator, "ToBeEmptyAsync()".to_owned())
        }
        Action::ExpectValue { locator, value } => {
            expect(locator, format!("ToHaveValueAsync({})", string(value)))
        }
        Action::ExpectSnapshot { locator, snapshot } => expect(
            locator,
            format!("ToMatchAriaSnapshotAsync({})", string(snapshot)),
        ),
        Action::ExpectChecked { locator, checked } => {
            let not = if *checked { "" } else { "Not." };
            expect(locator, format!("{not}ToBeCheckedAsync()"))
        }
    }
}

fn click_options(options: &ClickOptions, count: u32) -> String {
    if options.is_empty() && count <= 2 {
        return String::new();
    }
    let mut lines = Vec::new();
    if let Some(button) = options.button {
        lines.push(format!("Button = MouseButton.{}", pascal(button)));
    }
    if count > 2 {
        lines.push(format!("ClickCount = {count}"));
    }
    if !options.modifiers.is_empty() {
        let keys: Vec<String> = options
            .modifiers
            .iter()
            .map(|key| format!("KeyboardModifier.{key}"))
            .collect();
        lines.push(format!("Modifiers = new[] {{ {} }}", keys.join(", ")));
    }
    if let Some((x, y)) = options.position {
        lines.push(format!("Position = new() {{ X = {x}, Y = {y} }}"));
    }
    let lines: String = lines.iter().map(|line| format!("    {line},\n")).collect();
    format!("new()\n{{\n{lines}}}")
}
