// An MCP client over stdio, from the official TypeScript SDK, which counts its calls and the sizes of their answers.
import { pathToFileURL } from "node:url";

interface Answer {
  isError?: boolean;
  content: { type: string; text?: string }[];
}

interface SdkClient {
  connect(transport: unknown): Promise<void>;
  close(): Promise<void>;
  callTool(call: { name: string; arguments: object }, schema: undefined, options: { timeout: number }): Promise<Answer>;
}

const CALL_TIMEOUT = 60_000;
const CHARACTERS_PER_TOKEN = 4;

export class Client {
  calls = 0;
  private characters = 0;

  private constructor(private readonly sdk: SdkClient) {}

  /** Starts a server. `modules` is the folder of the SDK, which the test clients of `crates/testkit/clients` also use. */
  static async start(modules: string, command: string, args: string[], folder: string): Promise<Client> {
    const sdk = pathToFileURL(`${modules}/@modelcontextprotocol/sdk/dist/esm/client`);
    const { Client: Sdk } = await import(`${sdk}/index.js`);
    const { StdioClientTransport } = await import(`${sdk}/stdio.js`);
    const client: SdkClient = new Sdk({ name: "miniwob", version: "1" }, { capabilities: {} });
    await client.connect(new StdioClientTransport({ command, args, cwd: folder, stderr: "inherit" }));
    return new Client(client);
  }

  /** The estimated number of tokens of all answers since the last `reset`. */
  get tokens(): number {
    return Math.round(this.characters / CHARACTERS_PER_TOKEN);
  }

  reset(): void {
    this.calls = 0;
    this.characters = 0;
  }

  /** Calls a tool and returns the text of its answer; an answer that is an error is thrown. */
  async call(name: string, args: object = {}): Promise<string> {
    this.calls += 1;
    const answer = await this.sdk.callTool({ name, arguments: args }, undefined, { timeout: CALL_TIMEOUT });
    const text = answer.content.map((part) => part.text ?? "").join("\n");
    this.characters += text.length;
    if (answer.isError) throw new Error(`${name} ${JSON.stringify(args)}: ${text}`);
    return text;
  }

  close(): Promise<void> {
    return this.sdk.close();
  }
}
