//! The MCP server: tools over sessions over the engine.
