//! The lines of each panel.

use std::collections::BTreeSet;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use turnfold_history::text::printable;
use turnfold_history::{SourceName, Stepper, StepperEntry};
use turnfold_show::drawing::{Highlights, Spot, text};
use turnfold_show::page::frames::changed_spots;
use turnfold_show::render::recorded_mark;

use super::app::{Prompt, StepperScreen};
use crate::failure::Failure;
use crate::output::counted;
use crate::render;

const LINE: &str = "← → step  : go to  / search  w when  [ ] field  s seat  v view  ? keys  q leave";
const NARROW_LINE: &str = "← → step  : go to  ? keys  q leave";

/// Lines, with the column and line of the first change.
pub(super) struct Panel {
    pub(super) lines: Vec<Line<'static>>,
    pub(super) changed: Option<(usize, usize)>,
}

/// Returns the title: the source, the entry, the viewer, the game and its phase (VW-5).
pub(super) fn title(app: &mut StepperScreen<'_>) -> Line<'static> {
    let stepper = app.stepper();
    let at = stepper.at();
    let head = stepper.head();
    let name = match stepper.name().up_to(None) {
        SourceName::File(file) => file.to_string(),
        revision @ SourceName::Revision(_) => revision.to_string(),
    };
    let view = stepper.view();
    let phase = ["phase", "state", "mode"].iter().find_map(|key| view.get(key)?.as_str());
    let phase = phase.map(|phase| format!("  {}", phase.replace('_', " "))).unwrap_or_default();
    let viewer = stepper.viewer();
    let rules = stepper.rules().clone();
    let plays = app.speed().map(|speed| format!("  ▶ {speed} a second")).unwrap_or_default();
    Line::from(vec![
        Span::styled(printable(&name).into_owned(), Modifier::BOLD),
        Span::raw(format!("  entry {at} of {head}  as {viewer}  {}{phase}{plays}", rules.name())),
    ])
}

/// Draws the board and marks what the last entry changed (VW-6).
pub(super) fn board(stepper: &Stepper, width: usize) -> Panel {
    let picture = stepper.picture();
    let before = stepper.picture_before();
    let changed = before.map(|before| changed_spots(&before, &picture)).unwrap_or_default();
    let highlights = Highlights { changed, keeps_width: true, ..Highlights::default() };
    let drawn = text::lines(&picture, &highlights, width);
    let is_changed = |spot: Option<Spot>| spot.is_some_and(|spot| highlights.changed.contains(&spot));
    let mut lines = Vec::new();
    let mut changed = None;
    for (row, line) in drawn.into_iter().enumerate() {
        let mut column = 0;
        let spans = line.spans.into_iter().map(|span| {
            let mut style = Style::from(render::style(span.tint));
            if is_changed(span.spot) {
                style = style.add_modifier(Modifier::REVERSED);
                changed = changed.or(Some((column, row)));
            }
            column += span.text.chars().count();
            Span::styled(span.text, style)
        });
        lines.push(Line::from(spans.collect::<Vec<_>>()));
    }
    Panel { lines, changed }
}

/// Writes the view as JSON and marks the lines of changed fields.
pub(super) fn view(app: &mut StepperScreen<'_>) -> Panel {
    let text = serde_json::to_string_pretty(&app.stepper().view()).unwrap_or_default();
    let keys: BTreeSet<String> = app.fields.iter().filter_map(|field| key(&field.path)).collect();
    let is_changed = |line: &str| {
        let key = line.trim_start().strip_prefix('"').and_then(|rest| rest.split_once("\":"));
        key.is_some_and(|(key, _)| keys.contains(key))
    };
    let mut lines = Vec::new();
    let mut changed = None;
    for (row, line) in text.lines().enumerate() {
        let style =
            if is_changed(line) { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
        changed = changed.or_else(|| is_changed(line).then_some((0, row)));
        lines.push(Line::styled(printable(line).into_owned(), style));
    }
    Panel { lines, changed }
}

/// Returns the last key of a path, without the index of an element.
fn key(path: &str) -> Option<String> {
    let key = path.rsplit('/').find(|part| part.parse::<usize>().is_err())?;
    Some(key.replace("~1", "/").replace("~0", "~"))
}

/// Returns the entries around the current one, which takes up to half of the height if it is long.
pub(super) fn log(
    app: &mut StepperScreen<'_>,
    width: usize,
    height: usize,
) -> Result<Vec<Line<'static>>, Failure> {
    let at = app.stepper().at();
    let head = app.stepper().head();
    let digits = head.to_string().len();
    let here = match app.stepper().entries(at..at + 1)?.first() {
        Some(entry) => in_words(entry, digits),
        None => format!("{:digits$} setup", 0),
    };
    let here = wrapped(&format!(">{here}"), width, (height / 2).max(1));
    let others = u64::try_from(height - here.len().min(height)).unwrap_or_default();
    let first = at.saturating_sub(others / 2).min((head + 1).saturating_sub(others + 1));
    let mut lines = Vec::new();
    if first == 0 && at > 0 {
        lines.push(Line::raw(format!(" {:digits$} setup", 0)));
    }
    for entry in app.stepper().entries(first..first + others + 1)? {
        if entry.seq != at {
            lines.push(Line::raw(shortened(&format!(" {}", in_words(&entry, digits)), width)));
        }
    }
    let before = usize::try_from(at - first).unwrap_or_default().min(lines.len());
    let reversed = |line| Line::styled(line, Modifier::REVERSED);
    lines.splice(before..before, here.into_iter().map(reversed));
    Ok(lines)
}

fn in_words(entry: &StepperEntry, digits: usize) -> String {
    let StepperEntry { seq, command, outcome, recorded } = entry;
    let mark = recorded.as_deref().map(recorded_mark).map(|mark| format!("{mark} ")).unwrap_or_default();
    format!("{seq:digits$} {}", printable(&format!("{mark}{command} => {outcome}")))
}

/// Breaks a line at spaces into lines that fit in a panel. Text that does not fit is cut.
fn wrapped(text: &str, width: usize, height: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_inclusive(' ') {
        let fits = |line: &String| line.chars().count() + word.trim_end().chars().count() <= width;
        match lines.last_mut() {
            Some(line) if line.is_empty() || fits(line) => line.push_str(word),
            _ => lines.push(format!("   {word}")),
        }
    }
    if lines.len() > height {
        lines.truncate(height);
        if let Some(last) = lines.last_mut() {
            *last = shortened(&format!("{:width$}…", last.trim_end()), width);
        }
    }
    lines.iter().map(|line| shortened(line, width)).collect()
}

/// Returns the changed fields, scrolled so that the chosen one is visible.
pub(super) fn fields(app: &StepperScreen<'_>, width: usize, height: usize) -> Vec<Line<'static>> {
    let first = app.field.saturating_sub(height.saturating_sub(1));
    let fields = app.fields.iter().enumerate().skip(first).take(height);
    fields
        .map(|(index, field)| {
            let sign = if index == app.field { '>' } else { ' ' };
            let style = if index == app.field { Modifier::BOLD } else { Modifier::empty() };
            Line::styled(shortened(&format!("{sign} {field}"), width), style)
        })
        .collect()
}

/// Returns the title of the panel of changed fields.
pub(super) fn fields_title(app: &mut StepperScreen<'_>) -> String {
    let at = app.stepper().at();
    match app.fields.len() as u64 {
        _ if at == 0 => "setup".into(),
        0 => format!("entry {at} changed no field"),
        count => format!("{} changed by entry {at}", counted(count, "field", "fields")),
    }
}

/// Returns the last line: the input, a message, or the keys.
pub(super) fn last_line(app: &StepperScreen<'_>, width: usize) -> Line<'static> {
    if let Some((asked, text)) = &app.asked {
        let hint = match asked {
            Prompt::Number => "entry number",
            Prompt::Text => "text in command or outcome",
            Prompt::Condition => "such as /turn == 3 && /phase == end",
        };
        let typed = format!("{}{}", asked.sign(), printable(text));
        return Line::from(vec![
            Span::raw(typed),
            Span::styled("▏", Modifier::BOLD),
            Span::styled(format!("  {hint}"), Modifier::DIM),
        ]);
    }
    if app.message.is_empty() {
        let line = if LINE.chars().count() <= width { LINE } else { NARROW_LINE };
        return Line::styled(line, Modifier::DIM);
    }
    Line::raw(printable(&app.message).into_owned())
}

fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}
