//! The layout of the screen (VW-5), and the lines of each panel.

use std::collections::BTreeSet;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Borders, Clear, Paragraph};
use turnfold_history::search::{Stepper, StepperEntry};
use turnfold_history::text::printable;
use turnfold_show::drawing::{Highlights, text};
use turnfold_show::page::frames::changed_spots;
use turnfold_show::render::recorded_mark;

use super::{Over, Prompt, StepperScreen};
use crate::failure::Result;
use crate::output::{counted, tinted};

/// The smallest screen that is used, in columns and rows.
const LEAST: (u16, u16) = (40, 12);

/// The number of columns from which on the log is next to the board.
const WIDE: u16 = 100;

/// The help about keys (VW-7), in lines that fit on the smallest screen.
const HELP: &[(&str, &str)] = &[
    ("→ l Enter   ← h", "one entry on · back"),
    ("PgDn   PgUp", "ten entries · back"),
    ("End G   Home g", "last entry · setup"),
    (": N Enter", "go to entry N"),
    ("/ TEXT Enter  n N", "search · next, back"),
    ("w CONDITION Enter", "next where it holds"),
    ("↑ ↓   ] [", "field · its changes"),
    ("s   v", "seat · board or JSON"),
    ("Space   + -", "play · its speed"),
    ("H J K L", "move board or view"),
    ("b   y", "branches · print REV"),
    ("?   q Ctrl-C", "these keys · leave"),
];

const LINE: &str = "← → step  : go to  / search  w when  [ ] field  s seat  v view  ? keys  q leave";
const NARROW_LINE: &str = "← → step  : go to  ? keys  q leave";

pub(super) fn draw(frame: &mut Frame<'_>, app: &mut StepperScreen<'_>) {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let (columns, rows) = LEAST;
        let line = format!("{}x{} is too small; {columns}x{rows} is needed", area.width, area.height);
        frame.render_widget(Line::raw(line), area);
        return;
    }
    let fields_height = if area.height >= 30 { 9 } else { 4 };
    let [title, middle, fields, last] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(fields_height),
        Constraint::Length(1),
    ])
    .areas(area);
    let [board, log] = if area.width >= WIDE {
        Layout::horizontal([Constraint::Fill(3), Constraint::Fill(2)]).areas(middle)
    } else {
        let log_height = if area.height >= 30 { 9 } else { 5 };
        Layout::vertical([Constraint::Fill(1), Constraint::Length(log_height)]).areas(middle)
    };
    frame.render_widget(title_line(app), title);
    let panel = if app.as_json { view_panel(app) } else { board_panel(app.stepper(), board.width.into()) };
    let widest = panel.lines.iter().map(Line::width).max().unwrap_or_default();
    let (column, row) = panel.changed.unwrap_or_default();
    let down = skipped(row, panel.lines.len(), board.height, app.moved.1);
    let across = skipped(column, widest, board.width, app.moved.0);
    frame.render_widget(Paragraph::new(Text::from(panel.lines)).scroll((down, across)), board);
    let borders = if area.width >= WIDE { Borders::LEFT } else { Borders::TOP };
    let block = Block::new().borders(borders);
    let inner = block.inner(log);
    let lines = match log_lines(app, inner.width.into(), inner.height.into()) {
        Ok(lines) => lines,
        Err(failure) => vec![Line::raw(failure.to_string())],
    };
    frame.render_widget(Paragraph::new(lines).block(block), log);
    let block = Block::new().borders(Borders::TOP).title(fields_title(app));
    let inner = block.inner(fields);
    let lines = field_lines(app, inner.width.into(), inner.height.into());
    frame.render_widget(Paragraph::new(lines).block(block), fields);
    frame.render_widget(last_line(app, last.width.into()), last);
    draw_over(frame, app, middle);
}

/// Returns how many lines or columns of a panel are not shown, so that the first change is.
fn skipped(changed: usize, length: usize, room: u16, moved: i32) -> u16 {
    let changed = i32::try_from(changed).unwrap_or(0);
    let length = i32::try_from(length).unwrap_or(0);
    let room = i32::from(room);
    let margin = room / 3;
    let start = if changed + margin < room { 0 } else { changed - room + margin };
    u16::try_from((start + moved).clamp(0, (length - room).max(0))).unwrap_or(0)
}

fn draw_over(frame: &mut Frame<'_>, app: &StepperScreen<'_>, area: Rect) {
    let Some(over) = &app.over else { return };
    let mut lines = Vec::new();
    let title = match over {
        Over::Help => {
            for (keys, what) in HELP {
                lines.push(Line::raw(format!("{keys:17} {what}")));
            }
            " keys "
        }
        Over::Branches(branches, chosen) => {
            let first = chosen.saturating_sub(usize::from(area.height.saturating_sub(3)));
            for (index, branch) in branches.iter().enumerate().skip(first) {
                let sign = if index == *chosen { '>' } else { ' ' };
                let mut line = format!("{sign} {}  {} entries", branch.name, branch.head);
                if let Some((parent, seq)) = &branch.parent {
                    line = format!("{line}, from {parent}:{seq}");
                }
                lines.push(Line::raw(line));
            }
            " branches, Enter goes there "
        }
    };
    let width = lines.iter().map(Line::width).max().unwrap_or_default().max(title.len()) + 4;
    let width = u16::try_from(width).unwrap_or(u16::MAX);
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX);
    let area =
        area.centered(Constraint::Length(width.min(area.width)), Constraint::Length(height.min(area.height)));
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(title)), area);
}

struct Panel {
    lines: Vec<Line<'static>>,
    /// The column and line of the first change.
    changed: Option<(usize, usize)>,
}

/// Returns the title: the source, the entry, the viewer, the game and its phase (VW-5).
fn title_line(app: &mut StepperScreen<'_>) -> Line<'static> {
    let stepper = app.stepper();
    let history = stepper.history();
    let name = history.name().up_to(None).to_string();
    let (at, head, viewer) = (stepper.at(), history.head(), history.viewer());
    let mut about = format!("  entry {at} of {head}  as {viewer}  {}", history.rules().name());
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
fn board_panel(stepper: &Stepper, width: usize) -> Panel {
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

fn view_panel(app: &mut StepperScreen<'_>) -> Panel {
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
fn log_lines(app: &mut StepperScreen<'_>, width: usize, height: usize) -> Result<Vec<Line<'static>>> {
    let at = app.stepper().at();
    let head = app.stepper().history().head();
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
    let mut line = format!("{:digits$} ", entry.seq);
    if let Some(recorded) = &entry.recorded {
        line = format!("{line}{} ", recorded_mark(recorded));
    }
    printable(&(line + &entry.text)).into_owned()
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

fn field_lines(app: &StepperScreen<'_>, width: usize, height: usize) -> Vec<Line<'static>> {
    let first = app.field.saturating_sub(height.saturating_sub(1));
    let mut lines = Vec::new();
    for (index, field) in app.fields.iter().enumerate().skip(first).take(height) {
        let (sign, style) = if index == app.field { ('>', Modifier::BOLD) } else { (' ', Modifier::empty()) };
        lines.push(Line::styled(shortened(&format!("{sign} {field}"), width), style));
    }
    lines
}

fn fields_title(app: &mut StepperScreen<'_>) -> String {
    let at = app.stepper().at();
    match app.fields.len() as u64 {
        _ if at == 0 => "setup".into(),
        0 => format!("entry {at} changed no field"),
        count => format!("{} changed by entry {at}", counted(count, "field", "fields")),
    }
}

fn last_line(app: &StepperScreen<'_>, width: usize) -> Line<'static> {
    if let Some((asked, text)) = &app.asked {
        let (sign, hint) = match asked {
            Prompt::Number => (":", "entry number"),
            Prompt::Text => ("/", "text in command or outcome"),
            Prompt::Condition => ("when ", "such as /turn == 3 && /phase == end"),
        };
        return Line::from(vec![
            Span::raw(format!("{sign}{}", printable(text))),
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
