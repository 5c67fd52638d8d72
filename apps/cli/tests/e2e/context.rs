//! What the model is shown of a repository, and that every choice of it is explained.

use serde_json::{Value, json};

use crate::support::{Played, json_lines};

/// A small shop: the request's words stand in one source file, a test, a text and a bundle.
fn shop(played: &Played) {
    let place = &played.place;
    place.write(
        "src/discount.rs",
        "/// Takes the discount off.\npub fn apply_discount(price: u32, percent: u32) -> u32 {\n    price * percent / 100\n}\n",
    );
    place.write(
        "src/basket.rs",
        "pub fn total(prices: &[u32]) -> u32 {\n    prices.iter().sum()\n}\n",
    );
    place.write("tests/discount.rs", "#[test]\nfn discount_is_taken_off() {}\n");
    place.write("docs/discount.md", "# Discounts\nRates are agreed with sales.\n");
    place.write(
        "dist.js",
        format!("var a=1;{}", "apply_discount(1,2);".repeat(2_000)),
    );
    place.write(".env", "DISCOUNT_KEY=hunter2\n");
    place.write(".aiignore", "private/\n");
    place.write(
        "private/discount_prices.rs",
        "pub fn apply_discount_secret() {}\n",
    );
}

fn paths(files: &Value) -> Vec<String> {
    let files = files.as_array().unwrap();
    files
        .iter()
        .map(|file| file["path"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_file_shown_or_left_out_has_its_reason() {
    let played = Played::new("anthropic", "steps: [{ text: Done. }]");
    shop(&played);
    let explain = |arguments: &[&str]| -> Value {
        let mut all = vec!["context", "explain", "--json", "the discount is applied wrongly"];
        all.extend_from_slice(arguments);
        let (code, mut lines) = json_lines(&played.place, &all);
        assert_eq!(code, Some(0));
        lines.remove(0)
    };
    let explained = explain(&[]);
    assert_eq!(paths(&explained["included"])[0], "src/discount.rs");
    assert_eq!(paths(&explained["tests"]), ["tests/discount.rs"]);
    assert!(explained["estimatedTokens"].as_u64() <= explained["maxTokens"].as_u64());
    for file in explained["included"].as_array().unwrap() {
        let sum: f64 = file["parts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|part| part["score"].as_f64().unwrap())
            .sum();
        assert!((sum - file["score"].as_f64().unwrap()).abs() < 0.01, "{file}");
        assert!(!file["reason"].as_str().unwrap().is_empty());
        assert!(!file["ranges"].as_array().unwrap().is_empty());
    }
    let left_out = explained["index"]["leftOut"].to_string();
    assert!(left_out.contains("minified (dist.js)"), "{left_out}");
    assert!(left_out.contains("may hold keys (.env)"), "{left_out}");
    assert!(
        left_out.contains(".aiignore") && left_out.contains("private/"),
        "{left_out}"
    );
    assert!(
        !explained.to_string().contains("discount_prices"),
        "an ignored file is not ranked"
    );

    // With no room at all everything is omitted, and says so.
    let none = explain(&["--max-tokens", "0"]);
    assert_eq!(none["included"], json!([]));
    let first = &none["omitted"][0];
    assert_eq!(first["path"], "src/discount.rs");
    assert!(first["reason"].as_str().unwrap().contains("0 tokens"));
}

#[test]
fn a_pinned_file_is_always_there_and_an_excluded_one_never() {
    let played = Played::new("anthropic", "steps: [{ text: Done. }]");
    shop(&played);
    for arguments in [
        ["context", "pin", "src/basket.rs"],
        ["context", "exclude", "src/discount.rs"],
    ] {
        assert!(played.place.vibe(&arguments).status.success());
    }
    let rank = || -> Vec<Value> {
        let (_, mut lines) = json_lines(&played.place, &["context", "explain", "--json", "wrong discount"]);
        let explained = lines.remove(0);
        vec![explained["included"].clone(), explained["omitted"].clone()]
    };
    let [included, omitted] = rank().try_into().unwrap();
    assert_eq!(paths(&included)[0], "src/basket.rs");
    assert!(
        included[0]["reason"]
            .as_str()
            .unwrap()
            .starts_with("you pinned it")
    );
    let excluded = omitted
        .as_array()
        .unwrap()
        .iter()
        .find(|file| file["path"] == "src/discount.rs")
        .unwrap();
    assert_eq!(excluded["reason"], "you excluded it");
    let (_, marks) = json_lines(&played.place, &["context", "marks", "--json"]);
    assert_eq!(
        marks,
        [json!({ "pinned": ["src/basket.rs"], "excluded": ["src/discount.rs"] })]
    );
    for path in ["src/basket.rs", "src/discount.rs"] {
        assert!(played.place.vibe(&["context", "unmark", path]).status.success());
    }
    assert_eq!(paths(&rank()[0])[0], "src/discount.rs");
    let outside = played.place.vibe(&["context", "pin", "../elsewhere.rs"]);
    assert_eq!(outside.status.code(), Some(1));
}

#[test]
fn a_turn_is_told_where_to_look_and_what_it_was_told_is_kept() {
    let played = Played::new("anthropic", "steps: [{ text: Done. }]");
    shop(&played);
    // The index of a place this small is made long before a turn would go on without it.
    let run = played.exec(&["The discount is applied wrongly."]).expect_code(0);
    let sent = String::from_utf8(played.server.requests()[0].body.clone()).unwrap();
    assert!(sent.contains("src/discount.rs:1-"), "{sent}");
    assert!(!sent.contains("discount_prices"));
    let turn = run
        .events
        .iter()
        .find_map(|event| match &event.body {
            protocol::EventBody::TurnStarted { turn_id, .. } => Some(turn_id.to_string()),
            _ => None,
        })
        .unwrap();
    let (_, packs) = json_lines(&played.place, &["context", "shown", "--json", &turn]);
    let shown = packs[0]["shown"].as_array().unwrap();
    for source in shown {
        let text = source["text"].as_str().unwrap().trim_end();
        let escaped = serde_json::to_string(text).unwrap();
        assert!(sent.contains(escaped.trim_matches('"')), "{source}");
        assert!(!source["reason"].as_str().unwrap().is_empty());
    }
    assert!(shown.iter().any(|source| source["kind"] == "search_result"));
    let kinds: Vec<&str> = shown
        .iter()
        .map(|source| source["kind"].as_str().unwrap())
        .collect();
    assert!(
        kinds
            .iter()
            .all(|kind| !kind.contains("browser") && !kind.contains("device"))
    );
}

#[test]
fn ranked_paths_can_be_read_by_a_program() {
    let played = Played::new("anthropic", "steps: [{ text: Done. }]");
    shop(&played);
    let file = played.place.home().join("request.txt");
    std::fs::write(
        &file,
        "wrong discount\n\nIt is applied twice in `apply_discount`.",
    )
    .unwrap();
    let (_, lines) = json_lines(
        &played.place,
        &["context", "rank", "--json", "--file", file.to_str().unwrap()],
    );
    assert_eq!(lines[0][0]["path"], "src/discount.rs");
    assert_eq!(lines[0][0]["ranges"], json!([[1, 4]]));
    assert_eq!(played.place.vibe(&["context", "rank"]).status.code(), Some(2));
    assert_eq!(
        played.place.vibe(&["context", "rank", " "]).status.code(),
        Some(1)
    );
}
