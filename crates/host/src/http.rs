//! The host's HTTP client: one request to a program on this machine. Owns time limits and the bound on what is read;
//! knows nothing of what is asked.

use std::{net::Ipv4Addr, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Method, Request, StatusCode,
    body::Incoming,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST},
};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// A server on the loopback interface and the secret it knows us by.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub port: u16,
    pub bearer: String,
}

/// Largest answer that is read whole.
const LARGEST_ANSWER: usize = 8 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    #[error("nothing answers on port {port}: {source}")]
    Connect { port: u16, source: std::io::Error },
    #[error("no answer within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
    #[error("the exchange broke off: {0}")]
    Broken(String),
}

/// An answer whose body has not been read. Dropping it closes the connection.
pub(crate) struct Answer {
    pub status: StatusCode,
    pub body: Incoming,
    connection: Connection,
}

/// The task that moves a connection's bytes.
pub(crate) struct Connection(tokio::task::JoinHandle<()>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Answer {
    /// The body and what keeps it coming, for an answer without an end.
    pub(crate) fn into_parts(self) -> (Incoming, Connection) {
        (self.body, self.connection)
    }
}

impl Endpoint {
    pub(crate) async fn get(&self, path: &str, limit: Duration) -> Result<(StatusCode, Bytes), HttpError> {
        self.whole(self.request(Method::GET, path, Bytes::new())?, limit)
            .await
    }

    pub(crate) async fn post(
        &self,
        path: &str,
        body: Vec<u8>,
        limit: Duration,
    ) -> Result<(StatusCode, Bytes), HttpError> {
        self.whole(self.request(Method::POST, path, body.into())?, limit)
            .await
    }

    /// Waits at most `limit` for the head of an answer whose body goes on.
    pub(crate) async fn open(&self, path: &str, limit: Duration) -> Result<Answer, HttpError> {
        let request = self.request(Method::GET, path, Bytes::new())?;
        tokio::time::timeout(limit, self.send(request))
            .await
            .map_err(|_| HttpError::TimedOut(limit))?
    }

    async fn whole(
        &self,
        request: Request<Full<Bytes>>,
        limit: Duration,
    ) -> Result<(StatusCode, Bytes), HttpError> {
        let exchange = async {
            let answer = self.send(request).await?;
            let body = Limited::new(answer.body, LARGEST_ANSWER);
            let bytes = body
                .collect()
                .await
                .map_err(|error| HttpError::Broken(error.to_string()))?;
            Ok((answer.status, bytes.to_bytes()))
        };
        tokio::time::timeout(limit, exchange)
            .await
            .map_err(|_| HttpError::TimedOut(limit))?
    }

    fn request(&self, method: Method, path: &str, body: Bytes) -> Result<Request<Full<Bytes>>, HttpError> {
        Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, format!("127.0.0.1:{}", self.port))
            .header(AUTHORIZATION, format!("Bearer {}", self.bearer))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .body(Full::new(body))
            .map_err(|error| HttpError::Broken(error.to_string()))
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Answer, HttpError> {
        let broken = |error: hyper::Error| HttpError::Broken(error.to_string());
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))
            .await
            .map_err(|source| HttpError::Connect {
                port: self.port,
                source,
            })?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(broken)?;
        let connection = Connection(tokio::spawn(async move {
            // A broken connection is seen by whoever waits for the answer.
            let _ = connection.await;
        }));
        let (parts, body) = sender.send_request(request).await.map_err(broken)?.into_parts();
        Ok(Answer {
            status: parts.status,
            body,
            connection,
        })
    }
}
