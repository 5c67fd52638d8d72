//! What was asked of models: a line for each request, a file for each day, for all workspaces together. Any number of
//! engines append at the same time. Knows nothing of what a line says.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    time::Duration,
};

use protocol::Millis;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    DataHome, files,
    home::{DataPath, files_in},
};

/// Days whose lines are kept.
const KEPT_DAYS: u64 = 92;
const DAY: u64 = Duration::from_secs(24 * 60 * 60).as_millis() as u64;

/// A day of the calendar, in UTC, as `2026-11-30`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(String);

impl Day {
    pub fn of(at: Millis) -> Self {
        // Days since 0000-03-01, so that a leap day is the last of its year.
        let days = at / DAY + 719_468;
        let era = days / 146_097;
        let of_era = days % 146_097;
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 {
            month_from_march + 3
        } else {
            month_from_march - 9
        };
        let year = year_of_era + era * 400 + u64::from(month <= 2);
        Self(format!("{year:04}-{month:02}-{day:02}"))
    }

    pub fn before(at: Millis) -> Self {
        Self::of(at.saturating_sub(DAY))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Clone, Debug)]
pub struct Ledger {
    folder: DataPath,
}

impl DataHome {
    pub fn ledger(&self) -> Ledger {
        Ledger {
            folder: self.root().join("requests"),
        }
    }
}

impl Ledger {
    /// Adds a line to the day of `at`. One write, so that lines of several programs do not mix.
    pub fn append(&self, at: Millis, entry: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let path = self.file(&Day::of(at));
        if !path.as_path().exists() {
            files::create_folder(&self.folder)?;
            self.forget_before(&Day::of(at.saturating_sub(KEPT_DAYS * DAY)))?;
        }
        files::open_append(&path)?.write_all(&line)
    }

    /// The lines of a day after its first `from` bytes, and where to go on from. A line that cannot be read, as after
    /// a power cut, is left out.
    pub fn read<T: DeserializeOwned>(&self, day: &Day, from: u64) -> io::Result<(Vec<T>, u64)> {
        let mut file = match File::open(self.file(day).as_path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), from)),
            opened => opened?,
        };
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        // A line that another program is in the middle of is read the next time.
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let entries = bytes[..whole]
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect();
        Ok((entries, from + whole as u64))
    }

    fn file(&self, day: &Day) -> DataPath {
        self.folder.join(&format!("{}.jsonl", day.0))
    }

    fn forget_before(&self, oldest: &Day) -> io::Result<()> {
        for (path, _) in files_in(&self.folder)? {
            let name = path.as_path().file_stem().and_then(|name| name.to_str());
            if name.is_some_and(|name| name < oldest.as_str()) {
                files::remove_file(&path)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_767_225_599, "2025-12-31"),
            (1_767_225_600, "2026-01-01"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(Day::of(seconds * 1_000).as_str(), day);
        }
        assert_eq!(Day::before(951_868_800_000).as_str(), "2000-02-29");
    }

    #[test]
    fn lines_are_read_once_damage_costs_one_line_and_old_days_go() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = DataHome::at(folder.path().to_owned()).ledger();
        let today = 1_800_000_000_000;
        let old = today - 100 * DAY;
        ledger.append(old, &1).unwrap();
        assert_eq!(ledger.read(&Day::of(old), 0).unwrap(), (vec![1], 2));
        ledger.append(today, &2).unwrap();
        let day = Day::of(today);
        let (first, end) = ledger.read::<u32>(&day, 0).unwrap();
        assert_eq!(first, [2]);
        let path = folder
            .path()
            .join("requests")
            .join(format!("{}.jsonl", day.as_str()));
        let torn = [std::fs::read(&path).unwrap(), b"{\"torn\n3".to_vec()].concat();
        #[allow(clippy::disallowed_methods, reason = "damage done by a test")]
        std::fs::write(&path, torn).unwrap();
        let (none, end) = ledger.read::<u32>(&day, end).unwrap();
        assert!(none.is_empty(), "3 is not a whole line yet");
        ledger.append(today, &4).unwrap();
        assert_eq!(ledger.read::<u32>(&day, end).unwrap().0, [34]);
        assert_eq!(ledger.read::<u32>(&Day::of(old), 0).unwrap().0, Vec::<u32>::new());
    }
}
