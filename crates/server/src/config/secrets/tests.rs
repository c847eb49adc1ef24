//! Tests of secrets.

use super::*;
use serde_json::json;

fn secrets(pairs: &[(&str, &str)]) -> Secrets {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Secrets::new(pairs.iter().map(owned))
}

#[test]
fn the_longest_value_is_the_one_that_is_named() {
    let secrets = secrets(&[("A", "one"), ("B", "onetwo"), ("C", "secret"), ("D", "")]);
    let redacted = |text: &str| secrets.redacted(text.to_owned());
    assert_eq!(
        redacted("onetwo one"),
        "<secret>B</secret> <secret>A</secret>"
    );
    assert_eq!(redacted("a secret"), "a <secret>C</secret>");
    assert_eq!(redacted("on two"), "on two");
    assert_eq!(redacted("äone"), "ä<secret>A</secret>");
}

#[test]
fn a_value_is_found_however_it_is_escaped() {
    let secrets = secrets(&[("P", "a \"b'\n&")]);
    for text in [
        "a \"b'\n&",
        r#"a \"b'\n&"#,
        r#"a "b\'\n&"#,
        "a%20%22b%27%0A%26",
        "a+%22b%27%0A%26",
        "a &quot;b&#39; &amp;",
        "a\t\"b'   &",
        r#"a \\\"b'\\n\u0026"#,
    ] {
        assert_eq!(
            secrets.redacted(text.to_owned()),
            "<secret>P</secret>",
            "{text}"
        );
    }
    let json = json!({ "x": ["a \"b'\n&", 1], "a \"b'\n&": { "a \"b'\n&": 2 } });
    assert_eq!(
        secrets.redacted_json(json),
        json!({ "x": ["<secret>P</secret>", 1], "<secret>P</secret>": { "<secret>P</secret>": 2 } })
    );
}

#[test]
fn lines_and_base64_of_a_value_are_hidden_too() {
    let secrets = secrets(&[(
        "KEY",
        "-----BEGIN KEY-----\nMIIBOgIBAAJBAKj34\nshort\n-----END KEY-----",
    )]);
    let redacted = |text: &str| secrets.redacted(text.to_owned());
    assert_eq!(
        redacted("-----BEGIN KEY----- MIIBOgIBAAJBAKj34  short\t-----END KEY-----!"),
        "<secret>KEY</secret>!"
    );
    assert_eq!(redacted("> MIIBOgIBAAJBAKj34"), "> <secret>KEY</secret>");
    assert_eq!(redacted("short"), "short");
    let secrets = super::Secrets::new([("P".to_owned(), "correct horse/+~".to_owned())]);
    for before in ["", "u:", "me:", "you:"] {
        let basic = base64::Engine::encode(
            &base64::prelude::BASE64_STANDARD,
            format!("{before}correct horse/+~."),
        );
        let shown = secrets.redacted(format!("Basic {basic}"));
        assert!(shown.contains("<secret>P</secret>"), "{before}: {shown}");
        assert!(
            shown.len() < "Basic <secret>P</secret>".len() + 12,
            "{shown}"
        );
    }
}

#[test]
fn a_value_is_found_in_the_name_of_a_file() {
    let secrets = secrets(&[
        ("KEY", "a horse/<\"1\">:\nand a battery\n"),
        ("ODD", "<:> ?"),
    ]);
    let redacted = |text: &str| secrets.redacted(text.to_owned());
    let shown = "<secret>KEY</secret>.txt";
    for name in [
        "a horse___1____and a battery.txt",
        "a-horse---1----and-a-battery.txt",
    ] {
        assert_eq!(redacted(name), shown);
    }
    // A name with too few letters and digits is not masked.
    assert_eq!(redacted("___ _"), "___ _");
    assert_eq!(redacted("a horse"), "a horse");
}

#[test]
fn passwords_are_hidden_where_they_are_no_common_words() {
    let secrets = secrets(&[("KEY", "hunter22")]);
    let values = [
        "hunter22",
        "1234",
        "abc",
        "password",
        "tr0ub4dor&3",
        "a  b c",
    ];
    let values = values.map(str::to_owned);
    let masks = [
        "<secret>KEY</secret>",
        "••••",
        "•••",
        "••••••••",
        "•••••••••••",
        "••••••",
    ];
    assert_eq!(secrets.mask_passwords(&values), masks);
    assert_eq!(secrets.mask_passwords(&values), masks);
    let shown = |text: &str| secrets.clone().redacted(text.to_owned());
    assert_eq!(shown("1234 e1234 x=1234&y"), "•••• e1234 x=••••&y");
    assert_eq!(shown("abc password"), "abc password");
    assert_eq!(shown("xtr0ub4dor&amp;3"), "x•••••••••••");
    assert_eq!(shown("a b c"), "••••••");
    assert_eq!(
        secrets.apart().redacted("tr0ub4dor&3".to_owned()),
        "tr0ub4dor&3"
    );
}

#[test]
fn a_value_is_found_in_each_form_of_its_characters() {
    let secrets = secrets(&[("P", "hunter22")]);
    for text in [
        r"\u0068\u0075\u006e\u0074\u0065\u0072\u0032\u0032",
        r"\x68\x75\x6e\x74\x65\x72\x32\x32",
        "&#104;&#117;&#x6e;&#116;&#101;&#114;&#50;&#50;",
        "%68%75%6e%74%65%72%32%32",
        "%2568unter22",
        "hunter&amp;#50;2",
        "h\u{200b}u\u{200b}nter22",
        "hun\u{ad}ter\u{fe0f}22",
        r"h\u200bunter22",
    ] {
        let shown = secrets.redacted(format!("<{text}>"));
        assert_eq!(shown, "<<secret>P</secret>>", "{text}");
    }
    assert_eq!(secrets.redacted("hunter 22".to_owned()), "hunter 22");
}

#[test]
fn a_typed_value_outlives_those_that_a_page_shows() {
    let secrets = Secrets::default();
    secrets.mask_typed(&["correct horse".to_owned()]);
    let shown: Vec<_> = (0..500)
        .map(|number| format!("field {number} of the page"))
        .collect();
    for values in shown.chunks(32) {
        secrets.mask_passwords(values);
    }
    assert_eq!(
        secrets.redacted("a correct horse".to_owned()),
        "a •••••••••••••"
    );
}

#[test]
fn keys_that_are_typed_one_by_one_do_not_fill_the_list() {
    let secrets = Secrets::default();
    let long = "0123456789".repeat(300);
    for end in 1..long.len() {
        secrets.lock_runtime().add_typed(Value {
            text: long[..end].to_owned(),
            mask: Mask::Dots,
        });
    }
    assert!(!secrets.lock_runtime().has_too_many());
}

#[test]
fn nothing_is_shown_if_there_are_too_many_values() {
    let secrets = Secrets::default();
    let typed: Vec<_> = (0..=MAX_TYPED)
        .map(|number| format!("value {number} of many"))
        .collect();
    secrets.mask_typed(&typed);
    let shown = secrets.redacted("value 1 of many, and a text".to_owned());
    assert!(shown.starts_with("[withheld"), "{shown}");
}

#[test]
fn values_of_any_size_cost_little() {
    let secrets = Secrets::default();
    let long = |number: usize| format!("{number}{}", "a page can show this & that".repeat(800));
    let values: Vec<_> = (0..20).map(long).collect();
    for mask in secrets.mask_passwords(&values) {
        assert!(mask.chars().count() <= 100);
    }
    assert_eq!(secrets.hidden().values.len(), 0);
    secrets.mask_typed(&values[..2]);
    let shown = secrets.redacted(format!("<{}>", values[1]));
    assert_eq!(shown, format!("<{}>", "•".repeat(100)));
}

#[test]
fn a_value_is_found_at_each_position_of_a_long_text() {
    let secrets = secrets(&[("P", "hunter22 and more")]);
    for shift in 0..20 {
        let before = "a".repeat((1 << 20) - 10 + shift);
        let text = before + "%68unter22%20and+more" + &"b".repeat(1 << 20) + "hunter22 and more";
        let shown = secrets.redacted(text);
        assert_eq!(shown.matches("<secret>P</secret>").count(), 2, "{shift}");
        assert!(!shown.contains("nter22"), "{shift}");
    }
}

#[test]
fn a_secret_with_origins_is_for_those_only() {
    let parsed = |pairs: &[(&str, &str)]| {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Secrets::parse(pairs.iter().map(owned).collect())
    };
    let list = "https://a.org, https://*.b.org http://localhost:*";
    let secrets = parsed(&[("A", "x"), ("A__ORIGINS", list), ("B", "y")]).expect("valid");
    assert_eq!(secrets.names().collect::<Vec<_>>(), ["A", "B"]);
    assert_eq!(secrets.without_origins().collect::<Vec<_>>(), ["B"]);
    assert!(secrets.is_bound("A") && !secrets.is_bound("B") && !secrets.is_bound("x"));
    for origin in ["https://a.org", "https://x.b.org", "http://localhost:8080"] {
        assert_eq!(secrets.check("A", origin), Ok(()), "{origin}");
    }
    for origin in [
        "http://a.org",
        "https://a.org:8443",
        "https://b.org",
        "https://a.org.evil.org",
        "https://evil.org",
        "null",
        "",
    ] {
        assert!(secrets.check("A", origin).is_err(), "{origin}");
        assert_eq!(secrets.check("B", origin), Ok(()), "{origin}");
    }
    for (name, list) in [
        ("A__ORIGINS", ""),
        ("A__ORIGINS", "a.org"),
        ("A__ORIGINS", "https://a.org/x"),
        ("C__ORIGINS", "https://a.org"),
    ] {
        let (entry, _) = parsed(&[("A", "x"), (name, list)]).expect_err(list);
        assert_eq!(entry, name);
    }
}

#[test]
fn a_name_stands_for_its_value() {
    let secrets = secrets(&[("PASSWORD", "x"), ("EMPTY", "")]);
    assert_eq!(
        secrets.typed("PASSWORD"),
        ("x".to_owned(), Typed::Variable("PASSWORD".to_owned()))
    );
    assert_eq!(
        secrets.typed("EMPTY"),
        ("EMPTY".to_owned(), Typed::Text("EMPTY".to_owned()))
    );
}

#[test]
fn a_part_of_a_value_at_a_cut_is_hidden() {
    let long = "line of a long value, ".repeat(60);
    let secrets = secrets(&[("P", "hunter22/ü"), ("LONG", &long)]);
    let shown = |text: &str| secrets.redacted(text.to_owned());
    for cut in [
        "hun",
        "hunter22",
        "hunter22/ü",
        "hunter22 ",
        "hunter22%2",
        "hunter22%2F%C3",
        "hunter22%2f%",
        r"hunter22\u002f\u00",
        "hunter22/&#x",
        "hunter22&#47;&uum",
        "hunter\u{200b}2",
    ] {
        assert_eq!(
            shown(&format!("<{cut}… (cut off)")),
            "<<secret>P</secret>… (cut off)",
            "{cut}"
        );
    }
    assert_eq!(shown(r#""hunter\u2026""#), r#""<secret>P</secret>\u2026""#);
    assert_eq!(shown("a …22/ü>"), "a …<secret>P</secret>>");
    assert_eq!(
        shown("hunt… left out …er22/ü"),
        "<secret>P</secret>… left out …<secret>P</secret>"
    );
    assert_eq!(
        shown(&format!("{}…", &long[..700])),
        "<secret>LONG</secret>…"
    );
    // Where nothing is cut, a part is an ordinary word.
    assert_eq!(
        shown("hunter… hu… a hunter, …/üx"),
        "<secret>P</secret>… hu… a hunter, …/üx"
    );
    secrets.mask_typed(&["pass12".to_owned()]);
    assert_eq!(shown("pass… bypass…"), "••••••… bypass…");
}
