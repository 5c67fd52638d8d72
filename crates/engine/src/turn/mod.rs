//! A turn: from the user's message to the end of the assistant's work. Owns the loop of model requests and tool
//! rounds; the rooms below do the work.

pub mod beside;
pub mod condense;
mod finish;
mod guard;
pub mod history;
mod model;
mod start;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicU32},
    time::Duration,
};

use protocol::{
    ErrorCode, EventBody, ItemId, ItemKind, ItemStatus, Mode, ProviderRequestId, RuntimeError, TimelineItem,
    TurnId, Usage, checks::Verified, request::Approvals,
};
use provider::{Answer, Block, Message, ModelRequest, Origin, StopReason};
use store::{Durability, log::LogEvent};
use tokio_util::sync::CancellationToken;

use self::{
    beside::Standing,
    guard::Guard,
    history::{History, Marks, ReadMark},
};
use crate::{
    instructions,
    rooms::Rooms,
    session::{Session, SessionInput},
    spending,
    tools::router::{self, Call},
    verification::{self, Next, Repairs},
};

/// How often a request that is too long for its provider is made shorter and sent again.
const MAX_TOO_LONG: u32 = 2;
/// How long a cancelled turn waits for what it started. The whole of a cancel has 2 s (§56.2).
const CANCEL_DEADLINE: Duration = Duration::from_millis(1_700);
/// Answers in a row whose tool calls were cut by the output limit (V02).
const MAX_CUTS: u32 = 3;

/// Everything one turn needs to know. Shared by the tools that run side by side.
pub struct Turn {
    pub rooms: Arc<Rooms>,
    pub session: Arc<Session>,
    pub id: TurnId,
    pub mode: Mode,
    pub provider: String,
    pub model: String,
    /// The first line of the request, for the reviewer of its changes.
    request_line: String,
    pub approvals: Approvals,
    pub cancel: CancellationToken,
    pub standing: Standing,
    pub started_at: protocol::Millis,
    /// Who is asked where the provider cannot answer.
    fallbacks: Vec<Origin>,
    usage: Mutex<Usage>,
    /// What the answers so far have cost, as far as prices are known.
    cost: Mutex<Option<f64>>,
    pub commands_run: AtomicU32,
    /// Items that started and have not ended; the turn's end closes what is left, so that no card spins forever.
    open_items: Mutex<BTreeMap<ItemId, TimelineItem>>,
    /// What may be said of the changes.
    verified: Mutex<Option<Verified>>,
    /// What the summary tells the user besides the figures.
    notes: Mutex<Vec<String>>,
}

/// A turn as the user asked for it.
pub struct TurnRequest {
    pub text: String,
    pub mode: Mode,
    pub provider: String,
    pub model: String,
    pub fallbacks: Vec<Origin>,
    pub approvals: Approvals,
    pub timeout: Option<Duration>,
}

impl Turn {
    pub fn new(rooms: Arc<Rooms>, session: Arc<Session>, id: TurnId, request: &TurnRequest) -> Self {
        let started_at = rooms.sink.now();
        Self {
            rooms,
            session,
            id,
            mode: request.mode,
            provider: request.provider.clone(),
            model: request.model.clone(),
            request_line: request.text.trim().lines().next().unwrap_or_default().to_owned(),
            approvals: request.approvals,
            cancel: CancellationToken::new(),
            standing: Standing::Turn,
            started_at,
            fallbacks: request.fallbacks.clone(),
            usage: Mutex::default(),
            cost: Mutex::default(),
            commands_run: AtomicU32::new(0),
            open_items: Mutex::default(),
            verified: Mutex::default(),
            notes: Mutex::default(),
        }
    }

    pub fn emit(&self, body: EventBody, durability: Durability) -> Result<(), RuntimeError> {
        self.rooms.sink.emit(Some(&self.session.id), body, durability)
    }

    /// Adds a line to the log file: ids and figures, never contents.
    pub fn log(&self, event: &LogEvent) {
        self.rooms.sink.log(event);
    }

    pub fn start_item(&self, kind: ItemKind) -> Result<TimelineItem, RuntimeError> {
        let item = self.item(kind, ItemStatus::Running);
        self.emit(EventBody::ItemStarted { item: item.clone() }, Durability::Normal)?;
        lock(&self.open_items).insert(item.id.clone(), item.clone());
        Ok(item)
    }

    /// An item that is over as soon as it begins.
    pub fn add_item(
        &self,
        kind: ItemKind,
        status: ItemStatus,
        durability: Durability,
    ) -> Result<(), RuntimeError> {
        let item = self.item(kind, status);
        self.emit(EventBody::ItemCompleted { item }, durability)
    }

    pub fn complete_item(
        &self,
        mut item: TimelineItem,
        status: ItemStatus,
        durability: Durability,
    ) -> Result<(), RuntimeError> {
        item.status = status;
        item.updated_at = Some(self.rooms.sink.now());
        lock(&self.open_items).remove(&item.id);
        self.emit(EventBody::ItemCompleted { item }, durability)
    }

    fn item(&self, kind: ItemKind, status: ItemStatus) -> TimelineItem {
        TimelineItem {
            id: protocol::ItemId::mint(),
            session_id: self.session.id.clone(),
            correlation_id: self.id.clone(),
            created_at: self.rooms.sink.now(),
            updated_at: None,
            status,
            visible: true,
            kind,
        }
    }

    pub fn note(&self, note: impl Into<String>) {
        lock(&self.notes).push(note.into());
    }

    pub fn set_verified(&self, verified: Verified) {
        *lock(&self.verified) = Some(verified);
    }

    pub fn fallbacks(&self) -> &[Origin] {
        &self.fallbacks
    }

    fn usage(&self) -> Usage {
        *lock(&self.usage)
    }

    /// Runs to the end and reports it: whatever happens, the last event of the turn is `turnCompleted`.
    pub async fn run(self: Arc<Self>, request: TurnRequest) {
        let outcome = self.guarded(&request).await;
        if let Err(error) = self.finish(outcome) {
            // The log itself failed; the next open of the workspace finds the turn unfinished and says so.
            self.rooms.log_failure("turn.finish", &error);
            self.session.force_failed();
            self.rooms.sink.break_off(&error);
        }
    }

    async fn guarded(&self, request: &TurnRequest) -> Result<(), RuntimeError> {
        let mut work = std::pin::pin!(self.work(request));
        let settings = self.rooms.home.settings()?.turn;
        let time_limit = Guard::time_limit(&settings, request.timeout);
        let limit = async {
            match time_limit {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        let ended_by = tokio::select! {
            done = &mut work => return done,
            () = self.cancel.cancelled() => RuntimeError::cancelled(),
            () = limit => time_limit_error(time_limit.unwrap_or_default()),
        };
        // Streams, tools and commands end by themselves when cancelled; one that does not is left behind (S04).
        self.cancel.cancel();
        if tokio::time::timeout(CANCEL_DEADLINE, &mut work).await.is_err() {
            self.note("Something that was running did not stop in time. It was left behind and cannot act any more.");
        }
        Err(ended_by)
    }

    async fn work(&self, request: &TurnRequest) -> Result<(), RuntimeError> {
        let (bundle, mut history) = start::begin(self, request).await?;
        self.session.transition(SessionInput::ContextReady, None)?;
        let mut cuts = 0;
        let mut repairs = Repairs::default();
        let mut guard = Guard::new(self.rooms.home.settings()?.turn);
        loop {
            guard.before_request(&self.usage(), *lock(&self.cost))?;
            let answer = self.request_in_room(&bundle, &mut history).await?;
            let calls: Vec<Call> = answer.message.tool_uses().map(Call::from).collect();
            let answer_is_empty = answer.message.blocks.is_empty();
            self.push(&mut history, answer.message, Marks::default())?;
            match answer.stop_reason {
                StopReason::OutputLimit => {
                    cuts += 1;
                    if cuts == MAX_CUTS {
                        return Err(output_limit_error());
                    }
                }
                StopReason::Refused => return Err(refusal_error()),
                StopReason::EndTurn | StopReason::ToolUse | StopReason::Paused => cuts = 0,
            }
            let mut blocks = Vec::new();
            let done = calls.is_empty()
                && answer.cut_calls.is_empty()
                && !matches!(answer.stop_reason, StopReason::Paused | StopReason::OutputLimit);
            if done {
                if answer_is_empty {
                    self.note("The model ended its answer without saying anything.");
                }
                match verification::after_answer(self, &mut repairs).await? {
                    Next::End => return Ok(()),
                    Next::Repair(words) => {
                        self.push(&mut history, Message::user(words), Marks::default())?;
                        continue;
                    }
                }
            }
            let mut marks = Marks::default();
            let touched: Vec<PathBuf> = calls.iter().flat_map(instructions::paths_of).collect();
            let mut results = router::run_all(self, calls.clone()).await;
            let gets_on = guard.after_round(&calls, &mut results);
            for result in results {
                marks.reads.extend(read_mark(&result));
                blocks.push(Block::ToolResult {
                    tool_use_id: result.tool_call_id.0,
                    content: result.content,
                    is_error: !result.ok,
                });
            }
            if answer.stop_reason == StopReason::OutputLimit {
                blocks.push(Block::Text {
                    text: cut_message(&answer.cut_calls),
                });
            }
            if let Some((block, entered)) =
                instructions::entered(self, &touched, &history.instructions_in_view())
            {
                blocks.push(block);
                marks.instructions = entered;
            }
            self.push(&mut history, Message::from_user(blocks), marks)?;
            if self.cancel.is_cancelled() {
                return Err(RuntimeError::cancelled());
            }
            // Only now: the conversation stays whole.
            gets_on?;
        }
    }

    fn push(&self, history: &mut History, message: Message, marks: Marks) -> Result<(), RuntimeError> {
        history.push(
            &self.rooms.store,
            &self.session.id,
            &self.id,
            self.rooms.sink.now(),
            message,
            marks,
        )?;
        self.session.show(history.reads_in_view());
        Ok(())
    }

    /// Makes room before the request passes what the model can hold, and when the provider says that it did (V08).
    async fn request_in_room(
        &self,
        bundle: &prompt::PromptBundle,
        history: &mut History,
    ) -> Result<Answer, RuntimeError> {
        let budget = self.rooms.budget(&self.provider, &self.model);
        let fixed = bundle.estimated_tokens;
        if budget.needs_condensing(fixed + condense::size_of(history)) {
            let target = budget.condensed_size();
            let most = budget.condensing_limit();
            self.condense(history, fixed, (target, most), condense::Cause::NearLimit)?;
        }
        for _ in 0..MAX_TOO_LONG {
            match self.request_or_leave_out(bundle, history).await {
                Err(error) if error.code == ErrorCode::ProviderContextTooLong => {
                    // What the model holds is not what we think it is: half of what was too much.
                    let target = (fixed + condense::size_of(history)) / 2;
                    let cause = condense::Cause::ProviderSaysTooLong;
                    if !self.condense(history, fixed, (target, target), cause)? {
                        return Err(error);
                    }
                }
                answered => return answered,
            }
        }
        self.request_or_leave_out(bundle, history).await
    }

    fn condense(
        &self,
        history: &mut History,
        fixed: u64,
        (target, most): (u64, u64),
        cause: condense::Cause,
    ) -> Result<bool, RuntimeError> {
        let summary = self.rooms.budget(&self.provider, &self.model).summary_limit();
        let sizes = condense::Sizes {
            fixed,
            target,
            most,
            summary: summary.min(target / 3),
        };
        let done = condense::condense(self, history, sizes, cause)?;
        self.session.show(history.reads_in_view());
        Ok(done)
    }

    /// One more try without what the last tools brought in, where that may be what the provider objects to: it must
    /// not end the conversation for good (X04).
    async fn request_or_leave_out(
        &self,
        bundle: &prompt::PromptBundle,
        history: &mut History,
    ) -> Result<Answer, RuntimeError> {
        let refused = match self.request(bundle, history).await {
            Err(error) if error.code == ErrorCode::ProviderInvalidRequest => error,
            answered => return answered,
        };
        let Some(original) = history.leave_out_results() else {
            return Err(refused);
        };
        match self.request(bundle, history).await {
            Ok(answer) => {
                history.store_last(
                    &self.rooms.store,
                    &self.session.id,
                    &self.id,
                    self.rooms.sink.now(),
                )?;
                self.note(format!(
                    "{} did not accept what the last tool calls brought in; it was left out of the conversation.",
                    self.provider
                ));
                Ok(answer)
            }
            Err(_) => {
                // It was something else.
                history.restore_last(original);
                Err(refused)
            }
        }
    }

    async fn request(
        &self,
        bundle: &prompt::PromptBundle,
        history: &History,
    ) -> Result<Answer, RuntimeError> {
        let request_id = ProviderRequestId::mint();
        let messages = history.messages();
        let history_bytes: usize = messages.iter().map(message_bytes).sum();
        let estimated = bundle.estimated_tokens + prompt::TokenBudgetManager::estimate_bytes(history_bytes);
        let estimated_input = self.rooms.budget(&self.provider, &self.model).expected(estimated);
        let longest_answer = self.rooms.output_limit(&self.provider, &self.model);
        // A key that was stored meanwhile may be in what this request or its tools bring in.
        self.rooms.models.look_for_keys()?;
        let allowed = spending::allow(self, estimated_input, u64::from(longest_answer))?;
        self.log(&LogEvent::ProviderRequestStarted {
            session: self.session.id.clone(),
            request: request_id.clone(),
            provider: self.provider.clone(),
            model: self.model.clone(),
            prompt_hash: bundle.hash.clone(),
            estimated_input,
        });
        let started = std::time::Instant::now();
        let asked = model::ask(
            self,
            ModelRequest {
                provider: self.provider.clone(),
                model: self.model.clone(),
                system: bundle.system.clone(),
                tools: bundle.tools.clone(),
                messages,
                max_output_tokens: longest_answer,
                format: provider::AnswerFormat::Text,
                request_id: request_id.clone(),
            },
            allowed.fallbacks,
        )
        .await;
        let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let request = request_id.clone();
        self.log(&match &asked {
            Ok(Answer { usage, .. }) => LogEvent::ProviderRequestCompleted {
                request,
                input: usage.input,
                output: usage.output,
                duration_ms,
            },
            Err(error) => LogEvent::ProviderRequestFailed {
                request,
                code: error.code,
                duration_ms,
            },
        });
        if asked.is_err() {
            for Origin { provider, model } in &allowed.too_dear {
                self.note(format!(
                    "{provider} ({model}) was not asked instead: it could pass a limit of cost."
                ));
            }
        }
        let answer = asked?;
        *lock(&self.usage) += answer.usage;
        let spent = spending::record(self, &answer, estimated_input)?;
        if let Some(cost) = spent.cost {
            *lock(&self.cost).get_or_insert(0.0) += cost;
        }
        self.learn(estimated, history, &answer)?;
        self.emit(
            EventBody::UsageUpdated {
                turn_id: self.id.clone(),
                request_id,
                prompt_hash: bundle.hash.clone(),
                estimated_input,
                usage: answer.usage,
                cost: spent.cost,
                session: spent.session,
                today: spent.today,
            },
            Durability::Normal,
        )?;
        Ok(answer)
    }

    /// What the provider counted corrects the next estimate for this model. Images are counted in other ways.
    fn learn(&self, estimated: u64, history: &History, answer: &Answer) -> Result<(), RuntimeError> {
        let messages = history.messages();
        let mut blocks = messages.iter().flat_map(|message| &message.blocks);
        let other_model = answer
            .message
            .origin
            .as_ref()
            .is_some_and(|origin| origin.provider != self.provider || origin.model != self.model);
        if other_model || blocks.any(|block| matches!(block, Block::Image { .. })) {
            return Ok(());
        }
        let rooms = &self.rooms;
        rooms.calibrations.learn(
            &rooms.store,
            &self.provider,
            &self.model,
            estimated,
            answer.usage.input,
        )?;
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn message_bytes(message: &Message) -> usize {
    message
        .blocks
        .iter()
        .map(|block| match block {
            Block::Text { text } | Block::Thinking { text, .. } => text.len(),
            Block::RedactedThinking { data } => data.len(),
            Block::ToolUse { name, input, .. } => name.len() + input.to_string().len(),
            Block::ToolResult { content, .. } => content.len(),
            Block::Image { base64, .. } => base64.len(),
            Block::Opaque { json, .. } => json.to_string().len(),
        })
        .sum()
}

/// The lines of a file that a result shows.
fn read_mark(result: &protocol::ToolResult) -> Option<ReadMark> {
    let data = result.data.as_ref()?;
    Some(ReadMark {
        call: result.tool_call_id.0.clone(),
        path: data.get("path")?.as_str()?.to_owned(),
        first_line: data.get("firstLine")?.as_u64()?,
        last_line: data.get("lastLine")?.as_u64()?,
        content_hash: serde_json::from_value(data.get("contentHash")?.clone()).ok()?,
    })
}

fn cut_message(cut: &[provider::CutCall]) -> String {
    match cut.first() {
        Some(call) => format!(
            "Your call of {} was cut off by the output limit and was not run. Nothing was written. Send less at a \
             time: smaller edits, or several calls.",
            call.name
        ),
        None => "Your answer was cut off by the output limit. Go on where it stopped.".to_owned(),
    }
}

fn time_limit_error(limit: Duration) -> RuntimeError {
    RuntimeError::new(
        ErrorCode::SessionTimeout,
        format!("The turn was ended after its limit of {} s.", limit.as_secs()),
    )
    .action("Send a message to go on, or allow more time.")
}

fn output_limit_error() -> RuntimeError {
    RuntimeError::new(
        ErrorCode::ProviderOutputLimit,
        format!("The model's answer was cut off by its output limit {MAX_CUTS} times in a row."),
    )
    .action("Ask for a smaller step, or choose a model with a larger output limit.")
}

fn refusal_error() -> RuntimeError {
    RuntimeError::new(
        ErrorCode::ProviderRefused,
        "The model declined to go on with this request.",
    )
    .action("Rephrase the request, or choose another model.")
}
