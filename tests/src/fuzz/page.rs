//! Pages: any replay in a page is read back as it was written, and hostile HTML is refused in one line.

use std::path::Path;

use turnfold_history::tfl::{read, replay_in};
use turnfold_history::{History, SeatHistory, Viewer};
use turnfold_show::Page;
use turnfold_show::page::PAGE_BYTES_MAX;

use super::{check_message, replay_file};

const OPENING: &str = "<script type=\"application/json\" id=\"turnfold\">";

/// Writes pages from bytes that are a replay file, and reads other bytes as a page.
pub fn page(bytes: &[u8]) {
    if bytes.starts_with(b"turnfold replay ") {
        return make(bytes);
    }
    match replay_in("fuzzed.html", bytes) {
        Ok(replay) => {
            assert_eq!(str::from_utf8(bytes).unwrap().matches(OPENING).count(), 1, "one document");
            replay_file(&replay);
        }
        Err(error) => check_message(&error.to_string()),
    }
}

fn make(bytes: &[u8]) {
    let Ok(blessed) =
        read("fuzzed.tfl", bytes, &turnfold_games::standard()).and_then(|replay| replay.bless())
    else {
        return;
    };
    for viewer in [Viewer::HOST, "p1".parse().unwrap()] {
        let history = History::of_replay(Path::new("fuzzed.tfl"), &blessed).unwrap();
        let replay = (viewer == Viewer::HOST).then(|| blessed.clone());
        let html = Page::of(SeatHistory::of(viewer, history).unwrap(), replay, PAGE_BYTES_MAX).unwrap().html;
        assert_eq!((html.matches(OPENING).count(), html.matches("</script").count()), (1, 2), "{html}");
        match replay_in("fuzzed.html", html.as_bytes()) {
            Ok(replay) => assert_eq!(replay, blessed.to_string().as_bytes(), "a page holds its replay"),
            Err(error) => assert_eq!(error.to_string(), "`fuzzed.html` holds no replay, only what p1 saw"),
        }
    }
}

/// Returns small pages, some invalid pages, and replay files.
pub(super) fn seeds(replays: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let document =
        |replay: &str| format!(r#"{{"turnfold":1,"frames":{{"viewer":"p1","frames":[]}}{replay}}}"#);
    let block = |document: &str| format!("<!DOCTYPE html>\n{OPENING}{document}</script>\n");
    let replay = String::from_utf8(replays[0].clone()).unwrap().replace('\\', r"\\").replace('"', "\\\"");
    let whole = block(&document(&format!(r#","replay":"{}""#, replay.replace('\n', r"\n"))));
    let mut seeds = vec![
        block(&document("")),
        block(&document("").replace(":1", ":2")),
        block(&document(r#","replay":"\u003c/script>""#)),
        block(&document(r#","replay":"</script>"#)),
        block(&document(r#","more":1"#)),
        block("{}").repeat(2),
        "<script id=turnfold>{}</script>".into(),
        OPENING.into(),
        whole,
    ];
    let mut seeds: Vec<Vec<u8>> = seeds.drain(..).map(String::into_bytes).collect();
    seeds.extend(replays.into_iter().take(3));
    seeds
}
