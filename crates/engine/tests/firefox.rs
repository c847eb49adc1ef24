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
        "console::every_kind_of_console_call_is_reported",
        "it tells of no end of a group, and writes maps, functions and symbols by their kinds",
    ),
    (
        "emulation::device_locale_and_time_zone_are_emulated",
        "it has no command for media features",
    ),
    (
        "emulation::content_security_policy_does_not_affect_the_engine_and_can_be_bypassed",
        "it has no command to lift a policy",
    ),
    (
        "emulation::pages_with_disabled_scripts_can_be_read",
        "it has no command to switch scripts off",
    ),
    (
        "emulation::the_viewport_can_be_resized_and_keeps_its_device",
        "it has no command for media features",
    ),
    (
        "launch::pages_cannot_detect_automation",
        "it says so itself, as the standard of WebDriver asks",
    ),
    (
        "navigation::a_crash_is_reported_and_the_page_can_be_closed",
        "nothing there lets a page crash on demand",
    ),
    (
        "navigation::a_later_navigation_aborts_an_earlier_one",
        "it answers before the document comes, and does not say why none came",
    ),
    (
        "storage::the_storage_of_an_unreachable_origin_is_restored",
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
#[path = "it/evaluation.rs"]
mod evaluation;
#[path = "it/frames.rs"]
mod frames;
#[path = "it/harness.rs"]
mod harness;
#[path = "it/isolation.rs"]
mod isolation;
#[path = "it/launch.rs"]
mod launch;
#[path = "it/navigation.rs"]
mod navigation;
#[path = "it/popups.rs"]
mod popups;
#[path = "it/proxies.rs"]
mod proxies;
#[path = "it/requests.rs"]
mod requests;
#[path = "it/screenshots.rs"]
mod screenshots;
#[path = "it/storage.rs"]
mod storage;
#[path = "it/stress.rs"]
mod stress;
