//! The fuzz targets on stable Rust. Each runs over its corpus, its seeds, and seeded mutations of both.
//!
//! `fuzz/README.md` lists the commands for longer fuzzing. An input that once broke a promise is in the corpus as
//! `found-…`.

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::thread;

use turnfold_tests::fuzz::{FuzzTarget, corpora, targets};

use mutation::Mutator;

mod mutation;

/// The number of mutations for each target, which take a few seconds.
const MUTATIONS: usize = 25;

/// Limits of the corpora, so that they can stay next to the code.
const CORPUS_FILES_MAX: usize = 300;
const CORPUS_BYTES_MAX: u64 = 1_000_000;

/// Reads a target's corpus: the names and contents of its files.
fn corpus(target: &FuzzTarget) -> Vec<(String, Vec<u8>)> {
    let folder = target.corpus();
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let read = |path: &Path| (name_of(path), fs::read(path).unwrap());
    let mut inputs: Vec<_> = files.map(|file| read(&file.unwrap().path())).collect();
    inputs.sort();
    inputs
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// Runs a target on an input, and returns a sentence if it fails. The panic message is printed as usual.
fn failure(target: &FuzzTarget, what: &str, input: &[u8]) -> Option<String> {
    let run = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    run.err().map(|_| format!("`{}` fails on {what}: b\"{}\"", target.name, input.escape_ascii()))
}

fn failures(target: &FuzzTarget) -> Vec<String> {
    let corpus = corpus(target);
    let kept = corpus.iter().filter_map(|(name, input)| failure(target, name, input));
    let seeds = target.seeds.iter().filter_map(|seed| failure(target, "a seed", seed));
    let mut failures: Vec<String> = kept.chain(seeds).collect();
    let inputs: Vec<Vec<u8>> = corpus.iter().map(|(_, input)| input).chain(&target.seeds).cloned().collect();
    let mut mutator = Mutator::new(&inputs);
    failures.extend((0..MUTATIONS).filter_map(|number| {
        let input = mutator.next();
        failure(target, &format!("mutation {number}"), &input)
    }));
    failures
}

#[test]
fn every_target_keeps_its_promises_on_its_corpus_and_on_mutations_of_it() {
    let failures: Vec<String> = thread::scope(|scope| {
        let runs: Vec<_> =
            targets().into_iter().map(|target| scope.spawn(move || failures(&target))).collect();
        runs.into_iter().flat_map(|run| run.join().unwrap()).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_target_has_a_binary_and_a_small_corpus() {
    let names: BTreeSet<String> = targets().into_iter().map(|target| target.name).collect();
    let fuzz = corpora().parent().unwrap().to_path_buf();
    let listed = |folder: &Path| -> BTreeSet<String> {
        fs::read_dir(folder).unwrap().map(|item| name_of(&item.unwrap().path())).collect()
    };
    assert_eq!(listed(&corpora()), names, "the corpora");
    let files: BTreeSet<String> = names.iter().map(|name| format!("{name}.rs")).collect();
    assert_eq!(listed(&fuzz.join("fuzz_targets")), files, "the sources of the binaries");
    let manifest: toml::Table = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap().parse().unwrap();
    let binaries = manifest["bin"].as_array().unwrap().iter();
    let binaries: BTreeSet<String> =
        binaries.map(|binary| binary["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(binaries, names, "the binaries of the manifest");

    let inputs: Vec<_> = targets().iter().flat_map(corpus).collect();
    let bytes: u64 = inputs.iter().map(|(_, input)| input.len() as u64).sum();
    assert!(inputs.len() <= CORPUS_FILES_MAX, "{} files in the corpora", inputs.len());
    assert!(bytes <= CORPUS_BYTES_MAX, "{bytes} bytes in the corpora");
    assert!(targets().iter().all(|target| !corpus(target).is_empty()), "a corpus is empty");
}
