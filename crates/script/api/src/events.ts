// The objects that listeners receive: requests, responses, console messages, dialogs, file choosers and downloads.

import { Buffer } from "./bytes";
import { call } from "./calls";
import { offer } from "./offer";
import type { Page } from "./page";
import { pageOf } from "./registry";
import { COUNT_DIALOGS, FRAME_OF, ID } from "./symbols";

type Headers = Record<string, string>;

export interface RequestFacts {
  id: string;
  url: string;
  method: string;
  resourceType: string;
  isNavigation: boolean;
  headers: Headers;
  postData?: string | null;
  failure?: string | null;
}

export class Request {
  #facts: RequestFacts;
  #page: Page;
  constructor(page: Page, facts: RequestFacts) {
    this.#page = page;
    this.#facts = facts;
  }
  url() {
    return this.#facts.url;
  }
  method() {
    return this.#facts.method;
  }
  resourceType() {
    return this.#facts.resourceType;
  }
  isNavigationRequest() {
    return this.#facts.isNavigation;
  }
  headers() {
    return { ...this.#facts.headers };
  }
  async allHeaders() {
    return this.headers();
  }
  async headerValue(name: string) {
    return this.#facts.headers[name.toLowerCase()] ?? null;
  }
  postData() {
    return this.#facts.postData ?? null;
  }
  postDataJSON() {
    const text = this.postData();
    return text === null ? null : JSON.parse(text);
  }
  async response() {
    const request = { page: this.#page[ID], request: this.#facts.id, url: this.#facts.url };
    const facts = await call("request.response", "response", request);
    return facts && new Response(this.#page, facts);
  }
  failure() {
    return this.#facts.failure ? { errorText: this.#facts.failure } : null;
  }
  toJSON() {
    return { url: this.url(), method: this.method() };
  }
}
offer(Request, "request");

export interface ResponseFacts extends RequestFacts {
  response: { status: number; statusText: string; headers: Headers; fromServiceWorker: boolean };
}

export class Response {
  #facts: ResponseFacts;
  #page: Page;
  constructor(page: Page, facts: ResponseFacts) {
    this.#page = page;
    this.#facts = facts;
  }
  url() {
    return this.#facts.url;
  }
  status() {
    return this.#facts.response.status;
  }
  statusText() {
    return this.#facts.response.statusText;
  }
  ok() {
    return this.status() === 0 || (this.status() >= 200 && this.status() <= 299);
  }
  headers() {
    return { ...this.#facts.response.headers };
  }
  async allHeaders() {
    return this.headers();
  }
  async headerValue(name: string) {
    return this.headers()[name.toLowerCase()] ?? null;
  }
  fromServiceWorker() {
    return this.#facts.response.fromServiceWorker;
  }
  request() {
    return new Request(this.#page, this.#facts);
  }
  async finished() {
    await call("response.finished", "finished", { page: this.#page[ID], request: this.#facts.id });
    return null;
  }
  async body() {
    return Buffer.from(await call("response.body", "responseBody", { page: this.#page[ID], request: this.#facts.id }), "base64");
  }
  async text(): Promise<string> {
    return (await this.body()).toString();
  }
  async json() {
    return JSON.parse(await this.text());
  }
  toJSON() {
    return { url: this.url(), status: this.status() };
  }
}
offer(Response, "response");

interface ConsoleFacts {
  type: string;
  text: string;
  location: object;
}

class ConsoleMessage {
  #facts: ConsoleFacts;
  constructor(facts: ConsoleFacts) {
    this.#facts = facts;
  }
  type() {
    return this.#facts.type;
  }
  text() {
    return this.#facts.text;
  }
  location() {
    return { ...this.#facts.location };
  }
}
offer(ConsoleMessage, "consoleMessage");

interface DialogFacts {
  type: string;
  message: string;
  defaultValue: string;
}

class Dialog {
  #facts: DialogFacts;
  #page: Page;
  #handled = false;
  constructor(page: Page, facts: DialogFacts) {
    this.#page = page;
    this.#facts = facts;
    page[COUNT_DIALOGS](1);
  }
  type() {
    return this.#facts.type;
  }
  message() {
    return this.#facts.message;
  }
  defaultValue() {
    return this.#facts.defaultValue;
  }
  page() {
    return this.#page;
  }
  async accept(text?: string) {
    await this.#handle("accept", true, text);
  }
  async dismiss() {
    await this.#handle("dismiss", false);
  }
  async #handle(name: string, accept: boolean, text?: string) {
    if (this.#handled) throw new Error(`dialog.${name}: Cannot ${name} dialog which is already handled!`);
    this.#handled = true;
    try {
      await call(`dialog.${name}`, "answerDialog", { page: this.#page[ID], accept, text });
    } finally {
      this.#page[COUNT_DIALOGS](-1);
    }
  }
}
offer(Dialog, "dialog");

class FileChooser {
  #facts: { multiple: boolean };
  #page: Page;
  constructor(page: Page, facts: { multiple: boolean }) {
    this.#page = page;
    this.#facts = facts;
  }
  page() {
    return this.#page;
  }
  isMultiple() {
    return this.#facts.multiple;
  }
  async setFiles(files: unknown) {
    const paths = [files].flat();
    if (!paths.every((file) => typeof file === "string")) {
      throw new Error(
        "fileChooser.setFiles: files are named by their paths here; locator.setInputFiles takes { name, mimeType, buffer } too",
      );
    }
    await call("fileChooser.setFiles", "answerFileChooser", { page: this.#page[ID], paths });
  }
}
offer(FileChooser, "fileChooser");

interface DownloadFacts {
  id: string;
  url: string;
  suggestedFilename: string;
}

class Download {
  #facts: DownloadFacts;
  #page: Page;
  constructor(page: Page, facts: DownloadFacts) {
    this.#page = page;
    this.#facts = facts;
  }
  url() {
    return this.#facts.url;
  }
  suggestedFilename() {
    return this.#facts.suggestedFilename;
  }
  page() {
    return this.#page;
  }
  async failure() {
    return (await this.#end("failure")).failure ?? null;
  }
  async path() {
    const { path, failure } = await this.#end("path");
    if (failure) throw new Error(`download.path: ${failure}`);
    return path;
  }
  async saveAs(path: string) {
    const { failure } = await this.#end("saveAs", String(path));
    if (failure) throw new Error(`download.saveAs: ${failure}`);
  }
  #end(name: string, path?: string) {
    return call(`download.${name}`, "downloaded", { download: this.#facts.id, path });
  }
}
offer(Download, "download");

/** Returns an error object for the text of an uncaught error of a page. */
const pageError = (text: string) => {
  const [, name, message] = /^(?:(\w*Error): )?([\s\S]*?)(?:\n\s+at [\s\S]*)?$/.exec(text) ?? [];
  return Object.assign(new Error(message ?? text), { name: name ?? "Error", stack: text });
};

/** Functions that return the argument of the listeners, for each event of a page. */
export const EVENTS: Record<string, (page: Page, facts: any) => unknown> = {
  close: (page) => page,
  console: (_, facts) => new ConsoleMessage(facts),
  crash: (page) => page,
  dialog: (page, facts) => new Dialog(page, facts),
  domcontentloaded: (page) => page,
  download: (page, facts) => new Download(page, facts),
  filechooser: (page, facts) => new FileChooser(page, facts),
  frameattached: (page, { frame }) => page[FRAME_OF](frame),
  framedetached: (page, { frame }) => page[FRAME_OF](frame),
  framenavigated: (page, { frame }) => page[FRAME_OF](frame),
  load: (page) => page,
  pageerror: (_, { message }) => pageError(message),
  popup: (_, { popup }) => pageOf(popup),
  request: (page, facts) => new Request(page, facts),
  requestfailed: (page, facts) => new Request(page, facts),
  requestfinished: (page, facts) => new Request(page, facts),
  response: (page, facts) => new Response(page, facts),
};
