//! Drives a browser: contexts, pages, locators, actions, snapshots. Knows no MCP.
