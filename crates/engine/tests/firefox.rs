//! The engine against a real Firefox: the tests of `it`, but for those of scripts in workers, where no protocol of Firefox's reaches.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use testkit::Engine;

const ENGINE: Engine = Engine::Firefox;
const DIFFERS: &[(&str, &str)] = &[
    (
        "console::a_logged_object_is_not_kept_alive",
        "nothing there collects garbage on demand",
    ),
    (
        "console::a_resource_that_is_missing_is_an_error_of_the_browser",
        "a status of 404 is no message of its console",
    ),
    (
        "console::every_kind_of_call_is_told",
        "it tells of no end of a group, and writes maps, functions and symbols by their kinds",
    ),
    (
        "emulation::a_device_from_another_land",
        "it has no command for media features",
    ),
    (
        "emulation::a_policy_of_the_page_does_not_bind_us_and_can_be_lifted",
        "it has no command to lift a policy",
    ),
    (
        "emulation::pages_without_scripts_are_still_ours_to_read",
        "it has no command to switch scripts off",
    ),
    (
        "emulation::the_window_can_be_resized_and_keeps_its_kind",
        "it has no command for media features",
    ),
    (
        "launching::pages_do_not_see_that_they_are_driven",
        "it says so itself, as the standard of WebDriver asks",
    ),
    (
        "navigation::a_crash_is_told_and_the_page_can_be_closed",
        "nothing there lets a page crash on demand",
    ),
    (
        "navigation::a_navigation_gives_way_to_a_later_one",
        "it answers before the document comes, and does not say why none came",
    ),
    (
        "storage::an_origin_that_cannot_be_reached_has_its_storage_all_the_same",
        "offline, it opens no document of an origin",
    ),
];

#[path = "it/console.rs"]
mod console;
#[path = "it/dialogs.rs"]
mod dialogs;
#[path = "it/downloads.rs"]
mod downloads;
#[path = "it/emulation.rs"]
mod emulation;
#[path = "it/evaluating.rs"]
mod evaluating;
#[path = "it/frames.rs"]
mod frames;
#[path = "it/harness.rs"]
mod harness;
#[path = "it/isolation.rs"]
mod isolation;
#[path = "it/launching.rs"]
mod launching;
#[path = "it/navigation.rs"]
mod navigation;
#[path = "it/pictures.rs"]
mod pictures;
#[path = "it/popups.rs"]
mod popups;
#[path = "it/proxies.rs"]
mod proxies;
#[path = "it/requests.rs"]
mod requests;
#[path = "it/storage.rs"]
mod storage;
#[path = "it/stress.rs"]
mod stress;
