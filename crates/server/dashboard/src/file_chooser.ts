// The file chooser of the shown page, for which the user uploads files.

import { element, setText } from "./dom";
import type { FileChooser, Send } from "./messages";

/** The size of a part of a file, in bytes. The server accepts messages of 64 KB. */
const PART = 32 * 1024;
/** The number of bytes that may wait in the browser. */
const MAX_WAITING = 1024 * 1024;
/** WebSockets have no event for the end of the wait. */
const WAIT_INTERVAL = 20;

export class FileChooserForm {
  private readonly form = element<HTMLFormElement>("file-chooser");
  private readonly files = element<HTMLInputElement>("files");
  private shown: FileChooser | null = null;
  /** The upload whose contents are sent. */
  private upload: object | null = null;

  constructor(
    private readonly send: Send,
    private readonly socket: () => WebSocket | null,
    private readonly report: (text: string | null) => void,
  ) {
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.start([...(this.files.files ?? [])]);
    });
    element("cancel-upload").addEventListener("click", () => {
      this.stop();
      send({ do: "cancelFileChooser" });
    });
  }

  render(shown: FileChooser | null, hasControl: boolean): void {
    this.shown = shown;
    if (!shown) this.stop();
    this.form.hidden = !shown;
    if (!shown) {
      this.form.reset();
      return;
    }
    const texts = [
      "The page opened a file chooser.",
      shown.canUpload ? "" : "The operator has turned off file uploads, so that it can only be cancelled.",
      hasControl ? "" : "Take the session over to use it.",
    ];
    setText(element("file-chooser-text"), texts.filter(Boolean).join(" "));
    this.files.multiple = shown.isMultiple;
    for (const id of ["files-label", "upload"]) element(id).hidden = !shown.canUpload;
    for (const id of ["upload", "cancel-upload"]) element<HTMLButtonElement>(id).disabled = !hasControl;
  }

  /** Sends no more contents. */
  stop(): void {
    this.upload = null;
  }

  private async start(files: File[]): Promise<void> {
    const size = files.reduce((sum, file) => sum + file.size, 0);
    const limit = this.shown?.maxBytes ?? 0;
    if (size > limit) return this.report(`The files are too large: choose at most ${limit / 2 ** 20} MB.`);
    this.report(null);
    const upload = {};
    this.upload = upload;
    this.send({ do: "upload", files: files.map(({ name, size }) => ({ name, size })) });
    for (const file of files) {
      for (let at = 0; at < file.size; at += PART) {
        const part = await file.slice(at, at + PART).arrayBuffer();
        while ((this.socket()?.bufferedAmount ?? 0) > MAX_WAITING) await new Promise((done) => setTimeout(done, WAIT_INTERVAL));
        // The server has refused it, or the connection is another one.
        if (this.upload !== upload) return;
        this.socket()?.send(part);
      }
    }
  }
}
