//! The result for other programs: JUnit XML and workflow commands of GitHub.

use std::path::Path;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use turnfold_replay::{CheckReport, FileCheck, ReplayError};

use crate::failure::Failure;
use crate::output::{Line, Output};

/// Prints JUnit XML: a suite for each folder, a case for each file. The line is that of the first difference, or 1.
pub(super) fn junit(results: &CheckReport, time: Duration, output: &mut Output) -> Result<(), Failure> {
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
        case.extra.insert("line".into(), file.line().to_string().into());
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
    report.set_time(time).add_test_suites(suites);
    let xml = report.to_string().map_err(|error| Failure::trouble(format!("cannot write XML: {error}")))?;
    output.text(&xml)?;
    Ok(())
}

fn status(file: &FileCheck) -> TestCaseStatus {
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
fn kind_of(file: &FileCheck) -> String {
    let name = file.mismatch().and_then(|mismatch| serde_json::to_value(mismatch.kind()).ok());
    name.and_then(|name| name.as_str().map(Into::into)).unwrap_or_else(|| "unusable".into())
}

/// Returns everything about a failure, without color.
fn full_text(file: &FileCheck) -> String {
    match file.mismatch() {
        Some(_) => joined(&file.mismatch_lines()),
        None => file.headline().unwrap_or_default(),
    }
}

fn joined(lines: &[Line]) -> String {
    let text = |line: &Line| line.0.iter().map(|span| span.text.as_str()).collect::<String>();
    lines.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// Prints an `::error` command for each difference, which marks the line in the file, and the summary.
pub(super) fn github(results: &CheckReport, output: &mut Output) -> Result<(), Failure> {
    for file in results.failed() {
        let title = match &file.result {
            Ok(checked) => checked.difference.as_ref().map(|mismatch| mismatch.title()).unwrap_or_default(),
            Err(ReplayError::File(error)) => error.message.clone(),
            Err(_) => file.headline().unwrap_or_default(),
        };
        let text = file.mismatch().map_or_else(|| full_text(file), |mismatch| joined(&mismatch.lines()));
        output.line(error_command(&file.file, file.line(), &title, &text))?;
        for mismatch in file.all().into_iter().flat_map(|all| &all.later) {
            let text = joined(&mismatch.brief_lines());
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
