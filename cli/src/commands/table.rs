//! `turnfold table`: writes many matches as rows for other programs, or counts them in groups.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Write};
use std::path::Path;

use clap::ValueEnum;
use serde_json::{Map, Value, json};
use turnfold_core::picture::Picture;
use turnfold_history::corpus::{GroupStatistics, GroupedCounts, TableKind, TableRow};
use turnfold_history::search::Condition;
use turnfold_history::{ReplayError, SeatHistory, Viewer};
use turnfold_show::drawing::{Highlights, svg};

use crate::context::Context;
use crate::corpus::{Corpus, CorpusArgs};
use crate::failure::{ExitStatus, Failure, Result};
use crate::files::{NewFile, temporary_dir, write_texts, write_whole_from};
use crate::output::{Format, Line, Output, counted};

/// Write many matches as a table, or count them in groups
///
/// Writes CSV or JSON lines, one row for each match, entry or effect, or for what `--field` leads to in the view after the
/// setup and each entry. The name of the file chooses the form; standard output takes CSV, or JSON lines with
/// `--format json`. In CSV, lists and objects are JSON, and an empty cell is null. Logs that cannot be
/// read are named, and the table has the others.
///
/// `table groups` counts instead. For each group of matches it shows how often each seat won, with the 95 % score interval of
/// Wilson; how many entries the matches have and how long they took; which commands were given; and why commands were
/// ignored. With `--format svg` or into a file that ends in `.svg` it is a picture.
///
/// With `--as p1`, the table has only what p1 may know, and entries are counted as in `log`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold table matches games -o matches.csv\n  \
    turnfold table groups games --by setup -o games.svg\n  \
    turnfold table fields games --field /turn --field /phase -o fields.jsonl\n\
    Parquet: `duckdb -c \"COPY (FROM 'entries.csv') TO 'entries.parquet'\"`")]
pub(crate) struct Args {
    /// What a row stands for
    #[arg(value_enum, value_name = "ROWS")]
    rows: Rows,

    #[command(flatten)]
    corpus: CorpusArgs,

    /// For `fields`: a path into the view; one column each
    #[arg(long = "field", value_name = "PATH", required_if_eq("rows", "fields"))]
    fields: Vec<String>,

    /// For `groups`: by what to group the matches [default: ruleset]
    #[arg(long, value_enum)]
    by: Option<GroupBy>,

    /// Whose view to write
    #[arg(long = "as", value_name = "SEAT", default_value_t = Viewer::HOST)]
    viewer: Viewer,

    #[command(flatten)]
    file: NewFile,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rows {
    /// A match
    Matches,
    /// An entry
    Entries,
    /// An effect of an entry, with its fields as columns
    Effects,
    /// The setup or an entry, with fields of the view after it
    Fields,
    /// Matches of one kind, counted
    Groups,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum GroupBy {
    /// The ruleset and its version
    Ruleset,
    /// The ruleset and the setup
    Setup,
    /// The title
    Title,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowFormat {
    Csv,
    JsonLines,
}

struct Written {
    rows: u64,
    /// The paths or columns that were found, as [`TableKind::rows`] returns them.
    found: Vec<Cow<'static, str>>,
    /// The failure to read some logs, whose rows the table lacks.
    unread: Option<Failure>,
}

type Sink<'a> = dyn FnMut(&str) -> Result<()> + 'a;

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    args.require_used_options()?;
    let kind = match args.rows {
        Rows::Matches => TableKind::Matches,
        Rows::Entries => TableKind::Entries,
        Rows::Effects => TableKind::Effects,
        Rows::Fields => TableKind::Fields(args.fields.clone()),
        Rows::Groups => return count_groups(args, context),
    };
    let path = args.file.path()?;
    let corpus = args.corpus.corpus(&mut context.workspace)?;
    let output = &mut context.output;
    let Some(path) = path else {
        let format = if output.is_json() { RowFormat::JsonLines } else { RowFormat::Csv };
        let written = write(&kind, format, corpus, args.viewer, &mut |text| Ok(print(text, output)?))?;
        output.flush()?;
        return ExitStatus::Yes.unless(written.unread);
    };
    let format = RowFormat::of(path)?;
    let Written { rows, unread, .. } = write_whole_from(path, |file| {
        write_texts(path, file, |sink| write(&kind, format, corpus, args.viewer, sink))
    })?;
    print_written(path, rows, output)?;
    ExitStatus::Yes.unless(unread)
}

fn count_groups(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let path = args.file.path()?;
    let is_svg = path.is_some_and(|path| ending(path) == "svg");
    if let Some(path) = path
        && !is_svg
        && ending(path) != "jsonl"
    {
        return Err(no_form(path, "`.svg` or `.jsonl`"));
    }
    let corpus = args.corpus.corpus(&mut context.workspace)?;
    let mut groups = GroupedCounts::default();
    // Matches that were read are counted even if others could not be.
    let unread = corpus.each(
        args.viewer,
        |seat_history| GroupedCounts::of(&seat_history, group_of(&seat_history, args.by)?),
        |_, counted| {
            groups.add(counted);
            Ok(())
        },
    )?;
    let groups = groups.statistics();
    let output = &mut context.output;
    if let Some(path) = path {
        let mut text = String::new();
        if is_svg {
            text = svg_of(&groups);
        } else {
            for group in &groups {
                text += &serde_json::to_string(group).map_err(Failure::internal)?;
                text.push('\n');
            }
        }
        args.file.write(&text)?;
        print_written(path, groups.len() as u64, output)?;
        return ExitStatus::Yes.unless(unread);
    }
    match output.format() {
        Format::Json => output.list(&groups, |_| Vec::new())?,
        Format::Svg => output.document(&svg_of(&groups))?,
        Format::Text => {
            for (index, group) in groups.iter().enumerate() {
                if index > 0 {
                    output.line(Line::default())?;
                }
                output.picture(&group.picture())?;
            }
        }
    }
    output.flush()?;
    ExitStatus::Yes.unless(unread)
}

fn group_of(seat_history: &SeatHistory, by: Option<GroupBy>) -> Result<String, ReplayError> {
    let rules = seat_history.rules();
    let ruleset = format!("{} {}", rules.name(), rules.version());
    match by {
        Some(GroupBy::Ruleset) | None => Ok(ruleset),
        Some(GroupBy::Setup) => {
            Ok(format!("{ruleset}, setup {:.16}", blake3::hash(seat_history.setup()?.as_bytes()).to_hex()))
        }
        Some(GroupBy::Title) => Ok(seat_history.title().into()),
    }
}

fn svg_of(groups: &[GroupStatistics]) -> String {
    let mut blocks = Vec::new();
    for group in groups {
        blocks.extend(group.picture().blocks);
    }
    svg::document(&Picture { blocks }, &Highlights::default())
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

fn no_form(path: &Path, endings: &str) -> Failure {
    Failure::usage(format!("cannot choose a form for `{}`", path.display()))
        .hint(format!("name a file that ends in {endings}"))
}

fn print_written(path: &Path, rows: u64, output: &mut Output) -> Result<()> {
    let file = path.display().to_string();
    output.answer(&json!({ "rows": rows, "file": file }), || {
        vec![format!("wrote {} to `{file}`", counted(rows, "row", "rows")).into()]
    })?;
    output.flush()?;
    Ok(())
}

/// Prints rows byte for byte. On a terminal, unprintable characters are replaced.
fn print(rows: &str, output: &mut Output) -> io::Result<()> {
    if io::stdout().is_terminal() {
        return output.text(rows);
    }
    output.flush()?;
    io::stdout().lock().write_all(rows.as_bytes())
}

impl Args {
    pub(super) fn has_picture(&self) -> bool {
        self.rows == Rows::Groups
    }

    fn require_used_options(&self) -> Result<()> {
        if self.rows != Rows::Fields && !self.fields.is_empty() {
            return Err(Failure::usage("`--field` is for `table fields`"));
        }
        if self.rows != Rows::Groups && self.by.is_some() {
            return Err(Failure::usage("`--by` is for `table groups`"));
        }
        for path in &self.fields {
            Condition::check_path(path).map_err(Failure::usage)?;
        }
        Ok(())
    }
}

impl RowFormat {
    fn of(path: &Path) -> Result<Self> {
        match ending(path) {
            "csv" => Ok(Self::Csv),
            "jsonl" => Ok(Self::JsonLines),
            "parquet" => {
                let message = format!("cannot write `{}`: there is no Parquet in this build", path.display());
                let hint =
                    "write `table.csv`, then `duckdb -c \"COPY (FROM 'table.csv') TO 'table.parquet'\"`";
                Err(Failure::usage(message).hint(hint))
            }
            _ => Err(no_form(path, "`.csv` or `.jsonl`")),
        }
    }
}

fn write(
    kind: &TableKind,
    format: RowFormat,
    corpus: Corpus,
    viewer: Viewer,
    sink: &mut Sink<'_>,
) -> Result<Written> {
    if format == RowFormat::Csv {
        if *kind == TableKind::Effects {
            return write_effects(corpus, viewer, sink);
        }
        let mut header = String::new();
        TableRow::write_csv_header(&kind.columns(), &mut header);
        sink(&header)?;
    }
    let written = write_rows(kind, format, corpus, viewer, sink)?;
    // Each log has a row for its setup, so without rows there is none that could have the path.
    if written.unread.is_none()
        && written.rows > 0
        && let TableKind::Fields(paths) = kind
    {
        for path in paths {
            if !written.found.contains(&Cow::from(path)) {
                return Err(Failure::usage(format!("`{path}` is nowhere in the view, after any entry")));
            }
        }
    }
    Ok(written)
}

/// Writes the rows of all logs, which are folded in parallel and written in order.
fn write_rows(
    kind: &TableKind,
    format: RowFormat,
    corpus: Corpus,
    viewer: Viewer,
    sink: &mut Sink<'_>,
) -> Result<Written> {
    let look = |seat_history: SeatHistory| {
        let mut text = String::new();
        let mut rows = 0_u64;
        let found = kind.rows(&seat_history, &mut |row| {
            rows += 1;
            match format {
                RowFormat::Csv => row.write_csv(&mut text),
                RowFormat::JsonLines => row.write_json(&mut text),
            }
        })?;
        Ok((text, rows, found))
    };
    let mut rows = 0;
    let mut found = Vec::new();
    let unread = corpus.each(viewer, look, |_, (text, more, found_here)| {
        rows += more;
        for column in found_here {
            if !found.contains(&column) {
                found.push(column);
            }
        }
        sink(&text)
    })?;
    Ok(Written { rows, found, unread })
}

/// Writes effects as CSV. The columns are the fields of all effects, which are known only at the end, so the rows wait
/// in a temporary file.
fn write_effects(corpus: Corpus, viewer: Viewer, sink: &mut Sink<'_>) -> Result<Written> {
    let failed = |cause| Failure::trouble(format!("cannot write a temporary file: {cause}"));
    let dir = temporary_dir().map_err(failed)?;
    let path = dir.path().join("effects.jsonl");
    let mut file = BufWriter::new(File::create(&path).map_err(failed)?);
    let written = write_rows(&TableKind::Effects, RowFormat::JsonLines, corpus, viewer, &mut |text| {
        file.write_all(text.as_bytes()).map_err(failed)
    })?;
    file.into_inner().map_err(|error| failed(error.into_error()))?;
    let mut columns = TableKind::Effects.columns();
    columns.extend_from_slice(&written.found);
    let mut text = String::new();
    TableRow::write_csv_header(&columns, &mut text);
    for line in BufReader::new(File::open(&path).map_err(failed)?).lines() {
        let line = line.map_err(failed)?;
        let row: Map<String, Value> = serde_json::from_str(&line).map_err(|cause| failed(cause.into()))?;
        TableRow::write_csv_values(
            columns.iter().map(|column| row.get(&**column).unwrap_or(&Value::Null)),
            &mut text,
        );
        sink(&text)?;
        text.clear();
    }
    sink(&text)?;
    Ok(written)
}
