//! A listener between browsers and a service that may be restarted at another port (VW-30).

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::{io, thread};

/// A listener that forwards everything.
pub(super) struct Gateway {
    origin: String,
    /// The address of the service.
    address: Arc<Mutex<String>>,
}

impl Gateway {
    /// Listens for browsers and forwards to the service at `http://127.0.0.1:PORT`.
    pub(super) fn before(service: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let address = Arc::new(Mutex::new(service.trim_start_matches("http://").to_owned()));
        let to = Arc::clone(&address);
        thread::spawn(move || {
            for browser in listener.incoming().map_while(Result::ok) {
                let address = to.lock().unwrap().clone();
                let Ok(service) = TcpStream::connect(address) else { continue };
                pass_on(browser.try_clone().unwrap(), service.try_clone().unwrap());
                pass_on(service, browser);
            }
        });
        Self { origin, address }
    }

    /// Forwards to another service from now on.
    pub(super) fn reach(&self, service: &str) {
        service.trim_start_matches("http://").clone_into(&mut self.address.lock().unwrap());
    }

    /// Returns the origin for browsers.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }
}

/// Forwards the bytes of one side to the other, until one of them ends.
fn pass_on(mut from: TcpStream, mut to: TcpStream) {
    thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    });
}
