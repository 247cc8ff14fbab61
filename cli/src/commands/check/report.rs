//! The result for other programs: JUnit XML, workflow commands of GitHub, JSON.

use std::path::Path;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde::Serialize;

use super::{FileResult, Results, Unusable};
use crate::failure::Failure;
use crate::output::{Output, Tone};
use turnfold_replay::tfl::{Mismatch, MismatchReport};

/// One file as JSON; a contract.
#[derive(Serialize)]
pub(super) struct FileJson<'a> {
    file: &'a str,
    ok: bool,
    entries: Option<u64>,
    error: Option<String>,
    mismatch: Option<MismatchReport<'a>>,
    /// With `--all`, how many differences there are.
    differences: Option<u64>,
    /// With `--all`, the differences after the first.
    later: Vec<MismatchReport<'a>>,
}

impl<'a> FileJson<'a> {
    pub(super) fn of(file: &'a FileResult) -> Self {
        Self {
            file: &file.file,
            ok: file.is_good(),
            entries: file.result.as_ref().ok().map(|checked| checked.entries),
            error: file.result.as_ref().err().map(ToString::to_string),
            mismatch: file.mismatch().map(Mismatch::report),
            differences: file.all().map(|all| all.count),
            later: file.all().into_iter().flat_map(|all| &all.later).map(Mismatch::report).collect(),
        }
    }
}

/// All files as one JSON document; a contract.
#[derive(Serialize)]
struct ResultsJson<'a> {
    ok: bool,
    passed: usize,
    failed: usize,
    not_checked: usize,
    entries: u64,
    files: Vec<FileJson<'a>>,
}

/// Prints one JSON document.
pub(super) fn json(results: &Results, output: &mut Output) -> Result<(), Failure> {
    let failed = results.failed().count();
    output.json(&ResultsJson {
        ok: failed == 0,
        passed: results.files.len() - failed,
        failed,
        not_checked: results.not_checked,
        entries: results.entries(),
        files: results.files.iter().map(FileJson::of).collect(),
    })?;
    Ok(())
}

/// Prints JUnit XML: a suite for each folder, a case for each file. The line is that of the first difference, or 1.
pub(super) fn junit(results: &Results, output: &mut Output) -> Result<(), Failure> {
    let mut report = Report::new("turnfold check");
    let mut suites: Vec<TestSuite> = Vec::new();
    for file in &results.files {
        let path = Path::new(&file.file);
        let folder = path.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
        let folder = if folder.is_empty() { ".".into() } else { folder };
        let name = path.file_name().map_or_else(|| file.file.clone(), |name| name.display().to_string());
        let (name, folder) = (xml_text(&name), xml_text(&folder));
        let mut case = TestCase::new(name, status(file));
        case.set_classname(folder.as_str()).set_time(file.time);
        case.extra.insert("file".into(), xml_text(&file.file).into());
        case.extra.insert("line".into(), line_of(file).to_string().into());
        if let Some(suite) = suites.iter_mut().find(|suite| suite.name.as_str() == folder) {
            suite.add_test_case(case);
        } else {
            let mut suite = TestSuite::new(folder);
            suite.add_test_case(case);
            suites.push(suite);
        }
    }
    for suite in &mut suites {
        let time = suite.test_cases.iter().filter_map(|case| case.time).sum();
        suite.set_time(time);
    }
    report.set_time(results.time).add_test_suites(suites);
    let xml = report.to_string().map_err(|error| Failure::trouble(format!("cannot write XML: {error}")))?;
    output.text(&xml)?;
    Ok(())
}

fn status(file: &FileResult) -> TestCaseStatus {
    let kind = if file.result.is_ok() { NonSuccessKind::Failure } else { NonSuccessKind::Error };
    let Some(headline) = file.headline() else { return TestCaseStatus::success() };
    let mut status = TestCaseStatus::non_success(kind);
    status
        .set_message(xml_text(&headline))
        .set_type(kind_of(file))
        .set_description(xml_text(&full_text(file)));
    status
}

/// Replaces the two characters that XML cannot hold in any form and that its writer lets through; control characters
/// it leaves out.
fn xml_text(text: &str) -> String {
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// Names the kind of failure as JSON does.
fn kind_of(file: &FileResult) -> String {
    let name = file.mismatch().and_then(|mismatch| serde_json::to_value(mismatch.kind).ok());
    name.and_then(|name| name.as_str().map(Into::into)).unwrap_or_else(|| "unusable".into())
}

/// Tells everything about a failure, without colour.
fn full_text(file: &FileResult) -> String {
    match file.mismatch() {
        Some(_) => joined(file.mismatch_lines()),
        None => file.headline().unwrap_or_default(),
    }
}

fn joined(lines: Vec<(Tone, String)>) -> String {
    lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

/// Returns the line to look at.
fn line_of(file: &FileResult) -> usize {
    match &file.result {
        Ok(checked) => checked.difference.as_ref().map_or(1, |mismatch| mismatch.line),
        Err(Unusable::Replay(error)) => error.line,
        Err(Unusable::File(_)) => 1,
    }
}

/// Prints an `::error` command for each difference, which marks the line in the file, and the summary.
pub(super) fn github(results: &Results, output: &mut Output) -> Result<(), Failure> {
    for file in results.failed() {
        let title = match &file.result {
            Ok(checked) => checked.difference.as_ref().map(|mismatch| mismatch.title()).unwrap_or_default(),
            Err(Unusable::Replay(error)) => error.message.clone(),
            Err(Unusable::File(failure)) => failure.to_string(),
        };
        let text = file.mismatch().map_or_else(|| full_text(file), |mismatch| joined(mismatch.lines()));
        output.line(error_command(&file.file, line_of(file), &title, &text))?;
        for mismatch in file.all().into_iter().flat_map(|all| &all.later) {
            let text = joined(mismatch.brief_lines());
            output.line(error_command(&file.file, mismatch.line, &mismatch.title(), &text))?;
        }
    }
    output.line(results.summary())?;
    Ok(())
}

fn error_command(file: &str, line: usize, title: &str, text: &str) -> String {
    format!("::error file={},line={line},title={}::{}", property(file), property(title), message(text))
}

/// Escapes the message of a workflow command.
fn message(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '%' => escaped.push_str("%25"),
            '\r' => escaped.push_str("%0D"),
            '\n' => escaped.push_str("%0A"),
            _ if character.is_control() => escaped.extend(character.escape_unicode()),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Escapes a property of a workflow command, which ends at a comma or colon.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workflow_commands_are_escaped() {
        assert_eq!(message("50 %\r\na: b, c\u{1b}[31m"), "50 %25%0D%0Aa: b, c\\u{1b}[31m");
        assert_eq!(property("a,b:c\n%"), "a%2Cb%3Ac%0A%25");
    }
}
