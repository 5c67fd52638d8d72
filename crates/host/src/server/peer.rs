//! Which user is at the other end of a connection. The loopback interface is open to everyone on the machine; a one-time
//! address on a command line can be read by them, and a cookie for 127.0.0.1 is shown to whoever listens there.

use std::net::{SocketAddr, SocketAddrV4};

use axum::{extract::connect_info::Connected, serve::IncomingStream};
use tokio::net::TcpListener;

/// What is known of a connection's other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// This user, the administrator, or not to be told on this system.
    Trusted,
    OtherUser,
}

impl Connected<IncomingStream<'_, TcpListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, TcpListener>) -> Self {
        let local = stream.io().local_addr().ok();
        match (stream.remote_addr(), local) {
            (SocketAddr::V4(remote), Some(SocketAddr::V4(local))) => {
                let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
                judge(owner(&table, *remote, local), own_user())
            }
            _ => Peer::Trusted,
        }
    }
}

fn judge(owner: Option<u32>, own: u32) -> Peer {
    match owner {
        Some(user) if user != own && user != 0 => Peer::OtherUser,
        _ => Peer::Trusted,
    }
}

fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The user of the socket that is bound to `remote` and connected to `local`, by the kernel's table.
fn owner(table: &str, remote: SocketAddrV4, local: SocketAddrV4) -> Option<u32> {
    let (theirs, ours) = (in_table(remote), in_table(local));
    table.lines().find_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        (fields.next()? == theirs && fields.next()? == ours).then_some(())?;
        fields.nth(4)?.parse().ok()
    })
}

/// The kernel prints an address as a number of this machine's byte order.
fn in_table(address: SocketAddrV4) -> String {
    let number = u32::from_ne_bytes(address.ip().octets());
    format!("{number:08X}:{:04X}", address.port())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// Against the kernel's own table.
    #[test]
    fn a_connection_of_this_user_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (SocketAddr::V4(remote), SocketAddr::V4(local)) =
            (client.local_addr().unwrap(), client.peer_addr().unwrap())
        else {
            panic!("not IPv4");
        };
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        assert_eq!(owner(&table, remote, local), Some(own_user()));
        assert_eq!(owner(&table, local, local), None);
    }

    #[test]
    fn only_another_user_is_foreign() {
        for (owner, expected) in [
            (None, Peer::Trusted),
            (Some(1000), Peer::Trusted),
            (Some(0), Peer::Trusted),
            (Some(1001), Peer::OtherUser),
        ] {
            assert_eq!(judge(owner, 1000), expected, "{owner:?}");
        }
    }
}
