use std::os::unix::fs::PermissionsExt;

use super::*;

fn home() -> (tempfile::TempDir, DataHome) {
    let folder = tempfile::tempdir().unwrap();
    let home = DataHome::at(folder.path().join("data"));
    (folder, home)
}

fn open(home: &DataHome, passphrase: Option<&str>) -> Credentials {
    Credentials::open(home, Keyring::Leave, passphrase.map(str::to_owned))
}

const KEY: &str = "sk-planted-0123456789-é";

#[test]
fn a_key_comes_back_and_is_in_no_file_as_it_is() {
    for (passphrase, place) in [(None, Place::Machine), (Some("horse battery"), Place::Passphrase)] {
        let (_folder, home) = home();
        let keys = open(&home, passphrase);
        assert_eq!(keys.get("openai").unwrap(), None);
        assert_eq!(keys.put("openai", "an earlier one").unwrap(), place);
        assert_eq!(keys.put("openai", KEY).unwrap(), place);
        assert_eq!(
            open(&home, passphrase).get("openai").unwrap().as_deref(),
            Some(KEY)
        );
        assert_eq!(
            keys.places().unwrap(),
            BTreeMap::from([("openai".to_owned(), place)])
        );
        for entry in fs::read_dir(home.root()).unwrap() {
            let entry = entry.unwrap();
            let text = fs::read(entry.path()).unwrap();
            assert!(
                !String::from_utf8_lossy(&text).contains("planted"),
                "{:?}",
                entry.path()
            );
            assert_eq!(
                entry.metadata().unwrap().permissions().mode() & 0o077,
                0,
                "{:?}",
                entry.path()
            );
        }
        assert!(keys.remove("openai").unwrap());
        assert!(!keys.remove("openai").unwrap());
        assert_eq!(keys.get("openai").unwrap(), None);
    }
}

#[test]
fn what_cannot_be_opened_says_why_and_what_to_do() {
    let (_folder, home) = home();
    open(&home, Some("right")).put("openai", KEY).unwrap();
    let file = home.root().join("credentials.json");
    type Damage<'a> = (&'a str, Option<&'a str>, &'a dyn Fn(&str) -> String);
    let cases: [Damage; 3] = [
        ("locked with your passphrase", None, &str::to_owned),
        ("cannot be opened", Some("wrong"), &str::to_owned),
        // One provider's entry under another's name.
        ("cannot be opened", Some("right"), &|text| {
            text.replace("\"openai\"", "\"gemini\"")
        }),
    ];
    for (words, passphrase, change) in cases {
        let text = change(&fs::read_to_string(&file).unwrap());
        files::replace(&file, &home.root().join("t"), text.as_bytes(), Sync::Contents).unwrap();
        let id = if text.contains("gemini") {
            "gemini"
        } else {
            "openai"
        };
        let error = RuntimeError::from(open(&home, passphrase).get(id).unwrap_err());
        assert!(error.message.contains(words), "{error:?}");
        assert!(
            error
                .user_action
                .unwrap()
                .contains(&format!("providers login {id}"))
        );
        assert_eq!(error.code, ErrorCode::ProviderNoKey);
    }
}

#[test]
fn a_copied_file_is_of_no_use_without_the_machines_secret() {
    let (_folder, home) = home();
    let (_other_folder, other) = self::home();
    open(&home, None).put("openai", KEY).unwrap();
    files::create_folder(other.root()).unwrap();
    let (from, to) = (
        home.root().join("credentials.json"),
        other.root().join("credentials.json"),
    );
    fs::read(&from)
        .map(|bytes| files::replace(&to, &other.root().join("t"), &bytes, Sync::Contents))
        .unwrap()
        .unwrap();
    let error = open(&other, None).get("openai").unwrap_err();
    assert!(error.to_string().contains("another machine"), "{error}");
}
