//! Puts the host together: the lock that makes it the only one, the registry, the server, and an orderly end.

use std::{
    future::Future,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use protocol::{ErrorCode, RuntimeError};
use store::{
    DataHome, HostLock, HostRecord, Redactor,
    log::{Log, LogEvent},
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use crate::adapter::engine::Program;
use crate::{
    adapter::engine::Breadth,
    attach::{OpenAnswer, OpenRequest, RunningHost},
    methods::Methods,
    registry::Registry,
    server::{self, App, auth::Auth},
    supervise::Supervision,
};

pub struct HostConfig {
    pub home: DataHome,
    /// Started as `PROGRAM engine …` for each workspace.
    pub program: Program,
    /// 0 for any free one.
    pub port: u16,
    pub times: Supervision,
    /// For how long a one-time address works.
    pub code_life: Duration,
}

impl HostConfig {
    /// Any port, and the times that suit a person.
    pub fn new(home: DataHome, program: PathBuf) -> Self {
        Self {
            home,
            program: Program(program),
            port: 0,
            times: Supervision::default(),
            code_life: Duration::from_secs(60),
        }
    }
}

/// What a window is opened on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The page that asks what to open.
    Nothing,
    Folder {
        path: PathBuf,
        breadth: Breadth,
    },
    Sample,
}

/// Where the one host of the user is.
pub enum Started {
    Here(Host),
    Elsewhere(RunningHost),
}

/// The running host. Dropping it ends the server and every backend at once; [`Host::run`] ends them in order.
pub struct Host {
    app: Arc<App>,
    server: tokio::task::JoinHandle<std::io::Result<()>>,
    _lock: HostLock,
}

impl Drop for Host {
    fn drop(&mut self) {
        self.app.closing.cancel();
        self.server.abort();
    }
}

/// Becomes the host, or finds the one that runs. Must be called within a tokio runtime.
pub async fn start(config: HostConfig) -> Result<Started, RuntimeError> {
    let Some(lock) = config.home.lock_host()? else {
        return Ok(Started::Elsewhere(RunningHost::find(&config.home).await?));
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, config.port));
    let no_port = |error: std::io::Error| {
        RuntimeError::new(
            ErrorCode::HostBusy,
            format!("Port {} cannot be used.", config.port),
        )
        .because(error)
        .action("Name another port, or none for any free one.")
    };
    let listener = TcpListener::bind(address).await.map_err(no_port)?;
    let port = listener.local_addr().map_err(no_port)?.port();

    let auth = Auth::new(port, config.code_life)?;
    lock.publish(&HostRecord {
        pid: std::process::id(),
        port,
        token: auth.token().to_owned(),
        started_at: now_millis(),
    })?;
    let log = Arc::new(Log::new(&config.home, Redactor::new([auth.token().to_owned()])));
    log.record(&LogEvent::HostStarted { port });
    let methods = Methods {
        registry: Registry::new(config.times, log.clone()),
        home: config.home,
        program: config.program,
    };
    for error in methods.open_user_contexts() {
        log.record(&LogEvent::Unreported {
            place: "host.contexts".to_owned(),
            code: error.code,
        });
    }
    let app = Arc::new(App {
        methods,
        auth,
        log,
        port,
        closing: CancellationToken::new(),
    });
    let server = tokio::spawn(server::serve(listener, app.clone()));
    Ok(Started::Here(Host {
        app,
        server,
        _lock: lock,
    }))
}

impl Host {
    pub fn port(&self) -> u16 {
        self.app.port
    }

    pub fn registry(&self) -> &Registry {
        &self.app.methods.registry
    }

    /// Makes `target` known and gives the one-time address of a window on it.
    pub async fn open(&self, target: Target) -> Result<String, RuntimeError> {
        Ok(self.app.open(target).await?.url)
    }

    /// Serves until `stop` is done, then ends every window and backend and returns when nothing of them is left.
    pub async fn run(mut self, stop: impl Future<Output = ()>) -> Result<(), RuntimeError> {
        let broken = tokio::select! {
            () = stop => None,
            ended = &mut self.server => Some(ended),
        };
        self.app.closing.cancel();
        self.registry().shutdown().await;
        match broken {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => Err(RuntimeError::internal(error)),
            Some(Err(error)) => Err(RuntimeError::internal(error)),
        }
    }
}

impl App {
    pub(crate) async fn open(&self, target: Target) -> Result<OpenAnswer, RuntimeError> {
        let handle = match target {
            Target::Nothing => None,
            Target::Folder { path, breadth } => Some(self.methods.open_folder(&path, breadth)?),
            Target::Sample => Some(self.methods.open_sample().await?),
        };
        let context = handle.map(|handle| handle.key().to_string());
        let code = self.auth.mint_code(context.clone())?;
        Ok(OpenAnswer {
            url: format!("http://127.0.0.1:{}/open?once={code}", self.port),
            context,
        })
    }
}

impl From<OpenRequest> for Target {
    fn from(request: OpenRequest) -> Self {
        match (request.sample, request.path) {
            (true, _) => Target::Sample,
            (false, None) => Target::Nothing,
            (false, Some(path)) => Target::Folder {
                path: path.into(),
                breadth: match request.allow_wide {
                    true => Breadth::Any,
                    false => Breadth::Project,
                },
            },
        }
    }
}

fn now_millis() -> protocol::Millis {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |elapsed| {
            u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
        })
}
