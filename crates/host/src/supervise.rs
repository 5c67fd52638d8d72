//! One task per context that starts its backend when it is needed, starts it again when it ends, lets it rest when
//! nobody uses it, and ends it. The only place that moves a context's state.
//!
//! It knows adapters and times; nothing of windows, requests or what a backend does.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use protocol::{ContextState, ErrorCode, RuntimeError, host::HostEvent};
use store::log::{Log, LogEvent};
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::{
    adapter::{Again, ContextAdapter, StartFailure},
    machine::{ContextInput, next},
    registry::ContextKey,
};

/// When a backend is started again, rests and is ended.
#[derive(Clone, Copy, Debug)]
pub struct Supervision {
    /// Before the first restart; doubled for each further one within `window`.
    pub first_pause: Duration,
    pub longest_pause: Duration,
    /// Restarts within `window`; the next end is final.
    pub restarts: usize,
    pub window: Duration,
    /// Without a window and without work, it is ended after this.
    pub idle_after: Duration,
    /// What a backend that is told to end may take for it.
    pub patience: Duration,
}

impl Default for Supervision {
    fn default() -> Self {
        Self {
            first_pause: Duration::from_millis(250),
            longest_pause: Duration::from_secs(8),
            restarts: 5,
            window: Duration::from_secs(60),
            idle_after: Duration::from_secs(15 * 60),
            patience: Duration::from_secs(3),
        }
    }
}

/// A context's state as it is now.
#[derive(Clone, Debug)]
pub struct Status {
    pub state: ContextState,
    /// Why it failed, when it did.
    pub error: Option<RuntimeError>,
}

type Waiter = oneshot::Sender<Result<(), RuntimeError>>;

pub(crate) enum Control {
    /// Make it ready; answered when it is, or cannot be.
    Start(Waiter),
    /// As `Start`, and give a failed one another try.
    Revive(Waiter),
    Restart(Waiter),
    /// End it; answered when nothing of it is left.
    Stop(oneshot::Sender<()>),
}

pub(crate) struct Supervisor {
    pub key: ContextKey,
    pub adapter: Arc<dyn ContextAdapter>,
    pub times: Supervision,
    pub control: mpsc::Receiver<Control>,
    pub status: watch::Sender<Status>,
    /// How many windows use the context.
    pub presence: watch::Receiver<usize>,
    pub events: broadcast::Sender<HostEvent>,
    pub log: Arc<Log>,
    pub waiting: Vec<Waiter>,
    /// Ends that nobody asked for, the latest last.
    pub ends: VecDeque<Instant>,
}

/// What a ready backend's time ends with.
enum Turn {
    Ended(String),
    Unused,
    Asked(Option<Control>),
}

impl Supervisor {
    /// Runs until nobody holds the context's handle.
    pub(crate) async fn run(mut self) {
        loop {
            let goes_on = match self.state() {
                ContextState::Stopped | ContextState::Suspended | ContextState::Failed => self.rest().await,
                ContextState::Starting => self.come_up().await,
                ContextState::Ready => self.serve().await,
                // Left before anything is awaited outside `end`.
                ContextState::Stopping => true,
            };
            if !goes_on {
                break;
            }
        }
        self.adapter.stop(Duration::ZERO).await;
    }

    fn state(&self) -> ContextState {
        self.status.borrow().state
    }

    fn go(&mut self, input: ContextInput, reason: Option<String>, error: Option<RuntimeError>) {
        let from = self.state();
        // Every pair used in this file is in the machine's table.
        let Ok(to) = next(from, input) else { return };
        self.status.send_replace(Status { state: to, error });
        self.log.record(&LogEvent::ContextStateChanged {
            context: self.key.to_string(),
            from,
            to,
        });
        // Nobody may be listening.
        let _ = self.events.send(HostEvent::ContextStateChanged {
            context: self.key.to_string(),
            from,
            to,
            reason,
        });
    }

    fn answer_waiting(&mut self, answer: Result<(), RuntimeError>) {
        for waiter in self.waiting.drain(..) {
            let _ = waiter.send(answer.clone());
        }
    }

    async fn rest(&mut self) -> bool {
        let Some(control) = self.control.recv().await else {
            return false;
        };
        let failure = self.status.borrow().error.clone();
        match (control, failure) {
            (Control::Start(waiter), Some(error)) if self.state() == ContextState::Failed => {
                let _ = waiter.send(Err(error));
            }
            (Control::Start(waiter) | Control::Revive(waiter) | Control::Restart(waiter), _) => {
                self.ends.clear();
                self.waiting.push(waiter);
                self.go(ContextInput::Start, None, None);
            }
            (Control::Stop(done), _) => {
                self.go(ContextInput::Stop, None, None);
                let _ = done.send(());
            }
        }
        true
    }

    async fn come_up(&mut self) -> bool {
        let adapter = self.adapter.clone();
        let mut start = adapter.start();
        let started = loop {
            tokio::select! {
                started = &mut start => break started,
                control = self.control.recv() => match control {
                    None => return false,
                    Some(Control::Start(waiter) | Control::Revive(waiter) | Control::Restart(waiter)) => {
                        self.waiting.push(waiter);
                    }
                    Some(Control::Stop(done)) => {
                        drop(start);
                        self.end(ContextInput::Gone).await;
                        let _ = done.send(());
                        return true;
                    }
                },
            }
        };
        drop(start);
        match started {
            Ok(()) => {
                self.go(ContextInput::Ready, None, None);
                self.answer_waiting(Ok(()));
                true
            }
            Err(StartFailure {
                error,
                again: Again::Pointless,
            }) => {
                self.give_up(error);
                true
            }
            Err(StartFailure {
                error,
                again: Again::Worthwhile,
            }) => self.pause_or_give_up(error).await,
        }
    }

    async fn serve(&mut self) -> bool {
        let adapter = self.adapter.clone();
        let turn = {
            let unused = unused(adapter.clone(), self.presence.clone(), self.times.idle_after);
            let mut unused = std::pin::pin!(unused);
            let mut ended = adapter.ended();
            loop {
                tokio::select! {
                    control = self.control.recv() => match control {
                        Some(Control::Start(waiter) | Control::Revive(waiter)) => {
                            let _ = waiter.send(Ok(()));
                        }
                        control => break Turn::Asked(control),
                    },
                    reason = &mut ended => break Turn::Ended(reason),
                    () = &mut unused => break Turn::Unused,
                }
            }
        };
        match turn {
            Turn::Asked(None) => false,
            Turn::Asked(Some(Control::Restart(waiter))) => {
                self.end(ContextInput::Gone).await;
                self.ends.clear();
                self.waiting.push(waiter);
                self.go(ContextInput::Start, None, None);
                true
            }
            Turn::Asked(Some(Control::Stop(done))) => {
                self.end(ContextInput::Gone).await;
                let _ = done.send(());
                true
            }
            // Answered above.
            Turn::Asked(Some(Control::Start(_) | Control::Revive(_))) => true,
            Turn::Unused => {
                self.end(ContextInput::Parked).await;
                true
            }
            Turn::Ended(reason) => {
                self.adapter.stop(Duration::ZERO).await;
                self.go(
                    ContextInput::Ended,
                    Some(format!("{reason} It is started again.")),
                    None,
                );
                let error = RuntimeError::new(ErrorCode::ContextFailed, "The backend ended unexpectedly.")
                    .because(reason);
                self.pause_or_give_up(error).await
            }
        }
    }

    /// After an end that nobody asked for: waits before the next start, or leaves it.
    async fn pause_or_give_up(&mut self, error: RuntimeError) -> bool {
        let now = Instant::now();
        self.ends.push_back(now);
        self.ends
            .retain(|end| now.duration_since(*end) < self.times.window);
        if self.ends.len() > self.times.restarts {
            let why = error.detail.clone().unwrap_or_else(|| error.message.clone());
            let times = self.ends.len();
            self.give_up(
                RuntimeError::new(
                    ErrorCode::ContextFailed,
                    format!("The backend ended {times} times in a short while and is not started again."),
                )
                .because(why)
                .action("Restart it by hand; `vibe-coder doctor` says what is wrong with this machine."),
            );
            return true;
        }
        let doublings = u32::try_from(self.ends.len() - 1).unwrap_or(u32::MAX);
        let pause = self
            .times
            .first_pause
            .saturating_mul(2_u32.saturating_pow(doublings))
            .min(self.times.longest_pause);
        let mut over = std::pin::pin!(tokio::time::sleep(pause));
        loop {
            tokio::select! {
                () = &mut over => return true,
                control = self.control.recv() => match control {
                    None => return false,
                    Some(Control::Start(waiter)) => self.waiting.push(waiter),
                    // A person does not want to wait.
                    Some(Control::Revive(waiter) | Control::Restart(waiter)) => {
                        self.waiting.push(waiter);
                        return true;
                    }
                    Some(Control::Stop(done)) => {
                        self.end(ContextInput::Gone).await;
                        let _ = done.send(());
                        return true;
                    }
                },
            }
        }
    }

    fn give_up(&mut self, error: RuntimeError) {
        let words = match &error.detail {
            Some(detail) => format!("{} {detail}", error.message),
            None => error.message.clone(),
        };
        self.go(ContextInput::GiveUp, Some(words), Some(error.clone()));
        self.answer_waiting(Err(error));
    }

    async fn end(&mut self, arrival: ContextInput) {
        self.go(ContextInput::Stop, None, None);
        self.adapter.stop(self.times.patience).await;
        let reason = (arrival == ContextInput::Parked).then(|| "Nobody used it for a while.".to_owned());
        self.go(arrival, reason, None);
        let closed = RuntimeError::new(ErrorCode::Interrupted, "The context was closed.")
            .action("Open it again to go on.");
        self.answer_waiting(Err(closed));
    }
}

/// Returns when no window has used the context and it has done no work for `idle_after`.
async fn unused(
    adapter: Arc<dyn ContextAdapter>,
    mut presence: watch::Receiver<usize>,
    idle_after: Duration,
) {
    /// A backend at work is asked again at least this often.
    const LONGEST_PAUSE: Duration = Duration::from_secs(30);
    let mut pause = idle_after;
    loop {
        if presence.wait_for(|windows| *windows == 0).await.is_err() {
            // The handle is gone, and the control channel says so.
            return std::future::pending().await;
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {
                if !adapter.is_busy().await && *presence.borrow() == 0 {
                    return;
                }
                pause = idle_after.min(LONGEST_PAUSE);
            }
            _ = presence.changed() => pause = idle_after,
        }
    }
}
