//! `vibe-coder exec`: one request, its events, its result.

use std::{io::Read, sync::Arc};

use engine::Client;
use protocol::{
    ChangeSet, ErrorCode, EventBody, EventEnvelope, Mode, RuntimeError, SessionId, SessionState, TurnId,
    Usage,
    changes::Selection,
    event::TurnOutcome,
    request::{
        Approvals, ChangesDecideParams, ChangesListParams, EventsSubscribeParams, HelloParams,
        SessionStartParams, ShutdownParams, TurnCancelParams, TurnSendParams,
    },
};
use serde::Serialize;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc,
};

use crate::{
    args::{Accept, ApprovalChoice, Common, Exec},
    connect::{self, Connection, Ownership},
    exit::Exit,
    output, show,
};

/// The last line of `--json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultLine {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<SessionId>,
    state: SessionState,
    change_sets: Vec<ChangeSet>,
    /// Paths that were written to the user's files during this run.
    files: Vec<String>,
    usage: Usage,
    /// US dollars; null where the model's price is not known.
    cost: Option<f64>,
    duration_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<RuntimeError>,
}

pub async fn run(common: Common, arguments: Exec) -> Result<Exit, RuntimeError> {
    let json = arguments.json;
    let begun = async {
        let interrupts = Interrupts::listen()?;
        let request = Request {
            text: prompt_text(arguments.prompt)?,
            mode: arguments.mode.parse()?,
            provider: arguments.provider,
            model: arguments.model,
            approvals: match arguments.approvals {
                ApprovalChoice::Deny => Approvals::Deny,
                ApprovalChoice::Allow => Approvals::Allow,
            },
            session: arguments.session.map(SessionId::from_text),
            timeout_ms: arguments.timeout.map(|seconds| seconds.saturating_mul(1_000)),
            accept: arguments.accept,
            json,
        };
        Run::begin(connect::connect(common).await?, interrupts, request).await
    };
    match begun.await {
        Ok(run) => run.finish().await,
        Err(error) => {
            if json {
                output::json(&ResultLine::not_begun(&error));
            }
            Err(error)
        }
    }
}

/// The demo's run: the practice model, and everything accepted at the end.
pub async fn demonstrate(
    client: Client,
    events: mpsc::Receiver<EventEnvelope>,
    text: &str,
    json: bool,
) -> Result<Exit, RuntimeError> {
    let request = Request {
        text: text.to_owned(),
        mode: Mode::Agent,
        provider: Some("scripted".to_owned()),
        model: None,
        approvals: Approvals::Deny,
        session: None,
        timeout_ms: None,
        accept: Accept::All,
        json,
    };
    let connection = Connection {
        client,
        events,
        ownership: Ownership::Ours,
    };
    Run::begin(connection, Interrupts::listen()?, request)
        .await?
        .finish()
        .await
}

struct Request {
    text: String,
    mode: Mode,
    provider: Option<String>,
    model: Option<String>,
    approvals: Approvals,
    session: Option<SessionId>,
    timeout_ms: Option<u64>,
    accept: Accept,
    json: bool,
}

impl ResultLine {
    fn not_begun(error: &RuntimeError) -> Self {
        Self {
            kind: "result",
            session: None,
            state: SessionState::Failed,
            change_sets: Vec::new(),
            files: Vec::new(),
            usage: Usage::default(),
            cost: None,
            duration_ms: 0,
            error: Some(error.clone()),
        }
    }
}

struct Run {
    client: Arc<Client>,
    ownership: Ownership,
    interrupts: Interrupts,
    events: mpsc::Receiver<EventEnvelope>,
    session: SessionId,
    turn: TurnId,
    /// As the events so far say.
    state: SessionState,
    /// The number of the newest event so far.
    seen: u64,
    accept: Accept,
    printer: Printer,
}

/// How the turn ended, from its last event.
struct TurnEnd {
    outcome: TurnOutcome,
    usage: Usage,
    cost: Option<f64>,
    duration_ms: u64,
}

impl Run {
    async fn begin(
        connection: Connection,
        interrupts: Interrupts,
        request: Request,
    ) -> Result<Self, RuntimeError> {
        let Connection {
            client,
            events,
            ownership,
        } = connection;
        let hello = client.call(HelloParams {}).await?;
        // What a shared engine repaired was told where it was opened.
        if !request.json && ownership == Ownership::Ours {
            hello.recovered.iter().for_each(output::note);
        }
        let session = match request.session {
            // Whether it exists is told by the turn; a whole timeline is not needed for that.
            Some(id) => id,
            None => client.call(SessionStartParams { title: None }).await?.session_id,
        };
        client
            .call(EventsSubscribeParams {
                from_seq: hello.last_seq,
            })
            .await?;
        let sent = client
            .call(TurnSendParams {
                session_id: session.clone(),
                text: request.text,
                mode: request.mode,
                provider: request.provider,
                model: request.model,
                approvals: request.approvals,
                timeout_ms: request.timeout_ms,
            })
            .await?;
        let printer = if request.json {
            Printer::Json
        } else {
            Printer::Human(show::Progress::default())
        };
        Ok(Self {
            client: Arc::new(client),
            ownership,
            interrupts,
            events,
            session,
            turn: sent.turn_id,
            state: SessionState::Idle,
            seen: hello.last_seq,
            accept: request.accept,
            printer,
        })
    }

    async fn finish(mut self) -> Result<Exit, RuntimeError> {
        let end = match self.follow().await {
            Ok(end) => end,
            Err(error) => return self.broken_off(error).await,
        };
        let mut files = Vec::new();
        let mut error = match &end.outcome {
            TurnOutcome::Failed { error } => Some(error.clone()),
            TurnOutcome::Completed | TurnOutcome::Cancelled | TurnOutcome::Interrupted => None,
        };
        let mut sets = self.change_sets().await?;
        if self.accept == Accept::All && matches!(end.outcome, TurnOutcome::Completed) {
            for set in sets.iter().filter(|set| set.status.is_open()) {
                let params = ChangesDecideParams {
                    id: Some(set.id.clone()),
                    selection: Selection::All,
                };
                match self.client.call(params).await {
                    Ok(result) => files.extend(result.files_written),
                    Err(refused) => error = Some(refused),
                }
            }
            self.drain().await?;
            sets = self.change_sets().await?;
        }
        let waiting = sets.iter().any(|set| set.status.is_open());
        let exit = match (&end.outcome, &error) {
            (TurnOutcome::Cancelled, _) => Exit::Cancelled,
            (TurnOutcome::Interrupted, _) | (_, Some(_)) => Exit::Failed,
            (_, None) if waiting => Exit::NeedsReview,
            (_, None) => Exit::Done,
        };
        let line = ResultLine {
            kind: "result",
            session: Some(self.session),
            state: self.state,
            change_sets: sets,
            files,
            usage: end.usage,
            cost: end.cost,
            duration_ms: end.duration_ms,
            error,
        };
        if self.ownership == Ownership::Ours {
            self.client.call(ShutdownParams {}).await?;
        }
        self.printer.result(&line);
        Ok(exit)
    }

    /// The turn's end could not be recorded, or the engine is gone: what can still be known is told.
    async fn broken_off(self, error: RuntimeError) -> Result<Exit, RuntimeError> {
        let change_sets = self.change_sets().await.unwrap_or_default();
        let line = ResultLine {
            session: Some(self.session.clone()),
            change_sets,
            ..ResultLine::not_begun(&error)
        };
        if self.ownership == Ownership::Ours {
            // It may be gone already.
            let _ = self.client.call(ShutdownParams {}).await;
        }
        self.printer.result(&line);
        Ok(Exit::Failed)
    }

    /// Prints events until the turn's last one. An interrupt becomes a cancel, and the turn's end is awaited still.
    async fn follow(&mut self) -> Result<TurnEnd, RuntimeError> {
        loop {
            let event = tokio::select! {
                event = self.events.recv() => event,
                () = self.interrupts.next() => {
                    let (client, session_id) = (self.client.clone(), self.session.clone());
                    // Its reply comes after the turn's last event, which only this loop reads.
                    tokio::spawn(async move {
                        if let Err(error) = client.call(TurnCancelParams { session_id }).await {
                            output::error(&error);
                        }
                    });
                    continue;
                }
            };
            let Some(event) = event else {
                let ended = || {
                    RuntimeError::new(ErrorCode::Interrupted, "The engine ended during the turn.")
                        .action("`vibe-coder sessions resume` shows where the session stands.")
                };
                return Err(self.client.failure().unwrap_or_else(ended));
            };
            self.saw(&event);
            if let EventBody::TurnCompleted {
                turn_id,
                outcome,
                usage,
                cost,
                duration_ms,
            } = event.body
                && turn_id == self.turn
            {
                return Ok(TurnEnd {
                    outcome,
                    usage,
                    cost,
                    duration_ms,
                });
            }
        }
    }

    /// Prints what an accept caused, up to the newest event there is.
    async fn drain(&mut self) -> Result<(), RuntimeError> {
        let newest = self.client.call(HelloParams {}).await?.last_seq;
        // An accept of nothing causes nothing, and then none is coming.
        while self.seen < newest
            && let Some(event) = self.events.recv().await
        {
            self.saw(&event);
        }
        Ok(())
    }

    fn saw(&mut self, event: &EventEnvelope) {
        self.seen = event.seq;
        if let EventBody::SessionStateChanged { to, .. } = &event.body
            && event.session_id.as_ref() == Some(&self.session)
        {
            self.state = *to;
        }
        self.printer.event(event);
    }

    async fn change_sets(&self) -> Result<Vec<ChangeSet>, RuntimeError> {
        Ok(self
            .client
            .call(ChangesListParams {
                session_id: Some(self.session.clone()),
            })
            .await?
            .change_sets)
    }
}

/// What ends a run from outside: Ctrl-C, `kill`, a closed terminal.
struct Interrupts {
    signals: [Signal; 3],
}

impl Interrupts {
    fn listen() -> Result<Self, RuntimeError> {
        let listen = |kind| signal(kind).map_err(RuntimeError::internal);
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let [interrupt, terminate, hangup] = kinds.map(listen);
        Ok(Self {
            signals: [interrupt?, terminate?, hangup?],
        })
    }

    async fn next(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.signals;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

enum Printer {
    Json,
    Human(show::Progress),
}

impl Printer {
    fn event(&mut self, event: &EventEnvelope) {
        match self {
            Printer::Json => output::json(event),
            Printer::Human(progress) => progress.event(event),
        }
    }

    fn result(&self, result: &ResultLine) {
        match self {
            Printer::Json => output::json(result),
            Printer::Human(_) => {
                for path in &result.files {
                    output::line(format!("Wrote {path}"));
                }
                for set in result.change_sets.iter().filter(|set| set.status.is_open()) {
                    output::line(show::change_set_card(set));
                    output::note(format!("Review with: vibe-coder changes show {}", set.id));
                }
                if let Some(error) = &result.error {
                    output::error(error);
                }
            }
        }
    }
}

/// The longest request that is read from standard input: what fits into one request of the wire contract.
const MAX_PROMPT_BYTES: u64 = 8 * 1024 * 1024;

/// Checked before anything is opened, so that a slip leaves no empty session behind.
fn prompt_text(argument: String) -> Result<String, RuntimeError> {
    let text = match argument.as_str() {
        "-" => standard_input()?,
        _ => argument,
    };
    if text.trim().is_empty() {
        return Err(
            RuntimeError::new(ErrorCode::UsageInvalid, "The request is empty.")
                .action("Say what you want to know or have done."),
        );
    }
    Ok(text)
}

fn standard_input() -> Result<String, RuntimeError> {
    let mut text = String::new();
    std::io::stdin()
        .take(MAX_PROMPT_BYTES)
        .read_to_string(&mut text)
        .map_err(|error| {
            RuntimeError::new(
                ErrorCode::UsageInvalid,
                "The request could not be read from standard input.",
            )
            .because(error)
            .action("Give it as text in UTF-8.")
        })?;
    Ok(text)
}
