//! The setup of a match: the palette, the cells of both fields and durations.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::grid::Grid;
use super::palette::{ColorIndex, Palette, Rgb};
use super::state::{Action, Field, State, Timing};
use turnfold_core::dice::DiceStream;
use turnfold_core::hex::{Board, Direction, Hex};
use turnfold_core::rules::SetupError;

/// The setup as written in TOML. Every field has a default.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// The radius of both fields in hexes, 1..=40.
    pub radius: u8,
    /// The colors, 2..=32 of them.
    pub palette: Vec<Rgb>,
    /// The player's base color, by its index in the palette.
    pub player_color: u8,
    /// The seconds to count down, 0..=1,000,000.
    pub timer_seconds: u32,
    /// The cursor's hex at the start.
    pub cursor: Hex,
    /// The turtle's hex at the start.
    pub turtle: Hex,
    /// The index of the direction that the turtle faces, 0..=5.
    pub facing: u8,
    /// How many ticks a charge lasts in the world.
    pub hold: u32,
    /// How many ticks the cooldown lasts after a failed capture.
    pub fail_cooldown: u32,
    /// How many ticks the cooldown lasts after a hex is put down.
    pub drop_cooldown: u32,
    /// How many ticks a flash lasts.
    pub flash: u32,
    /// The number of ticks in a second.
    pub ticks_per_second: u32,
    /// The ticks from one approach step to the next.
    pub approach_period: u32,
    /// The ticks from one release step, or cursor move while carrying, to the next.
    pub carry_period: u32,
    /// The ticks from one `stick` to the next.
    pub stick_period: u32,
    /// The least chance of a capture in percent.
    pub min_chance: u8,
    /// A world generated from a seed, instead of `cells`.
    pub generate: Option<Generate>,
    /// The colored cells of the world, instead of `generate`.
    pub cells: Option<Vec<CellSetup>>,
    /// The colored cells of the inventory.
    pub inventory: Vec<CellSetup>,
}

/// A world generated from a seed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generate {
    /// The seed, 0..=2⁶³−1. The same seed always makes the same world.
    pub seed: u64,
    /// The chance in percent that a cell is colored.
    pub percent: u8,
}

/// A colored cell as written in TOML.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellSetup {
    /// Where it is.
    pub at: Hex,
    /// Its color, by its index in the palette.
    pub color: u8,
}

impl Default for Setup {
    fn default() -> Self {
        let palette =
            [0xFF_80_00, 0xCC_66_00, 0x99_66_00, 0x66_66_00, 0x66_00_99, 0x99_33_FF, 0xCC_66_FF, 0xFF_99_FF];
        Self {
            radius: 5,
            palette: palette.map(Rgb::new).into(),
            player_color: 0,
            timer_seconds: 300,
            cursor: Hex::default(),
            turtle: Hex::default(),
            facing: 0,
            hold: 6,
            fail_cooldown: 12,
            drop_cooldown: 6,
            flash: 2,
            ticks_per_second: 12,
            approach_period: 2,
            carry_period: 4,
            stick_period: 6,
            min_chance: 10,
            generate: None,
            cells: None,
            inventory: Vec::new(),
        }
    }
}

/// Checks a setup and returns the first state: tick 0, the world in view, nothing held or carried.
pub(super) fn start(setup: &Setup) -> Result<State, SetupError> {
    SetupError::within("radius", &setup.radius, 1..=40)?;
    let board = Board::new(setup.radius);
    let palette = read_palette(setup)?;
    SetupError::within("timer_seconds", &setup.timer_seconds, 0..=1_000_000)?;
    SetupError::on_board("cursor", board, setup.cursor)?;
    SetupError::on_board("turtle", board, setup.turtle)?;
    SetupError::within("facing", &setup.facing, 0..=5)?;
    let facing = Direction::ALL.get(usize::from(setup.facing)).copied().unwrap_or(Direction::N);
    let timing = read_timing(setup)?;
    let world = match (&setup.generate, &setup.cells) {
        (Some(_), Some(_)) => {
            return Err(SetupError::value("generate", "expected either `generate` or `cells`, found both"));
        }
        (Some(world), None) => generate(board, &palette, world)?,
        (None, cells) => read_cells("cells", board, &palette, cells.as_deref().unwrap_or_default())?,
    };
    let inventory = read_cells("inventory", board, &palette, &setup.inventory)?;
    Ok(State {
        board,
        eaten: vec![0; palette.colors.len()],
        palette,
        timing,
        world,
        inventory,
        tick: 0,
        remaining_seconds: setup.timer_seconds,
        field: Field::World,
        cursor: setup.cursor,
        turtle: setup.turtle,
        facing,
        action: Action::Free,
        cooldown: 0,
        carried: None,
        flash: None,
        last_stick: None,
        due: None,
    })
}

fn read_palette(setup: &Setup) -> Result<Palette, SetupError> {
    SetupError::within("palette", &setup.palette.len(), 2..=32)?;
    check_color("player_color", &setup.palette, setup.player_color)?;
    SetupError::within("min_chance", &setup.min_chance, 0..=100)?;
    Ok(Palette {
        colors: setup.palette.clone(),
        player_color: ColorIndex::new(setup.player_color),
        min_chance: setup.min_chance,
    })
}

fn check_color(field: &str, colors: &[Rgb], color: u8) -> Result<(), SetupError> {
    SetupError::within(field, &usize::from(color), 0..=colors.len().saturating_sub(1))
}

fn read_timing(setup: &Setup) -> Result<Timing, SetupError> {
    let spans = [
        ("hold", setup.hold),
        ("fail_cooldown", setup.fail_cooldown),
        ("drop_cooldown", setup.drop_cooldown),
        ("flash", setup.flash),
    ];
    let periods = [
        ("ticks_per_second", setup.ticks_per_second),
        ("approach_period", setup.approach_period),
        ("carry_period", setup.carry_period),
        ("stick_period", setup.stick_period),
    ];
    for (least, fields) in [(0, spans), (1, periods)] {
        for (field, ticks) in fields {
            SetupError::within(field, &ticks, least..=100_000)?;
        }
    }
    Ok(Timing {
        hold: setup.hold,
        fail_cooldown: setup.fail_cooldown,
        drop_cooldown: setup.drop_cooldown,
        flash: setup.flash,
        ticks_per_second: setup.ticks_per_second,
        approach_period: setup.approach_period,
        carry_period: setup.carry_period,
        stick_period: setup.stick_period,
    })
}

/// HC-1: goes through the cells by q, then r. One draw decides if a cell is colored, and a second draws its color.
fn generate(board: Board, palette: &Palette, world: &Generate) -> Result<Grid, SetupError> {
    SetupError::within("generate.seed", &world.seed, 0..=i64::MAX.unsigned_abs())?;
    SetupError::within("generate.percent", &world.percent, 0..=100)?;
    let last_color = i32::try_from(palette.colors.len()).unwrap_or(i32::MAX).saturating_sub(1);
    let mut stream = DiceStream::for_setup(world.seed);
    let mut grid = Grid::empty(board);
    for hex in board.hexes() {
        if stream.draw(0, 99) < i32::from(world.percent) {
            let color = u8::try_from(stream.draw(0, last_color)).ok().map(ColorIndex::new);
            grid.set(board, hex, color);
        }
    }
    Ok(grid)
}

fn read_cells(list: &str, board: Board, palette: &Palette, cells: &[CellSetup]) -> Result<Grid, SetupError> {
    let mut listed = BTreeSet::new();
    let mut grid = Grid::empty(board);
    for (index, cell) in cells.iter().enumerate() {
        let at = format!("{list}[{index}].at");
        SetupError::on_board(&at, board, cell.at)?;
        SetupError::unique(&mut listed, cell.at, &at, format_args!("hex {}", cell.at))?;
        check_color(&format!("{list}[{index}].color"), &palette.colors, cell.color)?;
        grid.set(board, cell.at, Some(ColorIndex::new(cell.color)));
    }
    Ok(grid)
}
