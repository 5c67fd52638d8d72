//! A view whose network is a list of hosts: what is on it is reached through the proxy, nothing else by any way.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use process::runner::{CommandEnd, start};
use process::staged::{AllowedHosts, Network};

use crate::staged::Views;

/// Answers every connection on this machine's loopback, from outside the view.
fn web_server() -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let Ok(mut connection) = connection else { return };
            let mut request = [0; 4096];
            let read = connection.read(&mut request).unwrap_or(0);
            let first = String::from_utf8_lossy(&request[..read]);
            let first = first.lines().next().unwrap_or_default().to_owned();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\ngot {first}",
                first.len() + 4
            );
            let _ = connection.write_all(answer.as_bytes());
        }
    });
    address
}

/// Speaks to the proxy as tools do, in the words of python's own library.
const GET: &str = "import sys, urllib.request as r
for url in sys.argv[1:]:
    try: print(r.urlopen(url, timeout=20).read().decode())
    except Exception as error: print(url, 'failed:', error)
";
const TUNNEL: &str = "import socket, sys
host, port = sys.argv[1], sys.argv[2]
s = socket.create_connection(('127.0.0.1', 3128), 20)
s.sendall(f'CONNECT {host}:{port} HTTP/1.1\\r\\n\\r\\n'.encode())
print(s.recv(4096).decode().split('\\r\\n')[0])
s.sendall(b'GET /tunnel HTTP/1.0\\r\\n\\r\\n')
print(s.recv(4096).decode().splitlines()[-1:])
";

async fn run(views: &Views, hosts: &[&str], command: &str) -> (CommandEnd, String) {
    views.put("get.py", GET);
    views.put("tunnel.py", TUNNEL);
    let mut staged = views.staged();
    staged.sandbox.network = Network::Hosts;
    staged.sandbox.hosts = AllowedHosts::new(hosts.iter().map(|host| (*host).to_owned()));
    let end = start(views.setting.approved(command), views.options(&staged))
        .unwrap()
        .ended()
        .await
        .unwrap();
    let output = String::from_utf8_lossy(&end.output.head).into_owned();
    (end, output)
}

#[tokio::test]
async fn allowed_hosts_are_reached_and_all_others_refused_and_named() {
    let views = Views::new();
    let port = web_server().port();
    // `localhost` is left out by NO_PROXY, as everywhere; its number is not.
    let line = format!(
        "env -u NO_PROXY -u no_proxy python3 get.py http://127.0.0.1:{port}/yes http://example.invalid/no; \
         python3 tunnel.py 127.0.0.1 {port}; python3 tunnel.py other.invalid 443"
    );
    let (end, output) = run(&views, &["127.0.0.1"], &line).await;
    assert_eq!(end.exit_code, Some(0), "{output}");
    assert!(output.contains("got GET /yes HTTP/1.1"), "{output}");
    assert!(
        output.contains("http://example.invalid/no failed: HTTP Error 403"),
        "{output}"
    );
    assert!(output.contains("HTTP/1.1 200 Connection established"), "{output}");
    assert!(output.contains("got GET /tunnel HTTP/1.0"), "{output}");
    assert!(output.contains("HTTP/1.1 403 Forbidden"), "{output}");
    let refused = end
        .notes
        .iter()
        .find(|note| note.starts_with("The network rule refused"));
    let refused = refused.unwrap_or_else(|| panic!("{:?}", end.notes));
    assert!(
        refused.contains("example.invalid:80, other.invalid:443"),
        "{refused}"
    );
}

#[tokio::test]
async fn there_is_no_way_around_the_proxy() {
    let views = Views::new();
    let port = web_server().port();
    views.put(
        "around.py",
        "import socket, sys
for host, port in (('127.0.0.1', int(sys.argv[1])), ('1.1.1.1', 443), ('2606:4700:4700::1111', 443)):
    try: socket.create_connection((host, port), 3); print('reached', host)
    except OSError as error: print('refused', error)
try: print('resolved', socket.gethostbyname('example.com'))
except OSError: print('no names')
",
    );
    let (end, output) = run(
        &views,
        &["127.0.0.1", ".com"],
        &format!("python3 around.py {port}"),
    )
    .await;
    assert_eq!(end.exit_code, Some(0), "{output}");
    assert!(
        !output.contains("reached") && !output.contains("resolved"),
        "{output}"
    );
    // With nothing on the list there is no way out at all, and what is set up says so.
    let (end, output) = run(&views, &[], "python3 tunnel.py example.com 443").await;
    assert!(output.contains("403 Forbidden"), "{output} {end:?}");
}

/// A name that its owner points at this machine does not open it.
#[tokio::test]
async fn an_allowed_name_does_not_lead_to_this_machine() {
    let views = Views::new();
    let port = web_server().port();
    let name = std::fs::read_to_string("/etc/hostname")
        .unwrap_or_default()
        .trim()
        .to_owned();
    let (_, output) = run(&views, &[&name], &format!("python3 tunnel.py '{name}' {port}")).await;
    assert!(!output.contains("200 Connection"), "{output}");
}
