//! The terminal as client of the service (SV-40).

use super::running::Running;
use crate::sandbox::Sandbox;

#[test]
fn a_running_service_knows_its_admin_and_whom_a_host_let_in() {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative");
    let service = Running::start(&sandbox);
    let matches = |token: &str| service.send("GET", "/v1/matches", token, "");
    assert_eq!(matches(service.admin()).json()["items"][0]["match"], "duel");
    assert_eq!(matches("tf_a_").status, 401);
    assert_eq!(matches("tf_a_").headers["www-authenticate"], "Bearer");
    let grant = service.grant("duel", r#"{"kind":"invitation","seat":"p1"}"#);
    assert!(grant["link"].as_str().unwrap().starts_with(service.origin()));
}
