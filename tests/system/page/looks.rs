//! Phones, dark mode, print, and pages without JavaScript (VW-22, VW-28, VW-31).

use serde_json::{Value, json};

use super::browser::Browser;
use super::{SHOWN, page_of};

/// A script that returns texts that overflow their hexes or discs, and parts wider than the window.
pub(super) const OVERFLOWING: &str = "
    const inside = ([text, shape]) => {
      const [inner, outer] = [text.getBBox(), shape.getBBox()];
      return inner.x >= outer.x - 1 && inner.x + inner.width <= outer.x + outer.width + 1
        && inner.y >= outer.y - 2 && inner.y + inner.height <= outer.y + outer.height + 2;
    };
    const cells = [...document.querySelectorAll('.picture [data-at]')].flatMap((cell) =>
      [...cell.querySelectorAll('text')].map((text) => [text, cell.querySelector(':is(.hex, .square)')]));
    const pieces = [...document.querySelectorAll('.piece svg')].flatMap((piece) =>
      [...piece.querySelectorAll('.label')].map((text) => [text, piece.querySelector('.disc')]));
    const texts = [...cells, ...pieces].filter((pair) => !inside(pair)).map(([text]) => `${text.getAttribute('class')} ${text.textContent}`);
    const wide = document.documentElement.scrollWidth > innerWidth ? [`${document.documentElement.scrollWidth} pixels`] : [];
    return [...texts, ...wide];";

/// A script that returns buttons, links and fields smaller than 24 pixels in either dimension.
pub(super) const SMALL: &str = "
    return [...document.querySelectorAll('button, input, select, a')].filter((target) => {
      const { width, height } = target.getBoundingClientRect();
      return target.checkVisibility() && (width < 24 || height < 24);
    }).map((target) => target.outerHTML.slice(0, 100));";

pub(super) fn size(browser: &Browser, width: u32, height: u32) {
    let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
    browser.command("Emulation.setDeviceMetricsOverride", &metrics);
}

pub(super) fn media(browser: &Browser, media: &str, scheme: &str) {
    let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
    browser.command("Emulation.setEmulatedMedia", &json!({ "media": media, "features": features }));
}

#[test]
fn vw_31_everything_stays_in_its_place_from_320_pixels_on() {
    let Some(browser) = Browser::start("the page on phones") else { return };
    for (width, height) in [(320, 640), (768, 1024), (1280, 900)] {
        size(&browser, width, height);
        for golden in SHOWN {
            browser.show(&page_of(golden, "host"), "");
            assert_eq!(browser.run(OVERFLOWING), json!([]), "{golden} at {width} pixels");
            assert_eq!(browser.run(SMALL), json!([]), "{golden} at {width} pixels");
            browser.press('\u{e011}');
            assert_eq!(browser.run(OVERFLOWING), json!([]), "{golden} at {width} pixels, the setup");
        }
    }
    browser.check_quiet();
}

#[test]
fn vw_22_dark_is_dark_and_paper_has_board_and_log() {
    let Some(browser) = Browser::start("the page in the dark and on paper") else { return };
    browser.show(&page_of(SHOWN[3], "host"), "");
    let brightness = || {
        let color = browser.run("return getComputedStyle(document.documentElement).backgroundColor");
        let parts = color.as_str().unwrap().trim_start_matches("rgb(").trim_end_matches(')').split(", ");
        parts.map(|part| part.parse::<u32>().unwrap()).sum::<u32>()
    };
    media(&browser, "", "light");
    assert!(brightness() > 600);
    media(&browser, "", "dark");
    assert!(brightness() < 150);
    media(&browser, "print", "light");
    let visible = |selector: &str| {
        browser.run(&format!("return document.querySelector('{selector}').checkVisibility()"))
    };
    assert_eq!(
        [visible(".board"), visible(".entries"), visible(".controls")],
        [true, true, false].map(Value::from)
    );
}

#[test]
fn vw_28_without_javascript_there_are_title_picture_and_log() {
    let Some(browser) = Browser::start("the page without JavaScript") else { return };
    browser.command("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    for golden in SHOWN {
        let page = page_of(golden, "host");
        let log = page.matches("<li>").count();
        assert!(log > 0);
        browser.show(&page, "");
        let tree = browser.command("Accessibility.getFullAXTree", &json!({})).to_string();
        let (_, title) = page.split_once("<title>").unwrap();
        let (title, _) = title.split_once("</title>").unwrap();
        assert!(tree.contains(&title[..10]), "{golden}: its title");
        assert_eq!(tree.matches(r#""value":"listitem""#).count(), log, "{golden}: its log");
        assert!(!tree.contains("Play"), "{golden}: no buttons that do nothing");
        let picture =
            browser.run("return document.querySelector('svg.picture').getBoundingClientRect().width");
        assert!(picture.as_f64().unwrap() > 100.0, "{golden}: its last picture");
    }
}
