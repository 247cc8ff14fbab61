//! `turnfold tour`.

use std::fs;

use turnfold_tests::sandbox::Sandbox;

#[test]
fn the_tour_shows_every_verb_it_promises() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("kept")).unwrap();
    let output = sandbox
        .command(["tour"])
        .env("TMPDIR", sandbox.path("kept"))
        .env("XDG_CACHE_HOME", sandbox.path("cache"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let tour = String::from_utf8(output.stdout).unwrap();
    for verb in
        ["new", "play", "show", "ask", "branch", "diff", "export", "bless", "check", "import", "verify"]
    {
        let shown = tour
            .lines()
            .any(|line| line.starts_with("$ turnfold ") && line.split(' ').any(|word| word == verb));
        assert!(shown, "{verb}:\n{tour}");
    }
    assert!(!sandbox.path("cache").exists(), "the broken log is not among the user's failed checks");
    assert!(!sandbox.path(".turnfold").exists(), "the tour leaves no store behind");
    let kept: Vec<_> = fs::read_dir(sandbox.path("kept")).unwrap().map(|file| file.unwrap().path()).collect();
    let [page] = kept.as_slice() else { panic!("the tour leaves one page: {kept:?}") };
    let page = page.to_str().unwrap();
    assert!(tour.lines().last().unwrap().contains(&format!("open `{page}` in a browser")), "{tour}");
    assert_eq!(sandbox.ok(&format!("check {page} --quiet")).lines().count(), 1);
}
