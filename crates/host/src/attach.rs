//! One host per user: a later launch finds the one that runs and asks it for a window.

use std::time::Duration;

use protocol::{ErrorCode, RuntimeError};
use serde::{Deserialize, Serialize};
use store::{DataHome, HostRecord};

use crate::{adapter::engine::Breadth, assembly::Target, http::Endpoint};

/// What `POST /api/open` takes. Without a path and a sample, only a window is asked for.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct OpenRequest {
    pub path: Option<String>,
    pub allow_wide: bool,
    pub sample: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenAnswer {
    /// Works once, for a minute.
    pub url: String,
    pub context: Option<String>,
}

#[derive(Deserialize)]
struct Reply {
    data: Option<OpenAnswer>,
    error: Option<RuntimeError>,
}

/// A host of this user that runs in another process.
pub struct RunningHost {
    record: HostRecord,
}

/// A host that has just started writes its record after it took the lock.
const APPEARS_WITHIN: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Making a sample takes a while.
const ANSWERS_WITHIN: Duration = Duration::from_secs(70);

impl RunningHost {
    /// The host that holds the lock of `home`.
    pub(crate) async fn find(home: &DataHome) -> Result<Self, RuntimeError> {
        let published = async {
            loop {
                if let Some(record) = home.host_record() {
                    return record;
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        let record = tokio::time::timeout(APPEARS_WITHIN, published).await;
        Ok(Self {
            record: record.map_err(|_| unreachable_host("It has not said where it is reached."))?,
        })
    }

    pub fn pid(&self) -> u32 {
        self.record.pid
    }

    /// Opens `target` there and gives the one-time address of a window.
    pub async fn open(&self, target: Target) -> Result<String, RuntimeError> {
        let request = match target {
            Target::Nothing => OpenRequest::default(),
            Target::Sample => OpenRequest {
                sample: true,
                ..OpenRequest::default()
            },
            Target::Folder { path, breadth } => OpenRequest {
                path: Some(path.to_string_lossy().into_owned()),
                allow_wide: breadth == Breadth::Any,
                sample: false,
            },
        };
        let endpoint = Endpoint {
            port: self.record.port,
            bearer: self.record.token.clone(),
        };
        let body = serde_json::to_vec(&request).map_err(RuntimeError::internal)?;
        let (_, answer) = endpoint
            .post("/api/open", body, ANSWERS_WITHIN)
            .await
            .map_err(|error| unreachable_host(error).because(format!("Process {}.", self.record.pid)))?;
        let reply: Reply = serde_json::from_slice(&answer).map_err(unreachable_host)?;
        match (reply.data, reply.error) {
            (Some(answer), _) => Ok(answer.url),
            (None, Some(error)) => Err(error),
            (None, None) => Err(unreachable_host("Its answer is empty.")),
        }
    }
}

fn unreachable_host(why: impl std::fmt::Display) -> RuntimeError {
    RuntimeError::new(ErrorCode::HostBusy, "Vibe Coder is running, but does not answer.")
        .because(why)
        .action("End the other Vibe Coder, then start again.")
}
