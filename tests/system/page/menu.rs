//! The menu at a hex for which several commands are legal (VW-18).

use super::browser::Browser;
use super::games::Golden;
use super::live::{complaints, create, give, join, wait_for_entry};
use turnfold_tests::service::Running;

/// A script that offers one more command at a hex than the service, because in the five games a hex has only one
/// command.
const ONE_MORE: &str = "
    const ask = window.fetch;
    window.fetch = async (path, options) => {
      const response = await ask(path, options);
      if (!String(path).endsWith('/legal')) return response;
      const list = await response.json();
      const { command, targets } = list.items.find(({ command }) => command.startsWith('tap '));
      window.hex = command.slice(4);
      list.items.push({ seat: 'p1', command: `look ${window.hex}`, targets });
      return Response.json(list);
    };";

#[test]
fn vw_18_several_commands_at_a_hex_are_a_menu_next_to_it() {
    let Some(browser) = Browser::start_online("the menu at a hex") else { return };
    let service = Running::alone();
    let Golden { ruleset, setup, .. } = Golden::read("cycletap/nobody-is-left.tfl");
    create(&service, "menu", &ruleset, &setup);
    join(&browser, &service, "menu", "p1", service.origin());
    browser.run(ONE_MORE);
    give(&browser, "tap 0,1");
    wait_for_entry(&browser, 1);
    browser.wait_until("return !!window.hex && !!document.querySelector('.legal:not([aria-busy])')");
    let hex = browser.run("return window.hex").as_str().unwrap().to_owned();
    let at = format!(".picture [data-at=\"{hex}\"]");
    browser.click(&at);
    browser.wait_until("return !!document.querySelector('.menu:popover-open') && document.activeElement.textContent.startsWith('tap')");
    assert_eq!(browser.text(".menu"), format!("tap {hex}look {hex}"));
    let is_adjacent = browser.run(&format!(
        "const [menu, hex] = ['.menu', {at:?}].map((one) => document.querySelector(one).getBoundingClientRect());\n\
         return Math.abs(menu.left - hex.left) < 2 && (Math.abs(menu.top - hex.bottom) < 2 || Math.abs(menu.bottom - hex.top) < 2);"
    ));
    assert_eq!(is_adjacent, true);
    // Escape closes the menu, and the board has the focus again.
    browser.press('\u{e00c}');
    browser.wait_until(&format!(
        "return !document.querySelector('.menu') && document.activeElement.dataset.at === {hex:?}"
    ));
    browser.click(&at);
    browser.wait_until("return document.activeElement.closest('.menu') !== null");
    browser.press('\u{e007}');
    wait_for_entry(&browser, 2);
    assert!(browser.text(".status").contains(&format!("tap {hex}")), "{}", browser.text(".status"));
    assert_eq!(complaints(&browser), Vec::<String>::new());
}
