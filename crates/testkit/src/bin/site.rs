//! Serves the fixture site until it is interrupted: `cargo run -p testkit --bin site [PORT]`.

use testkit::Site;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "tells where it listens")]
async fn main() {
    let port = std::env::args()
        .nth(1)
        .map_or(0, |port| port.parse().expect("the argument is a port"));
    let site = Site::start_on(port).await;
    println!("{}", site.url("/shop/"));
    println!("{}", format_args!("{}/shop/", site.cross_origin_url()));
    tokio::signal::ctrl_c()
        .await
        .expect("can wait for an interrupt");
}
