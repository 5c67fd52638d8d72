//! The one way out of a view whose network is a list of hosts: an HTTP proxy that lets connections to those hosts pass
//! and refuses all others.
//!
//! The view has a network of its own with nothing in it but its loopback. Its first process opens a listening socket
//! there and hands it to the launcher, which answers it from outside. So nothing of ours runs inside, and there is no
//! other address to go around it.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// Where a command in such a view finds the proxy. The network is the view's own, so the port is always free.
const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 3128);
/// Longest head of a request.
const MAX_HEAD: usize = 32 * 1024;
const CONNECT_LIMIT: Duration = Duration::from_secs(20);
/// Hosts that are named in the end; more are counted.
const NAMED: usize = 8;
const MOST_NOTED: usize = 1_000;

/// Hosts that may be reached: `example.com` is that host, `.example.com` and `*.example.com` all below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedHosts(Vec<String>);

impl AllowedHosts {
    pub fn new(hosts: impl IntoIterator<Item = String>) -> Self {
        let plain = |host: String| host.trim().trim_end_matches('.').to_ascii_lowercase();
        Self(
            hosts
                .into_iter()
                .map(plain)
                .filter(|host| !host.is_empty())
                .collect(),
        )
    }

    pub fn names(&self) -> &[String] {
        &self.0
    }

    fn allows(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.0.iter().any(|rule| {
            let suffix = rule.strip_prefix('*').unwrap_or(rule);
            match suffix.strip_prefix('.') {
                Some(_) => host.len() > suffix.len() && host.ends_with(suffix),
                None => host == *rule,
            }
        })
    }

    /// An address behind an allowed name. One of this machine or its surroundings counts only where it is itself on the
    /// list, by number or as `localhost`: a name is whatever its owner says it is.
    fn allows_address(&self, host: &str, address: IpAddr) -> bool {
        let is_near = match address {
            IpAddr::V4(address) => is_near(address),
            IpAddr::V6(address) => {
                let first = address.segments()[0];
                address.is_loopback()
                    || address.is_unspecified()
                    || first & 0xfe00 == 0xfc00
                    || first & 0xffc0 == 0xfe80
                    || address.to_ipv4_mapped().is_some_and(is_near)
            }
        };
        !is_near || host == "localhost" || host.parse::<IpAddr>().is_ok()
    }
}

fn is_near(address: Ipv4Addr) -> bool {
    address.is_loopback() || address.is_private() || address.is_link_local() || address.is_unspecified()
}

/// What makes tools use the proxy.
pub(crate) fn variables() -> [(&'static str, String); 7] {
    let proxy = format!("http://{ADDRESS}");
    let local = "localhost,127.0.0.1,::1".to_owned();
    [
        ("HTTP_PROXY", proxy.clone()),
        ("HTTPS_PROXY", proxy.clone()),
        ("http_proxy", proxy.clone()),
        ("https_proxy", proxy.clone()),
        ("ALL_PROXY", proxy),
        ("NO_PROXY", local.clone()),
        ("no_proxy", local),
    ]
}

/// In the view: opens the socket and hands it out.
pub(super) fn hand_out(to: OwnedFd) -> io::Result<()> {
    let listener = TcpListener::bind(ADDRESS)?;
    let descriptors = [listener.as_fd()];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = SendAncillaryBuffer::new(&mut space);
    message.push(SendAncillaryMessage::ScmRights(&descriptors));
    sendmsg(&to, &[io::IoSlice::new(b"!")], &mut message, SendFlags::empty())?;
    Ok(())
}

/// The two ends over which the socket is handed out.
#[derive(Debug)]
pub(crate) struct Handover {
    ours: UnixStream,
    theirs: UnixStream,
}

impl Handover {
    pub(crate) fn new() -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        Ok(Self { ours, theirs })
    }

    pub(crate) fn theirs(&self) -> RawFd {
        use std::os::fd::AsRawFd;
        self.theirs.as_raw_fd()
    }

    /// Our end alone: if the helper ends without handing anything out, that is seen.
    pub(crate) fn ours(self) -> UnixStream {
        self.ours
    }
}

/// Answers a view's connections until it is dropped.
pub(crate) struct Gate {
    task: JoinHandle<()>,
    refused: Arc<Mutex<BTreeSet<String>>>,
}

impl Gate {
    /// Must be called within a tokio runtime.
    pub(crate) fn open(ours: UnixStream, allowed: AllowedHosts) -> Self {
        let refused = Arc::new(Mutex::new(BTreeSet::new()));
        let seen = refused.clone();
        let task = tokio::spawn(async move {
            // A view without the socket has no way out, which is the safe side.
            if let Ok(listener) = take_over(ours).await {
                serve(listener, Arc::new(allowed), seen).await;
            }
        });
        Self { task, refused }
    }

    /// What was refused, for the card: one sentence, or nothing.
    pub(crate) fn refusals(&self) -> Option<String> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.is_empty() {
            return None;
        }
        let mut names: Vec<String> = refused.iter().take(NAMED).cloned().collect();
        if refused.len() > NAMED {
            names.push(format!("{} more", refused.len() - NAMED));
        }
        Some(format!(
            "The network rule refused {}. Add a host to sandbox.hosts in the settings to allow it.",
            names.join(", ")
        ))
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn take_over(ours: UnixStream) -> io::Result<tokio::net::TcpListener> {
    ours.set_nonblocking(true)?;
    let ours = tokio::net::UnixStream::from_std(ours)?;
    let descriptor = ours
        .async_io(tokio::io::Interest::READABLE, || receive(ours.as_fd()))
        .await?;
    let listener = TcpListener::from(descriptor);
    listener.set_nonblocking(true)?;
    tokio::net::TcpListener::from_std(listener)
}

fn receive(from: impl AsFd) -> io::Result<OwnedFd> {
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(
        from,
        &mut [io::IoSliceMut::new(&mut byte)],
        &mut message,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let descriptor = message.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    descriptor.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

async fn serve(
    listener: tokio::net::TcpListener,
    allowed: Arc<AllowedHosts>,
    refused: Arc<Mutex<BTreeSet<String>>>,
) {
    // They end with the gate.
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let Ok((client, _)) = listener.accept().await else {
            return;
        };
        while connections.try_join_next().is_some() {}
        let (allowed, refused) = (allowed.clone(), refused.clone());
        connections.spawn(async move {
            // A connection that breaks is the command's to notice.
            let _ = answer(client, &allowed, &refused).await;
        });
    }
}

/// What a client wants of the proxy.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    host: String,
    port: u16,
    /// What goes to the host first; absent for a tunnel.
    head: Option<Vec<u8>>,
}

async fn answer(
    mut client: TcpStream,
    allowed: &AllowedHosts,
    refused: &Mutex<BTreeSet<String>>,
) -> io::Result<()> {
    let (head, rest) = read_head(&mut client).await?;
    let Some(wanted) = wanted(&head) else {
        return say(
            &mut client,
            "400 Bad Request",
            "This proxy takes CONNECT and absolute http:// addresses.",
        )
        .await;
    };
    let place = format!("{}:{}", wanted.host, wanted.port);
    let addresses: Vec<SocketAddr> = match allowed.allows(&wanted.host) {
        true => match tokio::net::lookup_host((wanted.host.as_str(), wanted.port)).await {
            Ok(found) => found
                .filter(|address| allowed.allows_address(&wanted.host, address.ip()))
                .collect(),
            Err(error) => return say(&mut client, "502 Bad Gateway", &error.to_string()).await,
        },
        false => Vec::new(),
    };
    if addresses.is_empty() {
        note(refused, &place);
        let why = format!("{place} is not among the hosts that commands may reach.");
        return say(&mut client, "403 Forbidden", &why).await;
    }
    let connected = tokio::time::timeout(CONNECT_LIMIT, TcpStream::connect(&addresses[..])).await;
    let mut server = match connected {
        Ok(Ok(server)) => server,
        Ok(Err(error)) => return say(&mut client, "502 Bad Gateway", &error.to_string()).await,
        Err(_) => return say(&mut client, "504 Gateway Timeout", "The host did not answer.").await,
    };
    match &wanted.head {
        Some(head) => server.write_all(head).await?,
        None => {
            client
                .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
                .await?
        }
    }
    server.write_all(&rest).await?;
    tokio::io::copy_bidirectional(&mut client, &mut server)
        .await
        .map(drop)
}

fn note(refused: &Mutex<BTreeSet<String>>, place: &str) {
    let mut refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
    if refused.len() < MOST_NOTED {
        refused.insert(place.to_owned());
    }
}

async fn read_head(client: &mut TcpStream) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut read = Vec::new();
    loop {
        if let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            let rest = read.split_off(end + 4);
            return Ok((read, rest));
        }
        if read.len() > MAX_HEAD || client.read_buf(&mut read).await? == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
}

async fn say(client: &mut TcpStream, status: &str, why: &str) -> io::Result<()> {
    let length = why.len() + 1;
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{why}\n"
    );
    client.write_all(answer.as_bytes()).await?;
    client.shutdown().await
}

/// Reads a request's head. Of a plain request the host sees its own path, and that the connection ends with the answer:
/// a next request could be for another host.
fn wanted(head: &[u8]) -> Option<Wanted> {
    let text = std::str::from_utf8(head).ok()?;
    let mut lines = text.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if method == "CONNECT" {
        let (host, port) = host_and_port(target, None)?;
        return Some(Wanted {
            host,
            port,
            head: None,
        });
    }
    let rest = target.strip_prefix("http://")?;
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, "/"),
    };
    // A name before `@` would be sent as credentials.
    let authority = authority.rsplit('@').next()?;
    let (host, port) = host_and_port(authority, Some(80))?;
    let mut own = format!("{method} {path} {version}\r\n");
    for line in lines.filter(|line| !line.is_empty()) {
        let name = line
            .split(':')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        if !matches!(
            name.as_str(),
            "proxy-connection" | "proxy-authorization" | "connection" | "host"
        ) {
            own.push_str(line);
            own.push_str("\r\n");
        }
    }
    own.push_str(&format!("Host: {authority}\r\nConnection: close\r\n\r\n"));
    Some(Wanted {
        host,
        port,
        head: Some(own.into_bytes()),
    })
}

fn host_and_port(authority: &str, default: Option<u16>) -> Option<(String, u16)> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        let port = match rest.strip_prefix(':') {
            Some(port) => port.parse().ok()?,
            None => default?,
        };
        return Some((host.to_owned(), port));
    }
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, port.parse().ok()?),
        None => (authority, default?),
    };
    (!host.is_empty()).then(|| (host.to_ascii_lowercase(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_allowed_by_their_exact_name_or_by_what_they_are_below() {
        let allowed =
            AllowedHosts::new(["Example.com", ".npmjs.org", "*.pypi.org", "10.0.0.7"].map(str::to_owned));
        for (host, expected) in [
            ("example.com", true),
            ("EXAMPLE.com.", true),
            ("sub.example.com", false),
            ("evil-example.com", false),
            ("example.com.evil.invalid", false),
            ("registry.npmjs.org", true),
            ("npmjs.org", false),
            ("evilnpmjs.org", false),
            ("files.pypi.org", true),
            ("10.0.0.7", true),
            ("10.0.0.8", false),
            ("", false),
        ] {
            assert_eq!(allowed.allows(host), expected, "{host}");
        }
        // A name that its owner points at this machine or its neighbours.
        for (host, address, expected) in [
            ("example.com", "93.184.216.34", true),
            ("example.com", "127.0.0.1", false),
            ("example.com", "192.168.1.1", false),
            ("example.com", "169.254.169.254", false),
            ("example.com", "::1", false),
            ("example.com", "::ffff:127.0.0.1", false),
            ("example.com", "fd00::1", false),
            ("10.0.0.7", "10.0.0.7", true),
            ("localhost", "127.0.0.1", true),
        ] {
            let found = allowed.allows_address(host, address.parse().unwrap());
            assert_eq!(found, expected, "{host} {address}");
        }
    }

    #[test]
    fn requests_are_read_strictly() {
        let read = |head: &str| {
            wanted(head.replace('\n', "\r\n").as_bytes()).map(|wanted| {
                let head = wanted
                    .head
                    .map(|head| String::from_utf8(head).unwrap().replace("\r\n", "|"));
                (wanted.host, wanted.port, head)
            })
        };
        assert_eq!(
            read("CONNECT Example.com:443 HTTP/1.1\n\n"),
            Some(("example.com".to_owned(), 443, None))
        );
        assert_eq!(
            read("CONNECT [::1]:443 HTTP/1.1\n\n"),
            Some(("::1".to_owned(), 443, None))
        );
        assert_eq!(
            read(
                "GET http://u:p@a.invalid:8080/x?y HTTP/1.1\nHost: other.invalid\nProxy-Connection: keep-alive\nA: b\n\n"
            ),
            Some((
                "a.invalid".to_owned(),
                8080,
                Some("GET /x?y HTTP/1.1|A: b|Host: a.invalid:8080|Connection: close||".to_owned())
            ))
        );
        for bad in [
            "GET /path HTTP/1.1\n\n",
            "CONNECT example.com HTTP/1.1\n\n",
            "CONNECT :443 HTTP/1.1\n\n",
            "GET https://example.com/ HTTP/1.1\n\n",
            "nonsense\n\n",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
