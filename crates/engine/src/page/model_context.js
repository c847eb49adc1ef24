// Runs in the page's own world, where polyfills define the API too.
async function modelContext(call) {
  const context = document.modelContext ?? navigator.modelContext;
  if (typeof context?.getTools !== "function") return null;
  const tools = await context.getTools();
  // Some versions list the tools of other documents too.
  const own = Array.from(tools).filter((tool) => !("window" in tool) || tool.window === window);
  if (!call) {
    return own.slice(0, 64).map((tool) => {
      const hints = tool.annotations ?? {};
      // The server's limits are lower; these bound what is sent to it.
      const schema = typeof tool.inputSchema === "string" ? tool.inputSchema : JSON.stringify(tool.inputSchema);
      return {
        name: String(tool.name).slice(0, 1_000),
        title: tool.title ? String(tool.title).slice(0, 5_000) : null,
        description: String(tool.description ?? "").slice(0, 5_000),
        inputSchema: schema?.length <= 10_000 ? schema : null,
        readOnly: !!(hints.readOnlyHint ?? hints.readOnly),
        consequential: !!(hints.consequentialHint ?? hints.consequential),
        untrustedContent: !!(hints.untrustedContentHint ?? hints.untrustedContent),
      };
    });
  }
  const tool = own.filter((tool) => tool.name === call.name)[call.index];
  if (!tool) throw new Error(`the page has no tool ${JSON.stringify(call.name)} any more`);
  const text = JSON.stringify(call.arguments);
  if (typeof context.executeTool !== "function") {
    return JSON.stringify((await context.invokeTool(call.name, JSON.parse(text))) ?? null);
  }
  let result;
  try {
    result = await context.executeTool(tool, JSON.parse(text));
  } catch (error) {
    // Earlier drafts take the arguments as JSON text.
    if (!String(error?.message).includes("Failed to parse input arguments")) throw error;
    result = await context.executeTool(tool, text);
  }
  return typeof result === "string" ? result : JSON.stringify(result ?? null);
}
