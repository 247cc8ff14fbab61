//! What a service says to a browser, all of it: a listener between the two that writes everything down (VW-30).

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A listener that passes everything on.
pub(super) struct Recorder {
    origin: String,
    /// Where the service is.
    address: Arc<Mutex<String>>,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl Recorder {
    /// Listens for a browser that is to reach a service, `http://127.0.0.1:PORT`.
    pub(super) fn before(service: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let heard = Arc::<Mutex<Vec<u8>>>::default();
        let address = Arc::new(Mutex::new(service.trim_start_matches("http://").to_owned()));
        let (to, all) = (Arc::clone(&address), Arc::clone(&heard));
        thread::spawn(move || {
            for browser in listener.incoming().map_while(Result::ok) {
                let address = to.lock().unwrap().clone();
                let Ok(service) = TcpStream::connect(address) else { continue };
                pass_on(browser.try_clone().unwrap(), service.try_clone().unwrap(), None);
                pass_on(service, browser, Some(Arc::clone(&all)));
            }
        });
        Self { origin, address, heard }
    }

    /// Reaches another service from now on, which may be the same one started again at another port.
    pub(super) fn reach(&self, service: &str) {
        service.trim_start_matches("http://").clone_into(&mut self.address.lock().unwrap());
    }

    /// Where the browser finds it.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// Everything that the service has said.
    pub(super) fn heard(&self) -> String {
        String::from_utf8_lossy(&self.heard.lock().unwrap()).into_owned()
    }
}

/// Passes on what one side says to the other, until one of them ends.
fn pass_on(mut from: TcpStream, mut to: TcpStream, heard: Option<Arc<Mutex<Vec<u8>>>>) {
    thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            if let Some(heard) = &heard {
                heard.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
            if to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(std::net::Shutdown::Both);
    });
}
