//! Images and forms of an answer, in each family's own words.

use provider::{AnswerFormat, Block, Gateway, Message};
use serde_json::json;
use testkit::ModelServer;
use tokio_util::sync::CancellationToken;

use crate::support::{FAMILIES, all, answer, config, request};

#[tokio::test]
async fn images_and_schemas_are_sent_in_each_familys_own_form() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": ["integer", "null"] } }, "additionalProperties": false });
    for family in FAMILIES {
        let server = ModelServer::start("steps: [{ text: '{}', repeat: always }]").await;
        let gateway = Gateway::new([config(family, &server)]);
        let image = Block::Image {
            media_type: "image/png".into(),
            base64: "iVBORw0KGgo=".into(),
        };
        let text = Block::Text {
            text: "What is this? Answer in JSON.".into(),
        };
        for format in [
            AnswerFormat::Json,
            AnswerFormat::Schema {
                name: "thing".into(),
                schema: schema.clone(),
            },
        ] {
            let mut request = request(vec![Message::from_user(vec![text.clone(), image.clone()])]);
            request.tools.clear();
            request.format = format;
            let events = all(gateway.stream(request, CancellationToken::new())).await;
            assert_eq!(answer(&events).message.text(), "{}");
        }
        let bodies: Vec<_> = server.requests().iter().map(|request| request.json()).collect();
        insta::assert_json_snapshot!(format!("forms_{family:?}"), bodies);
    }
}
