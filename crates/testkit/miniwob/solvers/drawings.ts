// Tasks that are solved with the mouse: shapes, points, drags, strokes, selections.
import { type Box, center, match, type Page, type Point, type Shape, type Solver } from "../page";

const KINDS: Record<string, string> = { rect: "rectangle", circle: "circle", polygon: "triangle" };

/** How a query names a shape. */
function words(shape: Shape, sizes: { large: number; letter: number }): Set<string> {
  const size = shape.tag === "text" ? (shape.height > sizes.letter ? "large" : "small") : shape.width > sizes.large ? "large" : "small";
  const kind = shape.tag === "text" ? [shape.text, /\d/.test(shape.text) ? "digit" : "letter"] : [KINDS[shape.tag] ?? shape.tag, "shape"];
  return new Set([size, shape.fill, "item", ...kind]);
}

/** The shapes that a description such as "large red item" fits. */
async function described(page: Page, description: string): Promise<Shape[]> {
  const parts = description.split(" ");
  // Shapes are 10 or 20 pixels wide; letters have a font of 10 or 20 pixels.
  return (await page.shapes()).filter((shape) => {
    const own = words(shape, { large: 15, letter: 17 });
    return parts.every((part) => own.has(part));
  });
}

const clickShape: Solver = async (page) => {
  const [description = ""] = match(await page.query(), /Click on a (.*)/);
  const [shape] = await described(page, description);
  if (!shape) throw new Error(`the drawing has no ${description}`);
  await page.clickAt(center(shape));
};

const countShape: Solver = async (page) => {
  const [description = ""] = match(await page.query(), /How many (.*)s are there/);
  await page.press(String((await described(page, description)).length));
};

const identifyShape: Solver = async (page) => {
  const [shape] = await page.shapes();
  if (!shape) throw new Error("the drawing is empty");
  const kind = shape.tag === "text" ? (/\d/.test(shape.text) ? "Number" : "Letter") : (KINDS[shape.tag] ?? "");
  await page.press(kind.charAt(0).toUpperCase() + kind.slice(1));
};

/** Counts the corners: the outline is farthest from the middle of the canvas there. */
const countSides: Solver = async (page) => {
  const corners = await page.read<number>(`() => {
    const canvas = document.getElementById('c');
    const { data, width, height } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const radii = [];
    for (let angle = 0; angle < 360; angle++) {
      const [dx, dy] = [Math.cos(angle * Math.PI / 180), Math.sin(angle * Math.PI / 180)];
      let radius = 0;
      for (let r = 0; r < 50; r += 0.25) {
        const [x, y] = [Math.round(width / 2 + r * dx), Math.round(height / 2 + r * dy)];
        if (data[(y * width + x) * 4 + 3] > 100) radius = r;
      }
      radii.push(radius);
    }
    const power = (n) => Math.hypot(...[Math.cos, Math.sin].map((f) => radii.reduce((sum, r, i) => sum + r * f(n * i * Math.PI / 180), 0)));
    return [3, 4, 5, 6, 7].reduce((best, n) => power(n) > power(best) ? n : best, 3);
  }`);
  await page.press(String(corners));
};

/** Clicks the numbers where they were: the first click hides the others. */
const ascending: Solver = async (page) => {
  const numbers = (await page.shapes()).sort((a, b) => Number(a.text) - Number(b.text));
  for (const number of numbers) await page.clickAt(center(number));
};

const gridPoint: Solver = async (page) => {
  const [x, y] = match(await page.query(), /\((-?\d),(-?\d)\)/).map(Number);
  const points = (await page.shapes()).filter((shape) => shape.tag === "circle").map(center);
  const xs = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b);
  const ys = [...new Set(points.map((point) => point.y))].sort((a, b) => b - a);
  await page.clickAt({ x: xs[(x ?? 0) + 2] ?? 0, y: ys[(y ?? 0) + 2] ?? 0 });
};

const circleCenter: Solver = async (page) => {
  await page.clickAt(await drawn(page, (await page.shapes()).slice(0, 1)));
  await page.submit();
};

/** Points are drawn 2 pixels left of and above the pointer: the area has a margin that the page ignores. */
async function drawn(page: Page, shapes: Box[]): Promise<Point> {
  const area = await page.box("#area svg");
  const points = shapes.map(center);
  const mean = (axis: "x" | "y") => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  return { x: mean("x") - area.x, y: mean("y") - area.y + 50 };
}

const midpoint: Solver = async (page) => {
  await page.clickAt(await drawn(page, await page.shapes()));
  await page.submit();
};

/** The point of the drawing for which `score` is highest; its coordinates are integers. */
function bestPoint(score: (point: Point) => number): Point {
  let best = { x: 75, y: 65 };
  for (let x = 4; x < 146; x++) {
    for (let y = 4; y < 126; y++) if (score({ x, y }) > score(best)) best = { x, y };
  }
  return best;
}

function angle(a: Point, vertex: Point, b: Point): number {
  const [u, v] = [a, b].map((point) => ({ x: point.x - vertex.x, y: point.y - vertex.y })) as [Point, Point];
  return (Math.acos((u.x * v.x + u.y * v.y) / (Math.hypot(u.x, u.y) * Math.hypot(v.x, v.y))) * 180) / Math.PI;
}

const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y);

/** The circles in the coordinates of the drawing: the black ones, and the blue one, which is the vertex. */
async function angleOf(page: Page): Promise<{ vertex: Point; ends: Point[]; click: (point: Point) => Promise<void> }> {
  const area = await page.box("#area svg");
  const circles = (await page.shapes()).filter((shape) => shape.tag === "circle");
  const local = (shape: Shape) => ({ x: center(shape).x - area.x, y: center(shape).y - area.y });
  const vertex = circles.find((shape) => shape.fill === "blue");
  if (!vertex) throw new Error("the drawing has no blue point");
  return {
    vertex: local(vertex),
    ends: circles.filter((shape) => shape.fill === "black").map(local),
    click: (point) => page.clickAt({ x: point.x, y: point.y + 50 }),
  };
}

const bisect: Solver = async (page) => {
  const { vertex, ends, click } = await angleOf(page);
  const [a, b] = ends;
  if (!a || !b) throw new Error("the angle has no ends");
  const error = (point: Point) => Math.max(angle(a, vertex, point), angle(b, vertex, point));
  await click(bestPoint((point) => (distance(point, vertex) < 25 ? -999 : -error(point))));
  await page.submit();
};

const rightAngle: Solver = async (page) => {
  const { vertex, ends, click } = await angleOf(page);
  const [a] = ends;
  if (!a) throw new Error("the angle has no end");
  await click(bestPoint((point) => -Math.abs(angle(a, vertex, point) - 90) - 20 / (distance(point, vertex) + 0.1)));
  await page.submit();
};

const DIRECTIONS: Record<string, Point> = { left: { x: -15, y: 0 }, right: { x: 15, y: 0 }, up: { x: 0, y: -15 }, down: { x: 0, y: 15 } };

/** Moves the shape from its middle; the page jumps its corner to the pointer, so the distance must exceed its size. */
const dragShape: Solver = async (page) => {
  const [direction = "up"] = match(await page.query(), /Drag the (?:circle|item) (\w+)/);
  const shape = (await page.shapes())[0];
  const by = DIRECTIONS[direction];
  if (!shape || !by) throw new Error("nothing to drag");
  const from = center(shape);
  await page.dragTo(from, { x: from.x + 2 * by.x, y: from.y + 2 * by.y });
  await page.submit();
};

const isContainer = (shape: Shape) => shape.id === "shape-container";

const dragShapes: Solver = async (page) => {
  const [kind = ""] = match(await page.query(), /Drag all (\w+)s into/);
  const shapes = await page.shapes();
  const container = shapes.find(isContainer);
  if (!container) throw new Error("the drawing has no box");
  for (const shape of shapes.filter((other) => !isContainer(other) && KINDS[other.tag] === kind)) {
    await page.dragTo(center(shape), center(container));
  }
  await page.submit();
};

const sortShapes: Solver = async (page) => {
  const [wanted = ""] = match(await page.query(), /Drag all (\w+?)s? (?:shapes )?into the left box/);
  const shapes = await page.shapes();
  const [left, right] = shapes.filter(isContainer).sort((a, b) => a.x - b.x);
  if (!left || !right) throw new Error("the drawing has no boxes");
  for (const shape of shapes.filter((other) => !isContainer(other))) {
    await page.dragTo(center(shape), center(KINDS[shape.tag] === wanted || shape.fill === wanted ? left : right));
  }
  await page.submit();
};

const dragBox: Solver = async (page) => {
  await page.drag("#draggableSmall", "#draggableLarge");
  await page.submit();
};

/** Moves an entry of a list to the place of another one: a little farther than its middle, in small steps. */
async function reorder(page: Page, from: number, to: number): Promise<void> {
  const boxes = await page.boxes("#sortable li");
  const [start, end] = [boxes[from], boxes[to]];
  if (!start || !end) throw new Error(`the list has no entries ${from} and ${to}`);
  const a = center(start);
  const sign = (x: number) => Math.sign(x);
  const b = center(end);
  const beyond = { x: b.x + 6 * sign(b.x - a.x), y: b.y + 6 * sign(b.y - a.y) };
  const steps = [0.25, 0.5, 0.75, 0.9, 1].map((part) => ({ x: a.x + (beyond.x - a.x) * part, y: a.y + (beyond.y - a.y) * part }));
  await page.stroke([a, ...steps, { x: beyond.x, y: beyond.y - sign(b.y - a.y) }]);
}

const items = async (page: Page) =>
  page.read<string[]>("() => [...document.querySelectorAll('#sortable li')].map((item) => item.innerText.trim())");

const dragItem: Solver = async (page) => {
  const [name = "", place = ""] = match(await page.query(), /Drag (.*?) (to the .*|up .*|down .*)\.$/);
  const names = await items(page);
  const from = names.indexOf(name);
  const to = place.includes("top")
    ? 0
    : place.includes("bottom")
      ? names.length - 1
      : place.startsWith("up")
        ? from - 1
        : place.startsWith("down")
          ? from + 1
          : Number(match(place, /(\d)/)[0]) - 1;
  await reorder(page, from, to);
};

const dragGridItem: Solver = async (page) => {
  const [name = "", place = ""] = match(await page.query(), /Drag (.*?) (to the .*|\w+ by one)\.$/);
  const from = (await items(page)).indexOf(name);
  const steps: Record<string, number> = { "up by one": -3, "down by one": 3, "left by one": -1, "right by one": 1 };
  const row = place.includes("top") ? 0 : place.includes("bottom") ? 2 : 1;
  const column = place.includes("left") ? 0 : place.includes("right") ? 2 : 1;
  await reorder(page, from, place in steps ? from + (steps[place] ?? 0) : row * 3 + column);
};

const sortNumbers: Solver = async (page) => {
  for (let place = 0; place < 3; place++) {
    const numbers = (await items(page)).map(Number);
    const from = numbers.indexOf(Math.min(...numbers.slice(place)), place);
    if (from !== place) await reorder(page, from, place);
  }
  await page.submit();
};

/** Turns the cube with short strokes until the number is in front: 1 and 6 are its poles, the others are around it. */
const dragCube: Solver = async (page) => {
  const [wanted = ""] = match(await page.query(), /"(\d)"/);
  const middle = center(await page.box("#area .viewport"));
  const isPole = (side: string) => side === "1" || side === "6";
  for (let i = 0; i < 40; i++) {
    const front = await page.read<string>("() => document.querySelector('.cube-image.active').textContent");
    if (front === wanted && i > 0) break;
    const step = isPole(wanted) || isPole(front) ? { x: 0, y: 3 } : { x: 3, y: 0 };
    await page.stroke(Array.from({ length: 8 }, (_, n) => ({ x: middle.x + n * step.x, y: middle.y + n * step.y })));
    // The cube turns on for a while.
    await page.wait(1);
  }
  await page.submit();
};

/** Draws through the upper left of the dot, which is what the page measures. */
const drawLine: Solver = async (page) => {
  const query = await page.query();
  const [shape] = await page.shapes();
  if (!shape) throw new Error("the drawing has no dot");
  const dot = { x: center(shape).x - 2, y: center(shape).y - 2 };
  const area = await page.box("#area svg");
  await page.stroke(
    query.includes("horizontal")
      ? [{ x: area.x + 6, y: dot.y }, dot, { x: area.x + area.width - 6, y: dot.y }]
      : [{ x: dot.x, y: area.y + 6 }, dot, { x: dot.x, y: area.y + area.height - 6 }],
  );
  await page.submit();
};

const drawCircle: Solver = async (page) => {
  const dot = center((await page.shapes())[0] ?? (await page.box("#area svg")));
  const points = Array.from({ length: 25 }, (_, i) => (i * 2 * Math.PI) / 24);
  await page.stroke(points.map((phi) => ({ x: dot.x + 22 * Math.cos(phi), y: dot.y + 22 * Math.sin(phi) })));
  await page.submit();
};

/** Selects a paragraph by dragging from its start to its end. */
const highlight: Solver = async (page) => {
  const position = /(\d)\S* paragraph/.exec(await page.query())?.[1];
  const lines = await page.read<Box[]>(`() => {
    const range = document.createRange();
    range.selectNodeContents(document.querySelectorAll('${position ? "#randomText p" : "#randomText"}')[${Number(position ?? 1) - 1}]);
    return [...range.getClientRects()].map(({ x, y, width, height }) => ({ x, y, width, height }));
  }`);
  const [first, last] = [lines[0], lines.filter((line) => line.width > 1).at(-1)];
  if (!first || !last) throw new Error("the paragraph is empty");
  await page.dragTo({ x: first.x + 0.5, y: center(first).y }, { x: last.x + last.width + 1, y: center(last).y });
  await page.submit();
};

const resize: Solver = async (page) => {
  const [dimension, direction] = match(await page.query(), /the (width|height) is (smaller|larger)/);
  const handle = center(await page.box(".ui-resizable-se"));
  const by = direction === "larger" ? 15 : -15;
  await page.dragTo(handle, dimension === "width" ? { x: handle.x + by, y: handle.y } : { x: handle.x, y: handle.y + by });
  await page.submit();
};

const scrollText: Solver = async (page) => {
  const down = (await page.query()).includes("bottom");
  await page.moveTo(center(await page.box("#text-area")));
  await page.wheel(down ? 5000 : -5000);
  await page.wait(0.5);
  await page.submit();
};

/** Searches where the area is warmer: first on a coarse grid, then around the best point. */
const hotCold: Solver = async (page) => {
  const area = await page.box("#touch-area");
  const warmth = async (point: Point) => {
    await page.moveTo(point);
    const text = await page.read<string>("() => document.getElementById('display').innerText.trim()");
    return ["ICE COLD", "COLD", "WARM", "HOT"].indexOf(text);
  };
  const grid = (box: Box, step: number): Point[] => {
    const points: Point[] = [];
    for (let y = box.y + step / 2; y < box.y + box.height; y += step) {
      for (let x = box.x + step / 2; x < box.x + box.width; x += step) points.push({ x, y });
    }
    return points;
  };
  let cold: Point[] = [];
  const find = async (points: Point[], level: number): Promise<Point | undefined> => {
    for (const point of points) {
      const now = await warmth(point);
      if (now >= 1) cold.push(point);
      if (now >= level) return point;
    }
  };
  const near = (point: Point, radius: number): Box => ({ x: point.x - radius, y: point.y - radius, width: 2 * radius, height: 2 * radius });
  const inside = (point: Point) => point.x > area.x && point.x < area.x + area.width && point.y > area.y && point.y < area.y + area.height;
  const first = await find(grid(area, 40), 1);
  if (!first) throw new Error("no point of the area is warmer than ice");
  cold = [];
  const warm = await find(grid(near(first, 42), 11).filter(inside), 2);
  const hot = warm && (await find([warm, ...grid(near(warm, 11), 4)].filter(inside), 3));
  if (hot) await page.clickAt(hot);
};

/** Reads the example, whose bright cells are to be checked. */
const numberBoxes: Solver = async (page) => {
  const cells = await page.read<boolean[]>(`() => {
    const image = [...document.querySelectorAll('aside img')].find((image) => image.offsetParent);
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const cells = [];
    for (let row = 0; row < 7; row++) {
      for (let column = 0; column < 4; column++) {
        const [x, y] = [(column + 0.5) * canvas.width / 4, (row + 0.5) * canvas.height / 7];
        cells.push(context.getImageData(Math.round(x), Math.round(y), 1, 1).data[0] > 180);
      }
    }
    return cells;
  }`);
  for (const [i, isSet] of cells.entries()) if (isSet) await page.click(`#checkboxes input >> nth=${i}`);
  await page.submit();
};

const LINES = [0, 1, 2].flatMap((i) => [
  [3 * i, 3 * i + 1, 3 * i + 2],
  [i, i + 3, i + 6],
]);
LINES.push([0, 4, 8], [2, 4, 6]);

const free = (fields: string) => [...fields].flatMap((mark, i) => (mark === "-" ? [i] : []));
const put = (fields: string, i: number, mark: string) => fields.slice(0, i) + mark + fields.slice(i + 1);
const hasWon = (fields: string, mark: string) => LINES.some((line) => line.every((i) => fields[i] === mark));
const chances = new Map<string, number>();

/** The chance that X, whose turn it is, wins against an opponent who plays well in half of the turns and at random in the others. */
function chance(fields: string): number {
  const known = chances.get(fields);
  if (known !== undefined) return known;
  const value = Math.max(0, ...free(fields).map((i) => chanceAfter(fields, i)));
  chances.set(fields, value);
  return value;
}

function chanceAfter(before: string, i: number): number {
  const fields = put(before, i, "x");
  if (hasWon(fields, "x")) return 1;
  const replies = free(fields);
  const value = (reply: number) => (hasWon(put(fields, reply, "o"), "o") ? 0 : chance(put(fields, reply, "o")));
  const mean = (moves: number[]) => (moves.length ? moves.reduce((sum, move) => sum + value(move), 0) / moves.length : 0);
  const good = ["o", "x"].map((mark) => replies.filter((move) => hasWon(put(fields, move, mark), mark))).find((moves) => moves.length);
  return 0.5 * mean(good ?? replies) + 0.5 * mean(replies);
}

const ticTacToe: Solver = async (page) => {
  for (let turn = 0; turn < 5; turn++) {
    const fields = await page.read<string[]>(`() => [...document.querySelectorAll('.ttt-row span')]
      .map((field) => /\\/([xo])\\.png/.exec(getComputedStyle(field).content)?.[1] ?? '-')`);
    const state = fields.join("");
    const [first = 0, ...others] = free(state);
    const move = others.reduce((best, i) => (chanceAfter(state, i) > chanceAfter(state, best) ? i : best), first);
    await page.click(`.ttt-row span >> nth=${move}`);
    if (await page.read<boolean>("() => document.getElementById('sync-task-cover').style.display === 'block'")) return;
  }
};

/** Keeps the pointer on a circle that moves. */
const chase: Solver = async (page) => {
  const deadline = Date.now() + 11_000;
  while (Date.now() < deadline) {
    const [circle] = await page.boxes("#circ");
    if (!circle) return;
    await page.moveTo(center(circle));
  }
};

/** Clicks the circle that leaves first; all move by about 56 pixels a second. */
const movingItems: Solver = async (page) => {
  const deadline = Date.now() + 11_000;
  while (Date.now() < deadline) {
    const targets = (await page.boxes("#area circle")).map(center).filter((point) => point.x > 8 && point.x < 152);
    const target = targets[0];
    if (target) await page.clickAt(target);
  }
};

export const drawings: Record<string, Solver> = {
  "ascending-numbers": ascending,
  "bisect-angle": bisect,
  "chase-circle": chase,
  "circle-center": circleCenter,
  "click-shape": clickShape,
  "count-shape": countShape,
  "count-sides": countSides,
  "drag-box": dragBox,
  "drag-circle": dragShape,
  "drag-cube": dragCube,
  "drag-items": dragItem,
  "drag-items-grid": dragGridItem,
  "drag-shapes": dragShapes,
  "drag-shapes-2": sortShapes,
  "drag-single-shape": dragShape,
  "drag-sort-numbers": sortNumbers,
  "draw-circle": drawCircle,
  "draw-line": drawLine,
  "find-midpoint": midpoint,
  "grid-coordinate": gridPoint,
  "highlight-text": highlight,
  "highlight-text-2": highlight,
  "hot-cold": hotCold,
  "identify-shape": identifyShape,
  "moving-items": movingItems,
  "number-checkboxes": numberBoxes,
  "resize-textarea": resize,
  "right-angle": rightAngle,
  "scroll-text-2": scrollText,
  "tic-tac-toe": ticTacToe,
};
