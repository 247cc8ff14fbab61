//! The lines of each panel.

use std::collections::BTreeSet;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use turnfold_history::SourceName;
use turnfold_history::search::{Stepper, StepperEntry};
use turnfold_history::text::printable;
use turnfold_show::drawing::{Highlights, text};
use turnfold_show::page::frames::changed_spots;
use turnfold_show::render::recorded_mark;

use super::app::{Prompt, StepperScreen};
use crate::failure::Failure;
use crate::output::{counted, tinted};

const LINE: &str = "← → step  : go to  / search  w when  [ ] field  s seat  v view  ? keys  q leave";
const NARROW_LINE: &str = "← → step  : go to  ? keys  q leave";

pub(super) struct Panel {
    pub(super) lines: Vec<Line<'static>>,
    /// The column and line of the first change.
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
    let mut about = format!("  entry {at} of {head}  as {}  {}", stepper.viewer(), stepper.rules().name());
    let view = stepper.view();
    if let Some(phase) = ["phase", "state", "mode"].iter().find_map(|key| view.get(key)?.as_str()) {
        about = format!("{about}  {}", phase.replace('_', " "));
    }
    if let Some((speed, _)) = app.playback() {
        about = format!("{about}  ▶ {speed} a second");
    }
    Line::from(vec![Span::styled(printable(&name).into_owned(), Modifier::BOLD), Span::raw(about)])
}

/// Draws the board and marks what the last entry changed (VW-6).
pub(super) fn board(stepper: &Stepper, width: usize) -> Panel {
    let picture = stepper.picture();
    let mut highlights = Highlights { keeps_width: true, ..Highlights::default() };
    if let Some(before) = stepper.picture_before() {
        highlights.changed = changed_spots(&before, &picture);
    }
    let mut lines = Vec::new();
    let mut changed = None;
    for (row, line) in text::lines(&picture, &highlights, width).into_iter().enumerate() {
        let mut column = 0;
        let mut spans = Vec::new();
        for span in line.spans {
            let mut style = Style::from(tinted(span.tint));
            if let Some(spot) = span.spot
                && highlights.changed.contains(&spot)
            {
                style = style.add_modifier(Modifier::REVERSED);
                changed = changed.or(Some((column, row)));
            }
            column += span.text.chars().count();
            spans.push(Span::styled(span.text, style));
        }
        lines.push(Line::from(spans));
    }
    Panel { lines, changed }
}

pub(super) fn view(app: &mut StepperScreen<'_>) -> Panel {
    let text = serde_json::to_string_pretty(&app.stepper().view()).unwrap_or_default();
    let keys: BTreeSet<String> = app.fields.iter().filter_map(|field| key(&field.path)).collect();
    let mut lines = Vec::new();
    let mut changed = None;
    for (row, line) in text.lines().enumerate() {
        let mut style = Style::new();
        if let Some(rest) = line.trim_start().strip_prefix('"')
            && let Some((key, _)) = rest.split_once("\":")
            && keys.contains(key)
        {
            style = style.add_modifier(Modifier::REVERSED);
            changed = changed.or(Some((0, row)));
        }
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
    lines.splice(before..before, here.into_iter().map(|line| Line::styled(line, Modifier::REVERSED)));
    Ok(lines)
}

fn in_words(entry: &StepperEntry, digits: usize) -> String {
    let StepperEntry { seq, command, outcome, recorded } = entry;
    let mut text = format!("{command} => {outcome}");
    if let Some(recorded) = recorded {
        text = format!("{} {text}", recorded_mark(recorded));
    }
    format!("{seq:digits$} {}", printable(&text))
}

/// Breaks a line at spaces into lines that fit in a panel. Text that does not fit is cut.
fn wrapped(text: &str, width: usize, height: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_inclusive(' ') {
        let length = word.trim_end().chars().count();
        match lines.last_mut() {
            Some(line) if line.is_empty() || line.chars().count() + length <= width => line.push_str(word),
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

pub(super) fn fields(app: &StepperScreen<'_>, width: usize, height: usize) -> Vec<Line<'static>> {
    let first = app.field.saturating_sub(height.saturating_sub(1));
    let mut lines = Vec::new();
    for (index, field) in app.fields.iter().enumerate().skip(first).take(height) {
        let (sign, style) = if index == app.field { ('>', Modifier::BOLD) } else { (' ', Modifier::empty()) };
        lines.push(Line::styled(shortened(&format!("{sign} {field}"), width), style));
    }
    lines
}

pub(super) fn fields_title(app: &mut StepperScreen<'_>) -> String {
    let at = app.stepper().at();
    match app.fields.len() as u64 {
        _ if at == 0 => "setup".into(),
        0 => format!("entry {at} changed no field"),
        count => format!("{} changed by entry {at}", counted(count, "field", "fields")),
    }
}

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
