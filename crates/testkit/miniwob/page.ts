// What a solver may do: read the page, and act on it through the tools of Playhouse.
import type { Client } from "./client";
import { type Node, parse } from "./snapshot";

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

/** An element of a drawing. */
export interface Shape extends Box {
  tag: string;
  id: string;
  text: string;
  fill: string;
}

/** A ref of a snapshot, or a selector. */
type Target = Node | string;

export type Solver = (page: Page) => Promise<void>;

const refOf = (target: Target) => (typeof target === "string" ? target : target.ref);

export const center = (box: Box): Point => ({ x: box.x + box.width / 2, y: box.y + box.height / 2 });

export class Page {
  constructor(private readonly client: Client) {}

  navigate(url: string): Promise<string> {
    return this.client.call("browser_navigate", { url });
  }

  /** Runs a function in the page and returns its result. Solvers only read with it. */
  async read<T>(source: string): Promise<T> {
    const answer = await this.client.call("browser_evaluate", { function: source });
    const result = /### Result\n([\s\S]*?)(?=\n<\/page\d|\n### |$)/.exec(answer)?.[1];
    if (result === undefined) throw new Error(`the answer has no result: ${answer}`);
    return (result === "undefined" ? undefined : JSON.parse(result)) as T;
  }

  /** The instruction. */
  query(): Promise<string> {
    return this.read("() => document.getElementById('query').innerText.replace(/\\s+/g, ' ').trim()");
  }

  /** The tree of the page without the panel of rewards. */
  async snapshot(): Promise<Node> {
    const answer = await this.client.call("browser_snapshot");
    const root = parse(/```yaml\n([\s\S]*?)```/.exec(answer)?.[1] ?? "");
    const rewards = [...root].find((node) => node.label.startsWith("Last reward:"));
    rewards?.parent?.children.splice(rewards.parent.children.indexOf(rewards), 1);
    return root;
  }

  async click(target: Target): Promise<void> {
    await this.client.call("browser_click", { target: refOf(target) });
  }

  /** Clicks the button with this name. */
  async press(name: string): Promise<void> {
    await this.click((await this.snapshot()).first("button", name));
  }

  submit(): Promise<void> {
    return this.press("Submit");
  }

  async hover(target: Target): Promise<void> {
    await this.client.call("browser_hover", { target: refOf(target) });
  }

  async type(target: Target, text: string, options: { slowly?: boolean; submit?: boolean } = {}): Promise<void> {
    await this.client.call("browser_type", { target: refOf(target), text, ...options });
  }

  async key(key: string, count = 1): Promise<void> {
    for (let i = 0; i < count; i++) await this.client.call("browser_press_key", { key });
  }

  async select(target: Target, values: string[]): Promise<void> {
    await this.client.call("browser_select_option", { target: refOf(target), values });
  }

  async drag(from: Target, to: Target): Promise<void> {
    await this.client.call("browser_drag", { startTarget: refOf(from), endTarget: refOf(to) });
  }

  async wait(seconds: number): Promise<void> {
    await this.client.call("browser_wait_for", { time: seconds });
  }

  async clickAt({ x, y }: Point): Promise<void> {
    await this.client.call("browser_mouse_click_xy", { x, y });
  }

  async moveTo({ x, y }: Point): Promise<void> {
    await this.client.call("browser_mouse_move_xy", { x, y });
  }

  async wheel(deltaY: number): Promise<void> {
    await this.client.call("browser_mouse_wheel", { deltaX: 0, deltaY });
  }

  async dragTo(from: Point, to: Point): Promise<void> {
    await this.client.call("browser_mouse_drag_xy", { startX: from.x, startY: from.y, endX: to.x, endY: to.y });
  }

  /** Presses the mouse button at a point. */
  async grab(point: Point): Promise<void> {
    await this.moveTo(point);
    await this.client.call("browser_mouse_down");
  }

  async release(): Promise<void> {
    await this.client.call("browser_mouse_up");
  }

  /** Presses the mouse button at the first point, moves through the others and releases it. */
  async stroke([first, ...rest]: Point[]): Promise<void> {
    if (!first) return;
    await this.grab(first);
    for (const point of rest) await this.moveTo(point);
    await this.release();
  }

  /** The boxes of the elements that match a CSS selector. */
  boxes(selector: string): Promise<Box[]> {
    return this.read(`() => [...document.querySelectorAll(${JSON.stringify(selector)})].map((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return { x, y, width, height };
    })`);
  }

  async box(selector: string): Promise<Box> {
    const [box] = await this.boxes(selector);
    if (!box) throw new Error(`the page has no ${selector}`);
    return box;
  }

  /** The elements of the drawings in the area of the task. */
  shapes(): Promise<Shape[]> {
    return this.read(`() => [...document.querySelectorAll('#area svg *')].map((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return { tag: element.tagName, id: element.id, text: element.textContent, fill: element.getAttribute('fill') ?? '', x, y, width, height };
    })`);
  }
}

/** The parts of a text between double quotes. */
export const quoted = (text: string): string[] => [...text.matchAll(/"([^"]*)"/g)].map((match) => match[1] ?? "");

/** The groups of a match. */
export function match(text: string, pattern: RegExp): string[] {
  const found = pattern.exec(text);
  if (!found) throw new Error(`"${text}" does not match ${pattern}`);
  return found.slice(1).map((group) => group ?? "");
}
