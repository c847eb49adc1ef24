//! Downloads: reported at their start and end, and saved in the folder of the context.

use crate::harness::{Stage, eval, in_a_context, on_a_page};
use engine::{ContextOptions, Download, DownloadState};
use testkit::{Engine, Resource, eventually};

fn saving(folder: &tempfile::TempDir) -> ContextOptions {
    ContextOptions {
        downloads: Some(folder.path().into()),
        ..ContextOptions::default()
    }
}

async fn ended(stage: &Stage, number: usize) -> Download {
    eventually(async || {
        let download = stage.context.downloads().get(number)?.clone();
        (download.state != DownloadState::InProgress).then_some(download)
    })
    .await
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_download_is_saved_under_a_name_of_its_own(engine: Engine) {
    let folder = tempfile::tempdir().unwrap();
    in_a_context(engine, saving(&folder), async |stage| {
        stage
            .show("/", "<a href='/download?name=report.txt&size=5'>x</a>")
            .await;
        eval(&stage.page, "document.querySelector('a').click()").await;
        let download = ended(stage, 0).await;
        assert_eq!(download.suggested_name, "report.txt");
        assert_eq!(download.page.as_ref(), Some(stage.page.id()));
        assert!(download.url.ends_with("/download?name=report.txt&size=5"));
        let DownloadState::Finished(path) = &download.state else {
            panic!("{download:?}");
        };
        assert!(path.starts_with(folder.path()));
        assert_eq!(std::fs::read(path).unwrap(), b"xxxxx");

        // Created by the page, and started in an out-of-process frame.
        eval(
            &stage.page,
            "() => { const a = document.createElement('a'); a.download = 'made.bin'; a.href = URL.createObjectURL(new Blob(['made'])); a.click(); }",
        )
        .await;
        let download = ended(stage, 1).await;
        assert_eq!(download.suggested_name, "made.bin");
        let there = format!("{}/download?name=inner.txt", stage.site.cross_origin_url());
        stage
            .show("/", &format!("<iframe src='{there}'></iframe>"))
            .await;
        let download = ended(stage, 2).await;
        assert_eq!(download.suggested_name, "inner.txt");
        assert_eq!(download.page.as_ref(), Some(stage.page.id()));
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn a_popup_that_only_downloads_is_closed_and_its_download_stays(engine: Engine) {
    let folder = tempfile::tempdir().unwrap();
    in_a_context(engine, saving(&folder), async |stage| {
        // Downloads of another context must not be mixed up.
        let other = stage
            .browser
            .new_context(&crate::harness::soon(), ContextOptions::default())
            .await
            .unwrap();
        stage
            .show("/", "<a href='/download?name=tab.txt' target=_blank>x</a>")
            .await;
        eval(&stage.page, "document.querySelector('a').click()").await;
        let download = ended(stage, 0).await;
        assert_eq!(download.suggested_name, "tab.txt");
        assert!(matches!(download.state, DownloadState::Finished(_)));
        assert!(other.downloads().is_empty());
        other.close(&crate::harness::soon()).await.unwrap();
    });
}

#[testkit::test(chromium, firefox, nightly(firefox))]
fn without_a_download_folder_downloads_are_refused(engine: Engine) {
    on_a_page(engine, async |stage| {
        stage
            .show("/", "<title>Stays</title><a href='/download'>x</a>")
            .await;
        eval(&stage.page, "document.querySelector('a').click()").await;
        let download = ended(stage, 0).await;
        assert!(
            matches!(download.state, DownloadState::Failed(_)),
            "{download:?}"
        );
        eventually(async || !stage.page.frames()[0].pending).await;
        assert_eq!(eval(&stage.page, "document.title").await, "Stays");
    });
}

#[testkit::test(chromium, firefox)]
fn an_interrupted_download_fails(engine: Engine) {
    let folder = tempfile::tempdir().unwrap();
    in_a_context(engine, saving(&folder), async |stage| {
        stage.site.add(
            "/short",
            Resource::new("application/octet-stream", "short")
                .header("content-disposition", "attachment; filename=short.bin"),
        );
        stage.show("/", "").await;
        let page = &stage.page;
        eval(page, "void (location = '/short')").await;
        assert!(matches!(
            ended(stage, 0).await.state,
            DownloadState::Finished(_)
        ));
        // Its page is closed meanwhile; the browser may finish the download or not, but it ends.
        eval(page, "void (location = '/download?ms=300')").await;
        eventually(async || stage.received_requests().len() >= 3).await;
    });
}
