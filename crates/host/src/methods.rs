//! The requests that the host answers itself. Owns which context a path means; knows nothing of what is done in it.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use process::{Orphaned, ServiceEnvironment, ServiceSpec, start_service};
use protocol::{
    ErrorCode, RuntimeError,
    host::{
        ContextKind, HostContextsResult, HostHelloResult, HostOpenResult, HostRecentResult, HostRequest,
        RecentWorkspace,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::DataHome;

use crate::{
    adapter::{
        engine::{Breadth, EngineAdapter, EngineLaunch, Program},
        http::HttpSidecarAdapter,
        manifest::SidecarManifest,
    },
    folders,
    registry::{ContextHandle, ContextKey, NewContext, Registry},
};

/// What the host's own requests need.
pub(crate) struct Methods {
    pub registry: Registry,
    pub home: DataHome,
    pub program: Program,
}

/// A start repairs what a crash left, which takes seconds in a large store.
const ENGINE_READY: Duration = Duration::from_secs(30);
/// Making the practice repository.
const SAMPLE_LIMIT: Duration = Duration::from_secs(60);
const MOST_RECENT: usize = 50;

impl Methods {
    pub(crate) async fn handle(&self, request: HostRequest) -> Result<Value, RuntimeError> {
        match request {
            HostRequest::Hello(_) => value(HostHelloResult {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                platform: std::env::consts::OS.to_owned(),
                contexts: self.registry.summaries(),
            }),
            HostRequest::Contexts(_) => value(HostContextsResult {
                contexts: self.registry.summaries(),
            }),
            HostRequest::Open(params) => {
                let breadth = match params.allow_wide {
                    true => Breadth::Any,
                    false => Breadth::Project,
                };
                self.open_folder(Path::new(&params.path), breadth)
                    .and_then(|handle| opened(&handle))
            }
            HostRequest::Close(params) => {
                self.registry.close(&params.context).await?;
                Ok(Value::Object(Default::default()))
            }
            HostRequest::Restart(params) => {
                self.registry.restart(&params.context).await?;
                Ok(Value::Object(Default::default()))
            }
            HostRequest::Recent(_) => {
                let home = self.home.clone();
                let recent = blocking(move || recent(&home)).await?;
                value(HostRecentResult { recent })
            }
            HostRequest::Sample(_) => self.open_sample().await.and_then(|handle| opened(&handle)),
            HostRequest::Folders(params) => value(blocking(move || folders::list(&params.path)).await?),
        }
    }

    /// Makes the workspace at `path` known; its engine starts with the first request.
    pub(crate) fn open_folder(
        &self,
        path: &Path,
        breadth: Breadth,
    ) -> Result<Arc<ContextHandle>, RuntimeError> {
        let unreadable = |error: std::io::Error| folders::unreadable(path, &error);
        if !path.is_absolute() {
            return Err(RuntimeError::new(
                ErrorCode::RequestInvalid,
                "The path of a workspace starts with /.",
            ));
        }
        let root = std::fs::canonicalize(path).map_err(unreadable)?;
        if !root.is_dir() {
            return Err(unreadable(std::io::ErrorKind::NotADirectory.into()));
        }
        let wide = root.parent().is_none() || folders::home().is_some_and(|home| home == root);
        if wide && breadth == Breadth::Project {
            return Err(RuntimeError::new(
                ErrorCode::WorkspaceTooWide,
                format!("{} holds much more than one project.", root.display()),
            )
            .action("Choose a project's folder, or say that you mean this one."));
        }
        let key = ContextKey::of(&root);
        let handle = self.registry.open(&key, || NewContext {
            kind: ContextKind::Engine,
            name: name_of(&root),
            path: root.clone(),
            adapter: Arc::new(EngineAdapter::new(self.engine(root, breadth))),
        });
        self.registry.revive(&handle);
        Ok(handle)
    }

    fn engine(&self, workspace: PathBuf, breadth: Breadth) -> EngineLaunch {
        let mut variables: Vec<(OsString, OsString)> =
            vec![("VIBE_CODER_HOME".into(), self.home.path().into())];
        if let Some(scenario) = self.home.sample_scenario(&workspace) {
            variables.push(("VIBE_CODER_SCENARIO".into(), scenario.into()));
        }
        EngineLaunch {
            program: self.program.clone(),
            workspace,
            breadth,
            variables,
            ready_within: ENGINE_READY,
        }
    }

    /// Makes a practice repository and makes it known. The engine's own code makes it, in a child.
    pub(crate) async fn open_sample(&self) -> Result<Arc<ContextHandle>, RuntimeError> {
        let folder = self.home.new_sample_folder()?;
        let service = start_service(ServiceSpec {
            program: self.program.path(),
            arguments: vec!["demo".into(), "--prepare".into(), folder.into(), "--json".into()],
            directory: "/".into(),
            environment: ServiceEnvironment::Inherited(Vec::new()),
            orphaned: Orphaned::EndsItself,
        })?;
        let answer = async {
            while let Some(line) = service.next_line().await {
                if let Ok(answer) = serde_json::from_str::<SampleLine>(&line) {
                    return Some(answer);
                }
            }
            None
        };
        let failed = |why: String| {
            RuntimeError::new(
                ErrorCode::ContextFailed,
                "The practice repository could not be made.",
            )
            .because(why)
            .action("Open a folder of your own instead.")
        };
        match tokio::time::timeout(SAMPLE_LIMIT, answer).await {
            Ok(Some(SampleLine::Made { repository })) => self.open_folder(&repository, Breadth::Project),
            Ok(Some(SampleLine::Failed { error })) => Err(error),
            Ok(None) => Err(failed(service.stderr_tail())),
            Err(_) => Err(failed("It took too long.".to_owned())),
        }
    }

    /// Makes the contexts known that the user has put into the data folder. What is wrong with one is given back and
    /// keeps no other from being known.
    pub(crate) fn open_user_contexts(&self) -> Vec<RuntimeError> {
        let folders = match self.home.context_folders() {
            Ok(folders) => folders,
            Err(error) => return vec![error.into()],
        };
        folders
            .into_iter()
            .filter_map(|folder| self.open_sidecar(&folder).err())
            .collect()
    }

    fn open_sidecar(&self, folder: &Path) -> Result<(), RuntimeError> {
        let folder = std::fs::canonicalize(folder).map_err(|error| folders::unreadable(folder, &error))?;
        let manifest = SidecarManifest::read(&folder)?;
        let key = ContextKey::of(&folder);
        let data = self.home.context_data(key.as_str())?;
        self.registry.open(&key, || NewContext {
            kind: ContextKind::Http,
            name: manifest.name.clone(),
            path: folder,
            adapter: Arc::new(HttpSidecarAdapter::new(key.clone(), manifest, data)),
        });
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SampleLine {
    Made { repository: PathBuf },
    Failed { error: RuntimeError },
}

fn recent(home: &DataHome) -> Result<Vec<RecentWorkspace>, RuntimeError> {
    let mut recent: Vec<RecentWorkspace> = home
        .workspaces()?
        .into_iter()
        .map(|entry| RecentWorkspace {
            name: name_of(&entry.root),
            path: entry.root.to_string_lossy().into_owned(),
            opened_at: entry.opened_at.unwrap_or(0),
            exists: entry.root_exists,
        })
        .collect();
    recent.sort_by_key(|entry| std::cmp::Reverse(entry.opened_at));
    recent.truncate(MOST_RECENT);
    Ok(recent)
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(
        || path.to_string_lossy().into_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

fn opened(handle: &ContextHandle) -> Result<Value, RuntimeError> {
    value(HostOpenResult {
        context: handle.key().to_string(),
    })
}

fn value(result: impl Serialize) -> Result<Value, RuntimeError> {
    serde_json::to_value(result).map_err(RuntimeError::internal)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RuntimeError> + Send + 'static,
) -> Result<T, RuntimeError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(RuntimeError::internal)?
}
