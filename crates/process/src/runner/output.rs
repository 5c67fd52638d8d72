//! Reads a command's two output pipes: in arrival order, in bounded memory, every byte to the log.
//!
//! One thread per running command, so that a flood or a slow disk never delays the timers that stop it. The
//! bounded event queue is the back-pressure: when the consumer lags, the pipes fill and the command waits.

use std::collections::VecDeque;
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use tokio::sync::{mpsc, oneshot};

use super::CommandEvent;
use super::report::{PartStatuses, ReportReader};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputStream {
    Stdout,
    Stderr,
}

/// What is kept of the output in memory. The log has the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputSummary {
    pub head: Vec<u8>,
    pub tail: Vec<u8>,
    /// Bytes between head and tail.
    pub omitted_bytes: u64,
    pub total_bytes: u64,
}

impl OutputSummary {
    /// Both ends as a person reads them, with a line between them that says how much is missing.
    pub fn text(&self, colour: crate::display::Colour) -> String {
        if self.omitted_bytes == 0 {
            let whole: Vec<u8> = self.head.iter().chain(&self.tail).copied().collect();
            return crate::display::render(&whole, colour);
        }
        let mut text = crate::display::render(&self.head, colour);
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!(
            "… {} bytes left out; the log has them …\n",
            self.omitted_bytes
        ));
        text.push_str(&crate::display::render(&self.tail, colour));
        text
    }
}

/// The first and the last bytes of a stream of any length.
struct HeadAndTail {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    limit: usize,
    total: u64,
}

impl HeadAndTail {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(self.limit.saturating_sub(self.head.len()).min(bytes.len()));
        self.head.extend(first);
        let kept = rest
            .get(rest.len().saturating_sub(self.limit)..)
            .unwrap_or_default();
        let excess = (self.tail.len() + kept.len()).saturating_sub(self.limit);
        self.tail.drain(..excess);
        self.tail.extend(kept);
    }

    fn summary(self) -> OutputSummary {
        let kept = (self.head.len() + self.tail.len()) as u64;
        OutputSummary {
            omitted_bytes: self.total - kept,
            total_bytes: self.total,
            head: self.head,
            tail: self.tail.into(),
        }
    }
}

/// What the reader hands over when the command has ended.
pub(super) struct Collected {
    pub(super) output: OutputSummary,
    pub(super) parts: PartStatuses,
    pub(super) log_error: Option<io::Error>,
}

/// Held by the supervisor; how the reader learns that the shell has ended.
pub(super) struct ReaderControl {
    /// Closing it wakes the reader.
    wake: Option<OwnedFd>,
    keep_logging: Arc<AtomicBool>,
    done: Option<oneshot::Receiver<Collected>>,
}

impl ReaderControl {
    /// Resolves early when both pipes have closed, which tells that nothing holds them any more. Dropping the
    /// future loses nothing.
    pub(super) async fn closed(&mut self) -> Option<Collected> {
        let collected = self.done.as_mut()?.await.ok();
        self.done = None;
        collected
    }

    /// Takes what is in the pipes now and ends the reading.
    pub(super) async fn finish(&mut self) -> Option<Collected> {
        self.wake = None;
        self.closed().await
    }

    /// Ends the events, and goes on writing late output of processes left running to the log.
    pub(super) async fn detach(&mut self) -> Option<Collected> {
        self.keep_logging.store(true, Ordering::Release);
        self.finish().await
    }
}

pub(super) struct ReaderInput {
    pub(super) stdout: PipeReader,
    pub(super) stderr: PipeReader,
    pub(super) report: Option<PipeReader>,
    pub(super) log: Box<dyn Write + Send>,
    pub(super) keep: usize,
    pub(super) events: mpsc::Sender<CommandEvent>,
}

/// Starts the reading thread.
pub(super) fn read(input: ReaderInput) -> io::Result<ReaderControl> {
    let (woken, wake) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    let keep_logging = Arc::new(AtomicBool::new(false));
    let (send, done) = oneshot::channel();
    let mut reader = Reader {
        stdout: Some(non_blocking(input.stdout)?),
        stderr: Some(non_blocking(input.stderr)?),
        report: input.report.map(ReportReader::new).transpose()?,
        woken,
        log: Some(input.log),
        log_error: None,
        kept: HeadAndTail {
            head: Vec::new(),
            tail: VecDeque::new(),
            limit: input.keep,
            total: 0,
        },
        events: Some(input.events),
        buffer: vec![0; 64 * 1024],
    };
    let keep = Arc::clone(&keep_logging);
    std::thread::Builder::new()
        .name("command-output".to_owned())
        .spawn(move || {
            let result = reader.until_ended();
            if let Err(error) = result {
                reader.log_error.get_or_insert(error);
            }
            reader.hand_over(send);
            if keep.load(Ordering::Acquire) {
                reader.drain_late_output();
            }
        })?;
    Ok(ReaderControl {
        wake: Some(wake),
        keep_logging,
        done: Some(done),
    })
}

fn non_blocking(pipe: PipeReader) -> io::Result<PipeReader> {
    rustix::io::ioctl_fionbio(&pipe, true)?;
    Ok(pipe)
}

struct Reader {
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
    report: Option<ReportReader>,
    woken: OwnedFd,
    log: Option<Box<dyn Write + Send>>,
    log_error: Option<io::Error>,
    kept: HeadAndTail,
    events: Option<mpsc::Sender<CommandEvent>>,
    buffer: Vec<u8>,
}

impl Reader {
    /// Until both pipes are closed, or the supervisor wakes us and what was in them is read.
    fn until_ended(&mut self) -> io::Result<()> {
        loop {
            let woken = self.wait()?;
            if woken {
                // At most what a full pair of pipes holds: a survivor that goes on writing is not followed.
                for _ in 0..64 {
                    if !self.read_both()? {
                        break;
                    }
                }
                return Ok(());
            }
            self.read_both()?;
            if self.stdout.is_none() && self.stderr.is_none() {
                return Ok(());
            }
        }
    }

    fn wait(&mut self) -> io::Result<bool> {
        let mut waiting = vec![PollFd::new(&self.woken, PollFlags::IN)];
        let pipes = [&self.stdout, &self.stderr];
        waiting.extend(
            pipes
                .into_iter()
                .flatten()
                .map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)),
        );
        if let Some(pipe) = self.report.as_ref().and_then(ReportReader::pipe) {
            waiting.push(PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN));
        }
        match poll(&mut waiting, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let woken = waiting.first().is_some_and(|fd| !fd.revents().is_empty());
        if let Some(report) = &mut self.report {
            report.read_available();
        }
        Ok(woken)
    }

    /// One read of each pipe; whether either had something.
    fn read_both(&mut self) -> io::Result<bool> {
        let mut progress = false;
        for stream in [OutputStream::Stdout, OutputStream::Stderr] {
            let pipe = match stream {
                OutputStream::Stdout => &mut self.stdout,
                OutputStream::Stderr => &mut self.stderr,
            };
            let Some(reader) = pipe else { continue };
            let read = match reader.read(&mut self.buffer) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    progress = true;
                    continue;
                }
                // How a terminal says that nobody has it open any more.
                Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => 0,
                Err(error) => return Err(error),
            };
            if read == 0 {
                *pipe = None;
                continue;
            }
            progress = true;
            let bytes = self.buffer.get(..read).unwrap_or_default().to_vec();
            self.write_log(&bytes);
            self.kept.push(&bytes);
            if let Some(events) = &self.events
                && events
                    .blocking_send(CommandEvent::Output { stream, bytes })
                    .is_err()
            {
                self.events = None;
            }
        }
        Ok(progress)
    }

    /// A log that cannot be written does not stop the command; the end says so.
    fn write_log(&mut self, bytes: &[u8]) {
        if let Some(log) = &mut self.log
            && let Err(error) = log.write_all(bytes)
        {
            self.log_error.get_or_insert(error);
            self.log = None;
        }
    }

    fn hand_over(&mut self, done: oneshot::Sender<Collected>) {
        if let Some(log) = &mut self.log
            && let Err(error) = log.flush()
        {
            self.log_error.get_or_insert(error);
        }
        if let Some(report) = &mut self.report {
            report.read_available();
        }
        self.events = None;
        let empty = HeadAndTail {
            head: Vec::new(),
            tail: VecDeque::new(),
            limit: 0,
            total: 0,
        };
        // Nobody waits only when the supervisor is gone, and then nobody wants it.
        let _ = done.send(Collected {
            output: std::mem::replace(&mut self.kept, empty).summary(),
            parts: self
                .report
                .as_mut()
                .map(ReportReader::take_statuses)
                .unwrap_or_default(),
            log_error: self.log_error.take(),
        });
    }

    /// Until the last process left running has closed its output. The report pipe is read too, else a loop left
    /// in the background would block on it.
    fn drain_late_output(&mut self) {
        while self.stdout.is_some() || self.stderr.is_some() {
            let mut waiting: Vec<PollFd<'_>> = [&self.stdout, &self.stderr]
                .into_iter()
                .flatten()
                .map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN))
                .collect();
            if let Some(pipe) = self.report.as_ref().and_then(ReportReader::pipe) {
                waiting.push(PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN));
            }
            if poll(&mut waiting, None).is_err_and(|error| error != rustix::io::Errno::INTR) {
                return;
            }
            if let Some(report) = &mut self.report {
                report.read_available();
            }
            if self.read_both().is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_are_exact_at_every_size() {
        for (total, chunk) in [
            (0, 1),
            (5, 1),
            (10, 3),
            (15, 4),
            (20, 7),
            (21, 21),
            (1000, 13),
            (1000, 1000),
        ] {
            let bytes: Vec<u8> = (0..total).map(|n: u32| (n % 251) as u8).collect();
            let mut kept = HeadAndTail {
                head: Vec::new(),
                tail: VecDeque::new(),
                limit: 10,
                total: 0,
            };
            bytes.chunks(chunk).for_each(|part| kept.push(part));
            let summary = kept.summary();
            assert_eq!(summary.total_bytes, u64::from(total));
            assert_eq!(summary.omitted_bytes, u64::from(total).saturating_sub(20));
            assert!(
                bytes.starts_with(&summary.head) && bytes.ends_with(&summary.tail),
                "{total}/{chunk}"
            );
            assert_eq!(summary.head.len() + summary.tail.len(), bytes.len().min(20));
        }
    }
}
