//! The steps of the benchmark, and their calls for each set of tools: the table of `calls.txt`.

use serde_json::{Value, json};
use testkit::Site;

use super::pages::value;
use crate::script::find_ref;

/// A step, the same for all servers: `navigate /path`, `see` (a snapshot, unless the answers so far show the page), `read` (the same, with
/// the texts of the page), `snapshot`, `outline TOKENS` (a snapshot of at most so many tokens, where there is an option for that),
/// `click ROLE "NAME" CSS`, `type ROLE "NAME" CSS = TEXT` (replaces the value of a field), `submit` (and presses Enter), `keys` (key by
/// key), `hover`, `fill COUNT N` (the first fields of the form with values that depend on N), `evaluate EXPRESSION`, `key KEY`,
/// `screenshot`, `wait TEXT`, and steps between `&`, which are one call where there is a tool for that.
pub(crate) struct Step {
    pub(crate) verb: String,
    text: String,
    pub(crate) fields: Vec<Field>,
    batch: Vec<Step>,
}

/// An element, by role and name for servers with snapshots, by CSS for the others; and the value for it.
pub(crate) struct Field {
    role: String,
    name: String,
    css: String,
    pub(crate) value: String,
}

/// A tool and its arguments.
pub(crate) type Call = (String, Value);

/// The ten steps of an agent; each depends on the result of the one before.
pub(crate) const TASK: &str = r##"navigate /form?$n ; see ; type textbox "Field 1" #f1 = kettle $n ; fill 5 $n ; click button "Send" #send ; see ; navigate /spa ; see ; click button "Load 50" #b50 ; wait loaded 50 no 1."##;

/// Parses the steps between `;`. Paths are those of the site, and `$n` is a number.
pub(crate) fn steps(text: &str, site: &Site, n: usize) -> Vec<Step> {
    let text = text.replace("$n", &n.to_string());
    text.split(" ; ").map(|text| step(text, site)).collect()
}

fn step(text: &str, site: &Site) -> Step {
    let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
    let batch: Vec<Step> = match text.contains(" & ") {
        true => text.split(" & ").map(|text| step(text, site)).collect(),
        false => Vec::new(),
    };
    let fields = match (verb, rest.split_once(' ')) {
        _ if !batch.is_empty() => Vec::new(),
        ("fill", Some((count, n))) => {
            let fields = 1..=count.parse().expect("a count");
            let field = |k| format!("textbox \"Field {k}\" #f{k} = {}", value(k, n));
            fields.map(|k| Field::parse(&field(k))).collect()
        }
        ("click" | "type" | "submit" | "keys" | "hover", _) => vec![Field::parse(rest)],
        _ => Vec::new(),
    };
    let text = match verb {
        "navigate" => site.url(rest),
        _ => rest.to_owned(),
    };
    let verb = verb.to_owned();
    Step {
        verb,
        text,
        fields,
        batch,
    }
}

impl Field {
    /// Parses `ROLE "NAME" CSS [= VALUE]`.
    fn parse(text: &str) -> Self {
        let (target, value) = text.split_once(" = ").unwrap_or((text, ""));
        let parts = target.split('"').map(|part| part.trim().to_owned());
        let [role, name, css] = parts.collect::<Vec<_>>().try_into().expect("three parts");
        let value = value.to_owned();
        Self {
            role,
            name,
            css,
            value,
        }
    }

    fn insert_into(&self, template: &str, snapshot: &str) -> Result<String, String> {
        let mut text = template.replace("$name", &escaped(&self.name));
        text = text.replace("$css", &escaped(&self.css));
        if text.contains("$ref") {
            text = text.replace("$ref", &find_ref(snapshot, &self.role, &self.name)?);
        }
        Ok(text.replace("$value", &escaped(&self.value)))
    }
}

/// Returns the calls of a step as they are in `calls.txt`; compact answers come from the tools of `@playwright/mcp`.
fn template(tools: &str, verb: &str) -> Option<&'static str> {
    let section = tools.replace("compact", "playwright");
    let (_, own) = include_str!("calls.txt").split_once(&format!("[{section}]\n"))?;
    let mut own = own.lines().take_while(|line| !line.starts_with('['));
    let found = own.find_map(|line| line.strip_prefix(verb)?.strip_prefix(' '));
    match (verb, found) {
        ("outline", _) if tools != "compact" => template(tools, "see"),
        ("snapshot" | "read", None) => template(tools, "see"),
        (_, found) => found,
    }
}

/// Returns whether these tools have one for the step.
pub(crate) fn has_tool(tools: &str, step: &Step) -> bool {
    template(tools, &step.verb).is_some()
}

/// Returns the calls of a step with these tools; refs are taken from the last snapshot. The error names the element that it lacks.
pub(crate) fn calls(tools: &str, step: &Step, snapshot: &str) -> Result<Vec<Call>, String> {
    let mut made = Vec::new();
    if !step.batch.is_empty() {
        for step in &step.batch {
            made.extend(calls(tools, step, snapshot)?);
        }
        if tools == "compact" {
            let steps = made.iter();
            let steps = steps.map(|(tool, it)| json!({ "tool": tool, "arguments": it }));
            let steps: Vec<Value> = steps.collect();
            made = vec![("browser_batch".to_owned(), json!({ "steps": steps }))];
        }
        return Ok(made);
    }
    let template = template(tools, &step.verb).ok_or("there is no tool for it")?;
    let template = template.replace("$text", &escaped(&step.text));
    for call in template.split(" ; ") {
        let (tool, arguments) = call.split_once(' ').expect("arguments");
        for arguments in expand(arguments, &step.fields, snapshot)? {
            let arguments = serde_json::from_str(&arguments).expect("JSON");
            made.push((tool.to_owned(), arguments));
        }
    }
    Ok(made)
}

/// Returns the arguments of each call: an object in an array is repeated for each field, otherwise a call that names a field.
fn expand(template: &str, fields: &[Field], snapshot: &str) -> Result<Vec<String>, String> {
    if let Some((before, rest)) = template.split_once("[{") {
        let (each, after) = rest.split_once("}]").expect("the end of the array");
        let each = expand(&format!("{{{each}}}"), fields, snapshot)?.join(",");
        return Ok(vec![format!("{before}[{each}]{after}")]);
    }
    if !template.contains('$') {
        return Ok(vec![template.to_owned()]);
    }
    let fields = fields.iter();
    let each = fields.map(|field| field.insert_into(template, snapshot));
    each.collect()
}

/// Returns a text as it is written in a JSON string.
fn escaped(text: &str) -> String {
    let text = json!(text).to_string();
    text[1..text.len() - 1].to_owned()
}
