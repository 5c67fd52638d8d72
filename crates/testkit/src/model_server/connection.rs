//! One HTTP/1.1 connection, by hand: faults need exact control over chunks, pauses and resets, which no server
//! library gives.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{
    RecordedRequest, Shared, WireFamily,
    recording::{End, Recording},
};

/// Requests larger than this are refused by closing. In bytes.
const REQUEST_LIMIT: usize = 64 << 20;

/// Serves requests until either side closes.
pub(super) async fn serve(mut socket: TcpStream, shared: Arc<Shared>) {
    let _ = socket.set_nodelay(true);
    let mut buffer = Vec::new();
    while let Ok(Some(request)) = read_request(&mut socket, &mut buffer).await {
        let number = shared.record(request.clone());
        let answer = shared.answerer.answer(&request);
        match write_answer(&mut socket, &answer).await {
            Ok(Finish::KeepOpen { answered_at }) => shared.mark_answered(number, answered_at),
            Ok(Finish::Closed) => return,
            Err(_) => {
                shared.mark_disconnected(number);
                return;
            }
        }
    }
}

/// Nothing when the client closed between requests.
async fn read_request(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<Option<RecordedRequest>> {
    let head_end = loop {
        if let Some(at) = find(buffer, b"\r\n\r\n") {
            break at;
        }
        if !fill(socket, buffer).await? {
            return Ok(None);
        }
        if !buffer[0].is_ascii_uppercase() {
            // TLS, for example: answered as a plain server answers it.
            socket
                .write_all(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n")
                .await?;
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let method = words.next().unwrap_or_default();
    let path = origin_form(&words.next().unwrap_or_default());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .and_then(|(_, value)| value.parse::<usize>().ok())
        .unwrap_or(0);
    let end = head_end + 4 + length;
    while buffer.len() < end {
        if !fill(socket, buffer).await? {
            return Ok(None);
        }
    }
    let body = buffer[head_end + 4..end].to_vec();
    buffer.drain(..end);
    let family = WireFamily::of(&method, &path);
    Ok(Some(RecordedRequest {
        family,
        method,
        path,
        headers,
        body,
        disconnected: false,
        arrived_at: Instant::now(),
        answered_at: None,
    }))
}

/// The path of a target that a proxy handed on with its whole address.
fn origin_form(target: &str) -> String {
    match target
        .strip_prefix("http://")
        .and_then(|rest| rest.find('/').map(|at| &rest[at..]))
    {
        Some(path) => path.to_owned(),
        None => target.to_owned(),
    }
}

async fn fill(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<bool> {
    if buffer.len() > REQUEST_LIMIT {
        return Err(io::Error::other("the request is too large"));
    }
    Ok(socket.read_buf(buffer).await? > 0)
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

enum Finish {
    KeepOpen { answered_at: Instant },
    Closed,
}

/// Fails when the client went away before the end.
async fn write_answer(socket: &mut TcpStream, answer: &Recording) -> io::Result<Finish> {
    let ends_with = |end| answer.steps.iter().any(|step| step.end == Some(end));
    if ends_with(End::Refuse) {
        reset(socket);
        return Ok(Finish::Closed);
    }
    if ends_with(End::Silent) {
        pause(socket, None).await?;
    }
    socket.write_all(answer.head().as_bytes()).await?;
    for step in &answer.steps {
        let bytes = step.bytes();
        if !bytes.is_empty() {
            let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
            chunk.extend_from_slice(&bytes);
            chunk.extend_from_slice(b"\r\n");
            socket.write_all(&chunk).await?;
        }
        if let Some(millis) = step.sleep_ms {
            pause(socket, Some(Duration::from_millis(millis))).await?;
        }
        match step.end {
            None => {}
            Some(End::Close) => {
                // Before the write: the client may go on before this thread does.
                let answered_at = Instant::now();
                socket.write_all(b"0\r\n\r\n").await?;
                return Ok(Finish::KeepOpen { answered_at });
            }
            Some(End::Hold | End::Silent) => pause(socket, None).await?,
            Some(End::Reset | End::Refuse) => {
                reset(socket);
                return Ok(Finish::Closed);
            }
        }
    }
    Ok(Finish::Closed)
}

/// Waits, for ever without a duration, and fails as soon as the client goes away.
async fn pause(socket: &mut TcpStream, duration: Option<Duration>) -> io::Result<()> {
    let mut byte = [0];
    let gone = async {
        match socket.read(&mut byte).await {
            Ok(0) => io::Error::from(io::ErrorKind::ConnectionAborted),
            Ok(_) => io::Error::other("the client sent more before the answer was complete"),
            Err(error) => error,
        }
    };
    match duration {
        None => Err(gone.await),
        Some(duration) => match tokio::time::timeout(duration, gone).await {
            Ok(error) => Err(error),
            Err(_) => Ok(()),
        },
    }
}

/// The socket is dropped right after; with no lingering the peer sees a reset instead of an end.
fn reset(socket: &TcpStream) {
    let _ = socket.set_zero_linger();
}
