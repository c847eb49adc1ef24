"""The official Python SDK, with a transport and the address of the server as arguments: prints what it receives, as one JSON object.

stdio COMMAND ARGS... | http URL [KEY] | sse URL [KEY]
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


def transport(kind, where, rest):
    headers = {"Authorization": f"Bearer {rest[0]}"} if rest else {}
    if kind == "stdio":
        return stdio_client(StdioServerParameters(command=where, args=rest))
    if kind == "http":
        return streamablehttp_client(where, headers=headers)
    return sse_client(where, headers=headers)


async def main():
    kind, where, *rest = sys.argv[1:]
    async with transport(kind, where, rest) as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            began = await session.initialize()
            tools = (await session.list_tools()).tools
            page = "data:text/html,<title>from Python</title>"
            opened = await session.call_tool("navigate", {"url": page})
            ticks = []

            async def tick(progress, total, message):
                ticks.append(progress)

            await session.call_tool("browser_wait_for", {"time": 2.5}, progress_callback=tick)
            prompts = (await session.list_prompts()).prompts
            result = {
                "server": began.serverInfo.name,
                "tools": len(tools),
                "title": (opened.structuredContent or {}).get("title"),
                "ticks": len(ticks),
                "prompts": len(prompts),
            }
    print(json.dumps(result))


asyncio.run(main())
