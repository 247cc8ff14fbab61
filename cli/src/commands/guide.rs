//! `turnfold help GUIDE`: one of the guides in `docs/guide`.

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::guides::Guide;
use crate::output::{Line, strong};

const FENCE: &str = "```";

/// Prints a guide: headings strong, code indented in place of its fences, everything else as it is.
pub(crate) fn run(guide: &Guide, context: &mut Context) -> Result<ExitStatus, Failure> {
    let document = serde_json::json!({ "guide": guide.name, "title": guide.title(), "text": guide.text });
    context.output.show(&document, || lines(guide.text))?;
    Ok(ExitStatus::Yes)
}

fn lines(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.starts_with(FENCE) {
            is_code = !is_code;
        } else if is_code {
            lines.push(format!("    {line}").into());
        } else if line.starts_with('#') {
            lines.push(strong(line.trim_start_matches('#').trim_start().to_uppercase()).into());
        } else {
            lines.push(line.into());
        }
    }
    lines
}
