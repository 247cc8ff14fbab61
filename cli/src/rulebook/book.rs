//! A rulebook and its topics.

use serde::Serialize;
use similar::get_close_matches;

/// A rulebook, or the part of one that is about a single topic.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Rulebook {
    /// What the game is.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) about: String,
    /// How a match is set up.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) setup: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) commands: Vec<CommandItem>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) reasons: Vec<ReasonItem>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) questions: Vec<QuestionItem>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) view: Vec<ViewItem>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) rules: Vec<RuleItem>,
}

/// A command that a seat may give.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CommandItem {
    /// How it is written, such as `move Q,R`.
    pub(crate) command: String,
    /// Who gives it: `player` or `host`.
    pub(crate) seat: String,
    pub(crate) example: String,
    pub(crate) rules: Vec<String>,
    pub(crate) text: String,
}

/// Why a command changes nothing or is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ReasonItem {
    pub(crate) reason: String,
    /// What becomes of the command: `ignored` or `rejected`.
    pub(crate) outcome: String,
    pub(crate) rules: Vec<String>,
    pub(crate) text: String,
}

/// A question that `ask` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct QuestionItem {
    /// How it is written, such as `reach UNIT`.
    pub(crate) question: String,
    pub(crate) example: String,
    pub(crate) rules: Vec<String>,
    pub(crate) text: String,
}

/// Fields of the view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ViewItem {
    /// Paths such as `units[].at`; a part in capitals stands for any key.
    pub(crate) fields: Vec<String>,
    pub(crate) text: String,
}

/// A rule of the game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RuleItem {
    /// Its id, such as `IN-11`.
    pub(crate) rule: String,
    pub(crate) title: String,
    /// Markdown, each paragraph and each item of a list on a line of its own.
    pub(crate) text: String,
}

impl Rulebook {
    /// Returns what is said about a topic: a rule's id, the first word of a command or question, a reason, or a field of
    /// the view. The rules that it names come with it.
    pub(crate) fn about(&self, topic: &str) -> Option<Self> {
        let is_topic = |form: &str| form.split(' ').next() == Some(topic);
        let commands = kept(&self.commands, |item| is_topic(&item.command));
        let reasons = kept(&self.reasons, |item| item.reason == topic);
        let questions = kept(&self.questions, |item| is_topic(&item.question));
        let view = kept(&self.view, |item| item.fields.iter().any(|field| field == topic));
        let of_commands = commands.iter().flat_map(|item| &item.rules);
        let of_reasons = reasons.iter().flat_map(|item| &item.rules);
        let of_questions = questions.iter().flat_map(|item| &item.rules);
        let named: Vec<&String> = of_commands.chain(of_reasons).chain(of_questions).collect();
        let rules =
            kept(&self.rules, |rule| rule.rule.eq_ignore_ascii_case(topic) || named.contains(&&rule.rule));
        let is_found = !(commands.is_empty()
            && reasons.is_empty()
            && questions.is_empty()
            && view.is_empty()
            && rules.is_empty());
        is_found.then(|| Self { commands, reasons, questions, view, rules, ..Self::default() })
    }

    /// Returns every topic there is.
    pub(crate) fn topics(&self) -> Vec<&str> {
        let forms = self.commands.iter().map(|item| &item.command);
        let forms = forms.chain(self.questions.iter().map(|item| &item.question));
        let words = forms.filter_map(|form| form.split(' ').next());
        let rules = self.rules.iter().map(|rule| rule.rule.as_str());
        let reasons = self.reasons.iter().map(|item| item.reason.as_str());
        let fields = self.view.iter().flat_map(|item| &item.fields).map(String::as_str);
        let mut topics: Vec<&str> = rules.chain(words).chain(reasons).chain(fields).collect();
        topics.sort_unstable();
        topics.dedup();
        topics
    }

    /// Returns the topics that a mistyped one may have meant, the likeliest first.
    pub(crate) fn topics_like(&self, mistyped: &str) -> Vec<&str> {
        let topics = self.topics();
        let lowercase: Vec<String> = topics.iter().map(|topic| topic.to_lowercase()).collect();
        let candidates: Vec<&str> = lowercase.iter().map(String::as_str).collect();
        let close = get_close_matches(mistyped.to_lowercase().as_str(), &candidates, 3, 0.6);
        let written = |close: &str| topics.iter().find(|topic| topic.eq_ignore_ascii_case(close)).copied();
        close.into_iter().filter_map(written).collect()
    }
}

fn kept<T: Clone>(items: &[T], is_kept: impl Fn(&T) -> bool) -> Vec<T> {
    items.iter().filter(|item| is_kept(item)).cloned().collect()
}
