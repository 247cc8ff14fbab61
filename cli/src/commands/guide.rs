//! `turnfold help GUIDE`: one of the guides in `docs/guide`.

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::guides::Guide;
use crate::output::{Tone, paint};

const FENCE: &str = "```";

/// Prints a guide: headings strong, code indented in place of its fences, everything else as it is.
pub(crate) fn run(guide: &Guide, context: &mut Context) -> Result<ExitStatus, Failure> {
    let output = &mut context.output;
    if output.is_json() {
        let document = serde_json::json!({ "guide": guide.name, "title": guide.title(), "text": guide.text });
        output.json(&document)?;
        return Ok(ExitStatus::Yes);
    }
    let mut is_code = false;
    for line in guide.text.lines() {
        if line.starts_with(FENCE) {
            is_code = !is_code;
        } else if is_code {
            output.line(format_args!("    {line}"))?;
        } else if line.starts_with('#') {
            output.line(paint(Tone::Strong, line.trim_start_matches('#').trim_start().to_uppercase()))?;
        } else {
            output.line(line)?;
        }
    }
    Ok(ExitStatus::Yes)
}
