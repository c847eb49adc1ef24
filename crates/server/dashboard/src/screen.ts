// The live view of the shown page, and the input of the user who has taken it over.

import { element } from "./dom";
import type { Send } from "./messages";

const BUTTONS = ["left", "middle", "right"];
/** The largest time (ms) and distance (pixels) between the presses of a double click. */
const DOUBLE_CLICK = { time: 500, distance: 5 };

export class Screen {
  private readonly canvas = element<HTMLCanvasElement>("screen");
  /** Has the focus instead of the canvas, because an input method writes only into an editable element. */
  private readonly keyboard = element<HTMLTextAreaElement>("keyboard");
  private readonly context = this.canvas.getContext("2d");
  private isControlled = false;
  private decoding = false;
  private next: Blob | null = null;
  private move: { x: number; y: number } | null = null;
  private readonly pressed = new Set<string>();
  private press = { count: 0, button: -1, time: 0, x: 0, y: 0 };

  constructor(
    private readonly send: Send,
    private readonly onLeave: () => void,
  ) {
    const { canvas, keyboard } = this;
    canvas.addEventListener("pointerdown", (event) => this.onButton("down", event));
    canvas.addEventListener("pointerup", (event) => this.onButton("up", event));
    canvas.addEventListener("pointermove", (event) => this.onMove(event));
    canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    canvas.addEventListener("contextmenu", (event) => this.isControlled && event.preventDefault());
    keyboard.addEventListener("keydown", (event) => this.onKeyDown(event));
    keyboard.addEventListener("keyup", (event) => this.onKeyUp(event));
    keyboard.addEventListener("blur", () => this.releaseKeys());
    keyboard.addEventListener("paste", (event) => this.onPaste(event));
    keyboard.addEventListener("compositionend", () => this.sendText());
    keyboard.addEventListener("input", (event) => (event as InputEvent).isComposing || this.sendText());
  }

  /** Shows a frame; one that arrives while another is decoded replaces those in between. */
  show(frame: Blob): void {
    this.next = frame;
    if (!this.decoding) void this.decode();
  }

  clear(): void {
    this.next = null;
    this.context?.clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  control(isControlled: boolean): void {
    if (this.isControlled === isControlled) return;
    if (!isControlled) this.releaseKeys();
    this.isControlled = isControlled;
    this.canvas.classList.toggle("controlled", isControlled);
    this.keyboard.hidden = !isControlled;
    if (isControlled) this.keyboard.focus();
  }

  private async decode(): Promise<void> {
    this.decoding = true;
    while (this.next) {
      const frame = this.next;
      this.next = null;
      try {
        const image = await createImageBitmap(frame);
        if (this.canvas.width !== image.width) this.canvas.width = image.width;
        if (this.canvas.height !== image.height) this.canvas.height = image.height;
        this.context?.drawImage(image, 0, 0);
        image.close();
      } catch {
        // The next frame replaces one that cannot be decoded.
      }
    }
    this.decoding = false;
  }

  /** Returns a point of the canvas in CSS pixels of the page. The frame keeps its ratio and begins at the top left corner. */
  private point(event: MouseEvent): { x: number; y: number } {
    const { canvas } = this;
    const box = canvas.getBoundingClientRect();
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const scale = Math.min(width / canvas.width, height / canvas.height);
    return { x: (event.clientX - box.left - canvas.clientLeft) / scale, y: (event.clientY - box.top - canvas.clientTop) / scale };
  }

  private onButton(action: "down" | "up", event: PointerEvent): void {
    const button = BUTTONS[event.button];
    if (!this.isControlled || !button) return;
    event.preventDefault();
    if (action === "down") {
      // An input method shows its candidates there.
      this.keyboard.style.left = `${event.offsetX}px`;
      this.keyboard.style.top = `${event.offsetY}px`;
      this.keyboard.focus();
      this.canvas.setPointerCapture(event.pointerId);
      this.countPress(event);
    }
    this.move = null;
    this.send({ do: action, ...this.point(event), button, count: this.press.count });
  }

  /** Counts the presses at one position from 1 to 3, because pointer events have no count: 2 is a double click. */
  private countPress({ button, timeStamp: time, clientX: x, clientY: y }: PointerEvent): void {
    const { press } = this;
    const isNext =
      press.button === button && time - press.time < DOUBLE_CLICK.time && Math.hypot(x - press.x, y - press.y) < DOUBLE_CLICK.distance;
    this.press = { count: isNext ? (press.count % 3) + 1 : 1, button, time, x, y };
  }

  private onMove(event: PointerEvent): void {
    if (!this.isControlled) return;
    const isWaiting = this.move !== null;
    this.move = this.point(event);
    if (isWaiting) return;
    setTimeout(() => {
      if (this.move) this.send({ do: "move", ...this.move });
      this.move = null;
    }, 40);
  }

  private onWheel(event: WheelEvent): void {
    if (!this.isControlled) return;
    event.preventDefault();
    this.send({ do: "wheel", ...this.point(event), dx: event.deltaX, dy: event.deltaY });
  }

  private onKeyDown(event: KeyboardEvent): void {
    if (!this.isControlled) return;
    // Otherwise a user of the keyboard could not leave the view. VNC viewers have the same key.
    if (event.key === "F8") {
      event.preventDefault();
      this.releaseKeys();
      this.onLeave();
      return;
    }
    // The paste event has the text.
    if (event.key.toLowerCase() === "v" && (event.ctrlKey || event.metaKey)) return;
    // The text follows in another event: of an input method, a dead key or a keyboard on the screen.
    if (event.isComposing || ["Dead", "Process", "Unidentified"].includes(event.key)) return;
    event.preventDefault();
    this.pressed.add(event.key);
    this.send({ do: "keyDown", key: event.key });
  }

  private onKeyUp(event: KeyboardEvent): void {
    if (!this.isControlled || !this.pressed.delete(event.key)) return;
    event.preventDefault();
    this.send({ do: "keyUp", key: event.key });
  }

  private onPaste(event: ClipboardEvent): void {
    event.preventDefault();
    const text = event.clipboardData?.getData("text");
    if (this.isControlled && text) this.send({ do: "text", text });
  }

  /** Sends what was written without the keys of its characters. */
  private sendText(): void {
    const text = this.keyboard.value;
    this.keyboard.value = "";
    if (this.isControlled && text) this.send({ do: "text", text });
  }

  private releaseKeys(): void {
    for (const key of this.pressed) this.send({ do: "keyUp", key });
    this.pressed.clear();
  }
}
