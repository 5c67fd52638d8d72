//! Files that can be made again from the workspace: the code index. Whole or absent, never synced: losing them to a
//! power cut costs only the time to make them again.

use std::{fs::File, io};

use crate::{Store, files, home, home::DataPath};

/// One folder of such files. Names are plain: no `/`, no leading dot.
#[derive(Clone, Debug)]
pub struct Shelf {
    folder: DataPath,
    writable: bool,
}

impl Store {
    /// The shelf of that name, made when something is first put on it.
    pub fn shelf(&self, name: &str) -> Shelf {
        Shelf {
            folder: self.inner.folder.join(name),
            writable: self.require_write_access("keep the index").is_ok(),
        }
    }
}

impl Shelf {
    /// What is on it, in no particular order.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let found = home::files_in(&self.folder)?;
        Ok(found
            .into_iter()
            .filter_map(|(path, _)| Some(path.as_path().file_name()?.to_str()?.to_owned()))
            .collect())
    }

    pub fn open(&self, name: &str) -> io::Result<File> {
        File::open(self.place(name)?.as_path())
    }

    /// Replaces what was there.
    pub fn save(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if !self.writable {
            return Err(io::Error::new(
                io::ErrorKind::ReadOnlyFilesystem,
                "the workspace is open for reading only",
            ));
        }
        files::create_folder(&self.folder)?;
        let target = self.place(name)?;
        let unfinished = self.folder.join(&format!(".{name}-{}", std::process::id()));
        files::replace(&target, &unfinished, bytes, files::Sync::Never)
    }

    pub fn remove(&self, name: &str) -> io::Result<()> {
        if !self.writable {
            return Ok(());
        }
        files::remove_file(&self.place(name)?)
    }

    fn place(&self, name: &str) -> io::Result<DataPath> {
        let plain = !name.is_empty()
            && !name.starts_with('.')
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
        match plain {
            true => Ok(self.folder.join(name)),
            false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain name")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Read, time::Duration};

    use super::*;
    use crate::DataHome;

    #[test]
    fn what_is_put_on_it_is_there_whole_and_names_stay_inside() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = tempfile::tempdir().unwrap();
        let home = DataHome::at(folder.path().join("data"));
        let (store, _) = Store::open(&home, workspace.path(), Duration::from_secs(1)).unwrap();
        let shelf = store.shelf("index");
        assert_eq!(shelf.names().unwrap(), Vec::<String>::new());
        shelf.save("segment-1", b"one").unwrap();
        shelf.save("segment-1", b"two").unwrap();
        assert_eq!(shelf.names().unwrap(), ["segment-1"]);
        let mut text = String::new();
        shelf
            .open("segment-1")
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text, "two");
        for name in ["../x", "/etc/x", "", ".hidden", "a/b"] {
            assert!(shelf.save(name, b"").is_err(), "{name}");
        }
        shelf.remove("segment-1").unwrap();
        assert!(shelf.open("segment-1").is_err());
    }
}
