//! What may stand between a client and a server: a proxy as companies run them, and TLS under an authority that only
//! the test knows. Both bring everything to one upstream on loopback, whatever host they are asked for.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    thread::JoinHandle,
};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinSet,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, crypto::aws_lc_rs, pki_types::PrivateKeyDer},
};

/// An HTTP proxy: tunnels for `CONNECT`, and requests with a whole address.
pub struct Proxy {
    served: Served,
    asked: Arc<Mutex<Vec<String>>>,
}

#[derive(Clone, Copy)]
enum Answers {
    From(SocketAddr),
    /// Itself, with a page and this status.
    Refusing(u16),
}

impl Proxy {
    pub fn to(upstream: SocketAddr) -> Self {
        Self::spawn(Answers::From(upstream))
    }

    /// Answers everything itself, with a page.
    pub fn refusing(status: u16) -> Self {
        Self::spawn(Answers::Refusing(status))
    }

    fn spawn(answers: Answers) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&asked);
        let served = Served::spawn(move |client| relay(client, answers, Arc::clone(&list)));
        Self { served, asked }
    }

    /// As `HTTP_PROXY` wants it.
    pub fn url(&self) -> String {
        format!("http://{}", self.served.address)
    }

    /// The first line of what each connection asked for.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("the list").clone()
    }
}

async fn relay(mut client: TcpStream, answers: Answers, asked: Arc<Mutex<Vec<String>>>) {
    let Some(head) = read_head(&mut client).await else {
        return;
    };
    let first = String::from_utf8_lossy(&head)
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned();
    asked.lock().expect("the list").push(first);
    match answers {
        Answers::From(upstream) => {
            let Ok(mut server) = TcpStream::connect(upstream).await else {
                return;
            };
            let opened = match head.starts_with(b"CONNECT ") {
                true => {
                    client
                        .write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")
                        .await
                }
                false => server.write_all(&head).await,
            };
            if opened.is_ok() {
                let _ = copy_bidirectional(&mut client, &mut server).await;
            }
        }
        Answers::Refusing(status) => {
            let page = "<html><head><title>The proxy says no</title></head></html>";
            let answer = format!(
                "HTTP/1.1 {status} Refused\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n{page}",
                page.len()
            );
            let _ = client.write_all(answer.as_bytes()).await;
            // What the client still sends is read, so that it sees the answer and not a reset.
            let _ = tokio::io::copy(&mut client, &mut tokio::io::sink()).await;
        }
    }
}

/// The head with whatever of the body came with it; nothing when the client closed before.
async fn read_head(client: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        if client.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    Some(head)
}

/// TLS in front of a plain server.
pub struct TlsFront {
    served: Served,
    authority: String,
}

impl TlsFront {
    /// With a certificate for `host`, signed by an authority that nobody else knows.
    pub fn to(upstream: SocketAddr, host: &str) -> Self {
        let authority_key = KeyPair::generate().expect("a key");
        let mut authority = CertificateParams::new(Vec::new()).expect("parameters");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let authority_certificate = authority.self_signed(&authority_key).expect("a certificate");
        let issuer = Issuer::new(authority, authority_key);
        let key = KeyPair::generate().expect("a key");
        let certificate = CertificateParams::new(vec![host.to_owned()])
            .expect("a host name")
            .signed_by(&key, &issuer)
            .expect("a certificate");
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("protocol versions")
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            )
            .expect("a usable certificate");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let served = Served::spawn(move |client| {
            let acceptor = acceptor.clone();
            async move {
                let Ok(mut client) = acceptor.accept(client).await else {
                    return;
                };
                if let Ok(mut server) = TcpStream::connect(upstream).await {
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                }
            }
        });
        Self {
            served,
            authority: authority_certificate.pem(),
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.served.address
    }

    /// The authority's certificate as PEM, for `SSL_CERT_FILE`.
    pub fn authority(&self) -> &str {
        &self.authority
    }
}

/// A listener on a thread of its own, so that a test may block; ends when it is dropped.
struct Served {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn spawn<F>(answer: impl Fn(TcpStream) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        listener.set_nonblocking(true).expect("a listener");
        let address = listener.local_addr().expect("an address");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).expect("a listener");
                let mut connections = JoinSet::new();
                let accepting = async {
                    while let Ok((client, _)) = listener.accept().await {
                        connections.spawn(answer(client));
                    }
                };
                tokio::select! {
                    () = accepting => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address,
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
