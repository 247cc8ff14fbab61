//! Ten thousand entries (VW-12).

use std::{env, fs};

use serde_json::{Value, json};

use super::browser::Browser;
use super::{page_of, parts, with_document};

/// A script that jumps to several entries, and returns the milliseconds of each jump and the size of the layout.
const JUMP: &str = "
    const slider = document.querySelector('[type=range]');
    const last = Number(slider.max);
    return [0.5, 0, 1, 0.25, 0.75, 0.1, 0.9, 0.333, 0.667].map((share) => {
      const start = performance.now();
      slider.value = Math.round(last * share);
      slider.dispatchEvent(new Event('input'));
      document.body.getBoundingClientRect();
      return performance.now() - start;
    });";

/// Returns a page whose frames repeat the frames of a golden log.
fn repeated(count: usize) -> String {
    let page = page_of("hexcapture/release-at-the-rim.tfl", "host");
    let parts = parts(&page);
    let mut document = parts.1.clone();
    let frames = document["frames"]["frames"].as_array().unwrap().clone();
    let numbered = (1..).zip(frames.iter().cycle()).take(count).map(|(seq, frame)| {
        let mut frame = frame.clone();
        frame["record"]["seq"] = json!(seq);
        frame
    });
    let numbered: Vec<Value> = numbered.collect();
    document["frames"]["head"] = json!(numbered.len());
    document["frames"]["frames"] = numbered.into();
    with_document(parts, &document)
}

/// Returns the processor time of the page so far, in milliseconds.
fn processor_ms(browser: &Browser) -> f64 {
    let metrics = browser.command("Performance.getMetrics", &json!({}));
    let metrics = metrics["metrics"].as_array().unwrap();
    let spent = metrics.iter().find(|metric| metric["name"] == "TaskDuration").unwrap();
    spent["value"].as_f64().unwrap() * 1000.0
}

/// Reports the time to open and to jump: wall-clock time and, independent of other load, processor time.
/// `TURNFOLD_PAGE` names a page to measure instead of a generated one.
#[test]
#[expect(clippy::print_stderr, reason = "the figures are what is measured; `--nocapture` shows them")]
fn vw_12_ten_thousand_entries_open_and_are_jumped_in() {
    let Some(browser) = Browser::start("ten thousand entries") else { return };
    let page = env::var_os("TURNFOLD_PAGE")
        .map_or_else(|| repeated(10_000), |path| fs::read_to_string(path).unwrap());
    browser.command("Performance.enable", &json!({ "timeDomain": "threadTicks" }));
    let before = processor_ms(&browser);
    browser.show(&page, "#5000");
    let opening = processor_ms(&browser);
    assert_eq!(browser.text(".status strong"), "5000");
    let opened = browser.run("return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd");
    let ready = processor_ms(&browser);
    let jumps = browser.run(JUMP);
    let jumping = processor_ms(&browser) - ready;
    let mut jumps: Vec<f64> = jumps.as_array().unwrap().iter().map(|jump| jump.as_f64().unwrap()).collect();
    jumps.sort_by(f64::total_cmp);
    eprintln!(
        "{} bytes: opened in {:.0} ms ({:.0} of the processor), jumps take {:.1} ms ({:.1}), at most {:.1}",
        page.len(),
        opened.as_f64().unwrap(),
        if opening > before { opening - before } else { opening },
        jumps[jumps.len() / 2],
        jumping / 9.0,
        jumps[jumps.len() - 1]
    );
    assert!(browser.text(".status").contains("of 10000"), "{}", browser.text(".status"));
    browser.press('\u{e010}');
    assert_eq!(browser.text(".status strong"), "10000");
    browser.check_quiet();
}
