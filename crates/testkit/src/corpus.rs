//! The attack corpus: Markdown files in `corpus/`, with an attack below each `## ` heading. The test defines what an attack must not reach,
//! and checks it; this module defines the pages, how they are opened, and the known exceptions.
//!
//! A new attack is a heading and a block:
//!
//! ````markdown
//! ## A beacon
//! ```js
//! navigator.sendBeacon("{to}", "x");
//! ```
//! ````
//!
//! - `html` and `js` without `path=` is the document of the attack (`js`: the script of one). It is opened in a frame beside others;
//!   `as=page` opens it as a tab, `as=click` also clicks its element `#go`.
//! - Blocks with `path=` are further resources of the site, relative to the document; `status=` and headers with a dash as in specs. A
//!   block `headers` has the headers of the block before it, one per line.
//! - `each=a|b` in the first block creates an attack for each value, which replaces `{each}`.
//! - A block `except` lists known exceptions, one per line: `CONDITION KIND: REASON`. The test defines conditions and kinds.

use std::collections::BTreeSet;
use std::path::Path;

use crate::markdown::{Block, Piece, pieces, resource};
use crate::prerequisites::variable;
use crate::site::Resource;

/// One attack.
#[derive(Debug, Clone)]
pub struct Attack {
    /// The heading, with the value of `each`.
    pub name: String,
    /// How the document is opened.
    pub opening: Opening,
    /// The known exceptions.
    pub exceptions: Vec<Exception>,
    /// The resources of the site: paths below the attack's own, and responses with placeholders.
    resources: Vec<(String, Resource)>,
    each: String,
}

/// How the document of an attack is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// In a frame.
    Frame,
    /// In a tab.
    Page,
    /// In a tab, after which `#go` is clicked.
    Click,
}

/// A known exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exception {
    /// The condition: the name of an engine, or a word of the test.
    pub condition: String,
    /// The kind, which the test defines.
    pub kind: String,
    /// The reason.
    pub reason: String,
}

impl Attack {
    /// Reads the attacks of a file in `corpus/`; with the variable `ATTACK`, those whose names contain its value.
    ///
    /// # Panics
    /// If the file is missing or invalid.
    pub fn read(file: &str) -> Vec<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("corpus")
            .join(file);
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut attacks =
            parse(&text).unwrap_or_else(|(line, why)| panic!("{}:{line}: {why}", path.display()));
        if let Some(wanted) = variable("ATTACK") {
            attacks.retain(|attack| attack.name.contains(&wanted));
        }
        attacks
    }

    /// Returns the name as a path segment.
    pub fn slug(&self) -> String {
        let letters = self.name.chars().map(|c| match c.is_ascii_alphanumeric() {
            true => c.to_ascii_lowercase(),
            false => '-',
        });
        letters.collect()
    }

    /// Returns the resources below a path that ends with a slash, with these placeholders and `{here}` for that path.
    pub fn resources(
        &self,
        base: &str,
        placeholders: &[(&str, String)],
    ) -> Vec<(String, Resource)> {
        let fill = |text: &str| {
            let mut text = text.replace("{each}", &self.each).replace("{here}", base);
            for (name, value) in placeholders {
                text = text.replace(&format!("{{{name}}}"), value);
            }
            text
        };
        let filled = self.resources.iter().map(|(path, resource)| {
            let mut resource = resource.clone();
            resource.body = fill(&String::from_utf8_lossy(&resource.body)).into_bytes();
            for (_, value) in &mut resource.headers {
                *value = fill(value);
            }
            (format!("{base}{path}"), resource)
        });
        filled.collect()
    }

    /// Returns the reason of the first exception of this kind with one of these conditions.
    pub fn exception(&self, conditions: &[&str], kind: &str) -> Option<&str> {
        let fits = |it: &&Exception| it.kind == kind && conditions.contains(&&*it.condition);
        let found = self.exceptions.iter().find(fits);
        found.map(|exception| &*exception.reason)
    }
}

/// An attack before the expansion of `each`.
struct Draft {
    name: String,
    opening: Opening,
    exceptions: Vec<Exception>,
    resources: Vec<(String, Resource)>,
    each: Vec<String>,
}

fn parse(text: &str) -> Result<Vec<Attack>, (usize, String)> {
    let mut drafts: Vec<Draft> = Vec::new();
    for piece in pieces(text)? {
        match piece {
            Piece::Matter { line, name, .. } => return Err((line, format!("`{name}` is unknown"))),
            Piece::Heading { title, .. } => drafts.push(Draft {
                name: title.to_owned(),
                opening: Opening::Frame,
                exceptions: Vec::new(),
                resources: Vec::new(),
                each: Vec::new(),
            }),
            Piece::Block(block) => {
                let line = block.line;
                let draft = drafts
                    .last_mut()
                    .ok_or((line, "a block before the first heading".to_owned()))?;
                draft.add(&block).map_err(|why| (line, why))?;
            }
        }
    }
    let attacks: Vec<_> = drafts.into_iter().flat_map(Draft::attacks).collect();
    let mut known = BTreeSet::new();
    for attack in &attacks {
        if attack
            .resources
            .first()
            .is_none_or(|(path, _)| !path.is_empty())
        {
            return Err((
                0,
                format!("`{}` does not begin with its document", attack.name),
            ));
        }
        if !known.insert(attack.slug()) {
            return Err((0, format!("there are two attacks `{}`", attack.slug())));
        }
    }
    Ok(attacks)
}

impl Draft {
    fn add(&mut self, block: &Block<'_>) -> Result<(), String> {
        let (kind, attributes) = block.info.split_once(' ').unwrap_or((block.info, ""));
        match kind {
            "except" => {
                for line in block.inside.lines() {
                    self.exceptions.push(exception(line)?);
                }
                return Ok(());
            }
            "headers" => {
                let last = self.resources.last_mut();
                let (_, resource) = last.ok_or("headers of what?")?;
                for line in block.inside.lines() {
                    let (name, value) = line
                        .split_once(':')
                        .ok_or_else(|| format!("`{line}` is no header"))?;
                    let name = name.trim().to_ascii_lowercase();
                    resource.headers.retain(|(known, _)| *known != name);
                    resource.headers.push((name, value.trim().to_owned()));
                }
                return Ok(());
            }
            _ => {}
        }
        let mut others = Vec::new();
        for attribute in attributes.split_whitespace() {
            match attribute.split_once('=') {
                Some(("as", "page")) => self.opening = Opening::Page,
                Some(("as", "click")) => self.opening = Opening::Click,
                Some(("each", values)) => {
                    self.each = values.split('|').map(str::to_owned).collect()
                }
                _ => others.push(attribute),
            }
        }
        let has_path = others.iter().any(|other| other.starts_with("path="));
        let (kind, body) = match kind {
            "js" if !has_path => (
                "html",
                format!("<!doctype html><script>\n{}\n</script>", block.inside),
            ),
            _ => (kind, block.inside.to_owned()),
        };
        let (path, resource) = resource(kind, &others.join(" "), &body)?
            .ok_or_else(|| format!("a block `{kind}` is unknown"))?;
        let path = if has_path { path } else { String::new() };
        self.resources.push((path, resource));
        Ok(())
    }

    fn attacks(self) -> Vec<Attack> {
        let each = match self.each.is_empty() {
            true => vec![String::new()],
            false => self.each,
        };
        let attacks = each.into_iter().map(|each| Attack {
            name: match self.name.contains("{each}") {
                true => self.name.replace("{each}", &each),
                false if each.is_empty() => self.name.clone(),
                false => format!("{}: {each}", self.name),
            },
            opening: self.opening,
            exceptions: self.exceptions.clone(),
            resources: self.resources.clone(),
            each,
        });
        attacks.collect()
    }
}

fn exception(line: &str) -> Result<Exception, String> {
    let (what, reason) = line.split_once(':').unwrap_or((line, ""));
    match what.split(' ').collect::<Vec<_>>()[..] {
        [condition, kind] if !reason.trim().is_empty() => Ok(Exception {
            condition: condition.to_owned(),
            kind: kind.to_owned(),
            reason: reason.trim().to_owned(),
        }),
        _ => Err(format!("`{line}` is not `CONDITION KIND: REASON`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# Ways\n\n## A redirect by {each}\n```html each=301|307 as=click\n<a id=go href=/r/{each}?to={to}>{here}</a>\n```\n\
        ```headers\nContent-Type: text/plain\nLink: <{to}>; rel=preload\n```\n```except\nwebkit optional: none\n```\n\n\
        ## A worker\n```js\nnew Worker('w.js')\n```\n```js path=w.js\nfetch('{to}')\n```\n";

    #[test]
    fn each_makes_an_attack_of_each() {
        let attacks = parse(FILE).expect("it is right");
        let names: Vec<_> = attacks.iter().map(|attack| &*attack.name).collect();
        assert_eq!(
            names,
            ["A redirect by 301", "A redirect by 307", "A worker"]
        );
        let first = &attacks[0];
        assert_eq!(first.opening, Opening::Click);
        assert_eq!(
            first.exception(&["all", "webkit"], "optional"),
            Some("none")
        );
        assert_eq!(first.exception(&["webkit"], "reaches"), None);
        let resources = first.resources("/x/", &[("to", "http://a".to_owned())]);
        let (path, document) = &resources[0];
        assert_eq!(path, "/x/");
        assert_eq!(document.body, b"<a id=go href=/r/301?to=http://a>/x/</a>");
        let headers = [
            ("content-type", "text/plain"),
            ("link", "<http://a>; rel=preload"),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(document.headers, headers);
    }

    #[test]
    fn a_script_is_in_a_document_and_has_files_beside_it() {
        let attacks = parse(FILE).expect("it is right");
        let resources = attacks[2].resources("/x/", &[("to", "http://a".to_owned())]);
        assert_eq!(
            resources[0].1.body,
            b"<!doctype html><script>\nnew Worker('w.js')\n</script>"
        );
        assert_eq!(resources[1].0, "/x/w.js");
        assert_eq!(resources[1].1.body, b"fetch('http://a')");
    }

    #[test]
    fn mistakes_in_attacks_are_reported_with_their_line() {
        for (text, line) in [
            ("```js\n```\n", 1),
            ("## A\n```except\nwebkit optional\n```\n", 2),
            ("## A\n```js path=w.js\n```\n", 0),
            ("## A\n```js\n```\n## a\n```js\n```\n", 0),
        ] {
            assert_eq!(parse(text).expect_err(text).0, line, "{text}");
        }
    }
}
