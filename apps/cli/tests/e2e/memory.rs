//! What is remembered of a repository and of a session (§20): found without a model, renewed in parts, shown, forgotten.

use serde_json::{Value, json};
use testkit::Hermetic;

use crate::{
    agent::{create, turns},
    support::{Played, json_lines},
    told::{expect_refusal, spoken},
};

fn shown(place: &Hermetic, arguments: &[&str]) -> Value {
    let (code, values) = json_lines(place, &[&["memory", "show", "--json"], arguments].concat());
    assert_eq!(code, Some(0));
    values[0].clone()
}

fn entry<'a>(shown: &'a Value, part: &str, name: &str) -> Option<&'a Value> {
    shown[part]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["name"] == name)
}

#[test]
fn a_repository_is_remembered_renewed_in_parts_and_forgotten() {
    let played = Played::new("anthropic", &turns(&[&[create("src/new.rs", "fn new() {}\n")]]));
    let place = &played.place;
    let key = "sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz0123456789";
    place.write(
        "Cargo.toml",
        format!("[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\ndescription = \"Sells {key} things\"\n"),
    );
    place.write("src/lib.rs", "pub fn sell() {}\n#[test]\nfn sells() {}\n");
    place.write(
        "web/package.json",
        r#"{"name":"shop-web","scripts":{"test":"vitest run"}}"#,
    );
    place.write("web/src/page.tsx", "export {}\n");
    let first = shown(place, &[]);
    let text = |shown: &Value, name: &str| entry(shown, "repository", name).expect(name)["text"].to_string();
    assert!(text(&first, "Commands").contains("cargo build"), "{first}");
    assert!(text(&first, "Commands").contains("cargo test"), "{first}");
    assert!(text(&first, "Modules").contains("shop-web"), "{first}");
    assert!(text(&first, "Structure").contains("web/src"), "{first}");
    assert!(
        !first.to_string().contains("sk-ant-api03"),
        "nothing secret: {first}"
    );
    assert_eq!(first["longTerm"], false);

    // Only what changed is found anew.
    place.write(
        "web/package.json",
        r#"{"name":"shop-front","scripts":{"test":"vitest run"}}"#,
    );
    let second = shown(place, &[]);
    assert!(text(&second, "Modules").contains("shop-front"), "{second}");
    for name in ["Commands", "Structure"] {
        assert_eq!(
            entry(&first, "repository", name),
            entry(&second, "repository", name)
        );
    }

    // A session is told, and its own memory is what its records say.
    let run = played.exec(&["Write the new file."]).expect_code(3);
    let words = spoken(&played.server.requests()[0])[0].1.clone();
    assert!(
        words.contains("What is known of the repository") && words.contains("shop-front"),
        "{words}"
    );
    let of_session = shown(place, &["--session", &run.session()]);
    let said = |name: &str| entry(&of_session, "session", name).expect(name)["text"].to_string();
    assert!(said("Requests").contains("Write the new file."), "{of_session}");
    assert!(said("Files").contains("src/new.rs: created"), "{of_session}");
    assert!(said("Waiting for review").contains("src/new.rs"), "{of_session}");

    let unknown = place.vibe(&["memory", "show", "--session", "ses_none"]);
    expect_refusal(&unknown, 1, "session.notFound");

    let (code, cleared) = json_lines(place, &["memory", "clear", "--json"]);
    assert_eq!((code, &cleared[0]["forgotten"]), (Some(0), &json!(3)));
    let (_, cleared) = json_lines(place, &["memory", "clear", "--json"]);
    assert_eq!(cleared[0]["forgotten"], 0);

    // What is gone is forgotten by itself.
    for path in ["Cargo.toml", "web/package.json"] {
        std::fs::remove_file(place.workspace().join(path)).unwrap();
    }
    let last = shown(place, &[]);
    assert_eq!(entry(&last, "repository", "Modules"), None, "{last}");
}
