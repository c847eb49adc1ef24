use super::InspectedPage;
use super::frame::{self, Frame, Targets, addressed, encoded};

/// As a browser with one page and its own automation sent it.
const LIST: &[u8] = b"\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0WebPage\0top\0http://127.0.0.1:8899/\0\0+\x14\x10\0\x02\0\0\0\0\0\0\0Automation\0bb1cff70-d2f5-4861-9dc5-6ada13352287\0null\0\x01=8\x13/q";

#[test]
fn a_list_of_targets_has_its_pages() {
    let page = InspectedPage {
        target: 1,
        url: "http://127.0.0.1:8899/".into(),
    };
    let told = Targets {
        pages: vec![page],
        automation: Some(2),
    };
    assert_eq!(frame::targets(LIST).unwrap(), told);
    assert_eq!(frame::targets(&LIST[..8]).unwrap(), Targets::default());
    // What another process says of itself is nothing to do with pages.
    assert_eq!(frame::targets(b"\x02\0\0\0\0\0\0\0"), None);
}

#[test]
fn a_list_that_was_cut_short_is_none() {
    for end in 9..LIST.len() {
        // Whatever comes of it, it is no panic.
        let _ = frame::targets(&LIST[..end]);
    }
}

#[tokio::test]
async fn a_message_arrives_as_it_was_sent() {
    let body = addressed(1, 7, Some(r#"{"id":1}"#));
    let bytes = encoded("SendMessageToBackend", &body);
    let mut stream = &bytes[..];
    let frame = frame::next(&mut stream).await.unwrap();
    assert_eq!(
        frame,
        Frame {
            name: "SendMessageToBackend".into(),
            body: body.clone()
        }
    );
    assert_eq!(frame::address(&body), Some((7, r#"{"id":1}"#)));
    assert!(frame::next(&mut stream).await.is_err());
}
