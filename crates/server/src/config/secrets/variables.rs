//! Environment variables that stand for secrets in generated tests.

use super::hidden::Mask;
use super::{MIN_LENGTH, Secrets, is_distinctive};
use engine::codegen::javascript::string as quote;
use std::sync::PoisonError;

/// The variable of a password that has no name.
const PASSWORD: &str = "PASSWORD";

/// Environment variables with their values. The values are kept to replay a test and are in no file.
#[derive(Clone, Default)]
pub(crate) struct Variables(Vec<(String, String)>);

impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl Variables {
    /// Returns the names, in the order of their first use.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the names and the values.
    pub(crate) fn pairs(&self) -> &[(String, String)] {
        &self.0
    }

    /// Returns TypeScript in which variables stand for the secrets in string literals with single quotes. Secrets elsewhere are masked.
    pub(crate) fn substituted(&mut self, mut code: String, secrets: &Secrets) -> String {
        for (value, name) in secrets.masked_values() {
            let literal = quote(&value);
            let inside = &literal[1..literal.len() - 1];
            let is_whole = match is_distinctive(&value) || name.is_some() {
                true => code.contains(&literal),
                // A common word is a password only where it is typed.
                false => code.ends_with(&format!("({literal});")),
            };
            let is_part = is_distinctive(&value) && code.contains(inside);
            if !is_whole && !is_part {
                continue;
            }
            let variable = variable(&self.name_of(value.clone(), name, secrets));
            if is_whole {
                code = code.replace(&literal, &variable);
            }
            if is_distinctive(&value) {
                code = code.replace(inside, &format!("' + {variable} + '"));
            }
        }
        for secret in &secrets.secrets {
            if code.contains(&variable(&secret.name)) {
                self.add(secret.name.clone(), secret.value.clone());
            }
        }
        secrets.redacted(code)
    }

    /// Returns the name of the variable with this value.
    fn name_of(&mut self, value: String, name: Option<String>, secrets: &Secrets) -> String {
        if let Some((known, _)) = self.0.iter().find(|(_, known)| *known == value) {
            return known.clone();
        }
        let name = name.unwrap_or_else(|| PASSWORD.to_owned());
        let names = (2..).map(|number| format!("{name}_{number}"));
        let mut names = std::iter::once(name.clone()).chain(names);
        let is_free = |name: &String| {
            let secret = secrets.secrets.iter().find(|secret| secret.name == *name);
            secret.is_none_or(|secret| secret.value == value)
                && self.names().all(|known| known != name)
        };
        let name = names.find(is_free).unwrap_or(name);
        self.add(name.clone(), value);
        name
    }

    fn add(&mut self, name: String, value: String) {
        if self.names().all(|known| known != name) {
            self.0.push((name, value));
        }
    }
}

/// Returns the expression of an environment variable.
fn variable(name: &str) -> String {
    format!("process.env[{}]", quote(name))
}

impl Secrets {
    /// Returns all values that are masked, the longest first, with their names. Passwords have no names.
    fn masked_values(&self) -> Vec<(String, Option<String>)> {
        let hidden = self.hidden();
        let runtime = self.runtime.0.read();
        let runtime = runtime.unwrap_or_else(PoisonError::into_inner);
        let common = runtime.common_passwords.iter();
        let named = hidden.values.iter().map(|value| {
            let name = match &value.mask {
                Mask::Name(name) => Some(name.clone()),
                Mask::Dots => None,
            };
            (value.text.clone(), name)
        });
        named
            .chain(common.map(|value| (value.clone(), None)))
            .filter(|(value, name)| {
                !value.is_empty() && (name.is_none() || value.len() >= MIN_LENGTH)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_stand_for_secrets_in_code() {
        let pair = ("TOKEN".to_owned(), "tok'en-value".to_owned());
        let secrets = Secrets::new([pair]);
        secrets.mask_passwords(&["hunter22".to_owned(), "admin".to_owned()]);
        let mut variables = Variables::default();
        let mut code = |text: &str| variables.substituted(text.to_owned(), &secrets);
        assert_eq!(
            code("await a.fill('hunter22');"),
            "await a.fill(process.env['PASSWORD']);"
        );
        assert_eq!(
            code("await a.fill('admin');"),
            "await a.fill(process.env['PASSWORD_2']);"
        );
        assert_eq!(
            code("await a.getByText('admin').click();"),
            "await a.getByText('admin').click();"
        );
        assert_eq!(
            code("await a.fill('tok\\'en-value');"),
            "await a.fill(process.env['TOKEN']);"
        );
        assert_eq!(
            code("await page.goto('http://a/?t=hunter22&x');"),
            "await page.goto('http://a/?t=' + process.env['PASSWORD'] + '&x');"
        );
        assert_eq!(
            variables.names().collect::<Vec<_>>(),
            ["PASSWORD", "PASSWORD_2", "TOKEN"]
        );
    }

    #[test]
    fn a_variable_that_is_in_the_code_already_is_listed() {
        let secrets = Secrets::new([("KEY".to_owned(), "value".to_owned())]);
        let mut variables = Variables::default();
        let code = "await a.fill(process.env['KEY']);";
        assert_eq!(variables.substituted(code.to_owned(), &secrets), code);
        assert_eq!(variables.pairs(), [("KEY".to_owned(), "value".to_owned())]);
    }
}
