"""The official Python SDK, with a transport and the address of the server as arguments: prints what it receives, as one JSON object.

stdio COMMAND ARGS... | http URL | sse URL
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


def transport(kind, where, rest):
    if kind == "stdio":
        return stdio_client(StdioServerParameters(command=where, args=rest))
    return streamable_http_client(where) if kind == "http" else sse_client(where)


async def error_of(client, tool):
    """Makes a tool fail, and returns the structured content of the error, or what was raised."""
    try:
        result = await client.call_tool(tool.name, {} if tool.name == "e2e_start" else {"maxTokens": "many"})
        return {"isError": result.is_error, **(result.structured_content or {})}
    except Exception as error:
        return {"thrown": repr(error)}


async def main():
    kind, where, *rest = sys.argv[1:]
    async with Client(transport(kind, where, rest)) as client:
        tools = (await client.list_tools()).tools
        page = "data:text/html,<title>from Python</title>"
        opened = await client.call_tool("navigate", {"url": page})
        ticks = []

        async def tick(progress, total, message):
            ticks.append(progress)

        await client.call_tool("browser_wait_for", {"time": 2.5}, progress_callback=tick)
        prompts = (await client.list_prompts()).prompts
        result = {
            "server": client.server_info.name,
            "tools": len(tools),
            "title": (opened.structured_content or {}).get("title"),
            "ticks": len(ticks),
            "prompts": len(prompts),
            "errors": {tool.name: await error_of(client, tool) for tool in tools},
        }
    print(json.dumps(result))


asyncio.run(main())
