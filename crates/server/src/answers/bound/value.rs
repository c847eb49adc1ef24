//! Shortening JSON to a number of tokens: long texts and lists keep their beginning and their end, and the JSON stays valid.

use super::text::{fair_share, shortened};
use engine::estimate_tokens;
use serde_json::{Map, Value};

/// The smallest size to which a value is shortened before other values are left out, in tokens.
const MIN_VALUE: usize = 40;
/// The largest number of attempts. Each estimates the sizes anew.
const MAX_ATTEMPTS: usize = 8;

/// Shortens a value. Returns how many items of each list, by its path, are left out.
pub(super) fn shorten(value: &mut Value, most: usize) -> Map<String, Value> {
    let mut left_out = Map::new();
    let mut room = most;
    for _ in 0..MAX_ATTEMPTS {
        let size = size_of(value);
        if size <= most {
            break;
        }
        fit(value, room, "", &mut left_out);
        let surplus = size_of(value).saturating_sub(most);
        room = room.saturating_sub(surplus + surplus / 8 + 1);
    }
    left_out
}

fn size_of(value: &Value) -> usize {
    estimate_tokens(&value.to_string())
}

/// Shortens a value to about so many tokens.
fn fit(value: &mut Value, most: usize, path: &str, left_out: &mut Map<String, Value>) {
    match value {
        Value::String(text) => {
            // Escapes take more room in JSON.
            let own = estimate_tokens(text).max(1);
            let written = estimate_tokens(&Value::from(text.as_str()).to_string()).max(own);
            *text = shortened(std::mem::take(text), most * own / written);
        }
        Value::Array(items) => {
            let sizes: Vec<usize> = items.iter().map(|item| size_of(item) + 1).collect();
            let share = fair_share(&sizes, most).max(most / 4).max(MIN_VALUE);
            let mut new_sizes = Vec::with_capacity(items.len());
            for (index, (item, size)) in items.iter_mut().zip(sizes).enumerate() {
                if size <= share {
                    new_sizes.push(size);
                    continue;
                }
                fit(item, share, &format!("{path}[{index}]"), left_out);
                new_sizes.push(size_of(item) + 1);
            }
            let removed = middle(&new_sizes, most);
            if !removed.is_empty() {
                add(left_out, path, removed.len());
                items.drain(removed);
            }
        }
        Value::Object(members) => {
            let sizes: Vec<usize> = members
                .iter()
                .map(|(key, value)| estimate_tokens(key) + size_of(value) + 2)
                .collect();
            let share = fair_share(&sizes, most).max(MIN_VALUE);
            let mut new_sizes = Vec::with_capacity(members.len());
            for ((key, value), size) in members.iter_mut().zip(sizes) {
                if size <= share {
                    new_sizes.push(size);
                    continue;
                }
                let path = match path {
                    "" => key.clone(),
                    path => format!("{path}.{key}"),
                };
                fit(value, share, &path, left_out);
                new_sizes.push(estimate_tokens(key) + size_of(value) + 2);
            }
            // Few members are facts of the answer, many are a list.
            let removed = middle(&new_sizes, most);
            if !removed.is_empty() && members.len() > 2 * MIN_VALUE {
                add(left_out, path, removed.len());
                let mut index = 0;
                members.retain(|_, _| {
                    index += 1;
                    !removed.contains(&(index - 1))
                });
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the items in the middle without which the others have at most so many tokens.
fn middle(sizes: &[usize], most: usize) -> std::ops::Range<usize> {
    if sizes.iter().sum::<usize>() <= most {
        return 0..0;
    }
    let fitting = |sizes: &mut dyn Iterator<Item = &usize>, room: usize| {
        let mut sum = 0;
        let fits = sizes.take_while(|size| {
            sum += **size;
            sum <= room
        });
        fits.count()
    };
    let head = fitting(&mut sizes.iter(), most / 3 * 2);
    let tail = fitting(&mut sizes[head..].iter().rev(), most / 3);
    head..sizes.len() - tail
}

fn add(left_out: &mut Map<String, Value>, path: &str, count: usize) {
    let before = left_out.get(path).and_then(Value::as_u64).unwrap_or(0);
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    left_out.insert(path.to_owned(), (before + count).into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_texts_and_lists_share_the_room() {
        let links: Vec<_> = (0..2_000)
            .map(|it| json!({ "text": format!("Link {it}"), "url": "/x" }))
            .collect();
        let mut value = json!({ "success": true, "text": "some words\n".repeat(5_000), "links": links, "count": 2_000 });
        let left_out = shorten(&mut value, 1_000);
        assert!(size_of(&value) <= 1_000, "{}", size_of(&value));
        assert!(size_of(&value) > 700, "{}", size_of(&value));
        assert_eq!(
            (&value["success"], &value["count"]),
            (&json!(true), &json!(2_000))
        );
        let kept = value["links"].as_array().expect("a list");
        assert_eq!(
            (&kept[0]["text"], &kept[kept.len() - 1]["text"]),
            (&json!("Link 0"), &json!("Link 1999"))
        );
        assert_eq!(left_out["links"], 2_000 - kept.len());
        let text = value["text"].as_str().expect("a text");
        assert!(
            text.starts_with("some words\n")
                && text.ends_with("some words\n")
                && text.contains(" lines ("),
            "{text}"
        );
    }

    #[test]
    fn any_shape_fits() {
        let deep = (0..60).fold(json!("x".repeat(50_000)), |inner, _| json!([inner]));
        let map: Map<String, Value> = (0..5_000)
            .map(|it| (format!("key{it}"), json!(it)))
            .collect();
        let texts = json!(vec!["\n\"\\".repeat(500); 300]);
        for mut value in [
            deep,
            Value::Object(map),
            texts,
            json!({ "a": { "b": ["y".repeat(90_000), 1] } }),
        ] {
            shorten(&mut value, 600);
            assert!(size_of(&value) <= 600, "{}", size_of(&value));
        }
    }
}
