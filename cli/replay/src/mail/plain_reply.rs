//! What a player without a key writes into a mail: a reply code and commands, in lines of text (PM-43).

use super::reply_code::ReplyCode;

/// The line that ends the commands, where more text follows.
pub(super) const END: &str = "(end)";

/// A reply code of a mail, and the lines behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainReply {
    /// The line of the mail on which the code stands, from 1.
    pub line: usize,
    /// The code.
    pub code: ReplyCode,
    /// The lines that it is for, without quotation marks and surplus spaces.
    pub commands: Vec<String>,
    /// How deeply the code is quoted.
    depth: usize,
}

impl PlainReply {
    /// Finds the reply of a mail: of all codes with commands behind them, the one that is quoted least, and of several the
    /// first. Where no code has commands, the first code. `reads` decides whether a line is a command.
    ///
    /// The code stands alone on a line, with the word `code` or without. The commands are all lines to `(end)`. Without that
    /// line they end at an empty line, unless a command follows it; before another code; and before a signature.
    #[must_use]
    pub fn find(text: &str, reads: &dyn Fn(&str) -> bool) -> Option<Self> {
        let lines: Vec<(usize, String)> = text.lines().map(unquoted).collect();
        let codes: Vec<(usize, ReplyCode)> =
            lines.iter().enumerate().filter_map(|(place, (_, line))| Some((place, code_in(line)?))).collect();
        let mut found: Vec<Self> = Vec::new();
        for (index, (place, code)) in codes.iter().enumerate() {
            let next = codes.get(index + 1).map_or(lines.len(), |(next, _)| *next);
            let after = lines.get(place + 1..next).unwrap_or_default();
            let until = after.iter().position(|(_, line)| line == "--").unwrap_or(after.len());
            let after: Vec<&str> = after.iter().take(until).map(|(_, line)| line.as_str()).collect();
            let depth = lines.get(*place).map_or(0, |(depth, _)| *depth);
            let commands = commands_in(&after, reads);
            found.push(Self { line: place + 1, code: code.clone(), commands, depth });
        }
        let first = found.first().cloned();
        let with_commands = found.into_iter().filter(|reply| !reply.commands.is_empty());
        with_commands.min_by_key(|reply| reply.depth).or(first)
    }
}

/// Returns the lines that are commands, of the lines behind a code.
fn commands_in(after: &[&str], reads: &dyn Fn(&str) -> bool) -> Vec<String> {
    let kept =
        |lines: &[&str]| lines.iter().filter(|line| !line.is_empty()).map(ToString::to_string).collect();
    if let Some(end) = after.iter().position(|line| line.eq_ignore_ascii_case(END)) {
        return kept(after.get(..end).unwrap_or_default());
    }
    let (mut end, mut is_behind_gap) = (0, false);
    for (place, line) in after.iter().enumerate() {
        if line.is_empty() {
            is_behind_gap = end > 0;
        } else if is_behind_gap && !reads(line) {
            break;
        } else {
            end = place + 1;
        }
    }
    kept(after.get(..end).unwrap_or_default())
}

/// Returns a line without quotation marks and surplus spaces, and how many marks there were.
fn unquoted(line: &str) -> (usize, String) {
    let line = line.replace('\u{a0}', " ");
    let rest = line.trim_start_matches(['>', ' ', '\t']);
    let depth = line.len() - rest.len();
    let depth = line.get(..depth).unwrap_or_default().matches('>').count();
    (depth, rest.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns the code of a line that has nothing else.
fn code_in(line: &str) -> Option<ReplyCode> {
    let word = match line.split_once(' ') {
        Some((mark, word)) if mark.trim_end_matches(':').eq_ignore_ascii_case("code") => word,
        Some(_) => return None,
        None => line,
    };
    ReplyCode::read(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(&str, &[&str])>) {
        let reads = |line: &str| line == "stand" || line.starts_with("move ");
        let found = PlainReply::find(text, &reads);
        let found = found.as_ref().map(|reply| (reply.code.to_string(), reply.commands.clone()));
        let expected = expected.map(|(code, commands)| {
            (code.to_owned(), commands.iter().map(ToString::to_string).collect::<Vec<_>>())
        });
        assert_eq!(found, expected, "{text}");
    }

    const CODE: &str = "ABCD-EFG2-JKMN";
    const OLD: &str = "2222-3333-4444";

    #[test]
    fn pm_43_a_code_and_commands_are_found_at_the_top_and_at_the_bottom_quoted_or_not() {
        let order: Option<(&str, &[&str])> = Some((CODE, &["move 2,-3", "stand"]));
        let letter = format!("> Dear Ben,\n>\n>     code {CODE}\n>\n>     {END}\n> The host\n");
        for text in [
            format!("code {CODE}\nmove 2,-3\nstand\n"),
            format!("Code: {CODE}\r\nmove 2,-3\r\nstand\r\n\r\nGreetings, Ben\r\n"),
            format!("{CODE}\n\nmove  2,-3\n\nstand\n\nGreetings, Ben\n"),
            format!("Hello Ann!\n\n{}\nmove 2,-3\nstand\n--\nBen\nstand\n", CODE.to_lowercase()),
            format!("code {CODE}\nmove 2,-3\nstand\n\nOn Monday Ann wrote:\n{letter}"),
            format!("On Monday Ann wrote:\n{letter}\ncode {CODE}\nmove 2,-3\nstand\n"),
            format!("> code {CODE}\n> \n> move 2,-3\n> stand\n> {END}\n> more"),
            format!("> > code {CODE}\nmove 2,-3\n> stand\n> > {END}\n> more"),
            format!("code {CODE}\nmove 2,-3\nstand\n\n> code {OLD}\n> stand\n> {END}\n"),
            format!("> code {OLD}\n> stand\n> {END}\n\ncode {CODE}\nmove 2,-3\nstand\n"),
        ] {
            check(&text, order);
        }
        check(&letter, Some((CODE, &[])));
        check(&format!("code {CODE}\nmarch on\nstand\n"), Some((CODE, &["march on", "stand"])));
        check(&format!("my code is {CODE}\nstand\n"), None);
        check("stand\n", None);
    }
}
