//! `serve --config`: options in a file.

use snapbox::str;

use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

#[test]
fn options_of_a_file_hold_unless_the_command_line_has_others() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("etc")).unwrap();
    sandbox.write("etc/serve.toml", "listen = \"127.0.0.1:0\"\nadmin-token = \"admin.token\"\ncache = 16\n");
    sandbox.write("open.toml", "listen = \"127.0.0.1:0\"\ncors = [\"http://127.0.0.1:9\"]\n");
    sandbox.check(str![[r#"
$ turnfold serve --config etc/serve.toml --check-config
listen = "127.0.0.1:0"
behind-proxy = false
admin-token = "etc/admin.token"
cache = 16
$ turnfold serve --config etc/serve.toml --cache 8 --listen 127.0.0.1:9 --check-config
listen = "127.0.0.1:9"
behind-proxy = false
admin-token = "etc/admin.token"
cache = 8
$ turnfold --format json serve --config etc/serve.toml --check-config
{"listen":"127.0.0.1:0","behind_proxy":false,"origin":null,"admin_token":"etc/admin.token","cors":[],"metrics":null,"key":null,"cache":16}

"#]]);
    let service = Running::start_by(sandbox.command(["serve", "--config", "open.toml"]));
    assert!(service.origin().starts_with("http://127.0.0.1:"), "{}", service.origin());
}

#[test]
fn what_is_wrong_in_a_file_is_named_with_its_place() {
    let sandbox = Sandbox::new();
    sandbox.write("name.toml", "cache = 16\n\nlissen = 3\n");
    sandbox.write("origin.toml", "origin = \"play.example\"\n");
    sandbox.write("cache.toml", "cache = 1000001\n");
    sandbox.write("open.toml", "listen = \"0.0.0.0:8017\"\n");
    sandbox.check(str![[r#"
$ turnfold serve --config name.toml
exit 2| error: `name.toml`, line 3: unknown field `lissen`, expected one of `listen`, `behind-proxy`, `origin`, `admin-token`, `cors`, `metrics`, `key`, `cache`; `turnfold serve --help` lists the options; in a file, their names have no dashes in front
$ turnfold serve --config origin.toml
exit 2| error: `origin.toml`, `play.example`: expected an origin such as `https://play.example`, with nothing behind the host and its port
$ turnfold serve --config cache.toml
exit 2| error: `cache.toml`: `cache` is at most 1000000 MiB
$ turnfold serve --config open.toml
exit 2| error: to listen on `0.0.0.0:8017`, which others can reach, add `--behind-proxy` and `--origin` and `--admin-token`; it does not speak TLS, so a proxy must
$ turnfold serve --config none.toml
exit 2| error: cannot read `none.toml`: No such file or directory (os error 2)

"#]]);
}
