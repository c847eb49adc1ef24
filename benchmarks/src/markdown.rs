//! Tables in Markdown, and figures in them.

/// Returns the head of a table: a column of titles, these columns, the target, and the verdict.
pub(crate) fn head(titles: impl Iterator<Item = String>) -> String {
    let titles: Vec<String> = titles.collect();
    let columns = "---:|".repeat(titles.len() + 1);
    format!(
        "| | {} | target | |\n|---|{columns}---|\n",
        titles.join(" | ")
    )
}

/// Returns a row.
pub(crate) fn row(cells: &[String]) -> String {
    let cells = cells.iter().map(|cell| match &**cell {
        "" => " |".to_owned(),
        cell => format!(" {cell} |"),
    });
    format!("|{}\n", cells.collect::<String>())
}

/// Returns a figure with three significant digits and its unit; `–` without a figure.
pub(crate) fn figure(figure: Option<f64>, unit: &str) -> String {
    let Some(figure) = figure else {
        return "–".to_owned();
    };
    let digits = match (unit, figure) {
        // Seconds of processor time.
        ("s", _) => 3,
        ("", _) | (_, 100.0..) => 0,
        (_, 10.0..) => 1,
        _ => 2,
    };
    format!("{figure:.digits$} {unit}").trim_end().to_owned()
}

pub(crate) fn ratio(ratio: Option<f64>) -> String {
    match ratio {
        None => "–".to_owned(),
        Some(ratio @ 0.1..) => format!("{ratio:.2}"),
        Some(ratio @ 0.01..) => format!("{ratio:.3}"),
        Some(ratio) => format!("{ratio:.4}"),
    }
}

/// Returns whether a target is reached; `–` if that was not measured.
pub(crate) fn verdict(is_reached: Option<bool>) -> String {
    let verdict = match is_reached {
        None => "–",
        Some(true) => "reached",
        Some(false) => "**missed**",
    };
    verdict.to_owned()
}
