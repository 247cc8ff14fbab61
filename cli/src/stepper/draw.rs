//! The layout of the screen (VW-5).

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Block, Borders, Clear, Paragraph};

use super::app::{Over, StepperScreen};
use super::panels::{self, Panel};

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
    frame.render_widget(panels::title(app), title);
    draw_left(frame, app, board);
    draw_log(frame, app, log, area.width >= WIDE);
    let block = Block::new().borders(Borders::TOP).title(panels::fields_title(app));
    let inner = block.inner(fields);
    let lines = panels::fields(app, inner.width.into(), inner.height.into());
    frame.render_widget(Paragraph::new(lines).block(block), fields);
    frame.render_widget(panels::last_line(app, last.width.into()), last);
    draw_over(frame, app, middle);
}

fn draw_left(frame: &mut Frame<'_>, app: &mut StepperScreen<'_>, area: Rect) {
    let panel = if app.as_json { panels::view(app) } else { panels::board(app.stepper(), area.width.into()) };
    let scroll = scroll(&panel, app.moved, area);
    frame.render_widget(Paragraph::new(Text::from(panel.lines)).scroll(scroll), area);
}

fn scroll(panel: &Panel, moved: (i32, i32), area: Rect) -> (u16, u16) {
    let widest = panel.lines.iter().map(Line::width).max().unwrap_or_default();
    let (column, row) = panel.changed.unwrap_or_default();
    (skipped(row, panel.lines.len(), area.height, moved.1), skipped(column, widest, area.width, moved.0))
}

fn skipped(changed: usize, length: usize, room: u16, moved: i32) -> u16 {
    let changed = i32::try_from(changed).unwrap_or(0);
    let length = i32::try_from(length).unwrap_or(0);
    let room = i32::from(room);
    let margin = room / 3;
    let start = if changed + margin < room { 0 } else { changed - room + margin };
    u16::try_from((start + moved).clamp(0, (length - room).max(0))).unwrap_or(0)
}

fn draw_log(frame: &mut Frame<'_>, app: &mut StepperScreen<'_>, area: Rect, is_next_to_board: bool) {
    let borders = if is_next_to_board { Borders::LEFT } else { Borders::TOP };
    let block = Block::new().borders(borders);
    let inner = block.inner(area);
    let lines = match panels::log(app, inner.width.into(), inner.height.into()) {
        Ok(lines) => lines,
        Err(failure) => vec![Line::raw(failure.to_string())],
    };
    frame.render_widget(Paragraph::new(lines).block(block), area);
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
