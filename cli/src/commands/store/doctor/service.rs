//! Checks of a service: its answers, its clock and the token.

use turnfold_serve::TokenKind;

use super::DoctorFinding;
use crate::clock;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::Format;
use crate::remote::client::{Client, ServiceReply, ServiceRequest};

/// How far the clock of a service may differ from this machine's, in milliseconds. Answers give whole seconds and take
/// time to arrive.
const CLOCK_TOLERANCE_MS: u64 = 30_000;

pub(super) fn findings(context: &Context) -> Vec<DoctorFinding> {
    let client = match context.service() {
        Ok(Some(client)) => client,
        Ok(None) => return Vec::new(),
        Err(failure) => return vec![DoctorFinding::failed("token", &failure)],
    };
    let mut findings = Vec::new();
    match client.get(&ServiceRequest::of("/readyz", Vec::new(), Format::Text)) {
        Ok(reply) => {
            findings.push(DoctorFinding::ok("service", "takes requests, and its store accepts writes"));
            findings.extend(clock_finding(&reply));
        }
        Err(failure) => findings.push(DoctorFinding::failed("service", &failure)),
    }
    let listed = client.get(&ServiceRequest::of("/v1/matches", Vec::new(), Format::Json));
    findings.push(token(client, listed));
    findings
}

/// Compares the clocks, because deadlines and delays go by the clock of the service.
fn clock_finding(reply: &ServiceReply) -> Option<DoctorFinding> {
    let date = reply.header("date")?;
    let service_ms = clock::since_1970(httpdate::parse_http_date(date).ok()?)?;
    let own_ms = clock::now_ms().ok()?;
    let own = clock::rfc_3339(own_ms)?;
    if service_ms.abs_diff(own_ms) <= CLOCK_TOLERANCE_MS {
        let message = format!("the service and this machine agree: {own}");
        return Some(DoctorFinding::ok("clock", message));
    }
    let message = format!("{date} at the service, and {own} here");
    let next_step = "set the clock that is wrong, and keep it by a time service";
    Some(DoctorFinding::mend("clock", message, next_step))
}

fn token(client: &Client, listed: Result<ServiceReply, Failure>) -> DoctorFinding {
    let kind = match client.kind() {
        TokenKind::Admin => "the admin",
        TokenKind::Host => "the host of a match",
        TokenKind::Seat => "a seat",
        TokenKind::Spectator => "a spectator",
        TokenKind::Calendar => "a calendar",
        TokenKind::Invitation => {
            return DoctorFinding::note("token", "is of an invitation", "run `turnfold join`");
        }
    };
    match listed {
        Ok(_) => DoctorFinding::ok("token", format!("is valid, and of {kind}")),
        Err(failure) => DoctorFinding::failed("token", &failure),
    }
}
