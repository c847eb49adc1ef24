// The accessibility tree of an answer, parsed from its YAML.

export class Node {
  readonly children: Node[] = [];
  text = "";

  constructor(
    readonly role: string,
    readonly name: string,
    readonly attributes: Map<string, string>,
    readonly parent: Node | undefined,
  ) {}

  get ref(): string {
    const ref = this.attributes.get("ref");
    if (!ref) throw new Error(`the snapshot has no ref for ${this.role} "${this.name}"`);
    return ref;
  }

  get isClickable(): boolean {
    return this.attributes.get("cursor") === "pointer";
  }

  /** The name, or the text of the node and its descendants. */
  get label(): string {
    return (this.name || [this.text, ...this.children.map((child) => child.label)].join(" ")).replace(/\s+/g, " ").trim();
  }

  /** This node and its descendants, in the order of the document. */
  *[Symbol.iterator](): Generator<Node> {
    yield this;
    for (const child of this.children) yield* child;
  }

  /** The descendants with one of these roles, and with this label if it is given. */
  all(roles: string, label?: string): Node[] {
    const wanted = roles.split("|");
    return [...this].filter((node) => wanted.includes(node.role) && (label === undefined || node.label === label));
  }

  first(roles: string, label?: string): Node {
    const [node] = this.all(roles, label);
    if (!node) throw new Error(`the snapshot has no ${roles}${label === undefined ? "" : ` "${label}"`}`);
    return node;
  }
}

/** Reads a YAML scalar, which is plain or in double quotes. */
function scalar(text: string): string {
  return (text.startsWith('"') ? JSON.parse(text) : text).replace("[hidden-text] ", "");
}

/** Splits `'key': value` and `key: value`; quotes are doubled inside single quotes. */
function entry(body: string): { key: string; value: string } {
  const quoted = /^'((?:[^']|'')*)'(?::\s*(.*))?$/.exec(body);
  if (quoted) return { key: (quoted[1] ?? "").replaceAll("''", "'"), value: quoted[2] ?? "" };
  const plain = /^(\/?[\w-]+(?: "(?:[^"\\]|\\.)*")?(?: \[[^\]]*\])*)(?::\s*(.*))?$/.exec(body);
  if (!plain) throw new Error(`cannot read this line of a snapshot: ${body}`);
  return { key: plain[1] ?? "", value: plain[2] ?? "" };
}

export function parse(yaml: string): Node {
  const root = new Node("root", "", new Map(), undefined);
  const stack: { indent: number; node: Node }[] = [{ indent: -1, node: root }];
  for (const line of yaml.split("\n")) {
    const match = /^(\s*)- (.*)$/.exec(line);
    if (!match) continue;
    const indent = match[1]?.length ?? 0;
    while ((stack.at(-1)?.indent ?? -1) >= indent) stack.pop();
    const parent = stack.at(-1)?.node ?? root;
    const { key, value } = entry(match[2] ?? "");
    const parts = /^(\/?[\w-]+)(?: ("(?:[^"\\]|\\.)*"))?/.exec(key);
    const attributes = new Map<string, string>();
    for (const [, name = "", text] of key.slice(parts?.[0].length ?? 0).matchAll(/\[([\w-]+)(?:=([^\]]*))?\]/g))
      attributes.set(name, text ?? "");
    const node = new Node(parts?.[1] ?? "", parts?.[2] ? scalar(parts[2]) : "", attributes, parent);
    if (value) node.text = scalar(value);
    parent.children.push(node);
    stack.push({ indent, node });
  }
  return root;
}
