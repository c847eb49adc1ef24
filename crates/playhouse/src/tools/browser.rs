//! The `browser` toolset: the tools of `@playwright/mcp`, with its names, parameters and answers.

pub(super) mod click;
mod close;
mod config;
mod console;
mod contexts;
mod cookies;
mod dialog;
mod drag;
pub(super) mod evaluate;
mod files;
mod find;
mod form;
mod generate;
mod hover;
mod keyboard;
mod media;
mod mouse;
pub(super) mod navigate;
pub(super) mod network;
mod offline;
mod pdf;
mod resize;
mod route;
mod run_code;
mod screenshot;
mod select;
mod snapshot;
mod storage_state;
mod tabs;
mod verify;
mod wait;
mod web_storage;

use crate::tools::tool::Toolset;

pub(super) const TOOLSET: Toolset = Toolset::new(
    "browser",
    "Drive a browser: navigate, read the page as a tree with refs, act on its elements, read console and network.",
    &[
        close::TOOLS,
        resize::TOOLS,
        config::TOOLS,
        console::TOOLS,
        cookies::TOOLS,
        dialog::TOOLS,
        media::TOOLS,
        evaluate::TOOLS,
        files::TOOLS,
        find::TOOLS,
        form::TOOLS,
        keyboard::TOOLS,
        mouse::TOOLS,
        navigate::TOOLS,
        network::TOOLS,
        offline::TOOLS,
        pdf::TOOLS,
        route::TOOLS,
        run_code::TOOLS,
        screenshot::TOOLS,
        snapshot::TOOLS,
        click::TOOLS,
        drag::TOOLS,
        hover::TOOLS,
        select::TOOLS,
        generate::TOOLS,
        storage_state::TOOLS,
        tabs::TOOLS,
        verify::TOOLS,
        wait::TOOLS,
        web_storage::TOOLS,
        contexts::TOOLS,
    ],
);
