//! The machinery behind the table of options: what is said once about each, and what follows.

use std::path::Path;

use serde_json::Value;

use super::{layered::Source, options::Options, value::Problem};

/// What is said about an option beside its name, its type and its words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spec {
    /// Its key in a configuration file, dotted.
    pub(crate) key: Option<&'static str>,
    /// Further keys that mean the same.
    pub(crate) other_keys: &'static [&'static str],
    /// Whether it has a flag, and with it a `PLAYHOUSE_*` variable.
    pub(crate) flag: bool,
    /// Whether one flag takes several words (`--cdp-header a b`).
    pub(crate) many: bool,
    /// Whether a value may begin with a dash.
    pub(crate) dashes: bool,
    /// Whether help is silent about it.
    pub(crate) hidden: bool,
    /// The variable that @playwright/mcp reads for it.
    pub(crate) contract_variable: ContractVariable,
    /// The default in words, where it depends.
    pub(crate) default: Option<&'static str>,
    /// Whether its value must not be shown.
    pub(crate) secret: bool,
    /// Why this release refuses it.
    pub(crate) later: Option<&'static str>,
}

/// The name of the variable that @playwright/mcp reads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ContractVariable {
    None,
    /// `PLAYWRIGHT_MCP_` and the option's name.
    Regular,
    /// Another name, written out.
    Named(&'static str),
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

/// An option with this key in a configuration file.
pub(crate) const fn key(key: &'static str) -> Spec {
    Spec {
        key: Some(key),
        ..NOTHING
    }
}

/// An option that a file cannot set.
pub(crate) const fn no_key() -> Spec {
    NOTHING
}

impl Spec {
    /// These keys mean the same.
    pub(crate) const fn or(self, other_keys: &'static [&'static str]) -> Spec {
        Spec { other_keys, ..self }
    }

    /// Has a flag, a `PLAYHOUSE_*` variable, and the same variable of @playwright/mcp.
    pub(crate) const fn everywhere(self) -> Spec {
        Spec {
            flag: true,
            contract_variable: ContractVariable::Regular,
            ..self
        }
    }

    /// Has a flag, a `PLAYHOUSE_*` variable, and one of @playwright/mcp that is named otherwise.
    pub(crate) const fn everywhere_but(self, variable: &'static str) -> Spec {
        Spec {
            flag: true,
            contract_variable: ContractVariable::Named(variable),
            ..self
        }
    }

    /// Has a flag and a `PLAYHOUSE_*` variable.
    pub(crate) const fn flag(self) -> Spec {
        Spec { flag: true, ..self }
    }

    /// One flag may be followed by several values.
    pub(crate) const fn many(self) -> Spec {
        Spec { many: true, ..self }
    }

    /// Values may begin with a dash.
    pub(crate) const fn dashes(self) -> Spec {
        Spec {
            dashes: true,
            ..self
        }
    }

    /// Works, but is not advertised.
    pub(crate) const fn hidden(self) -> Spec {
        Spec {
            hidden: true,
            ..self
        }
    }

    /// Says the default in words.
    pub(crate) const fn default(self, words: &'static str) -> Spec {
        Spec {
            default: Some(words),
            ..self
        }
    }

    /// Must not be shown.
    pub(crate) const fn secret(self) -> Spec {
        Spec {
            secret: true,
            ..self
        }
    }

    /// Is refused for now, for this reason.
    pub(crate) const fn later(self, why: &'static str) -> Spec {
        Spec {
            later: Some(why),
            ..self
        }
    }
}

/// One row of the table, its type erased.
pub(crate) struct OptionDef {
    pub(crate) name: &'static str,
    pub(crate) section: &'static str,
    doc: &'static [&'static str],
    pub(crate) spec: Spec,
    /// What help calls the value; empty for a switch.
    pub(crate) word: &'static str,
    pub(crate) schema: fn() -> Value,
    /// The fixed default.
    pub(crate) default: fn() -> Option<Value>,
    pub(crate) offer_default: fn(&mut Options),
    pub(crate) offer_text: fn(&mut Options, Source, &str) -> Result<(), Problem>,
    pub(crate) offer_environment: fn(&mut Options, Source, &str) -> Result<(), Problem>,
    pub(crate) offer_ini: fn(&mut Options, Source, &str, &Path) -> Result<(), Problem>,
    pub(crate) offer_json: fn(&mut Options, Source, &Value, &Path) -> Result<(), Problem>,
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
        offers: Offers,
    ) -> OptionDef {
        OptionDef {
            name,
            section,
            doc,
            spec,
            word,
            schema,
            default,
            offer_default: offers.default,
            offer_text: offers.text,
            offer_environment: offers.environment,
            offer_ini: offers.ini,
            offer_json: offers.json,
            get: offers.get,
        }
    }

    /// Its description, in one paragraph.
    pub(crate) fn doc(&self) -> String {
        let lines: Vec<_> = self.doc.iter().map(|line| line.trim()).collect();
        lines.join(" ")
    }

    /// Its flag without the dashes: `viewport-size`.
    pub(crate) fn long(&self) -> String {
        self.name.replace('_', "-")
    }

    /// Its flag in the older spelling: `viewportSize`. The same as [`long`](Self::long) for one word.
    pub(crate) fn camel_case(&self) -> String {
        let mut words = self.name.split('_');
        let mut name = words.next().unwrap_or_default().to_owned();
        for word in words {
            name.push_str(&word[..1].to_uppercase());
            name.push_str(&word[1..]);
        }
        name
    }

    /// Its variables, the strongest first.
    pub(crate) fn variables(&self) -> Vec<String> {
        let upper = self.name.to_uppercase();
        let mut names = Vec::new();
        if self.spec.flag {
            names.push(format!("PLAYHOUSE_{upper}"));
        }
        match self.spec.contract_variable {
            ContractVariable::None => {}
            ContractVariable::Regular => names.push(format!("PLAYWRIGHT_MCP_{upper}")),
            ContractVariable::Named(name) => names.push(name.to_owned()),
        }
        names
    }

    /// Its keys, the usual one first.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.spec
            .key
            .into_iter()
            .chain(self.spec.other_keys.iter().copied())
    }

    /// Whether its flag needs no value.
    pub(crate) fn is_switch(&self) -> bool {
        self.word.is_empty()
    }
}

/// The functions of a row that know its type.
pub(crate) struct Offers {
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
        /// Every option as the layers gave it. One field is one flag, one variable, one key of the
        /// file, one entry of help, reference and schema.
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
                $crate::config::table::Offers {
                    default: |_options| {
                        $(_options.$name.offer(Source::Default, $default);)?
                    },
                    text: |options, source, text| {
                        options.$name.offer(source, <$type>::parse(text)?);
                        Ok(())
                    },
                    environment: |options, source, text| {
                        if let Some(value) = <$type>::parse_environment(text)? {
                            options.$name.offer(source, value);
                        }
                        Ok(())
                    },
                    ini: |options, source, text, folder| {
                        let mut value = <$type>::parse(text)?;
                        value.rebase(folder);
                        options.$name.offer(source, value);
                        Ok(())
                    },
                    json: |options, source, value, folder| {
                        let mut value = <$type>::from_json(value)?;
                        value.rebase(folder);
                        options.$name.offer(source, value);
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
