//! `turnfold join`: takes a seat by an invitation, or takes over the saved link of a seat.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use turnfold_history::program;
use turnfold_serve::{AccessToken, TokenKind};
use turnfold_store::{GrantId, MatchName};

use crate::commands::serve::outside;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files;
use crate::output::Format;
use crate::remote::client::{Client, Sent, ServiceRequest};
use crate::remote::look::{document, read};
use crate::remote::origin::SafeOrigin;

/// Take a seat in a served match, by an invitation link
///
/// Makes the token of the seat, writes it to a file that only you can read, and uses up the invitation. If no answer comes,
/// repeat the command: the invitation can be used again with the same token. The first to join has the seat.
///
/// With the link that you saved of your seat, ORIGIN/m/MATCH#t=TOKEN, writes that token to the file: a second device.
///
/// Pass the file to `--token`: `turnfold --store https://play.example --token p1.token show duel`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold join 'https://play.example/m/duel#i=tf_i_…' -o p1.token")]
pub(crate) struct Args {
    /// The link, ORIGIN/m/MATCH#i=TOKEN
    #[arg(value_name = "LINK")]
    link: String,

    /// Your name, up to 32 characters, which all who see the match see
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// File for the token of the seat; an existing token is used again
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// The link of an invitation or of a seat.
struct Link {
    origin: SafeOrigin,
    match_name: MatchName,
    token: AccessToken,
    kind: TokenKind,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let link = read_link(&args.link)?;
    if link.kind == TokenKind::Seat {
        return take_over(args, &link, context);
    }
    let Link { origin, match_name, token: invitation, kind } = link;
    let client = Client::new(origin.clone(), invitation, kind)?;
    let (token, is_new) = token_in(&args.output)?;
    let asked = ServiceRequest::of("/v1/join", Vec::new(), Format::Json);
    let mut body = json!({ "token": token.expose() });
    if let (Some(name), Some(body)) = (&args.name, body.as_object_mut()) {
        body.insert("name".into(), json!(name));
    }
    let answered = client.change(&asked, &Sent { body: Some(&body), key: None, may_repeat: true });
    let reply = answered.map_err(|not_answered| {
        let is_refusal = not_answered.is_refusal();
        let failure = Failure::from(not_answered);
        if is_refusal {
            // The seat was not taken, so the new token is useless.
            if is_new && let Err(error) = fs::remove_file(&args.output) {
                tracing::warn!(%error, "cannot remove the token file");
            }
            return failure;
        }
        failure.hint("the seat may already be yours: repeat the command")
    })?;
    let document = document(&reply)?;
    let text = |member| document.get(member).and_then(Value::as_str).unwrap_or_default().to_owned();
    let joined_match = text("match");
    let seat = text("seat");
    if joined_match != match_name.as_str() {
        tracing::warn!("the invitation was for another match than its link says");
    }
    let name = document.get("name").cloned().unwrap_or_default();
    answer(
        args,
        context,
        Joined { match_name: &joined_match, seat: &seat, id: &text("id"), name, origin: &origin },
    )
}

/// A seat whose token is in the output file.
struct Joined<'a> {
    match_name: &'a str,
    seat: &'a str,
    id: &'a str,
    name: Value,
    origin: &'a SafeOrigin,
}

fn answer(args: &Args, context: &mut Context, joined: Joined<'_>) -> Result<ExitStatus, Failure> {
    let Joined { match_name, seat, id, name, origin } = joined;
    let document =
        json!({ "match": match_name, "seat": seat, "id": id, "name": name, "origin": origin.to_string() });
    context.output.answer(&document, || {
        let file = files::shown(&args.output);
        let program = program::name();
        let show = format!("{program} --store {origin} --token {file} show {match_name}");
        vec![format!("you are {seat} of {match_name}; `{show}` shows it").into()]
    })
}

/// Writes the token of a saved link to the file, after the service has confirmed it and named its seat.
fn take_over(args: &Args, link: &Link, context: &mut Context) -> Result<ExitStatus, Failure> {
    let Link { origin, match_name, token, kind } = link;
    if args.name.is_some() {
        return Err(Failure::usage(
            "`--name` is for an invitation: the seat of this link has joined already",
        ));
    }
    let client = Client::new(origin.clone(), token.clone(), *kind)?;
    let frames = format!("/v1/matches/{match_name}/branches/main/frames");
    let seen = read(&client, frames, vec![("last", "1".into())])?;
    let seat = seen.get("viewer").and_then(Value::as_str).unwrap_or_default().to_owned();
    let shown = read(&client, format!("/v1/matches/{match_name}"), Vec::new())?;
    let name = shown.pointer(&format!("/names/{seat}")).cloned().unwrap_or_default();
    if fs::symlink_metadata(&args.output).is_err() {
        files::require_no_token(&args.output)?;
        files::write_private(&args.output, false, |file| Ok(writeln!(file, "{}", token.expose())?))?;
    } else {
        let known = files::read_token(&args.output)?;
        if known.is_none_or(|(known, _)| known.expose() != token.expose()) {
            let file = files::shown(&args.output);
            return Err(Failure::usage(format!("`{file}` exists and holds something else"))
                .hint("name a file that does not exist"));
        }
    }
    let id = GrantId::of(&token.hash()).to_string();
    answer(args, context, Joined { match_name: match_name.as_str(), seat: &seat, id: &id, name, origin })
}

/// Reads the link of an invitation or of a seat. Errors do not repeat the link, because it holds a token.
fn read_link(link: &str) -> Result<Link, Failure> {
    let expected = || {
        Failure::usage(
            "expected the link of an invitation, ORIGIN/m/MATCH#i=TOKEN, or of a seat, ORIGIN/m/MATCH#t=TOKEN",
        )
    };
    let (address, fragment) = link.split_once('#').ok_or_else(expected)?;
    let (origin, match_name) = address.split_once("/m/").ok_or_else(expected)?;
    let match_name = match_name.parse().map_err(|_| expected())?;
    let origin = SafeOrigin::read(origin).map_err(Failure::usage)?;
    let (letter, text) = fragment.split_once('=').ok_or_else(expected)?;
    match (letter, AccessToken::parse(text)) {
        ("i", Some((token, kind @ TokenKind::Invitation))) | ("t", Some((token, kind @ TokenKind::Seat))) => {
            Ok(Link { origin, match_name, token, kind })
        }
        ("t", Some(_)) => Err(Failure::usage("the link is no seat's: its token is ready for use")
            .hint("write the part after `#t=` into a file, for `--token`")),
        _ => Err(expected().hint("quote it, and check that it was copied completely")),
    }
}

/// Returns the token for the seat, and whether it is new. A new token is written to disk before it is sent, so that an
/// interruption cannot lose the seat.
fn token_in(path: &Path) -> Result<(AccessToken, bool), Failure> {
    files::require_no_token(path)?;
    if fs::symlink_metadata(path).is_ok() {
        return match files::read_token(path)? {
            Some((token, TokenKind::Seat)) => Ok((token, false)),
            _ => Err(Failure::usage(format!("`{}` exists and holds no seat's token", files::shown(path)))
                .hint("name a file that does not exist")),
        };
    }
    let token = AccessToken::generate(TokenKind::Seat, &outside()?).map_err(Failure::trouble)?;
    files::write_private(path, false, |file| Ok(writeln!(file, "{}", token.expose())?))?;
    Ok((token, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

    #[test]
    fn links_are_read_strictly_and_never_repeated() {
        let link = format!("https://play.example/m/duel#i=tf_i_{SECRET}");
        let Ok(Link { origin, match_name, token, kind: TokenKind::Invitation }) = read_link(&link) else {
            panic!()
        };
        assert_eq!((origin.to_string().as_str(), match_name.as_str()), ("https://play.example", "duel"));
        assert_eq!(token.expose(), format!("tf_i_{SECRET}"));
        for link in [
            link.replace("#i=", "#t="),
            link.replace("#i=", "#t=").replace("tf_i", "tf_h"),
            link.replace("tf_i", "tf_s"),
            link.replace("https", "http"),
            link.replace("/m/duel", "/m/Duel"),
            link.replace("/m/duel", ""),
            link.replace("#i=", "?i="),
            format!("{link}A"),
        ] {
            let Err(failure) = read_link(&link) else { panic!("{link}") };
            assert!(!failure.to_string().contains(SECRET), "{failure}");
        }
    }
}
