// The keyboard and the mouse of a page.

import { call } from "./calls";
import { type Options, offer, options } from "./offer";

export class Keyboard {
  #page: string;
  constructor(page: string) {
    this.#page = page;
  }
  #send(name: string, op: string, parameters: object) {
    return call(`keyboard.${name}`, op, { page: this.#page, ...parameters });
  }
  async press(key: unknown, given?: Options) {
    await this.#send("press", "keyPress", { key: String(key), ...options("keyboard.press", given, "delay") });
  }
  async type(text: unknown, given?: Options) {
    await this.#send("type", "keyType", { text: String(text), ...options("keyboard.type", given, "delay") });
  }
  async insertText(text: unknown) {
    await this.#send("insertText", "insertText", { text: String(text) });
  }
  async down(key: unknown) {
    await this.#send("down", "keyDown", { key: String(key) });
  }
  async up(key: unknown) {
    await this.#send("up", "keyUp", { key: String(key) });
  }
}
offer(Keyboard, "keyboard");

export class Mouse {
  #page: string;
  #position = { x: 0, y: 0 };
  constructor(page: string) {
    this.#page = page;
  }
  #send(name: string, op: string, parameters: object) {
    return call(`mouse.${name}`, op, { page: this.#page, ...parameters });
  }
  async move(x: number, y: number, given?: Options) {
    const steps = Math.max(1, given?.steps ?? 1);
    const from = this.#position;
    for (let step = 1; step <= steps; step += 1) {
      this.#position = { x: from.x + ((x - from.x) * step) / steps, y: from.y + ((y - from.y) * step) / steps };
      await this.#send("move", "mouseMove", this.#position);
    }
  }
  async down(given?: Options) {
    await this.#send("down", "mouseDown", options("mouse.down", given, "button"));
  }
  async up(given?: Options) {
    await this.#send("up", "mouseUp", options("mouse.up", given, "button"));
  }
  async click(x: number, y: number, given?: Options) {
    this.#position = { x, y };
    await this.#send("click", "mouseClick", { x, y, ...options("mouse.click", given, "button", "clickCount", "delay") });
  }
  async dblclick(x: number, y: number, given?: Options) {
    await this.click(x, y, { ...given, clickCount: 2 });
  }
  async wheel(deltaX: number, deltaY: number) {
    await this.#send("wheel", "mouseWheel", { deltaX, deltaY });
  }
}
offer(Mouse, "mouse");
