//! `turnfold join`: takes a seat by an invitation, or takes over the saved link of a seat.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use turnfold_serve::{AccessToken, TokenKind};
use turnfold_store::{GrantId, MatchName};

use crate::client::{Client, Sent, ServiceRequest};
use crate::commands::serve::outside;
use crate::context::{Context, SafeOrigin};
use crate::failure::{ExitStatus, Failure, Result};
use crate::files;
use crate::output::Format;
use crate::program;
use crate::remote::{document, read};

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

struct Link {
    origin: SafeOrigin,
    match_name: MatchName,
    token: AccessToken,
    kind: TokenKind,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
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
    let reply = match client.change(&asked, &Sent { body: Some(&body), key: None, may_repeat: true }) {
        Ok(reply) => reply,
        Err(error) if error.is_refusal() => {
            // The seat was not taken, so the new token is useless.
            if is_new && let Err(error) = fs::remove_file(&args.output) {
                tracing::warn!(%error, "cannot remove the token file");
            }
            return Err(error.into());
        }
        Err(error) => {
            return Err(Failure::from(error).hint("the seat may already be yours: repeat the command"));
        }
    };
    let document: Value = document(&reply)?;
    let joined_match = text(&document, "match");
    if joined_match != match_name.as_str() {
        tracing::warn!("the invitation was for another match than its link says");
    }
    let joined = json!({
        "match": joined_match, "seat": text(&document, "seat"), "id": text(&document, "id"),
        "name": document.get("name"), "origin": origin.to_string(),
    });
    answer(args, &joined, context)
}

fn text<'a>(document: &'a Value, member: &str) -> &'a str {
    document.get(member).and_then(Value::as_str).unwrap_or_default()
}

fn answer(args: &Args, joined: &Value, context: &mut Context) -> Result<ExitStatus> {
    context.output.answer(joined, || {
        let match_name = text(joined, "match");
        let seat = text(joined, "seat");
        let origin = text(joined, "origin");
        let file = files::shown(&args.output);
        let program = program::name();
        let show = format!("{program} --store {origin} --token {file} show {match_name}");
        vec![format!("you are {seat} of {match_name}; `{show}` shows it").into()]
    })
}

/// Writes the token of a saved link to the file, after the service has confirmed it and named its seat.
fn take_over(args: &Args, link: &Link, context: &mut Context) -> Result<ExitStatus> {
    let Link { origin, match_name, token, kind } = link;
    if args.name.is_some() {
        let message = "`--name` is for an invitation: the seat of this link has joined already";
        return Err(Failure::usage(message));
    }
    let client = Client::new(origin.clone(), token.clone(), *kind)?;
    let frames = format!("/v1/matches/{match_name}/branches/main/frames");
    let seen = read(&client, frames, vec![("last", "1".into())])?;
    let seat = text(&seen, "viewer");
    let shown: Value = read(&client, format!("/v1/matches/{match_name}"), Vec::new())?;
    let name = shown.pointer(&format!("/names/{seat}"));
    if fs::symlink_metadata(&args.output).is_err() {
        files::require_no_token(&args.output)?;
        files::write_token(&args.output, token)?;
    } else {
        let known = files::read_token(&args.output)?;
        if known.is_none_or(|(known, _)| known.expose() != token.expose()) {
            let file = files::shown(&args.output);
            return Err(Failure::usage(format!("`{file}` exists and holds something else"))
                .hint("name a file that does not exist"));
        }
    }
    let id = GrantId::of(&token.hash()).to_string();
    let joined = json!({
        "match": match_name.as_str(), "seat": seat, "id": id, "name": name, "origin": origin.to_string(),
    });
    answer(args, &joined, context)
}

fn read_link(link: &str) -> Result<Link> {
    // No error repeats the link, because it holds a token.
    let expected = Failure::usage(
        "expected the link of an invitation, ORIGIN/m/MATCH#i=TOKEN, or of a seat, ORIGIN/m/MATCH#t=TOKEN",
    );
    let Some((address, fragment)) = link.split_once('#') else { return Err(expected) };
    let Some((origin, match_name)) = address.split_once("/m/") else { return Err(expected) };
    let Ok(match_name) = match_name.parse() else { return Err(expected) };
    let origin = SafeOrigin::read(origin).map_err(Failure::usage)?;
    let Some((letter, text)) = fragment.split_once('=') else { return Err(expected) };
    match (letter, AccessToken::parse(text)) {
        ("i", Some((token, kind @ TokenKind::Invitation))) | ("t", Some((token, kind @ TokenKind::Seat))) => {
            Ok(Link { origin, match_name, token, kind })
        }
        ("t", Some(_)) => Err(Failure::usage("the link is no seat's: its token is ready for use")
            .hint("write the part after `#t=` into a file, for `--token`")),
        _ => Err(expected.hint("quote it, and check that it was copied completely")),
    }
}

/// Returns the token for the seat, and whether it is new. A new token is written to disk before it is sent, so that an
/// interruption cannot lose the seat.
fn token_in(path: &Path) -> Result<(AccessToken, bool)> {
    files::require_no_token(path)?;
    if fs::symlink_metadata(path).is_ok() {
        return match files::read_token(path)? {
            Some((token, TokenKind::Seat)) => Ok((token, false)),
            _ => Err(Failure::usage(format!("`{}` exists and holds no seat's token", files::shown(path)))
                .hint("name a file that does not exist")),
        };
    }
    let token = AccessToken::generate(TokenKind::Seat, &outside()?).map_err(Failure::trouble)?;
    files::write_token(path, &token)?;
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
