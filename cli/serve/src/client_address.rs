//! The address that a request comes from, by which guesses of tokens are counted (SV-31).

use std::net::{IpAddr, Ipv6Addr};

use axum::http::{HeaderMap, HeaderName};

/// The header to which a proxy appends the address of its client.
const FORWARDED: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address of a client, if it is known. Addresses that one client can choose from count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClientAddress(pub(crate) Option<IpAddr>);

impl ClientAddress {
    /// Returns the address of a client that connects without a proxy.
    pub(crate) fn of_peer(peer: IpAddr) -> Self {
        Self(Some(network(peer)))
    }

    /// Returns the last address of the header, which the proxy added. Those before it are the client's own claim.
    pub(crate) fn of_forwarded(headers: &HeaderMap) -> Self {
        let last = headers.get_all(FORWARDED).iter().next_back().and_then(|value| value.to_str().ok());
        let last = last.and_then(|value| value.rsplit(',').next()).map(str::trim);
        Self(last.and_then(|address| address.parse().ok()).map(network))
    }
}

/// Returns the first address of the client's network; for IPv6, of its /64.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_address_that_the_proxy_added_counts() {
        let client_of = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(FORWARDED, value.parse().unwrap());
            }
            ClientAddress::of_forwarded(&headers).0.map(|address| address.to_string())
        };
        assert_eq!(client_of(&["10.0.0.1"]).as_deref(), Some("10.0.0.1"));
        assert_eq!(client_of(&["1.1.1.1, 2.2.2.2,10.0.0.2"]).as_deref(), Some("10.0.0.2"));
        assert_eq!(client_of(&["1.1.1.1", "10.0.0.3"]).as_deref(), Some("10.0.0.3"));
        assert_eq!(client_of(&["2001:db8:1:2:3:4:5:6"]).as_deref(), Some("2001:db8:1:2::"));
        assert_eq!(client_of(&["::ffff:10.0.0.4"]).as_deref(), Some("10.0.0.4"));
        assert_eq!(client_of(&["unknown"]), None);
        assert_eq!(client_of(&[]), None);
    }
}
