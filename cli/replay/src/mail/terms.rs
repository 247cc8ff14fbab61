//! The terms of a new match by mail: what the host wrote, and what the game names for the rest (PM-37).

use turnfold_core::{AnyRules, AnyState};

/// Terms of play that are complete, and where the rest of them came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameTerms {
    /// The terms in TOML.
    pub toml: String,
    /// Where the lines came from that the host did not write.
    pub source: TermsSource,
    /// These lines.
    pub filled: Vec<String>,
}

/// Where terms come from that the host did not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermsSource {
    /// The game names them.
    Game,
    /// The game names none, so the match waits for a player who misses.
    Waiting,
}

/// What is used for a game that names no terms.
const WAITING: &str = "default = []\nmissed = \"wait\"\npatience = 0\n";

impl GameTerms {
    /// Completes terms.
    #[must_use]
    pub fn complete(written: Option<&str>, rules: &dyn AnyRules, game: &dyn AnyState) -> Self {
        let (named, source) = match rules.mail_terms().trim() {
            "" => (WAITING, TermsSource::Waiting),
            named => (named, TermsSource::Game),
        };
        let written = written.unwrap_or_default().trim_end();
        // Malformed TOML is reported by the rules, which read it later.
        let own: Option<toml::Table> = written.parse().ok();
        let own = own.unwrap_or_default();
        let mut rest: toml::Table = named.parse().unwrap_or_default();
        // A default that the host writes is meant to be played.
        if source == TermsSource::Waiting && own.contains_key("default") {
            rest.retain(|key, _| key == "default");
        }
        rest.insert("seats".into(), toml::Value::Integer(i64::try_from(game.players().len()).unwrap_or(0)));
        rest.retain(|key, _| !own.contains_key(key));
        let filled: Vec<String> = rest.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        // At the end, so that errors name the lines of the file.
        Self { toml: format!("{written}\n{}\n", filled.join("\n")), source, filled }
    }
}
