use std::{fs, path::PathBuf};

use protocol::{ErrorCode, RuntimeError};
use serde_json::{Value, json};
use store::{DataHome, Settings, SettingsError};

use crate::support::*;

/// Child: changes its own setting and a count that all share, and says each change.
pub fn set(arguments: &[PathBuf]) {
    let home = DataHome::at(arguments[0].clone());
    let name = arguments[1].to_str().unwrap();
    for number in 1..=60 {
        home.update_settings(|settings| {
            let count = settings["count"].as_u64().unwrap_or(0);
            settings["count"] = json!(count + 1);
        })
        .unwrap();
        home.set_setting(&format!("providers.{name}.model"), json!(number.to_string()))
            .unwrap();
        say(number);
    }
}

/// S02: several processes write one file; no change is lost and no half file is ever seen, also when one is killed.
#[test]
fn concurrent_writers_lose_no_update() {
    let place = Place::new();
    let mut others: Vec<_> = (0..5)
        .map(|number| {
            let name = PathBuf::from(format!("p{number}"));
            Other::start("set", &[place.home.path(), &name])
        })
        .collect();
    let file = place.home.path().join("settings.json");
    let mut killed = 0;
    for _ in 0..10 {
        killed = others[4].said().unwrap().parse::<u64>().unwrap();
        if let Ok(text) = fs::read_to_string(&file) {
            serde_json::from_str::<Value>(&text).expect("half a file");
        }
    }
    killed = others[4]
        .kill()
        .last()
        .map_or(killed, |said| said.parse().unwrap());
    for other in &mut others[..4] {
        while other.said().is_some() {
            place.home.settings().unwrap();
        }
        other.end();
    }
    let settings = place.home.settings().unwrap();
    for number in 0..4 {
        assert_eq!(settings.providers[&format!("p{number}")]["model"], "60");
    }
    let count = place.home.setting("count").unwrap().unwrap().as_u64().unwrap();
    // The killed one may have made one change that it had no time to say.
    assert!(
        (4 * 60 + killed..=4 * 60 + killed + 1).contains(&count),
        "{count}, {killed}"
    );
    place
        .home
        .set_setting("defaultModel", json!("after a kill"))
        .unwrap();
}

#[test]
fn settings_are_typed_defaulted_and_keep_what_they_do_not_know() {
    let place = Place::new();
    assert_eq!(place.home.settings().unwrap(), Settings::default());
    fs::create_dir_all(place.home.path()).unwrap();
    let file = place.home.path().join("settings.json");
    let text = "\u{feff}{\"future\": {\"a\": [1]}, \"providers\": {\"local\": {\"family\": \"openai\", \
                \"baseUrl\": \"http://127.0.0.1:1/v1\", \"prices\": {\"m-1.5\": {\"inputPerMillion\": 2, \
                \"outputPerMillion\": 8}}, \"later\": true}}, \"flags\": {\"codingCore\": true}}";
    fs::write(&file, text).unwrap();
    let settings = place.home.settings().unwrap();
    assert_eq!(
        settings.providers["local"]["prices"]["m-1.5"]["outputPerMillion"],
        8
    );

    let changed = place.home.set_setting("defaultMode", json!("ask")).unwrap();
    assert_eq!(changed.default_mode, protocol::Mode::Ask);
    let kept: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(kept["future"], json!({"a": [1]}));
    assert_eq!(kept["providers"]["local"]["later"], true);

    for (name, value) in [
        ("providers.local.prices.\"m-1.5\".inputPerMillion", Some(json!(2))),
        ("providers.local.model", None),
        ("defaultMode", Some(json!("ask"))),
        ("flags.mcp", Some(json!(false))),
        ("future.a", Some(json!([1]))),
        ("nothing", None),
    ] {
        assert_eq!(place.home.setting(name).unwrap(), value, "{name}");
    }
    assert_eq!(
        place.home.setting("").unwrap().unwrap()["flags"]["codingCore"],
        true
    );
    place.home.unset_setting("defaultMode").unwrap();
    place.home.unset_setting("no.such.thing").unwrap();
    assert_eq!(place.home.setting("defaultMode").unwrap(), Some(json!("agent")));
}

#[test]
fn mistakes_in_the_file_are_told_with_their_line_and_never_overwritten() {
    for (text, line) in [
        ("{\n  \"defaultModel\": \"m\",\n}", 3),
        ("{\n\n  \"store\": {\"limitBytes\": \"lots\"}\n}", 3),
        ("{\n  \"flags\": {\n    \"browserIsland\": true\n  }\n}", 3),
        ("not json", 1),
        ("[]", 1),
    ] {
        let place = Place::new();
        fs::create_dir_all(place.home.path()).unwrap();
        let file = place.home.path().join("settings.json");
        fs::write(&file, text).unwrap();
        let error = place.home.settings().unwrap_err();
        assert!(
            matches!(&error, SettingsError::Invalid { line: found, .. } if *found == line),
            "{text}: {error}"
        );
        let told = RuntimeError::from(error);
        assert_eq!(told.code, ErrorCode::SettingsInvalid);
        assert!(told.message.contains(&format!("line {line}")), "{told}");
        assert!(place.home.set_setting("defaultModel", json!("m")).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        // A mistake in the settings does not lock the user out of the conversations.
        append(&place.open(), note("x"));
    }
}

#[test]
fn what_is_no_setting_or_a_secret_is_refused() {
    let key = format!("sk-ant-{}", "a1B2c3D4".repeat(4));
    for (name, value, secret) in [
        ("defualtModel", json!("m"), None),
        ("store.limitByte", json!(1), None),
        ("defaultModel", json!(7), None),
        ("defaultMode", json!("yolo"), None),
        ("defaultModel.x", json!("m"), None),
        ("flags.browserIsland", json!(true), None),
        ("flags.codingCore", json!(false), None),
        ("a..b", json!(1), None),
        (
            "providers.anthropic.apiKey",
            json!("abc"),
            Some("ANTHROPIC_API_KEY"),
        ),
        ("providers.my-host.api_key", json!("abc"), Some("MY_HOST_API_KEY")),
        (
            "providers.openai",
            json!({"authToken": "abc"}),
            Some("OPENAI_API_KEY"),
        ),
        ("providers.openai.apiKeyEnv", json!(key), Some("OPENAI_API_KEY")),
        ("token", json!("abc"), Some("PROVIDER_API_KEY")),
    ] {
        let place = Place::new();
        let told = RuntimeError::from(place.home.set_setting(name, value).unwrap_err());
        assert_eq!(told.code, ErrorCode::SettingsInvalid, "{name}");
        let action = told.user_action.unwrap();
        match secret {
            Some(variable) => assert!(action.contains(variable), "{name}: {action}"),
            None => assert!(!action.contains("API_KEY"), "{name}: {action}"),
        }
        assert!(!told.message.contains(&key), "{}", told.message);
        assert!(!place.home.path().join("settings.json").exists(), "{name}");
    }
    let place = Place::new();
    for name in [
        "providers.openai.apiKeyEnv",
        "providers.openai.model",
        "defaultProvider",
    ] {
        place.home.set_setting(name, json!("OPENAI_API_KEY")).unwrap();
    }
}

#[test]
fn secret_the_user_wrote_does_not_block_other_changes() {
    let place = Place::new();
    fs::create_dir_all(place.home.path()).unwrap();
    let file = place.home.path().join("settings.json");
    fs::write(&file, r#"{"providers": {"x": {"apiKey": "mine"}}}"#).unwrap();
    place.home.set_setting("defaultModel", json!("m")).unwrap();
    assert!(fs::read_to_string(&file).unwrap().contains("mine"));
    assert!(
        place
            .home
            .set_setting("providers.x.apiKey", json!("other"))
            .is_err()
    );
}
