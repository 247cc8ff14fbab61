//! Notes of a match (SV-61).

use super::connect::Connection;
use super::engine::Fleet;
use super::fault::StatementFault;
use super::read::{Ask, get, name, uuid};
use crate::decode::decode_exactly;
use crate::engine::EngineReader as _;
use crate::entry::encode;
use crate::error::{Placed, StoreError};
use crate::names::{BranchName, MatchName};
use crate::note::{self, Note, NoteId, PlacedNote, require_room};
use crate::reader::branch::FoundMatch;

/// Earlier builds made stores of this format without this table. So it is created with the first note, and readers check for
/// it.
pub(super) const TABLE: &str = "CREATE TABLE IF NOT EXISTS @note (match uuid NOT NULL, id bigint NOT NULL, branch bigint, \
                                body bytea NOT NULL, PRIMARY KEY (match, id))";
const IS_THERE: &str = "SELECT to_regclass('@note') IS NOT NULL";
const OF_MATCH: &str = "SELECT n.body, b.name FROM @note n LEFT JOIN @branch b ON b.no = n.branch \
                        WHERE n.match = $1 AND (n.branch IS NULL OR b.no IS NOT NULL) ORDER BY n.id";

pub(super) fn has_table(connection: &mut Connection) -> Result<bool, StatementFault> {
    Ok(connection.query(IS_THERE, &[])?.iter().any(|row| row.get::<_, bool>(0)))
}

pub(super) fn of_match(ask: &impl Ask, found_match: &FoundMatch) -> Result<Vec<Note>, StoreError> {
    if !ask.rows(IS_THERE, &[], None)?.iter().any(|row| row.get::<_, bool>(0)) {
        return Ok(Vec::new());
    }
    let mut notes = Vec::new();
    for row in ask.rows(OF_MATCH, &[&uuid(found_match.id)], None)? {
        let branch: Option<BranchName> = match get::<Option<&str>>(&row, 1)? {
            Some(_) => Some(name(&row, 1)?),
            None => None,
        };
        let placed = read(get(&row, 0)?).within(&found_match.name, None)?;
        notes.extend(placed.read(|_| branch));
    }
    note::sort(&mut notes);
    Ok(notes)
}

fn read(body: &[u8]) -> Result<PlacedNote, StoreError> {
    decode_exactly(body).map_err(|error| StoreError::damaged(format!("a note: {error}")))
}

pub(super) fn write(
    fleet: &Fleet,
    match_name: &MatchName,
    note: Note,
    is_moved: bool,
) -> Result<(), StoreError> {
    const INSERT: &str = "INSERT INTO @note (match, id, branch, body) SELECT $1::uuid, $2::bigint, $3::bigint, $4::bytea \
                          FROM @match WHERE id = $1::uuid AND name = $5::text";
    const OTHERS: &str = "SELECT body FROM @note WHERE match = $1";
    let reader = fleet.reading.as_ref();
    let found_match = reader.found_match(match_name)?;
    let placed = PlacedNote::of(reader, match_name, note)?;
    let match_id = uuid(found_match.id);
    let id = placed.note.id.number().cast_signed();
    let branch = placed.branch.map(u64::cast_signed);
    let body = encode(&placed);
    fleet.pool().until_answered(|connection, maybe| {
        if !has_table(connection)? {
            match connection.run(TABLE) {
                // Another process created it first.
                Err(StatementFault::Taken) => {}
                done => done?,
            }
        }
        connection.run("BEGIN ISOLATION LEVEL SERIALIZABLE")?;
        let rows = connection.query(OTHERS, &[&match_id])?;
        let mut others = Vec::new();
        for row in &rows {
            others.push(read(get(row, 0)?)?);
        }
        if maybe && others.contains(&placed) {
            return connection.run("COMMIT").map(Ok);
        }
        if !is_moved && let Err(error) = require_room(match_name, &placed.note, &others) {
            return connection.run("ROLLBACK").map(|()| Err(error));
        }
        let written = connection.execute(INSERT, &[&match_id, &id, &branch, &body, &match_name.as_str()])?;
        if written == 0 {
            let gone = StoreError::NoSuchMatch { match_name: match_name.clone() };
            return connection.run("ROLLBACK").map(|()| Err(gone));
        }
        connection.run("COMMIT").map(Ok)
    })?
}

pub(super) fn remove(fleet: &Fleet, match_name: &MatchName, id: NoteId) -> Result<(), StoreError> {
    const DELETE: &str = "DELETE FROM @note WHERE match = $1 AND id = $2";
    let match_id = uuid(fleet.reading.found_match(match_name)?.id);
    let number = id.number().cast_signed();
    let is_removed = fleet.pool().until_answered(|connection, maybe| {
        if !has_table(connection)? {
            return Ok(false);
        }
        Ok(connection.execute(DELETE, &[&match_id, &number])? > 0 || maybe)
    })?;
    if is_removed { Ok(()) } else { Err(StoreError::NoSuchNote { id }) }
}
