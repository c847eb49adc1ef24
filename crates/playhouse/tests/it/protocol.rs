//! JSON-RPC over stdio without a browser.

use serde_json::{Value, json};
use testkit::NoAnswer;

use crate::{launch, server};

#[testkit::test]
async fn the_handshake_names_the_server_and_its_tools() {
    let client = launch(&[]).spawn();
    let hello = client.initialize(json!({})).await;
    assert_eq!(hello["protocolVersion"], "2025-06-18");
    assert_eq!(
        hello["capabilities"]["tools"],
        json!({ "listChanged": true })
    );
    assert!(
        client
            .list_tools()
            .await
            .iter()
            .any(|tool| tool["name"] == "browser_navigate")
    );
    assert_eq!(client.request("ping", json!({})).await, Ok(json!({})));
    assert!(client.end().await.success());
}

#[testkit::test]
async fn malformed_json_is_answered_and_the_connection_lives() {
    let client = server(&[]).await;
    client.send_line("{\"jsonrpc\": \"2.0\", \"id\": 7, ").await;
    let answer = client.next_unmatched().await;
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&Value::Null, &json!(-32700))
    );
    assert_eq!(client.request("ping", json!({})).await, Ok(json!({})));
}

#[testkit::test]
async fn a_message_that_is_too_long_is_refused_and_the_connection_lives() {
    let client = server(&[]).await;
    let long = "x".repeat(17 * 1024 * 1024);
    let call =
        json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": long } });
    client.send_line(&call.to_string()).await;
    let answer = client.next_unmatched().await;
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["message"]),
        (
            &json!(-32600),
            &json!("Invalid Request: the message is longer than 16777216 bytes")
        )
    );
    // It gets one response, and its end is not a separate message.
    assert_eq!(client.request("ping", json!({})).await, Ok(json!({})));
    assert!(client.stray_lines().is_empty());
    // A long name is not repeated.
    let name = "x".repeat(1_000_000);
    let unknown = client.request("tools/call", json!({ "name": name })).await;
    assert!(format!("{unknown:?}").len() < 5_000);
}

#[testkit::test]
async fn an_unknown_tool_is_a_protocol_error_that_names_the_nearest() {
    let client = server(&[]).await;
    match client.try_call("browser_navigat", json!({})).await {
        Err(NoAnswer::Refused {
            code: -32601,
            message,
            ..
        }) => {
            assert!(message.contains("browser_navigate"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

#[testkit::test]
async fn an_unknown_method_is_a_protocol_error() {
    let client = server(&[]).await;
    let answer = client.request("tools/cull", json!({})).await;
    assert!(
        matches!(answer, Err(NoAnswer::Refused { code: -32601, .. })),
        "{answer:?}"
    );
}

#[testkit::test]
async fn stdout_carries_nothing_but_messages() {
    let client = server(&[]).await;
    client.list_tools().await;
    assert_eq!(client.stray_lines(), Vec::<String>::new());
}
