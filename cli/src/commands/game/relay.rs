//! `turnfold game relay`: connects a referee whose runtime cannot read a pipe over a local port (RF-16a).

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::output::printable;

const PORT: &str = "{port}";

/// The interval at which the command is polled, and how many polls it has to connect (60 s) and to end (1 s).
const LOOK: Duration = Duration::from_millis(10);
const LOOKS_TO_CONNECT: u32 = 6_000;
const LOOKS_TO_END: u32 = 100;

/// Carry a referee's lines over a local port instead of a pipe
///
/// Listens on a free port of 127.0.0.1, starts COMMAND with the port in place of `{port}`, and takes one connection. Standard
/// input goes to the connection, and what comes from there to standard output. What COMMAND prints itself goes to standard
/// error. Ends when its input ends, and with it COMMAND.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: turnfold --referee 'turnfold game relay -- godot --headless --path . -- {port}' check goldens"
)]
pub(crate) struct Args {
    /// The program and its arguments; no shell runs
    #[arg(value_name = "COMMAND", required = true, last = true)]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let refused = Failure::usage("`game relay` prints the lines of a referee, there is no JSON of its own");
    context.output.refuse_json(refused.hint("leave out `--format json`"))?;
    let (listener, port) = listen().map_err(|error| no_port(&error))?;
    let mut words = args.command.iter().map(|word| match word.to_str() {
        Some(text) => text.replace(PORT, &port).into(),
        None => word.clone(),
    });
    let program = words.next().unwrap_or_default();
    let name = printable(&program.to_string_lossy()).into_owned();
    let child = Command::new(&program).args(words).stdin(Stdio::null()).stdout(io::stderr()).spawn();
    let child = child.map_err(|error| Failure::usage(format!("`{name}` cannot be started: {error}")))?;
    let child = Arc::new(Mutex::new(child));
    let carried = match connected(&listener, &child, &name) {
        Ok(stream) => carry(stream, &child, &name),
        Err(failure) => Err(failure),
    };
    end(&child);
    carried?;
    Ok(ExitStatus::Yes)
}

/// Returns a listener that never waits, and its port.
fn listen() -> io::Result<(TcpListener, String)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port().to_string();
    Ok((listener, port))
}

fn no_port(error: &io::Error) -> Failure {
    Failure::trouble(format!("cannot listen on 127.0.0.1: {error}"))
}

fn connected(listener: &TcpListener, child: &Mutex<Child>, name: &str) -> Result<TcpStream> {
    for _ in 0..LOOKS_TO_CONNECT {
        match listener.accept() {
            Ok((stream, _)) => return Ok(stream),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(no_port(&error)),
        }
        if let Some(status) = status_of(child) {
            return Err(Failure::trouble(format!("`{name}` ended before it connected: {status}")));
        }
        thread::sleep(LOOK);
    }
    Err(Failure::trouble(format!("`{name}` did not connect to the port within 60 s")))
}

fn carry(mut stream: TcpStream, child: &Arc<Mutex<Child>>, name: &str) -> Result<()> {
    let has_ended = Arc::new(AtomicBool::new(false));
    let mut requests = second_end(&stream).map_err(|error| no_port(&error))?;
    let ended = has_ended.clone();
    let ending = child.clone();
    thread::spawn(move || {
        // The end of standard input ends the match. The loop below still passes on the last answers of the command.
        let _ = io::copy(&mut io::stdin().lock(), &mut requests);
        ended.store(true, Ordering::SeqCst);
        let _ = requests.shutdown(Shutdown::Write);
        end(&ending);
        let _ = requests.shutdown(Shutdown::Both);
    });
    let mut stdout = io::stdout().lock();
    let mut part = vec![0; 1 << 16];
    loop {
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(count) => {
                stdout.write_all(part.get(..count).unwrap_or_default())?;
                stdout.flush()?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    if has_ended.load(Ordering::SeqCst) {
        return Ok(());
    }
    for _ in 0..LOOKS_TO_END {
        if let Some(status) = status_of(child) {
            return Err(Failure::trouble(format!("`{name}` ended: {status}")));
        }
        thread::sleep(LOOK);
    }
    Err(Failure::trouble(format!("`{name}` closed the connection")))
}

/// Makes a connection wait for what is read and send what is written at once. Returns a second end of it.
fn second_end(stream: &TcpStream) -> io::Result<TcpStream> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.try_clone()
}

fn status_of(child: &Mutex<Child>) -> Option<std::process::ExitStatus> {
    child.lock().unwrap_or_else(PoisonError::into_inner).try_wait().ok().flatten()
}

fn end(child: &Mutex<Child>) {
    for _ in 0..LOOKS_TO_END {
        if status_of(child).is_some() {
            return;
        }
        thread::sleep(LOOK);
    }
    let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
    // Kill fails if the command has just ended.
    let _ = child.kill();
    let _ = child.wait();
}
