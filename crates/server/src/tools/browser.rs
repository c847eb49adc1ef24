//! The `browser` toolset: the tools of `@playwright/mcp`, with its names, parameters and answers.

mod annotate;
pub(super) mod click;
mod close;
mod config;
mod console;
mod contexts;
mod cookies;
mod dialog;
mod drag;
mod emulate;
pub(super) mod evaluate;
mod files;
mod find;
mod form;
mod generate;
mod highlight;
mod hover;
mod keyboard;
mod media;
mod mouse;
pub(super) mod navigate;
pub(crate) mod network;
mod offline;
mod resize;
mod resume;
mod route;
mod run_code;
mod screenshot;
mod select;
mod snapshot;
mod storage_state;
mod tabs;
mod throttle;
mod verify;
mod wait;
mod web_mcp;
mod web_storage;
mod workers;

use crate::tools::tool::{Tool as _, Toolset};

/// The tool that calls a WebMCP tool of the page.
pub(crate) const CALL_DOCUMENT_TOOL: &str = web_mcp::CallTool::NAME;

pub(crate) const TOOLSET: Toolset = Toolset::new(
    "browser",
    "Drive a browser: navigate, read the page as a tree with refs, act on its elements, read console and network.",
    &[
        close::TOOLS,
        resize::TOOLS,
        config::TOOLS,
        console::TOOLS,
        cookies::TOOLS,
        resume::TOOLS,
        highlight::TOOLS,
        workers::TOOLS,
        annotate::TOOLS,
        dialog::TOOLS,
        media::TOOLS,
        emulate::TOOLS,
        evaluate::TOOLS,
        files::TOOLS,
        find::TOOLS,
        form::TOOLS,
        keyboard::TOOLS,
        mouse::TOOLS,
        navigate::TOOLS,
        network::TOOLS,
        offline::TOOLS,
        throttle::TOOLS,
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
        web_mcp::TOOLS,
    ],
);
