//! The attribute `#[testkit::test]`, which registers a function with the test harness of `testkit`.

use proc_macro::{Delimiter, TokenStream, TokenTree};

/// Registers a function as a test, with its prerequisites:
///
/// ```ignore
/// #[testkit::test]                      // nothing
/// #[testkit::test(chromium, node)]      // a Chromium and Node
/// async fn a_rule() {}
///
/// #[testkit::test(chromium, firefox, not(webkit = "has no command for it"))]
/// async fn a_rule_of_browsers(engine: Engine) {}
/// ```
///
/// A function without a parameter becomes one test, which requires everything that is listed: `chromium`, `firefox`, `webkit`, `node`,
/// `ffmpeg`, `poppler`, `extensions` (a Chromium that loads them), `clients` (third-party ones), `websites` (of others), `widgets` (pages of
/// widget libraries), `grid` (a Selenium
/// Grid), `network` (a network namespace, which is made by root or where users may), `nginx`, `wine` (with the server for Windows), `oracle` (`@playwright/mcp`), `applications` (of the registries). A function with a parameter becomes one test for each listed browser, named after
/// it (`a_rule_of_browsers::firefox`); each requires the other prerequisites. With `not`, the test is reported as ignored on that browser,
/// with the reason. With `nightly`, the test runs only in `make nightly`; with `nightly(firefox, webkit)`, only its instances on these
/// browsers do. With `slow`, the test starts before the others, so that it does not run alone at the end, and `make test` omits it. The function may be async.
#[proc_macro_attribute]
pub fn test(attributes: TokenStream, item: TokenStream) -> TokenStream {
    match registration(attributes, item.clone()) {
        Ok(registration) => [item, registration].into_iter().collect(),
        Err(why) => compiled(&format!("::core::compile_error! {{ {why:?} }}")),
    }
}

fn registration(attributes: TokenStream, item: TokenStream) -> Result<TokenStream, String> {
    let Function {
        name,
        is_async,
        has_parameter,
    } = Function::read(item)?;
    let Attributes {
        required,
        excluded,
        nightly,
        is_nightly,
        is_slow,
    } = Attributes::read(attributes)?;
    let run = match (has_parameter, is_async) {
        (false, false) => format!("Once({name})"),
        (false, true) => format!("Once(|| ::testkit::harness::block_on({name}()))"),
        (true, false) => format!("ForEachEngine({name})"),
        (true, true) => {
            format!("ForEachEngine(|engine| ::testkit::harness::block_on({name}(engine)))")
        }
    };
    Ok(compiled(&format!(
        "::testkit::harness::submit! {{
            ::testkit::harness::Test {{
                path: ::core::concat!(::core::module_path!(), \"::{name}\"),
                required: &[{required}],
                excluded: &[{excluded}],
                nightly: &[{nightly}],
                is_nightly: {is_nightly},
                is_slow: {is_slow},
                run: ::testkit::harness::Run::{run},
            }}
        }}"
    )))
}

/// The facts of a registered function.
struct Function {
    name: String,
    is_async: bool,
    has_parameter: bool,
}

impl Function {
    fn read(item: TokenStream) -> Result<Self, String> {
        let mut tokens = item.into_iter();
        let mut is_async = false;
        for token in tokens.by_ref() {
            match token.to_string().as_str() {
                "async" => is_async = true,
                "fn" => break,
                _ => {}
            }
        }
        let name = tokens.next().ok_or("a test is a function")?.to_string();
        let has_parameter = match tokens.next() {
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                !group.stream().is_empty()
            }
            _ => return Err("a test has no generic parameters".to_owned()),
        };
        Ok(Self {
            name,
            is_async,
            has_parameter,
        })
    }
}

/// What the attribute states.
#[derive(Default)]
struct Attributes {
    /// The elements of the array `required`.
    required: String,
    /// The elements of the array `excluded`.
    excluded: String,
    /// The elements of the array `nightly`.
    nightly: String,
    is_nightly: bool,
    is_slow: bool,
}

impl Attributes {
    fn read(attributes: TokenStream) -> Result<Self, String> {
        let mut read = Self::default();
        let mut tokens = attributes.into_iter();
        while let Some(token) = tokens.next() {
            match (token.to_string().as_str(), tokens.next()) {
                ("not", Some(TokenTree::Group(group))) => {
                    read.excluded.push_str(&exclusion(group.stream())?);
                    // Skips the comma.
                    tokens.next();
                }
                ("nightly", Some(TokenTree::Group(group))) => {
                    for token in group.stream() {
                        if let TokenTree::Ident(browser) = token {
                            let engine = engine(&browser.to_string())?;
                            read.nightly.push_str(&format!("{engine},"));
                        }
                    }
                    // Skips the comma.
                    tokens.next();
                }
                ("nightly", None | Some(TokenTree::Punct(_))) => read.is_nightly = true,
                ("slow", None | Some(TokenTree::Punct(_))) => read.is_slow = true,
                (word, None | Some(TokenTree::Punct(_))) => {
                    read.required.push_str(&format!("{},", prerequisite(word)?));
                }
                (word, _) => return Err(format!("`{word}` is followed by a comma")),
            }
        }
        Ok(read)
    }
}

/// Parses `webkit = "a reason"` into a pair.
fn exclusion(tokens: TokenStream) -> Result<String, String> {
    let words: Vec<_> = tokens.into_iter().map(|token| token.to_string()).collect();
    match words.as_slice() {
        [browser, equals, reason] if equals == "=" && reason.starts_with('"') => {
            Ok(format!("({}, {reason}),", engine(browser)?))
        }
        _ => Err("an exclusion is `not(BROWSER = \"REASON\")`".to_owned()),
    }
}

fn prerequisite(word: &str) -> Result<String, String> {
    let path = "::testkit::Prerequisite::";
    Ok(match word {
        "node" => format!("{path}Node"),
        "ffmpeg" => format!("{path}Ffmpeg"),
        "poppler" => format!("{path}Poppler"),
        "extensions" => format!("{path}Extensions"),
        "clients" => format!("{path}Clients"),
        "websites" => format!("{path}Websites"),
        "widgets" => format!("{path}Widgets"),
        "grid" => format!("{path}Grid"),
        "network" => format!("{path}Network"),
        "nginx" => format!("{path}Nginx"),
        "wine" => format!("{path}Wine"),
        "oracle" => format!("{path}Oracle"),
        "applications" => format!("{path}Applications"),
        browser => format!("{path}Browser({})", engine(browser)?),
    })
}

fn engine(word: &str) -> Result<&'static str, String> {
    match word {
        "chromium" => Ok("::testkit::Engine::Chromium"),
        "firefox" => Ok("::testkit::Engine::Firefox"),
        "webkit" => Ok("::testkit::Engine::Webkit"),
        _ => Err(format!("`{word}` is no prerequisite")),
    }
}

fn compiled(text: &str) -> TokenStream {
    text.parse().expect("the text is Rust")
}
