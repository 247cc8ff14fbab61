//! The origin of a service to which tokens may be sent.

use std::fmt;
use std::net::IpAddr;

use ureq::http::Uri;

use crate::origin::read_origin;

/// An origin with TLS or on this machine, because a token must not be sent in the clear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SafeOrigin(String);

impl SafeOrigin {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let origin = read_origin(text.strip_suffix('/').unwrap_or(text))?;
        let uri: Uri =
            origin.parse().map_err(|_| "expected a host and, if need be, `:` and a port".to_owned())?;
        let host = uri.host().unwrap_or_default();
        let port = uri.authority().and_then(|authority| authority.as_str().strip_prefix(host));
        if !port.is_some_and(|port| port.is_empty() || is_port(port)) {
            return Err("expected a host and, if need be, `:` and a port".into());
        }
        let address = host.trim_start_matches('[').trim_end_matches(']').parse();
        let is_here = host == "localhost" || address.is_ok_and(|address: IpAddr| address.is_loopback());
        let origin = Self(origin);
        if origin.has_tls() || is_here {
            return Ok(origin);
        }
        Err("a token is sent by `https` only, and by `http` within this machine".into())
    }

    pub(crate) fn has_tls(&self) -> bool {
        self.0.starts_with("https://")
    }
}

fn is_port(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok())
}

impl fmt::Display for SafeOrigin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_sent_with_tls_or_within_this_machine() {
        for text in [
            "https://play.example",
            "https://play.example:8443/",
            "http://127.0.0.1:8017",
            "http://127.1.2.3",
            "http://[::1]:8017",
            "http://localhost:8017/",
        ] {
            assert!(SafeOrigin::read(text).is_ok(), "{text}");
        }
        for text in [
            "http://play.example",
            "http://127.0.0.1.example",
            "http://127.0.0.1@play.example",
            "http://localhost.example",
            "http://192.168.0.1:8017",
            "http://[::2]",
            "https://play.example/path",
            "https://play.example/#i=x",
            "https://play.example?x",
            "https://user:word@play.example",
            "https://play.example:port",
            "https://",
            "ftp://play.example",
        ] {
            assert!(SafeOrigin::read(text).is_err(), "{text}");
        }
    }
}
