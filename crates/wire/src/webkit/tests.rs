use super::Automation;
use super::frame::{self, Frame, Frames, Targets, addressed, encoded, session};

/// A list that a browser with one page and an automation session sent.
const LIST: &[u8] = b"\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0WebPage\0top\0http://127.0.0.1:8899/\0\0+\x14\x10\0\x02\0\0\0\0\0\0\0Automation\0bb1cff70-d2f5-4861-9dc5-6ada13352287\0null\0\x01=8\x13/q";

#[test]
fn a_list_of_targets_has_its_pages() {
    let expected = Targets {
        pages: vec![1],
        automation: Some(2),
    };
    assert_eq!(frame::targets(LIST).unwrap(), expected);
    assert_eq!(frame::targets(&LIST[..8]).unwrap(), Targets::default());
    // The list of another process has no pages.
    assert_eq!(frame::targets(b"\x02\0\0\0\0\0\0\0"), None);
}

#[test]
fn truncated_lists_do_not_panic() {
    for end in 9..LIST.len() {
        // The result is not checked: the call must not panic.
        let _ = frame::targets(&LIST[..end]);
    }
}

#[tokio::test]
async fn a_message_arrives_as_it_was_sent() {
    let body = addressed(1, 7, Some(r#"{"id":1}"#));
    let bytes = encoded("SendMessageToBackend", &body);
    let mut frames = Frames::of(&bytes[..]);
    let frame = frames.next().await.unwrap();
    assert_eq!(
        frame,
        Frame {
            name: "SendMessageToBackend".into(),
            body: body.clone()
        }
    );
    assert_eq!(frame::address(&body), Some((7, r#"{"id":1}"#)));
    assert!(frames.next().await.is_err());
}

#[test]
fn a_session_is_encoded_as_a_variant() {
    assert_eq!(session("abc"), b"abc\0\0\0\0\0\x04");
}

#[tokio::test]
async fn results_and_events_keep_their_order_until_the_session_ends() {
    use tokio::io::AsyncWriteExt as _;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let browser = async {
        let (browser, _) = listener.accept().await.unwrap();
        let (from, mut to) = tokio::io::split(browser);
        let mut frames = Frames::of(from);
        assert_eq!(frames.next().await.unwrap().name, "StartAutomationSession");
        let started = encoded("DidStartAutomationSession", b"WebKit\x002.50\0\x07");
        to.write_all(&started).await.unwrap();
        to.write_all(&encoded("SetTargetList", LIST)).await.unwrap();
        assert_eq!(frames.next().await.unwrap().name, "Setup");
        let asked = frames.next().await.unwrap();
        assert_eq!(frame::address(&asked.body).unwrap().0, 2);
        let send =
            |target, text| encoded("SendMessageToFrontend", &addressed(1, target, Some(text)));
        to.write_all(&send(1, r#"{"method":"Page.first"}"#))
            .await
            .unwrap();
        to.write_all(&send(2, r#"{"id":1,"result":{"done":true}}"#))
            .await
            .unwrap();
        to.write_all(&encoded("SetTargetList", &LIST[..8]))
            .await
            .unwrap();
        to
    };
    let client = async {
        let socket = tokio::net::TcpStream::connect(address).await.unwrap();
        let (automation, events) = Automation::start(socket).await.unwrap();
        assert_eq!(automation.version(), "2.50");
        assert_eq!(*automation.pages().borrow(), [1]);
        let method = "Automation.getBrowsingContexts";
        let result = automation
            .call(method, &serde_json::json!({}))
            .await
            .unwrap();
        assert_eq!(result.get(), r#"{"done":true}"#);
        assert_eq!(automation.received(), 1);
        automation.closed().wait_for(Option::is_some).await.unwrap();
        assert!(
            automation
                .call(method, &serde_json::json!({}))
                .await
                .unwrap_err()
                .is_closed()
        );
        events
    };
    let (_to, mut events) = tokio::join!(browser, client);
    assert_eq!(&*events.recv().await.unwrap().method, "Page.first");
}
