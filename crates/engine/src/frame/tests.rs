use super::*;

fn failure(tree: &FrameTree) -> Option<(&str, Option<&NetError>)> {
    let failure = tree.main().last_failure()?;
    Some((&failure.url, failure.reason.as_ref()))
}

#[test]
fn a_navigation_failure_is_kept_until_the_next_document() {
    let mut tree = tree();
    let main = FrameId::from("main");
    let refused = Some(("http://dead/", Some(&NetError::ConnectionRefused)));
    commit(&mut tree, "main", "1", "http://a/");
    tree.start(&main, Some("2".into()), "http://dead/".into());
    tree.abort(&main, Some("2".into()), Some(NetError::ConnectionRefused));
    assert_eq!(failure(&tree), refused);
    // The navigation to the error page is not another failure, neither now nor when it stays.
    tree.start(&main, None, "about:blank".into());
    assert_eq!(failure(&tree), None);
    let page = ("3".into(), "about:blank".into(), String::new());
    tree.commit(&main, page.0, page.1, page.2, Some(String::new()));
    assert_eq!((failure(&tree), tree.main().failures), (refused, 1));
    tree.start(&main, Some("4".into()), "http://a/204".into());
    tree.abort(&main, Some("4".into()), None);
    assert_eq!((failure(&tree), tree.main().failures), (refused, 1));
    commit(&mut tree, "main", "5", "http://a/");
    assert_eq!((failure(&tree), tree.main().failures), (None, 1));
}

#[test]
fn an_aborted_navigation_is_no_failure() {
    let mut tree = tree();
    for reason in [None, Some(NetError::Aborted)] {
        tree.start(&"main".into(), Some("1".into()), String::new());
        tree.abort(&"main".into(), Some("1".into()), reason);
        assert_eq!(failure(&tree), None);
    }
}

fn tree() -> FrameTree {
    FrameTree::new("main".into())
}

fn commit(tree: &mut FrameTree, frame: &str, loader: &str, url: &str) {
    tree.commit(
        &frame.into(),
        loader.into(),
        url.into(),
        String::new(),
        None,
    );
}

#[test]
fn refs_of_a_second_document_differ_from_the_first() {
    let mut tree = tree();
    commit(&mut tree, "main", "1", "about:blank");
    commit(&mut tree, "main", "2", "http://a/");
    assert_eq!(tree.main().prefix(), "");
    tree.attach("child".into(), "main".into());
    commit(&mut tree, "main", "3", "http://b/");
    assert_eq!(tree.main().prefix(), "f2");
    assert!(tree.get(&"child".into()).is_none());
}

#[test]
fn a_frame_with_refs_gets_another_prefix_for_its_next_document() {
    let mut tree = tree();
    let child = FrameId::from("child");
    tree.attach(child.clone(), "main".into());
    commit(&mut tree, "child", "1", "http://a/");
    commit(&mut tree, "child", "2", "http://b/");
    let prefix = |tree: &FrameTree| tree.get(&child).map(Frame::prefix);
    assert_eq!(prefix(&tree).as_deref(), Some("f1"));
    let mut refs = Descriptions::default();
    refs.add("e1", "button", "Go");
    tree.describe_refs(&child, refs, true);
    commit(&mut tree, "child", "3", "http://c/");
    assert_eq!(prefix(&tree).as_deref(), Some("f2"));
    let replaced = |tree: &FrameTree, sequence| {
        let document = tree.replaced(sequence)?;
        let (role, name) = document.refs.get("e1")?;
        Some((document.frame.clone(), format!("{role} {name}")))
    };
    let described = Some((child.clone(), "button Go".to_owned()));
    assert_eq!(replaced(&tree, 1), described);
    assert_eq!(replaced(&tree, 2), None);
    // A blank page with refs is replaced, too.
    let mut refs = Descriptions::default();
    refs.add("e1", "link", "Start");
    tree.describe_refs(&"main".into(), refs, true);
    commit(&mut tree, "main", "4", "http://a/");
    assert_ne!(tree.main().prefix(), "");
    let described = Some((FrameId::from("main"), "link Start".to_owned()));
    assert_eq!(replaced(&tree, 0), described);
}

#[test]
fn a_navigation_announced_twice_counts_once() {
    let mut tree = tree();
    tree.start(&"main".into(), None, String::new());
    tree.start(&"main".into(), Some("1".into()), String::new());
    assert_eq!(tree.main().navigations, 1);
    tree.start(&"main".into(), Some("2".into()), String::new());
    assert_eq!(tree.main().navigations, 2);
}

#[test]
fn a_restarted_navigation_is_committed_under_each_of_its_ids() {
    let mut tree = tree();
    let start = |tree: &mut FrameTree, loader: &str, url: &str| {
        tree.start(&"main".into(), Some(loader.into()), url.to_owned());
    };
    start(&mut tree, "1", "http://a/");
    start(&mut tree, "2", "http://b/");
    start(&mut tree, "3", "http://b/");
    tree.abort(&"main".into(), Some("2".into()), None);
    commit(&mut tree, "main", "3", "http://b/");
    let committed = ["1", "2", "3"].map(|id| tree.main().was_committed(&id.into()));
    assert_eq!(committed, [false, true, true]);
    assert_eq!(tree.main().end_of(&"2".into()), None);
}

#[test]
fn a_restarted_navigation_ends_under_each_of_its_ids() {
    let mut tree = tree();
    for loader in ["1", "2"] {
        tree.start(&"main".into(), Some(loader.into()), "http://a/".to_owned());
    }
    tree.abort(&"main".into(), Some("2".into()), None);
    for loader in ["1", "2"] {
        assert_eq!(tree.main().end_of(&loader.into()), Some(None));
    }
}

#[test]
fn an_older_aborted_navigation_does_not_end_the_newer_one() {
    let mut tree = tree();
    tree.start(&"main".into(), Some("1".into()), String::new());
    tree.start(&"main".into(), Some("2".into()), String::new());
    tree.abort(&"main".into(), Some("1".into()), None);
    assert!(tree.main().pending.is_some());
    tree.abort(&"main".into(), Some("2".into()), None);
    assert!(tree.main().pending.is_none());
}

#[test]
fn a_late_load_event_of_the_previous_document_is_ignored() {
    let mut tree = tree();
    commit(&mut tree, "main", "1", "http://a/");
    commit(&mut tree, "main", "2", "http://b/");
    tree.set_loaded(&"main".into(), &"1".into());
    assert!(!tree.main().loaded);
}
