//! The rows of the table of options, and the macro that declares them.

use std::path::Path;

use serde_json::Value;

use super::{layered::Source, options::Options, value::Problem};

/// The properties of an option beside its name, its type and its description.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spec {
    /// The dotted key in a configuration file.
    pub(crate) key: Option<&'static str>,
    /// Further keys with the same meaning.
    pub(crate) other_keys: &'static [&'static str],
    /// Whether the option has a flag, and with it a `PLAYHOUSE_*` variable.
    pub(crate) flag: bool,
    /// Whether several values may follow one flag (`--cdp-header a b`).
    pub(crate) many: bool,
    /// Whether a value may begin with a dash.
    pub(crate) dashes: bool,
    /// Whether help and reference leave the option out.
    pub(crate) hidden: bool,
    /// The environment variable of `@playwright/mcp` for the option.
    pub(crate) contract_variable: ContractVariable,
    /// A description of the default, if it depends on other options or the machine.
    pub(crate) default: Option<&'static str>,
    /// Whether the value is masked wherever it is shown.
    pub(crate) secret: bool,
    /// The reason for which this release does not support the option.
    pub(crate) later: Option<&'static str>,
}

/// The environment variable of `@playwright/mcp` for an option.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ContractVariable {
    None,
    /// `PLAYWRIGHT_MCP_` and the name of the option.
    Regular,
    /// A variable with another name.
    Named(&'static str),
    /// A variable with another name and the opposite meaning.
    Negated(&'static str),
}

const NOTHING: Spec = Spec {
    key: None,
    other_keys: &[],
    flag: false,
    many: false,
    dashes: false,
    hidden: false,
    contract_variable: ContractVariable::None,
    default: None,
    secret: false,
    later: None,
};

/// Describes an option with this key in a configuration file.
pub(crate) const fn key(key: &'static str) -> Spec {
    Spec {
        key: Some(key),
        ..NOTHING
    }
}

/// Describes an option that a configuration file cannot set.
pub(crate) const fn no_key() -> Spec {
    NOTHING
}

impl Spec {
    /// Adds further keys with the same meaning.
    pub(crate) const fn or(self, other_keys: &'static [&'static str]) -> Spec {
        Spec { other_keys, ..self }
    }

    /// Adds a flag, a `PLAYHOUSE_*` variable, and the corresponding variable of `@playwright/mcp`.
    pub(crate) const fn everywhere(self) -> Spec {
        Spec {
            flag: true,
            contract_variable: ContractVariable::Regular,
            ..self
        }
    }

    /// Adds a flag, a `PLAYHOUSE_*` variable, and a variable of `@playwright/mcp` with another name.
    pub(crate) const fn everywhere_but(self, variable: &'static str) -> Spec {
        Spec {
            flag: true,
            contract_variable: ContractVariable::Named(variable),
            ..self
        }
    }

    /// The same with a variable of `@playwright/mcp` that has the opposite meaning.
    pub(crate) const fn everywhere_but_negated(self, variable: &'static str) -> Spec {
        Spec {
            flag: true,
            contract_variable: ContractVariable::Negated(variable),
            ..self
        }
    }

    /// Adds a flag and a `PLAYHOUSE_*` variable.
    pub(crate) const fn flag(self) -> Spec {
        Spec { flag: true, ..self }
    }

    /// Allows several values after one flag.
    pub(crate) const fn many(self) -> Spec {
        Spec { many: true, ..self }
    }

    /// Allows values that begin with a dash.
    pub(crate) const fn dashes(self) -> Spec {
        Spec {
            dashes: true,
            ..self
        }
    }

    /// Leaves the option out of help and reference.
    pub(crate) const fn hidden(self) -> Spec {
        Spec {
            hidden: true,
            ..self
        }
    }

    /// Sets the description of the default.
    pub(crate) const fn default(self, words: &'static str) -> Spec {
        Spec {
            default: Some(words),
            ..self
        }
    }

    /// Masks the value wherever it is shown.
    pub(crate) const fn secret(self) -> Spec {
        Spec {
            secret: true,
            ..self
        }
    }

    /// Marks the option as not supported by this release, for the given reason.
    pub(crate) const fn later(self, why: &'static str) -> Spec {
        Spec {
            later: Some(why),
            ..self
        }
    }
}

/// A row of the table, without the type of the option.
pub(crate) struct OptionDef {
    pub(crate) name: &'static str,
    pub(crate) section: &'static str,
    doc: &'static [&'static str],
    pub(crate) spec: Spec,
    /// The placeholder of the value in help; empty for a switch.
    pub(crate) word: &'static str,
    pub(crate) schema: fn() -> Value,
    /// Returns the constant default, if there is one.
    pub(crate) default: fn() -> Option<Value>,
    pub(crate) apply_default: fn(&mut Options),
    pub(crate) apply_text: fn(&mut Options, Source, &str) -> Result<(), Problem>,
    pub(crate) apply_environment: fn(&mut Options, Source, &str) -> Result<(), Problem>,
    pub(crate) apply_ini: fn(&mut Options, Source, &str, &Path) -> Result<(), Problem>,
    pub(crate) apply_json: fn(&mut Options, Source, &Value, &Path) -> Result<(), Problem>,
    pub(crate) get: fn(&Options) -> Option<(Value, &Source)>,
}

impl OptionDef {
    #[expect(clippy::too_many_arguments, reason = "called by the macro below only")]
    pub(crate) const fn new(
        name: &'static str,
        section: &'static str,
        doc: &'static [&'static str],
        spec: Spec,
        word: &'static str,
        schema: fn() -> Value,
        default: fn() -> Option<Value>,
        functions: TypedFunctions,
    ) -> OptionDef {
        OptionDef {
            name,
            section,
            doc,
            spec,
            word,
            schema,
            default,
            apply_default: functions.default,
            apply_text: functions.text,
            apply_environment: functions.environment,
            apply_ini: functions.ini,
            apply_json: functions.json,
            get: functions.get,
        }
    }

    /// Returns the description as one paragraph.
    pub(crate) fn doc(&self) -> String {
        let lines: Vec<_> = self.doc.iter().map(|line| line.trim()).collect();
        lines.join(" ")
    }

    /// Returns the flag without its dashes: `viewport-size`.
    pub(crate) fn long(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Returns the flag in the older spelling: `viewportSize`. For one word it equals [`long`](Self::long).
    pub(crate) fn camel_case(&self) -> String {
        let mut words = self.name.split('_');
        let mut name = words.next().unwrap_or_default().to_owned();
        for word in words {
            name.push_str(&word[..1].to_uppercase());
            name.push_str(&word[1..]);
        }
        name
    }

    /// Returns the environment variables, that of the highest precedence first.
    pub(crate) fn variables(&self) -> Vec<String> {
        let upper = self.name.to_uppercase();
        let mut names = Vec::new();
        if self.spec.flag {
            names.push(format!("PLAYHOUSE_{upper}"));
        }
        match self.spec.contract_variable {
            ContractVariable::None => {}
            ContractVariable::Regular => names.push(format!("PLAYWRIGHT_MCP_{upper}")),
            ContractVariable::Named(name) | ContractVariable::Negated(name) => {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// Returns the keys, the usual one first.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.spec
            .key
            .into_iter()
            .chain(self.spec.other_keys.iter().copied())
    }

    /// Whether the flag needs no value.
    pub(crate) fn is_switch(&self) -> bool {
        self.word.is_empty()
    }
}

/// The functions of a row that depend on the type of the option.
pub(crate) struct TypedFunctions {
    pub(crate) default: fn(&mut Options),
    pub(crate) text: fn(&mut Options, Source, &str) -> Result<(), Problem>,
    pub(crate) environment: fn(&mut Options, Source, &str) -> Result<(), Problem>,
    pub(crate) ini: fn(&mut Options, Source, &str, &Path) -> Result<(), Problem>,
    pub(crate) json: fn(&mut Options, Source, &Value, &Path) -> Result<(), Problem>,
    pub(crate) get: fn(&Options) -> Option<(Value, &Source)>,
}

/// Declares `struct Options` and the table `OPTIONS` from one list.
macro_rules! options {
    (@default) => { None };
    (@default $default:expr) => { Some($default) };
    ($($section:literal {
        $($(#[doc = $doc:literal])* $name:ident: $type:ty $(= $default:expr)?, $spec:expr;)*
    })*) => {
        /// The value of each option after all layers. A field declares a flag, a variable, a key of the configuration file,
        /// and an entry of help, reference and schema.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Options { $($(
            $(#[doc = $doc])*
            pub(crate) $name: $crate::config::layered::Layered<$type>,
        )*)* }

        /// The table of options, in the order of help and reference.
        pub(crate) static OPTIONS: &[$crate::config::table::OptionDef] = &[$($(
            $crate::config::table::OptionDef::new(
                stringify!($name),
                $section,
                &[$($doc),*],
                $spec,
                <$type as OptionValue>::WORD,
                <$type as OptionValue>::schema,
                || {
                    let default: Option<$type> = options!(@default $($default)?);
                    default.map(|value| value.to_json())
                },
                $crate::config::table::TypedFunctions {
                    default: |_options| {
                        $(_options.$name.apply(Source::Default, $default);)?
                    },
                    text: |options, source, text| {
                        options.$name.apply(source, <$type>::parse(text)?);
                        Ok(())
                    },
                    environment: |options, source, text| {
                        if let Some(value) = <$type>::parse_environment(text)? {
                            options.$name.apply(source, value);
                        }
                        Ok(())
                    },
                    ini: |options, source, text, folder| {
                        let mut value = <$type>::parse(text)?;
                        value.rebase(folder);
                        options.$name.apply(source, value);
                        Ok(())
                    },
                    json: |options, source, value, folder| {
                        let mut value = <$type>::from_json(value)?;
                        value.rebase(folder);
                        options.$name.apply(source, value);
                        Ok(())
                    },
                    get: |options| {
                        Some((options.$name.get()?.to_json(), options.$name.source()?))
                    },
                },
            ),
        )*)*];
    };
}

pub(crate) use options;
