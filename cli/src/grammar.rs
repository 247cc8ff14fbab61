//! The grammar of the whole command line, with its verbs in groups.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::builder::styling::Styles;
use clap::builder::{OsStringValueParser, StyledStr, TypedValueParser};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches, Parser, Subcommand, ValueHint};

use crate::commands;
use crate::context::{self, StoreAddress};
use crate::guides::{GROUPS, GUIDES, VerbHelp};
use crate::output::{Colors, Format};
use crate::program;

const GLOBAL: &str = "Global options";

/// Replay, branch, diff and check board-game matches
///
/// Every tap, move, tick and roll is a command in an append-only log. A deterministic rules core folds the log into
/// state, and hashed golden logs prove that it still does.
#[derive(Debug, Parser)]
#[command(
    name = program::name(),
    bin_name = program::name(),
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
#[command(
    after_help = "Revisions are written MATCH[@BRANCH][:SEQ]: `duel`, `duel@flank`, `duel:12`; `:0` is the setup.\n\
    Where a revision is read, a replay file will do: `duel.tfl`, `duel.tfl:12`, or `-` for standard input.\n\
    Exit codes: 0 done or equal, 1 a negative answer, 2 unusable arguments or input, 3 store or I/O trouble.\n\
    Examples:\n  turnfold tour\n  turnfold rules initiative\n  turnfold new duel --rules initiative"
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,

    #[command(subcommand)]
    pub(crate) command: commands::Command,
}

/// The options that every verb has.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct GlobalArgs {
    /// Directory of the store, or the URL of a database or service
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "DIR|URL", env = "TURNFOLD_STORE", default_value = context::DEFAULT_DIR,
        value_parser = OsStringValueParser::new().try_map(StoreAddress::read))]
    pub(crate) store: StoreAddress,

    /// Whether no store was named and none was found.
    #[arg(skip)]
    pub(crate) is_store_searched: bool,

    /// The store in a directory above that was not used, because it belongs to another user.
    #[arg(skip)]
    pub(crate) passed_over: Option<PathBuf>,

    /// The values of the verb's positional arguments, in order.
    #[arg(skip)]
    pub(crate) named: Vec<String>,

    /// Folder with games as modules [default: `modules/` in the directory of the store]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "DIR", env = "TURNFOLD_MODULES",
        value_parser = OsStringValueParser::new().map(PathBuf::from), value_hint = ValueHint::DirPath)]
    pub(crate) modules: Vec<PathBuf>,

    /// Program that knows the rules of a game, as `COMMAND` or `NAME=COMMAND` (see `help referees`)
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "COMMAND")]
    pub(crate) referee: Vec<String>,

    /// File that names such programs [default: `turnfold/referees.toml` in the configuration folder]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "FILE", env = "TURNFOLD_REFEREES",
        value_parser = OsStringValueParser::new().map(PathBuf::from), value_hint = ValueHint::FilePath)]
    pub(crate) referees: Option<PathBuf>,

    /// How long each answer of such a program may take at least
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "SECONDS")]
    pub(crate) referee_seconds: Option<u64>,

    /// File with the token for a service
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "FILE")]
    pub(crate) token: Option<PathBuf>,

    /// How to print the answer; `svg` is for `show` and `table groups`
    #[arg(long, global = true, help_heading = GLOBAL, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// Print more on stderr; twice for even more (see also the variable `TURNFOLD_LOG`)
    #[arg(short, long, global = true, help_heading = GLOBAL, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,

    /// When to use colors
    #[arg(long, global = true, help_heading = GLOBAL, value_enum, value_name = "WHEN", default_value_t = Colors::Auto)]
    pub(crate) color: Colors,

    /// Print long answers straight to the terminal (see also the variable `TURNFOLD_PAGER`)
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) no_pager: bool,
}

pub(crate) fn format_asked_for(args: &[OsString]) -> Format {
    let values = values_of("--format", args.iter().take_while(|word| *word != "--"));
    if values.iter().any(|value| value == "json") { Format::Json } else { Format::Text }
}

/// Returns the values of an option in words that may be unusable: first those in a word of their own.
pub(crate) fn values_of<'a>(option: &str, words: impl Iterator<Item = &'a OsString>) -> Vec<OsString> {
    let mut values = Vec::new();
    let mut joined = Vec::new();
    let mut is_value = false;
    for word in words {
        if is_value {
            values.push(word.clone());
        }
        is_value = word == option;
        if let Some(value) = word.to_str().and_then(|word| word.strip_prefix(option)?.strip_prefix('=')) {
            joined.push(value.into());
        }
    }
    values.extend(joined);
    values
}

pub(crate) fn grammar() -> Command {
    let command = named(Args::command());
    let template = template(&command);
    command.help_template(template)
}

fn named(mut command: Command) -> Command {
    if !program::is_renamed() {
        return command;
    }
    if let Some(about) = in_help(command.get_about()) {
        command = command.about(about);
    }
    if let Some(about) = in_help(command.get_long_about()) {
        command = command.long_about(about);
    }
    if let Some(after) = in_help(command.get_after_help()) {
        command = command.after_help(after);
    }
    command.mut_args(named_arg).mut_subcommands(named)
}

fn named_arg(mut arg: Arg) -> Arg {
    if let Some(help) = in_help(arg.get_help()) {
        arg = arg.help(help);
    }
    if let Some(help) = in_help(arg.get_long_help()) {
        arg = arg.long_help(help);
    }
    arg
}

fn in_help(text: Option<&StyledStr>) -> Option<String> {
    Some(program::in_help(&text?.to_string()).into_owned())
}

/// The grammar of `turnfold help` with global options. The `help` of clap knows only verbs and takes no options, and
/// replacing it would also remove it from `store`, `mail` and `key`.
#[derive(Debug, Parser)]
#[command(disable_help_subcommand = true)]
struct HelpArgs {
    #[command(flatten)]
    global: GlobalArgs,

    #[command(subcommand)]
    verb: HelpVerb,
}

#[derive(Debug, Subcommand)]
enum HelpVerb {
    Help { topic: Vec<String> },
}

impl VerbHelp {
    fn find(topic: &[String]) -> Option<Self> {
        let mut command = grammar();
        command.build();
        let mut found = &mut command;
        for word in topic {
            found = found.find_subcommand_mut(word)?;
        }
        let about = found.get_about().map(ToString::to_string).unwrap_or_default();
        Some(Self { verb: topic.join(" "), about, text: found.render_long_help().to_string() })
    }
}

/// Parses the arguments of the process, the first of which is the program's name.
///
/// # Errors
/// [`clap::Error`] for unusable arguments, and for help or the version, which the caller prints.
pub(crate) fn parse(mut args: Vec<OsString>) -> Result<Args, clap::Error> {
    if let Ok(HelpArgs { global, verb: HelpVerb::Help { topic } }) = HelpArgs::try_parse_from(&args) {
        // clap writes neither guides nor help as JSON.
        if let [name] = topic.as_slice()
            && let Some(guide) = GUIDES.iter().find(|guide| guide.name == *name)
        {
            return Ok(Args { global, command: commands::Command::Guide(guide) });
        }
        if global.format == Format::Json
            && let Some(help) = VerbHelp::find(&topic)
        {
            return Ok(Args { global, command: commands::Command::VerbHelp(help) });
        }
        // The `help` of clap takes no global options.
        args.truncate(1);
        args.push("help".into());
        args.extend(topic.into_iter().map(OsString::from));
    }
    // Writing the help of all verbs takes as long as everything else, so it is done only on request.
    let mut grammar = named(Args::command());
    let matches = grammar.try_get_matches_from_mut(&args).or_else(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            self::grammar().try_get_matches_from_mut(args)
        }
        _ => Err(error),
    })?;
    let mut args = Args::from_arg_matches(&matches).map_err(|error| error.format(&mut grammar))?;
    if matches.value_source("store") == Some(ValueSource::DefaultValue) {
        match StoreAddress::nearest() {
            Ok(found) => args.global.store = found,
            Err(passed_over) => {
                args.global.is_store_searched = true;
                args.global.passed_over = passed_over;
            }
        }
    }
    // An empty variable counts as not set, because shell scripts omit a variable in this way.
    let is_variable = |option| matches.value_source(option) == Some(ValueSource::EnvVariable);
    if is_variable("modules") {
        args.global.modules.retain(|folder| !folder.as_os_str().is_empty());
    }
    if is_variable("referees") {
        // RF-3: verbs that play with others take referees only from their own options.
        let may_use = !args.command.plays_with_others();
        args.global.referees = args.global.referees.filter(|file| may_use && !file.as_os_str().is_empty());
    }
    args.global.named = named_by(&grammar, &matches);
    Ok(args)
}

fn named_by(mut command: &Command, mut matches: &ArgMatches) -> Vec<String> {
    while let Some((verb, of_verb)) = matches.subcommand() {
        let Some(found) = command.find_subcommand(verb) else { break };
        (command, matches) = (found, of_verb);
    }
    let mut named = Vec::new();
    for arg in command.get_positionals() {
        // An argument that was left out has its default or no value.
        if matches.value_source(arg.get_id().as_str()) != Some(ValueSource::CommandLine) {
            continue;
        }
        let words = matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
        named.extend(words.map(|word| word.to_string_lossy().into_owned()));
    }
    named
}

const WHICH: [(&str, &str); 5] = [
    ("Something broke, and there is a log of it", "bisect, blame, shrink"),
    ("Do the golden logs still come true?", "check"),
    ("What would a changed rule change?", "game impact"),
    ("Is the store sound?", "verify, store check, store doctor"),
    ("Prove to others what happened", "checkpoint, bundle, audit"),
];

/// Returns the help template of the program, because clap lists verbs without groups and guides.
fn template(command: &Command) -> String {
    let styles = Styles::styled();
    let header = styles.get_header();
    let literal = styles.get_literal();
    let width = GROUPS.iter().flat_map(|(_, verbs)| *verbs).map(|verb| verb.len()).max().unwrap_or(0);
    let mut template = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    let _ = write!(template, "\n{header}Which one do I want?{header:#}\n");
    for (question, verbs) in WHICH {
        let _ = writeln!(template, "  {question:42}  {literal}{verbs}{literal:#}");
    }
    for (title, verbs) in GROUPS {
        let _ = write!(template, "\n{header}{}:{header:#}\n", program::in_help(title));
        for verb in verbs {
            let about = match command.find_subcommand(verb).and_then(Command::get_about) {
                Some(about) => about.to_string(),
                None => "Print the help of a verb, or a guide".into(),
            };
            let _ = writeln!(template, "  {literal}{verb:width$}{literal:#}  {about}");
        }
    }
    let _ = write!(template, "\n{header}Guides, for `{} help GUIDE`:{header:#}\n", program::name());
    let width = GUIDES.iter().map(|guide| guide.name.len()).max().unwrap_or(0);
    for guide in &GUIDES {
        let _ = writeln!(template, "  {literal}{:width$}{literal:#}  {}", guide.name, guide.summary);
    }
    template + &format!("\n{header}Options:{header:#}\n{{options}}{{after-help}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_stands_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| *verbs).copied().collect();
        let command = Args::command();
        let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set()).map(Command::get_name);
        let mut verbs: Vec<&str> = verbs.chain(["help"]).collect();
        grouped.sort_unstable();
        verbs.sort_unstable();
        assert_eq!(grouped, verbs);
    }

    #[test]
    fn every_verb_is_listed_in_80_columns() {
        let help = grammar().render_help().to_string();
        let (verbs, _) = help.split_once("Options:").unwrap();
        let listed: Vec<_> = verbs.lines().filter(|line| line.starts_with("  ")).collect();
        assert!(listed.len() > 30);
        for line in listed {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn the_grammar_is_consistent() {
        grammar().debug_assert();
    }

    #[test]
    fn the_format_is_found_in_unusable_arguments() {
        let found = |line: &str| format_asked_for(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        for line in ["dance --format json", "--format=json", "play --nonsense --format json x"] {
            assert_eq!(found(line), Format::Json, "{line}");
        }
        for line in ["--format text", "ask duel -- --format json", "--format", "--format=jsonl"] {
            assert_eq!(found(line), Format::Text, "{line}");
        }
    }
}
