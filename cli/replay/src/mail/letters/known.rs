//! What a seat knows of the game: how it stands, what is new, what it may do (PM-30).

use turnfold_store::Seq;

use super::error::LetterError;
use super::mail::Mail;
use super::part::Part;
use crate::drawing::{Highlights, text};
use crate::history::History;
use crate::record::Record;
use crate::seat_history::SeatHistory;
use crate::seat_history::follow::Follower;
use crate::viewer::Viewer;

/// The most columns of a picture.
const COLUMNS: usize = 72;
/// The most commands that a letter lists.
const LEGAL_MAX: usize = 60;

/// What a letter shows of the game.
pub(super) struct KnownGame {
    /// The lines of the picture.
    pub(super) picture: Vec<String>,
    /// The entries that the seat did not know, or not completely, at the last letter.
    pub(super) news: Vec<Record>,
    /// The seat's commands that would be applied, the first of them.
    pub(super) legal: Vec<String>,
    /// How many more there are.
    pub(super) more: usize,
    /// Whether the game went back, and continues on another line than in the last letter.
    pub(super) went_back: bool,
}

impl KnownGame {
    /// Finds what a seat knows at the end of a part, and what of it is new since an earlier one.
    pub(super) fn of(
        mail: &Mail<'_>,
        viewer: Viewer,
        part: &Part,
        earlier: Option<&Part>,
    ) -> Result<Self, LetterError> {
        let revision = part.stands_at(mail);
        let log = mail.store.read(&revision.match_name, &revision.branch, revision.seq)?;
        let line = History::of_log(&revision, log, mail.registry)?;
        let shared = earlier.map_or(Ok(0), |earlier| shared(mail, earlier, part))?;
        let follower = Follower::new(viewer, &revision, line.dice, line.start()?);
        let before = line.entries.get(..usize::try_from(shared).unwrap_or(usize::MAX)).unwrap_or_default();
        let (known, before) = (follower.known(&line.entries)?, follower.known(before)?);
        let news = known.news_since(&before).into_iter().map(|(_, logged)| logged.record.clone()).collect();
        let sight = SeatHistory::of(viewer, line)?;
        let state = sight.state()?;
        let mut legal: Vec<_> =
            viewer.legal(state.as_ref()).into_iter().map(|(_, command)| command).collect();
        let more = legal.len().saturating_sub(LEGAL_MAX);
        legal.truncate(LEGAL_MAX);
        let drawn = text::lines(&sight.picture(state.as_ref()), &Highlights::default(), COLUMNS);
        let drawn = drawn.iter().map(|line| line.spans.iter().map(|span| span.text.as_str()).collect());
        let drawn: Vec<String> = drawn.collect();
        let went_back = earlier.is_some_and(|earlier| earlier.line != part.line);
        Ok(Self { picture: fitting(&drawn), news, legal, more, went_back })
    }
}

/// Returns how many entries two parts have in common where they stand.
fn shared(mail: &Mail<'_>, earlier: &Part, part: &Part) -> Result<Seq, LetterError> {
    let to = earlier.seq().min(part.seq());
    if earlier.line == part.line {
        return Ok(to);
    }
    let links = |line| mail.store.links(&mail.game, line, 0..=to);
    let (one, other) = (links(&earlier.line)?, links(&part.line)?);
    let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    Ok(Seq::try_from(same).unwrap_or(Seq::MAX).saturating_sub(1))
}

/// Leaves out a board that no letter has room for: broken lines would show nothing.
fn fitting(lines: &[String]) -> Vec<String> {
    // Words can be broken, a drawing cannot.
    let is_too_wide = |line: &String| line.contains("__") && line.chars().count() > COLUMNS;
    let mut fitting: Vec<String> = Vec::new();
    for block in lines.split(String::is_empty) {
        if block.iter().any(is_too_wide) {
            fitting.push("(The board is too wide for a letter.)".into());
        } else {
            fitting.extend_from_slice(block);
        }
        fitting.push(String::new());
    }
    fitting.pop();
    fitting
}
