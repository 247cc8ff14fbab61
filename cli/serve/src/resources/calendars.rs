//! Calendars of a player's deadlines (SV-50 to SV-52), for programs that send no token: the link is the secret, and it opens
//! nothing else.

use turnfold_core::paper::DeskTime;
use turnfold_history::text::printable;

use super::calls::is_turn;
use super::prelude::*;
use crate::auto_host::{self, Deadline};
use crate::documents::{CalendarEnded, CalendarFile, CalendarRead, CalendarText};
use crate::limits::ClientAddress;

const CALENDAR: &str = "text/calendar; charset=utf-8";

/// The longest line, in bytes (RFC 5545, 3.1).
const LINE_MAX: usize = 75;

const CALENDARS_MAX: usize = 8;

/// The component of a calendar without deadlines, which needs one (RFC 5545, 3.6).
const EMPTY: [&str; 8] = [
    "BEGIN:VTIMEZONE",
    "TZID:UTC",
    "BEGIN:STANDARD",
    "DTSTART:19700101T000000",
    "TZOFFSETFROM:+0000",
    "TZOFFSETTO:+0000",
    "END:STANDARD",
    "END:VTIMEZONE",
];

/// The most players of a match that a calendar can show, at once or one after another.
const PLACES: u8 = 4;

const LOOKED_UP_AT_ONCE: usize = 500;

/// A calendar to which the deadlines of a match are added.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JoinedCalendar {
    /// The calendar's token, which the client made of 32 random bytes: `tf_c_` and 43 characters of base64url. The same token
    /// for several matches makes one calendar of them.
    #[schema(pattern = "^tf_c_[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$")]
    token: String,
}

/// Where a calendar is.
#[derive(Serialize, ToSchema)]
pub(crate) struct CalendarLink {
    /// The link, which shows the deadlines to anyone who has it, and nothing else.
    link: String,
}

/// Show the deadlines of the token's seat in a calendar
#[utoipa::path(operation_id = "join_calendar", post, path = "/v1/matches/{match}/calendar", tag = "grants",
    params(("match" = inline(Name), Path)), request_body = JoinedCalendar,
    responses((status = 200, description = "the calendar shows the deadlines of the seat in this match", body = CalendarLink), Changed))]
pub(crate) async fn join(
    RequestTo { app, bearer, path: match_name, .. }: RequestTo<String>,
    _: JsonQuery<NoParameters>,
    request: Request,
) -> ApiResult {
    let (access, match_name) = app.admit_to(&bearer, &match_name).await?;
    access.playing_seat()?.ok_or_else(|| Problem::forbidden("only a player has deadlines"))?;
    let JoinedCalendar { token } = json_body(request).await?;
    let Some((token, TokenKind::Calendar)) = AccessToken::parse(&token) else {
        return Err(Problem::bad("expected `token` to be a calendar's token"));
    };
    app.block(move |app| {
        let kind = GrantKind::Calendar { token: access.token };
        let now_ms = app.now_ms();
        let link = CalendarLink { link: format!("{}/v1/calendars/{}.ics", app.origin, token.expose()) };
        let mut free = None;
        for place in 0..PLACES {
            let hash = token.hash_for(&match_name, place);
            match app.store.find_grant(&hash)? {
                Some(grant) if grant.kind == kind && grant.is_live(now_ms) => {
                    return Ok(json(StatusCode::OK, &link));
                }
                Some(_) => {}
                None => free = free.or(Some(hash)),
            }
        }
        let Some(hash) = free else {
            let detail = "this calendar has no more room for players of the match; make another one";
            return Err(Problem::new(ProblemCode::Exists, detail));
        };
        let grants = app.store.grants_of(&match_name)?;
        let others = grants.iter().filter(|(_, grant)| grant.kind == kind && grant.is_live(now_ms)).count();
        if others >= CALENDARS_MAX {
            let detail = format!("a player has at most {CALENDARS_MAX} calendars; end one of them");
            return Err(Problem::content(detail));
        }
        let label = name("")?;
        app.store.grant(&hash, NewGrant { kind, match_name, label, expires_at_ms: None }, now_ms)?;
        Ok(json(StatusCode::OK, &link))
    })
    .await
}

/// Read a calendar of deadlines
///
/// The link is the secret: no token is required.
#[utoipa::path(operation_id = "read_calendar", get, path = "/v1/calendars/{calendar}", tag = "grants", security(()),
    params(("calendar" = inline(CalendarFile), Path)),
    responses((status = 200, description = "the deadlines, as an iCalendar file", body = inline(CalendarText),
        content_type = "text/calendar; charset=utf-8"), CalendarRead))]
pub(crate) async fn read(
    RequestTo { app, client, path: file, .. }: RequestTo<String>,
    headers: HeaderMap,
    _: ValidQuery<NoParameters>,
) -> ApiResult {
    require_accepted(&headers, CALENDAR)?;
    app.limits.guesses.require_few(client)?;
    app.block(move |app| {
        let mut text = Calendar::begin();
        for (hash, grant) in granted(app, &file, client)? {
            app.limits.admit(&hash, grant.kind)?;
            let GrantKind::Calendar { token } = grant.kind else { continue };
            let Some(player) = app.store.find_grant(&token)? else { continue };
            // SV-51: nothing is shown once the player's token is not live.
            if let Some(seat) = player.kind.played().filter(|_| player.is_live(app.now_ms())) {
                add_deadline(app, &mut text, &grant.match_name, seat)?;
            }
        }
        Ok(typed(StatusCode::OK, CALENDAR, text.end()))
    })
    .await
}

/// End a calendar of deadlines
///
/// Anyone with the link may end it, because that is its player or someone who should not have the link.
#[utoipa::path(operation_id = "end_calendar", delete, path = "/v1/calendars/{calendar}", tag = "grants", security(()),
    params(("calendar" = inline(CalendarFile), Path)),
    responses((status = 204, description = "the calendar has ended"), CalendarEnded))]
pub(crate) async fn end(
    RequestTo { app, client, path: file, .. }: RequestTo<String>,
    _: ValidQuery<NoParameters>,
) -> ApiResult {
    app.limits.guesses.require_few(client)?;
    app.block(move |app| {
        for (hash, grant) in granted(app, &file, client)? {
            app.store.revoke_grant(&grant.match_name, GrantId::of(&hash), app.now_ms())?;
        }
        Ok(StatusCode::NO_CONTENT.into_response())
    })
    .await
}

fn granted(app: &Arc<App>, file: &str, client: ClientAddress) -> ApiResult<Vec<(Digest, Grant)>> {
    let token = file.strip_suffix(".ics").and_then(AccessToken::parse);
    let Some((token, TokenKind::Calendar)) = token else {
        return Err(Problem::bad("expected a calendar's token and `.ics`"));
    };
    // SV-50: only matches with terms have deadlines.
    let matches = auto_host::known_matches(app)?;
    let mut hashes = Vec::new();
    for match_name in &matches {
        hashes.extend((0..PLACES).map(|place| token.hash_for(match_name, place)));
    }
    let mut granted = Vec::new();
    for hashes in hashes.chunks(LOOKED_UP_AT_ONCE) {
        granted.extend(app.store.find_grants(hashes)?);
    }
    granted.retain(|(_, grant)| grant.is_live(app.now_ms()));
    if granted.is_empty() {
        app.limits.guesses.count(client);
        return Err(Problem::new(ProblemCode::NotFound, "there is no such calendar, or it has ended"));
    }
    granted.sort_by(|(_, one), (_, other)| one.match_name.cmp(&other.match_name));
    Ok(granted)
}

fn add_deadline(
    app: &Arc<App>,
    calendar: &mut Calendar,
    match_name: &MatchName,
    seat: Seat,
) -> ApiResult<()> {
    let Some(hosted) = auto_host::hosted(app, match_name)? else { return Ok(()) };
    let Some(Deadline { at_ms, turn_ms, known_since_ms, passed }) = hosted.deadlines.get(&seat).copied()
    else {
        return Ok(());
    };
    let current = current_branch(app, match_name)?;
    let branch = app.branch(match_name, &current)?;
    let head = app.store.head(match_name, &current)?;
    let state = branch.state_of_log(app, head)?;
    // SV-52: an event is a turn of the seat as its player knows it.
    if !is_turn(app, &branch, seat, (state.as_ref(), head))? {
        return Ok(());
    }
    let Some(at) = time(at_ms) else { return Ok(()) };
    let Some(known_since) = time(known_since_ms) else { return Ok(()) };
    let title = app.store.genesis(match_name)?.title;
    let title = if title.is_empty() { match_name.as_str() } else { title.as_str() };
    let host = app.origin.split_once("://").map_or(app.origin.as_str(), |(_, host)| host);
    let page = format!("{}/m/{match_name}", app.origin);
    // An absence or a missed deadline moves the event, so it gets a higher number.
    let sequence = hosted.accord.head.saturating_mul(1000).saturating_add(passed.unsigned_abs().min(999));
    calendar.line("BEGIN:VEVENT");
    calendar.line(&format!("UID:{match_name}-{seat}-{turn_ms}@{host}"));
    calendar.line(&format!("DTSTAMP:{known_since}"));
    calendar.line(&format!("SEQUENCE:{sequence}"));
    calendar.line(&format!("DTSTART:{at}"));
    calendar.line(&format!("SUMMARY:{}", escaped(&format!("{title}: your turn ends"))));
    calendar.line(&format!("DESCRIPTION:{}", escaped(&page)));
    calendar.line(&format!("URL:{page}"));
    calendar.line("TRANSP:TRANSPARENT");
    calendar.line("END:VEVENT");
    Ok(())
}

fn time(unix_ms: i64) -> Option<String> {
    let at = DeskTime::of_unix_ms(unix_ms)?;
    // Such as `20261224T120000Z`.
    Some(at.to_string().replace(['-', ':'], ""))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in printable(text).chars() {
        if matches!(character, '\\' | ';' | ',') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

struct Calendar(String);

impl Calendar {
    fn begin() -> Self {
        let mut calendar = Self(String::new());
        calendar.line("BEGIN:VCALENDAR");
        calendar.line("VERSION:2.0");
        calendar.line("PRODID:-//turnfold//serve//EN");
        calendar.line("NAME:turnfold");
        calendar.line("X-WR-CALNAME:turnfold");
        calendar.line("REFRESH-INTERVAL;VALUE=DURATION:PT1H");
        calendar.line("X-PUBLISHED-TTL:PT1H");
        calendar
    }

    fn line(&mut self, line: &str) {
        let mut length = 0;
        for character in line.chars() {
            if length + character.len_utf8() > LINE_MAX {
                self.0.push_str("\r\n ");
                length = 1;
            }
            self.0.push(character);
            length += character.len_utf8();
        }
        self.0.push_str("\r\n");
    }

    fn end(mut self) -> String {
        if !self.0.contains("BEGIN:VEVENT") {
            for line in EMPTY {
                self.line(line);
            }
        }
        self.line("END:VCALENDAR");
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_folded_between_characters() {
        let mut calendar = Calendar(String::new());
        calendar.line(&format!("{}é{}", "a".repeat(74), "b".repeat(75)));
        let lines: Vec<_> = calendar.0.split("\r\n").collect();
        assert_eq!(lines, ["a".repeat(74), format!(" é{}", "b".repeat(72)), " bbb".into(), String::new()]);
        assert!(lines.iter().all(|line| line.len() <= LINE_MAX));
    }

    #[test]
    fn what_has_a_meaning_in_a_calendar_is_escaped() {
        assert_eq!(escaped("a, b; c\\d"), "a\\, b\\; c\\\\d");
    }
}
