//! Proxies: a tiny one on loopback that notes what passes.

use crate::harness::{eval, goto, soon, with_browser};
use engine::{ContextOptions, Proxy};
use std::sync::{Arc, Mutex};
use testkit::Site;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// An HTTP proxy that notes the first line of each request, and may ask who is there.
pub(crate) struct Recording {
    port: u16,
    seen: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

impl Recording {
    /// `credentials`: what it expects after `Basic`.
    pub(crate) async fn start(credentials: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::<Mutex<Vec<String>>>::default();
        let mut tasks = JoinSet::new();
        let noted = seen.clone();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let noted = noted.clone();
                connections.spawn(async move {
                    // A browser may give a connection up at any time.
                    let _ = pass(stream, &noted, credentials).await;
                });
            }
        });
        Self {
            port,
            seen,
            _tasks: tasks,
        }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The first lines of the requests so far.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

/// Serves one request of a connection, then closes it.
async fn pass(
    mut from: TcpStream,
    noted: &Mutex<Vec<String>>,
    credentials: Option<&str>,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if from.read(&mut byte).await? == 0 {
            return Ok(());
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let line = head.lines().next().unwrap_or_default().to_owned();
    let granted = credentials.is_none_or(|known| {
        head.lines().any(|line| {
            line.strip_prefix("Proxy-Authorization: Basic ")
                .is_some_and(|given| given == known)
        })
    });
    if !granted {
        return from
            .write_all(
                b"HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"proxy\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            )
            .await;
    }
    noted.lock().unwrap().push(line.clone());
    let mut words = line.split(' ');
    let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    if method == "CONNECT" {
        let mut to = TcpStream::connect(target).await?;
        from.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await?;
        copy_bidirectional(&mut from, &mut to).await?;
        return Ok(());
    }
    let rest = target.strip_prefix("http://").unwrap_or(target);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut to = TcpStream::connect(host).await?;
    let kept = head
        .lines()
        .skip(1)
        .filter(|line| !line.is_empty() && !line.starts_with("Proxy-"));
    let mut request = format!("{method} /{path} HTTP/1.1\r\nConnection: close\r\n");
    for line in kept.filter(|line| !line.starts_with("Connection:")) {
        request += line;
        request += "\r\n";
    }
    to.write_all((request + "\r\n").as_bytes()).await?;
    copy_bidirectional(&mut from, &mut to).await?;
    Ok(())
}

#[test]
fn a_context_goes_through_its_proxy_with_name_and_password() {
    with_browser(async |browser| {
        let site = Site::start().await;
        let url = site.add_page("/", "<title>Through</title>");
        // base64 of `me:open sesame`
        let proxy = Recording::start(Some("bWU6b3BlbiBzZXNhbWU=")).await;
        let options = ContextOptions {
            proxy: Some(Proxy {
                server: proxy.address(),
                username: Some("me".to_owned()),
                password: Some("open sesame".to_owned()),
                ..Proxy::default()
            }),
            ..ContextOptions::default()
        };
        let context = browser.new_context(&soon(), options).await.unwrap();
        let page = context.new_page(&soon()).await.unwrap();
        goto(&page, &url).await;
        assert_eq!(eval(&page, "document.title").await, "Through");
        assert_eq!(page.status().unwrap().0, 200);
        assert_eq!(proxy.seen()[0], format!("GET {url} HTTP/1.1"));
        context.close(&soon()).await.unwrap();
    });
}

#[test]
fn a_wrong_password_for_the_proxy_ends_at_its_refusal() {
    with_browser(async |browser| {
        let site = Site::start().await;
        let url = site.add_page("/", "<title>Through</title>");
        let proxy = Recording::start(Some("bWU6b3BlbiBzZXNhbWU=")).await;
        let options = ContextOptions {
            proxy: Some(Proxy {
                server: proxy.address(),
                username: Some("me".to_owned()),
                password: Some("guess".to_owned()),
                ..Proxy::default()
            }),
            ..ContextOptions::default()
        };
        let context = browser.new_context(&soon(), options).await.unwrap();
        let page = context.new_page(&soon()).await.unwrap();
        let _ = page.goto(&soon(), &url, engine::LoadState::Loaded).await;
        assert!(proxy.seen().is_empty());
        assert!(site.requests().is_empty());
        context.close(&soon()).await.unwrap();
    });
}

#[test]
fn hosts_on_the_bypass_list_are_reached_without_the_proxy() {
    with_browser(async |browser| {
        let site = Site::start().await;
        site.add_page("/", "<title>Near</title>");
        let near = format!("http://near.localhost:{}/", site.port());
        let far = format!("{}/", site.cross_origin_url());
        let proxy = Recording::start(None).await;
        let options = ContextOptions {
            proxy: Some(Proxy {
                server: proxy.address(),
                bypass: vec!["near.localhost".to_owned()],
                ..Proxy::default()
            }),
            ..ContextOptions::default()
        };
        let context = browser.new_context(&soon(), options).await.unwrap();
        let page = context.new_page(&soon()).await.unwrap();
        goto(&page, &near).await;
        assert!(proxy.seen().is_empty());
        goto(&page, &far).await;
        assert_eq!(proxy.seen()[0], format!("GET {far} HTTP/1.1"));
        context.close(&soon()).await.unwrap();
    });
}
