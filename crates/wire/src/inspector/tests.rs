use super::frame::{self, Frame, Frames, Targets, addressed, encoded};
use super::{InspectedPage, Inspector};

/// A list that a browser with one page and an automation session sent.
const LIST: &[u8] = b"\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0WebPage\0top\0http://127.0.0.1:8899/\0\0+\x14\x10\0\x02\0\0\0\0\0\0\0Automation\0bb1cff70-d2f5-4861-9dc5-6ada13352287\0null\0\x01=8\x13/q";

#[test]
fn a_list_of_targets_has_its_pages() {
    let page = InspectedPage {
        target: 1,
        url: "http://127.0.0.1:8899/".into(),
    };
    let expected = Targets {
        pages: vec![page],
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

#[tokio::test]
async fn data_in_the_socket_is_read_before_the_runtime_is_notified() {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let handshake = std::thread::spawn(move || {
        let (mut browser, _) = listener.accept().unwrap();
        let mut hello = vec![0; encoded("SetupInspectorClient", &[0]).len()];
        browser.read_exact(&mut hello).unwrap();
        let answer = encoded("DidSetupInspectorClient", &[]);
        browser.write_all(&answer).unwrap();
        browser
    });
    let (inspector, mut events) = Inspector::connect(address).await.unwrap();
    let mut browser = handshake.join().unwrap();
    assert_eq!(inspector.flush_received().await.unwrap(), 0);
    let message = format!(
        r#"{{"method":"Console.messageAdded","params":{{"text":"{}"}}}}"#,
        "x".repeat(100_000)
    );
    let body = addressed(1, 7, Some(&message));
    let event = encoded("SendMessageToFrontend", &body);
    for count in 1..=3 {
        // There is no `await` between the two, so the runtime cannot poll its sockets.
        browser.write_all(&event).unwrap();
        assert_eq!(inspector.flush_received().await.unwrap(), count);
        assert_eq!(events.try_recv().unwrap().target, 7);
    }
    drop(browser);
    inspector.closed().wait_for(Option::is_some).await.unwrap();
    assert!(inspector.flush_received().await.is_err());
}
