//! Frames: what one viewer sees of a history, entry by entry (VW-10, VW-11).

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use turnfold_history::SeatHistory;
use turnfold_show::{FrameDocument, FrameLimits, FramePicture};

use turnfold_tests::goldens::{goldens, seat_history, viewers};
use turnfold_tests::sandbox::Sandbox;

const ALL: FrameLimits = FrameLimits { frames_max: usize::MAX, bytes_max: usize::MAX };

fn document(seat_history: &SeatHistory) -> Value {
    serde_json::to_value(FrameDocument::of(seat_history, 0, ALL).unwrap()).unwrap()
}

/// Changes a part of a block as the page does.
fn change(block: &mut Value, place: &Value, content: &Value) {
    if let Some(part @ ("arrows" | "targets")) = place.as_str() {
        let block = block.as_object_mut().unwrap();
        block.insert(part.into(), content.clone());
        return block.retain(|_, part| !part.is_null());
    }
    if let Some(cells) = block.get_mut("cells") {
        let (cells, at) = (cells.as_array_mut().unwrap(), (place[0].as_i64(), place[1].as_i64()));
        cells.retain(|cell| (cell[0].as_i64(), cell[1].as_i64()) != at);
        if let Some(content) = content.as_array() {
            cells.push([place.as_array().unwrap().as_slice(), content].concat().into());
        }
        cells.sort_by_key(|cell| (cell[0].as_i64(), cell[1].as_i64()));
        return;
    }
    let list = block.as_object_mut().unwrap().values_mut().next().unwrap().as_array_mut().unwrap();
    let index = usize::try_from(place.as_u64().unwrap()).unwrap();
    if content.is_null() {
        return list.truncate(index);
    }
    if index == list.len() {
        return list.push(content.clone());
    }
    list[index] = content.clone();
}

/// Applies a frame to a picture.
pub(crate) fn step(picture: &mut Value, frame: &Value) {
    if let Some(whole) = frame.get("picture") {
        assert!(frame.get("changes").is_none(), "{frame}");
        *picture = whole.clone();
        return;
    }
    for part in frame["changes"].as_array().unwrap() {
        let block = usize::try_from(part[0].as_u64().unwrap()).unwrap();
        change(&mut picture[block], &part[1], &part[2]);
    }
}

#[test]
fn vw_11_changes_applied_to_the_first_picture_make_the_picture_after_every_entry() {
    let (mut changed, mut unchanged) = (0, 0);
    for (index, path) in goldens().into_iter().enumerate() {
        let text = fs::read_to_string(&path).unwrap();
        let viewers = viewers(&path, &text);
        // One viewer for each log is enough, because over all logs each kind of viewer occurs often.
        let viewer = &viewers[index % viewers.len()];
        let seat_history = seat_history(&path, &text, viewer);
        let document = document(&seat_history);
        let mut frames = document["frames"].as_array().unwrap().iter();
        let mut picture = document["picture"].clone();
        let start = FramePicture::from(seat_history.viewer().picture(seat_history.start().unwrap().as_ref()));
        assert_eq!(picture, serde_json::to_value(start).unwrap(), "{}", path.display());
        let mut view = seat_history.viewer().view(seat_history.start().unwrap().as_ref());
        seat_history
            .fold(&mut |seen| {
                let frame = frames.next().unwrap();
                step(&mut picture, frame);
                let expected = serde_json::to_value(FramePicture::from(seen.picture())).unwrap();
                let place = format!("{} as {viewer}, entry {}", path.display(), seen.seq());
                assert_eq!(picture, expected, "{place}");
                assert_eq!(frame["record"], serde_json::to_value(seen.logged_record()).unwrap(), "{place}");
                let fields = frame["fields"].as_array().unwrap();
                let after = seen.view();
                assert_eq!(fields.is_empty(), view == after, "{place}");
                for field in fields.iter().filter(|field| field.get("new").is_some()) {
                    let found = after.pointer(field["path"].as_str().unwrap());
                    assert_eq!(found, field.get("new"), "{place}");
                }
                view = after;
                if fields.is_empty() { unchanged += 1 } else { changed += 1 }
            })
            .unwrap();
        assert_eq!(frames.next(), None);
        assert_eq!([&document["head"], &document["viewer"]], [&json!(seat_history.head()), &json!(viewer)]);
    }
    assert!(
        changed > 1000 && unchanged > 100,
        "{changed} entries that change something, {unchanged} that do not"
    );
}

#[test]
fn vw_10_documents_of_limited_size_follow_one_another() {
    let path = goldens().into_iter().find(|path| path.ends_with("hexcapture/eat-with-room.tfl")).unwrap();
    let seat_history = seat_history(&path, &fs::read_to_string(&path).unwrap(), "host");
    let whole = document(&seat_history);
    let frame_bytes = whole["frames"][0].to_string().len();
    for limits in [
        FrameLimits { frames_max: 3, bytes_max: usize::MAX },
        FrameLimits { frames_max: usize::MAX, bytes_max: 3 * frame_bytes },
        FrameLimits { frames_max: 0, bytes_max: 0 },
    ] {
        let (mut after, mut frames, mut picture) = (0, Vec::new(), whole["picture"].clone());
        loop {
            let part = FrameDocument::of(&seat_history, after, limits).unwrap();
            assert!(!part.frames.is_empty(), "a document has a frame where there is one");
            assert!(part.frames.len() <= limits.frames_max.max(1));
            let part = serde_json::to_value(part).unwrap();
            assert_eq!((&part["after"], &part["head"]), (&json!(after), &whole["head"]));
            assert_eq!(part["picture"], picture);
            for frame in part["frames"].as_array().unwrap() {
                step(&mut picture, frame);
                frames.push(frame.clone());
            }
            match part["next"].as_u64() {
                Some(next) => after = next,
                None => break,
            }
        }
        assert_eq!(json!(frames), whole["frames"]);
    }
    let end = FrameDocument::of(&seat_history, seat_history.head(), FrameLimits::SERVED).unwrap();
    assert_eq!((end.frames.len(), end.next), (0, None));
    let beyond = FrameDocument::of(&seat_history, seat_history.head() + 1, FrameLimits::SERVED)
        .unwrap_err()
        .to_string();
    assert!(beyond.contains("has no entry"), "{beyond}");
}

#[test]
fn vw_11_frames_are_the_same_whatever_is_concealed() {
    let plans =
        ["", "\"tap 0,1\" \"tap 0,0\"", "back \"tap 3,3\" \"tap 0,1\" \"tap 0,1\" \"tap 0,2\" \"tap 1,1\""];
    let shown = plans.map(|plan| {
        let sandbox = Sandbox::new();
        sandbox.ok("new ford --rules cycletap --setup fixtures/cycletap/ford.toml");
        sandbox.ok(&format!("play ford {plan} switch"));
        sandbox.ok("play ford \"tap 1,-2\" \"tap 1,-3\"");
        let text = sandbox.ok("export ford");
        ["p2", "p8", "host"]
            .map(|viewer| document(&seat_history(Path::new("ford.tfl"), &text, viewer)).to_string())
    });
    for other in &shown[1..] {
        assert_eq!((&shown[0][0], &shown[0][1]), (&other[0], &other[1]));
        assert_ne!(shown[0][2], other[2], "the host sees them all");
    }
}

#[test]
fn vw_10_a_frame_has_what_log_prints() {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative --setup fixtures/initiative/small-board.toml");
    sandbox.ok("play duel --once mine \"roll 1 2 3 4\" \"p1: confirm\" \"p1: move 0,1\"");
    let text = sandbox.ok("export duel");
    let document = document(&seat_history(Path::new("duel.tfl"), &text, "p1"));
    for (line, frame) in sandbox.ok("log duel --as p1").lines().zip(document["frames"].as_array().unwrap()) {
        assert_eq!(line.split_once(" => ").unwrap().1, frame["text"]);
    }
    sandbox.write("duel.tfl", &text);
    for (line, frame) in
        sandbox.ok("--format json log duel.tfl --as p1").lines().zip(document["frames"].as_array().unwrap())
    {
        assert_eq!(line.replace(r#""source":"duel.tfl","#, ""), frame["record"].to_string());
    }
    let diff = String::from_utf8(sandbox.run("--format json diff duel:2 duel:3").stdout).unwrap();
    assert!(diff.contains(&document["frames"][2]["fields"].to_string()), "{diff}");
}
