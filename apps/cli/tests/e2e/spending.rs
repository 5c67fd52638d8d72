//! What requests cost, who is too dear to be asked, what providers' health says, and what servers say of their models.

use protocol::{EventBody, ItemKind, Spending};
use serde_json::{Value, json};
use testkit::{ExecRun, ModelServer, model_server::Fault};

use crate::support::{Played, json_lines};

/// A thousand dollars a million tokens: one token costs a tenth of a cent.
const PRICES: &str = r#"{"m":{"inputPerMillion":1000,"outputPerMillion":1000}}"#;

fn set(played: &Played, name: &str, value: &str) {
    let output = played.place.vibe(&["settings", "set", name, value]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words}");
}

fn figures(run: &ExecRun) -> (Option<f64>, Spending, Spending) {
    run.events
        .iter()
        .find_map(|event| match event.body {
            EventBody::UsageUpdated {
                cost, session, today, ..
            } => Some((cost, session, today)),
            _ => None,
        })
        .expect("the figures of a request")
}

fn notes(run: &ExecRun) -> Vec<String> {
    run.items()
        .filter_map(|item| match &item.kind {
            ItemKind::Summary(summary) => Some(summary.notes.clone()),
            _ => None,
        })
        .flatten()
        .collect()
}

fn health(played: &Played) -> Value {
    let (code, lines) = json_lines(&played.place, &["providers", "health", "--json"]);
    assert_eq!(code, Some(0));
    lines[0].clone()
}

#[test]
fn sessions_and_days_add_up_and_each_warning_is_given() {
    let scenario = "steps: [{ text: Fine., usage: { input: 900, output: 100 }, repeat: always }]";
    let played = Played::new("anthropic", scenario);
    set(&played, "providers.anthropic.prices", PRICES);
    let ask = |more: &[&str]| {
        let mut arguments = vec!["--model", "m"];
        arguments.extend_from_slice(more);
        played.exec(&arguments).expect_code(0)
    };
    let spent = |requests: u32| Spending {
        tokens: 1_000 * u64::from(requests),
        dollars: f64::from(requests),
        unpriced: 0,
    };
    let first = ask(&["Hello."]);
    assert_eq!(figures(&first), (Some(1.0), spent(1), spent(1)));
    let again = ask(&["--session", &first.session(), "Again."]);
    assert_eq!(figures(&again), (Some(1.0), spent(2), spent(2)));
    // Another process, another session, the same day.
    set(&played, "spending.warnDayDollars", "2");
    let other = ask(&["Hello."]);
    assert_eq!(figures(&other), (Some(1.0), spent(1), spent(3)));
    assert!(
        notes(&other)
            .iter()
            .any(|note| note == "Today has cost $2.00 so far."),
        "{:?}",
        notes(&other)
    );

    let (_, sessions) = json_lines(&played.place, &["sessions", "list", "--json"]);
    let mut totals: Vec<f64> = sessions
        .iter()
        .filter_map(|session| session["spent"]["dollars"].as_f64())
        .collect();
    totals.sort_by(f64::total_cmp);
    assert_eq!(totals, [1.0, 2.0]);
    let words = played.place.vibe(&["providers", "health"]);
    let words = String::from_utf8_lossy(&words.stdout).into_owned();
    assert!(words.contains("✓ anthropic  It answered"), "{words}");
    assert!(words.contains("Today (UTC): 3000 tokens, $3.0000."), "{words}");

    // A limit of the day stops before the request that could pass it.
    set(&played, "spending.dayDollars", "3.5");
    let stopped = played.exec(&["--model", "m", "Once more."]);
    assert_eq!(stopped.result["error"]["code"], "session.limit");
    assert_eq!(played.server.requests().len(), 3);
}

#[test]
fn a_fallback_that_could_pass_the_limit_is_not_asked() {
    for (price, asked) in [("1000", 0), ("0.001", 1)] {
        let mut played = Played::new("anthropic", "steps: [{ error: { kind: quota }, repeat: always }]");
        let second = ModelServer::spawn("steps: [{ text: I am the second. }]");
        played
            .place
            .set_variable("OPENAI_BASE_URL", second.openai_base_url());
        set(&played, "fallbacks", "[\"openai/spare\"]");
        set(&played, "spending.sessionDollars", "1");
        let prices =
            json!({ "spare": { "inputPerMillion": 1, "outputPerMillion": price.parse::<f64>().unwrap() } });
        set(&played, "providers.openai.prices", &prices.to_string());
        let run = played.exec(&["Hello."]);
        assert_eq!(second.requests().len(), asked, "{price}");
        let told = notes(&run)
            .iter()
            .any(|note| note.contains("openai (spare) was not asked instead"));
        assert_eq!(told, asked == 0, "{:?}", notes(&run));
        // The price of who answered is what counts.
        if asked == 1 {
            let (cost, session, _) = figures(&run);
            assert!(cost.is_some_and(|cost| cost > 0.0 && cost == session.dollars));
        }
    }
}

#[test]
fn health_is_told_across_processes_and_a_new_key_is_a_new_chance() {
    let scenario = "steps: [{ error: { kind: auth } }, { text: Fine., repeat: always }]";
    let played = Played::new("anthropic", scenario);
    let state = |played: &Played| {
        let told = health(played);
        let providers = told["providers"].as_array().unwrap().clone();
        let anthropic = providers
            .into_iter()
            .find(|provider| provider["id"] == "anthropic");
        anthropic.expect("the provider")
    };
    assert_eq!(state(&played)["state"], "untried");
    played.exec(&["Hello."]).expect_code(1);
    let failed = state(&played);
    assert_eq!(failed["state"], "unusable");
    assert!(
        failed["summary"]
            .as_str()
            .unwrap()
            .contains("did not accept the key")
    );
    played.exec(&["Hello."]).expect_code(0);
    let works = state(&played);
    assert_eq!(
        (
            &works["state"],
            &works["consecutiveFailures"],
            &works["streamsWhole"]
        ),
        (&json!("working"), &json!(0), &json!(1))
    );
}

/// A model that is in no table: what its server says of it, and above that what the user says, decides how much is
/// asked for.
#[test]
fn what_a_server_says_of_its_model_reaches_the_turn() {
    let played = Played::new("anthropic", "steps: [{ text: Fine., repeat: always }]");
    let asked_for = |played: &Played| {
        played.exec(&["--model", "other", "Hello."]).expect_code(0);
        let last = played.server.requests().pop().expect("a request");
        last.json()["max_tokens"].as_u64()
    };
    assert_eq!(asked_for(&played), Some(4_000));
    assert_eq!(played.server.lists_asked(), 1);
    set(
        &played,
        "providers.anthropic.models",
        r#"{"other":{"contextWindow":12000}}"#,
    );
    assert_eq!(asked_for(&played), Some(3_000), "a quarter of the window");
    assert_eq!(played.server.lists_asked(), 1, "the user's word is enough");
}

/// The estimate of a request comes near to what the provider counts, and stays so in the next process.
#[test]
fn estimates_learn_from_what_the_provider_counts() {
    let scenario = "steps: [{ text: Fine., usage: { input: 4000, output: 5 }, repeat: always }]";
    let played = Played::new("anthropic", scenario);
    let estimated = || -> u64 {
        let run = played.exec(&["Hello."]).expect_code(0);
        let found = run.events.iter().find_map(|event| match event.body {
            EventBody::UsageUpdated { estimated_input, .. } => Some(estimated_input),
            _ => None,
        });
        found.expect("an estimate")
    };
    let first = estimated();
    let mut last = first;
    for _ in 0..8 {
        last = estimated();
    }
    assert!(first < 2_500, "{first}");
    assert!((3_300..=4_200).contains(&last), "{first} became {last}");
}

#[test]
fn a_limit_of_tokens_holds_where_the_provider_counts_none() {
    let mut played = Played::new("openai", "steps: [{ text: unused }]");
    let silent = ("steps: [{ text: Fine., repeat: always }]", Fault::MissingUsage);
    played.play(ModelServer::spawn(silent));
    // One answer of at most 32,000 tokens, and room for one prompt beside it.
    set(&played, "spending.sessionTokens", "34500");
    let first = played.exec(&["Hello."]).expect_code(0);
    let (cost, session, _) = figures(&first);
    assert!(session.tokens > 1_000, "{session:?} {cost:?}");
    let second = played.exec(&["--session", &first.session(), "Again."]);
    assert_eq!(second.result["error"]["code"], "session.limit");
    assert_eq!(played.server.requests().len(), 1);
}
