//! The notes of a user on a page, as text.

use engine::Annotation;

/// Returns the comment on the whole page, if there is one, and a line for each mark.
pub(crate) fn lines(comment: &str, marks: &[Annotation]) -> Vec<String> {
    let comment = (!comment.is_empty()).then(|| quoted(comment));
    let marks = marks.iter().enumerate();
    let marks = marks.map(|(index, mark)| line(index + 1, mark));
    comment.into_iter().chain(marks).collect()
}

/// Returns the line of a mark: its number in the screenshot, the ref of its element, its area and the note. The line has no text of the
/// page, so that the note is known to be the user's.
fn line(number: usize, mark: &Annotation) -> String {
    let Annotation {
        area,
        text,
        element,
    } = mark;
    let [x, y, width, height] = [area.x, area.y, area.width, area.height].map(f64::round);
    let element = element.as_ref().map_or_else(String::new, |(facts, _)| {
        format!("[ref={}] ", facts.reference)
    });
    let note = if text.is_empty() {
        "no note".to_owned()
    } else {
        quoted(text)
    };
    format!("{number}. {element}{{ x: {x}, y: {y}, width: {width}, height: {height} }}: {note}")
}

/// Returns the text of the user in quotes, in one line.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
