//! The colors of a picture: one file for SVG and page, each in light and dark.

/// The colors as CSS custom properties, for pages.
pub const COLORS: &str = include_str!("../page/colors.css");

/// The tints that have colors of their own; what follows `class=` in SVG and page.
const TINTS: [&str; 8] = ["plain", "faint", "bright", "blocked", "first", "second", "third", "fourth"];

/// What has the color of its tint, as CSS; `TINT` stands for the tint's name.
const TINTED: &str = "\
.cell.TINT>.hex,.piece.TINT>.disc,.chip.TINT>.box{fill:var(--TINT-fill);stroke:var(--TINT-edge)}\
.cell.TINT>text,.piece.TINT>.label,.chip.TINT>text,.span.TINT,.cell.TINT>.corner{fill:var(--TINT-ink)}\
.cell.TINT>.inner,.cell.changed.TINT>.hex{stroke:var(--TINT-ink)}\
.bar.TINT>.full{fill:var(--TINT-edge)}\
.arrow.TINT{stroke:var(--TINT-edge)}\n";

const TINTED_SQUARE: &str = "\
.cell.TINT>.square{fill:var(--TINT-fill)}.cell.changed.TINT>.square{stroke:var(--TINT-ink)}\
.figure.TINT>.glyph{fill:var(--TINT-fill);stroke:var(--TINT-ink)}\n";

const SQUARES: &str = "\
.cell.changed>.square{stroke-width:4}.cell.changed.rgb>.square{stroke:var(--ink)}\
.glyph{paint-order:stroke;stroke-width:1.5;stroke-linejoin:round}\
.cell.plain.light>.square{fill:var(--light)}.cell.plain.dark>.square{fill:var(--dark)}\n";

const UNTINTED: &str = "\
.paper{fill:var(--paper)}\
.ground{fill:var(--ground);stroke:var(--ground-edge)}\
.board>.at{fill:var(--at)}\
.track{fill:var(--track);stroke:var(--plain-edge)}\
.value,.piece>.mark{fill:var(--ink)}\
.rgb>.hex,.rgb>.disc,.rgb>.box{stroke:var(--rgb-edge)}\
.cell.changed.rgb>.hex{stroke:var(--ink)}\
.line>.corner,.row>.corner,.bar>.corner{fill:var(--ink)}\n";

/// Light or dark, as the reader's system has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Dark text on light ground.
    Light,
    /// Light text on dark ground.
    Dark,
}

impl Scheme {
    pub(crate) fn colors(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let (light, dark) = COLORS.split_once("@media").unwrap_or((COLORS, ""));
        let lines = match self {
            Self::Light => light,
            Self::Dark => dark,
        };
        lines.lines().filter_map(|line| line.trim().strip_prefix("--")?.strip_suffix(';')?.split_once(": "))
    }
}

/// Returns the rules that color a picture, with the custom properties of [`COLORS`]. Only a picture with squares brings
/// the rules for squares along.
fn rules(has_squares: bool) -> String {
    // What is without tint comes first, so that a tint can override it.
    let mut rules = UNTINTED.to_owned();
    for tint in TINTS {
        rules.push_str(&TINTED.replace("TINT", tint));
    }
    if has_squares {
        for tint in TINTS {
            rules.push_str(&TINTED_SQUARE.replace("TINT", tint));
        }
        rules.push_str(SQUARES);
    }
    rules
}

/// Returns the rules that color a picture by itself. They name no custom properties, which few programs but browsers
/// know: those show it as in light.
pub(super) fn standalone_rules(has_squares: bool) -> String {
    let light = rules_in(Scheme::Light, has_squares);
    let dark = rules_in(Scheme::Dark, has_squares);
    format!("{light}@media (prefers-color-scheme:dark){{\n{dark}}}\n")
}

fn rules_in(scheme: Scheme, has_squares: bool) -> String {
    let mut rules = rules(has_squares);
    for (name, value) in scheme.colors() {
        rules = rules.replace(&format!("var(--{name})"), value);
    }
    rules
}

/// The color of text on a color of the game itself, whichever is easier to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// On light colors.
    Black,
    /// On dark colors.
    White,
}

impl Ink {
    /// Chooses the ink for a color `0xRRGGBB`, whose contrast with the one is as large as with the other at a relative
    /// luminance of 0.179.
    #[must_use]
    pub fn on(color: u32) -> Self {
        if luminance(color) > 0.179 { Self::Black } else { Self::White }
    }

    /// Returns the color as `#rrggbb`.
    #[must_use]
    pub const fn hex(self) -> &'static str {
        match self {
            Self::Black => "#000000",
            Self::White => "#ffffff",
        }
    }
}

/// Returns the relative luminance of a color, as the WCAG define it.
fn luminance(color: u32) -> f64 {
    let [_, red, green, blue] = color.to_be_bytes().map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn contrast(one: u32, other: u32) -> f64 {
        let [one, other] = [luminance(one), luminance(other)];
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    fn value(hex: &str) -> u32 {
        u32::from_str_radix(hex.strip_prefix('#').unwrap(), 16).unwrap()
    }

    /// VW-21: contrast of text is 4.5 at least, of outlines 3.
    #[test]
    fn text_and_outlines_stand_out_in_light_and_dark() {
        for scheme in [Scheme::Light, Scheme::Dark] {
            let colors: BTreeMap<&str, u32> =
                scheme.colors().map(|(name, color)| (name, value(color))).collect();
            let check = |name: &str, ground: &str, least: f64| {
                let found = contrast(colors[name], colors[ground]);
                assert!(found >= least, "{scheme:?}: {name} on {ground}: {found:.2}");
            };
            for tint in TINTS {
                let [ink, edge, fill] = ["ink", "edge", "fill"].map(|part| format!("{tint}-{part}"));
                for ground in [fill.as_str(), "paper", "ground"] {
                    check(&ink, ground, 4.5);
                }
                for ground in ["paper", "ground", "track"] {
                    check(&edge, ground, 3.0);
                }
            }
            for square in ["light", "dark"] {
                check("plain-ink", square, 4.5);
            }
            for (name, least) in [("ink", 4.5), ("at", 4.5), ("ground-edge", 3.0), ("rgb-edge", 3.0)] {
                for ground in ["paper", "ground"] {
                    check(name, ground, least);
                }
            }
        }
    }

    #[test]
    fn on_every_color_of_a_game_text_stands_out() {
        for step in 0..512_u32 {
            let part = |place: u32| (step / 8_u32.pow(place) % 8) * 0x24;
            let color = (part(2) << 16) | (part(1) << 8) | part(0);
            let found = contrast(color, value(Ink::on(color).hex()));
            assert!(found >= 4.5, "{color:06x}: {found:.2}");
        }
    }

    #[test]
    fn both_schemes_have_every_color_that_a_picture_uses() {
        let names = |scheme: Scheme| scheme.colors().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names(Scheme::Light), names(Scheme::Dark));
        let rules = standalone_rules(true);
        assert!(!rules.contains("var("), "{rules}");
    }
}
