//! Writes the seeds of every fuzz target to the given folder, as in `fuzz/README.md`.

use std::path::PathBuf;
use std::{env, fs, io};

use turnfold_tests::fuzz::targets;

fn main() -> io::Result<()> {
    let folder = env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or_else(|| io::Error::other("expected the folder to write to"))?;
    for target in targets() {
        let seeds = folder.join(&target.name);
        fs::create_dir_all(&seeds)?;
        for (number, seed) in target.seeds.iter().enumerate() {
            fs::write(seeds.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}
