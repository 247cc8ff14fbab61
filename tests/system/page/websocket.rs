//! A `WebSocket` client (RFC 6455) with what `WebDriver` `BiDi` needs: texts, to and from this machine.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Longer than any request to the browser takes.
const TIMEOUT: Duration = Duration::from_mins(3);

/// Any mask will do on this machine.
const MASK: u8 = 0x5a;

const CONTINUED: u8 = 0;
const TEXT: u8 = 1;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// An open connection.
pub(super) struct WebSocket {
    reader: BufReader<TcpStream>,
}

impl WebSocket {
    /// Connects to a path of a server on this machine.
    pub(super) fn connect(port: u16, path: &str) -> io::Result<Self> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: dHVybmZvbGQgYnJvd3Nlcg==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )?;
        let mut reader = BufReader::new(stream);
        let mut status = String::new();
        reader.read_line(&mut status)?;
        let mut line = status.clone();
        while !line.trim().is_empty() {
            line.clear();
            reader.read_line(&mut line)?;
        }
        let is_open = status.starts_with("HTTP/1.1 101 ");
        if is_open { Ok(Self { reader }) } else { Err(io::Error::other(status)) }
    }

    /// Sends a text.
    pub(super) fn send(&mut self, text: &str) -> io::Result<()> {
        self.write(TEXT, text.as_bytes())
    }

    /// Returns the next text.
    pub(super) fn receive(&mut self) -> io::Result<String> {
        let mut text = Vec::new();
        loop {
            let [first, second] = self.read()?;
            let length = match second & 0x7f {
                126 => u64::from(u16::from_be_bytes(self.read()?)),
                127 => u64::from_be_bytes(self.read()?),
                length => length.into(),
            };
            let mut payload = vec![0; usize::try_from(length).map_err(io::Error::other)?];
            self.reader.read_exact(&mut payload)?;
            match first & 0x0f {
                PING => self.write(PONG, &payload)?,
                CLOSE => return Err(io::Error::other("the browser has closed the connection")),
                TEXT | CONTINUED => {
                    text.append(&mut payload);
                    if first & 0x80 != 0 {
                        return String::from_utf8(text).map_err(io::Error::other);
                    }
                }
                _ => {}
            }
        }
    }

    /// Writes a frame. A client must mask its frames.
    fn write(&mut self, kind: u8, payload: &[u8]) -> io::Result<()> {
        let length = payload.len();
        let mut frame = vec![0x80 | kind];
        match (u8::try_from(length), u16::try_from(length)) {
            (Ok(length @ ..126), _) => frame.push(0x80 | length),
            (_, Ok(length)) => {
                frame.push(0xfe);
                frame.extend(length.to_be_bytes());
            }
            _ => {
                frame.push(0xff);
                frame.extend(u64::try_from(length).map_err(io::Error::other)?.to_be_bytes());
            }
        }
        frame.extend([MASK; 4]);
        frame.extend(payload.iter().map(|byte| byte ^ MASK));
        self.reader.get_mut().write_all(&frame)
    }

    fn read<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}
