// The functions of the injected script (`injected/src/core.entry.ts`) for the model of `document.js`, as far as tests of the server need them.
// The value of this script is a function of the model, which returns the function that calls them by name.
(model) => {
  const { Element, Event, Text, document, edited, everyElement, insert, isTextField, isVisible, matches, setTimeout, squash } = model;
  const VOID = /^(area|base|br|col|embed|hr|img|input|link|meta|source|wbr)$/;
  const INLINE = /^(a|b|br|button|code|em|i|img|input|kbd|label|output|select|small|span|strong|textarea|u)$/;
  const FIELD = /^(input|textarea|select)$/;

  // Selectors.

  const tester = (match) => {
    if ("regex" in match) return (text) => new RegExp(match.regex, match.flags ?? "").test(text);
    const wanted = squash(match.text);
    return match.exact ? (text) => squash(text) === wanted : (text) => squash(text).toLowerCase().includes(wanted.toLowerCase());
  };

  function follow(steps, start) {
    let current = [start];
    for (const step of steps) {
      const test = stepTest(step);
      if (step.engine === "nth") current = [current.at(step.index)].filter(Boolean);
      else if (/^(visible|hasText)$/.test(step.engine)) current = current.filter(test);
      else current = [...new Set(current.flatMap((scope) => everyElement(scope).filter(test)))];
    }
    return current;
  }

  function stepTest(step) {
    const test = step.text && tester(step.text);
    switch (step.engine) {
      case "css":
        return (e) => matches(e, step.css);
      case "text":
        return (e) => isVisible(e) && test(e.textContent) && !e.children.some((child) => test(child.textContent));
      case "role": {
        const name = step.name && tester(step.name);
        return (e) => roleOf(e) === step.role && isVisible(e) && (!name || name(nameOf(e)));
      }
      case "label":
        return (e) => FIELD.test(e.localName) && test(labelOf(e));
      case "attribute":
        return (e) => e.hasAttribute(step.name) && test(e.getAttribute(step.name));
      case "testId":
        return (e) => e.hasAttribute(step.attribute) && test(e.getAttribute(step.attribute));
      case "hasText":
        return (e) => test(e.textContent) !== !!step.not;
      case "visible":
        return (e) => isVisible(e) === step.visible;
      case "nth":
        return undefined;
      default:
        throw new Error(`The fake browser has no selectors of the kind ${step.engine}`);
    }
  }

  /** Returns whether an element takes up room: options are in a closed list, and an empty block has no height. */
  function hasBox(e) {
    if (!isVisible(e) || e.localName === "option") return false;
    return /^(body|button|img|input|select|textarea)$/.test(e.localName) || !!squash(e.textContent) || e.children.some(hasBox);
  }

  // Roles and names.

  const ROLES = {
    button: "button",
    dialog: "dialog",
    img: "img",
    li: "listitem",
    main: "main",
    nav: "navigation",
    ol: "list",
    option: "option",
    output: "status",
    p: "paragraph",
    select: "combobox",
    textarea: "textbox",
    ul: "list",
  };
  const INPUT_ROLES = {
    button: "button",
    checkbox: "checkbox",
    file: "button",
    number: "spinbutton",
    radio: "radio",
    range: "slider",
    search: "searchbox",
    submit: "button",
  };

  function roleOf(e) {
    const explicit = e.getAttribute("role");
    if (explicit) return explicit;
    if (e.localName === "input") return INPUT_ROLES[e.type] ?? "textbox";
    if (e.localName === "a") return e.hasAttribute("href") ? "link" : undefined;
    return /^h[1-6]$/.test(e.localName) ? "heading" : ROLES[e.localName];
  }

  function labelOf(e) {
    const isFor = (label) => label.control === e;
    return squash(
      e.getAttribute("aria-label") ??
        document
          .querySelectorAll("label")
          .filter(isFor)
          .map((label) => label.textContent)
          .join(" "),
    );
  }

  function nameOf(e) {
    const own = labelOf(e);
    if (own) return own;
    if (e.type === "file") return "Choose File";
    if (e.localName === "input" && roleOf(e) === "button") return e.value || (e.type === "submit" ? "Submit" : "");
    if (e.localName === "img") return e.getAttribute("alt") ?? "";
    const content = /^(button|heading|link|option|tab|menuitem)$/.test(roleOf(e)) ? squash(e.textContent) : "";
    return content || squash(e.getAttribute("title") ?? e.getAttribute("placeholder") ?? "");
  }

  // Refs and handles.

  const elements = new Map();
  const refs = new Map();
  let last = 0;
  const keep = (e) => {
    e.handle ??= elements.size + 1;
    elements.set(e.handle, e);
    return e.handle;
  };
  const held = (handle) => (elements.get(handle)?.isConnected ? elements.get(handle) : undefined);

  function refTo(e) {
    const identity = `${roleOf(e) ?? "generic"} ${nameOf(e)}`;
    if (e.identity !== identity) {
      e.identity = identity;
      e.ref = ++last;
      refs.set(e.ref, e);
    }
    return e.ref;
  }

  const summary = (e) => ({ role: roleOf(e) ?? "generic", name: nameOf(e), within: "", ref: refTo(e) });

  function preview(e) {
    const attributes = [...e.attributes]
      .filter(([name]) => name !== "style")
      .map(([name, value]) => (value ? ` ${name}="${value}"` : ` ${name}`))
      .sort((a, b) => a.length - b.length)
      .join("");
    const open = e.localName + (attributes.length > 500 ? `${attributes.slice(0, 499)}…` : attributes);
    if (VOID.test(e.localName)) return `<${open}/>`;
    const content = e.children.length ? "…" : e.textContent.length > 50 ? `${e.textContent.slice(0, 49)}…` : e.textContent;
    return `<${open}>${content.replaceAll("\n", "↵")}</${e.localName}>`;
  }

  // The snapshot (`injected/src/snapshot.ts`).

  function tree(root, boxes) {
    const top = [];
    visit(root, top, boxes);
    const entries = [];
    list(top, entries);
    return entries;
  }

  function visit(node, into, boxes) {
    if (node instanceof Text) {
      into.push(node.data);
      return;
    }
    if (!isVisible(node)) {
      into.push(" ");
      return;
    }
    const role = roleOf(node) ?? "generic";
    const isInline = INLINE.test(node.localName);
    const isText = isInline && node.childNodes.length === 1 && node.childNodes[0] instanceof Text;
    const isOmitted = role === "none" || role === "presentation" || (role === "generic" && isText);
    const ref = isOmitted || !hasBox(node) ? 0 : refTo(node);
    const content = [];
    for (const child of node.childNodes) if (node.localName !== "textarea") visit(child, content, boxes);
    if (isOmitted) {
      into.push(...(isInline ? content : [" ", ...content, " "]));
      return;
    }
    const name = nameOf(node);
    const of = {};
    if (node === document.activeElement) of.active = true;
    if (/^(checkbox|radio)$/.test(node.type) && node.checked) of.checked = true;
    if (node.disabled) of.disabled = true;
    if (role === "heading") of.level = Number(node.localName[1] ?? node.getAttribute("aria-level"));
    if (node.localName === "option" && node.selected) of.selected = true;
    if (role === "link") Object.assign(of, { pointer: true, url: node.getAttribute("href") });
    const placeholder = node.getAttribute("placeholder");
    if (role === "textbox" && placeholder && placeholder !== name) of.placeholder = placeholder;
    if (boxes) {
      const { x, y, width, height } = node.getBoundingClientRect();
      of.box = [x, y, width, height];
    }
    if (/^(input|textarea)$/.test(node.localName) && !/^(checkbox|radio|file|button|submit)$/.test(node.type)) {
      content.push(node.type === "password" ? "•".repeat(node.value.length) : node.value);
    }
    into.push({ entry: [role, name, ref, 0, ...(Object.keys(of).length ? [of] : [])], content });
  }

  function list(children, entries) {
    let count = 0;
    let text = "";
    const add = () => {
      const normalized = text.replace(/\s+/g, " ");
      text = "";
      if (!normalized) return;
      entries.push(normalized);
      count++;
    };
    for (const child of children) {
      if (typeof child === "string") {
        text += child;
        continue;
      }
      add();
      count++;
      const { entry } = child;
      const before = entries.push(entry);
      entry[3] = list(child.content, entries);
      if (entries.length === before + 1 && entries[before] === entry[1]) {
        entries.pop();
        entry[3] = -1;
      }
    }
    add();
    return count;
  }

  // The functions that the engine calls by name.

  function lacking(e, wanted) {
    return wanted.find((state) => {
      if (state === "visible") return !hasBox(e);
      if (state === "enabled") return e.disabled;
      return state === "editable" && e.hasAttribute("readonly");
    });
  }

  const fieldOf = (e) => (FIELD.test(e.localName) ? e : (e.closest("label")?.control ?? e));

  /** Returns a function of the element of a handle. */
  const about = (answer) => (argument) => {
    const e = held(argument.handle);
    return e ? answer(e, argument) : { gone: true };
  };

  function locatorOf(e, testId) {
    const role = roleOf(e);
    const name = nameOf(e);
    const attribute = (name) => ({ engine: "attribute", name, text: { text: e.getAttribute(name) } });
    const candidates = [
      e.hasAttribute(testId) && { engine: "testId", attribute: testId, text: { text: e.getAttribute(testId) } },
      role && name && { engine: "role", role, name: { text: name } },
      e.hasAttribute("placeholder") && attribute("placeholder"),
      !role && squash(e.textContent) && { engine: "text", text: { text: squash(e.textContent) } },
      e.id && { engine: "css", css: `#${e.id}`, native: true, list: [[{ css: `#${e.id}` }]] },
      role && { engine: "role", role },
      { engine: "css", css: e.localName, native: true, list: [[{ css: e.localName }]] },
    ].filter(Boolean);
    const unique = candidates.find((step) => follow([step], document).length === 1);
    if (unique) return [unique];
    return [candidates[0], { engine: "nth", index: follow([candidates[0]], document).indexOf(e) }];
  }

  function query({ steps, limit = 100 }) {
    try {
      const found = follow(steps, document);
      return { count: found.length, elements: found.slice(0, limit).map((e) => ({ handle: keep(e), preview: preview(e) })) };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return { error: { engine: "css", text: steps.find((step) => step.css)?.css, message: error.message } };
    }
  }

  function byRef({ ref }) {
    const e = refs.get(Number(ref.slice(1)));
    if (!e) return { stale: {} };
    const [role, ...name] = e.identity.split(" ");
    if (e.isConnected && refTo(e) === Number(ref.slice(1))) return { handle: keep(e), preview: preview(e) };
    return { stale: { was: { role, name: name.join(" "), within: "" }, now: e.isConnected ? summary(e) : undefined } };
  }

  const core = {
    byRef,
    query,
    similar: ({ role, name }) => {
      const found = everyElement(document.body).filter((e) => roleOf(e) === role && nameOf(e) === name);
      return found.length === 1 ? summary(found[0]) : null;
    },
    title: () => document.title,
    snapshot: ({ root, boxes }) => (root === undefined ? tree(document.body, boxes) : held(root) ? tree(held(root), boxes) : null),
    titled: ({ boxes }) => ({ title: document.title, tree: tree(document.body, boxes), transients: [], busy: false, pending: false }),
    shown: ({ texts }) => texts.map((text) => document.body.textContent.toLowerCase().includes(text.toLowerCase())),
    overview: () => ({ title: document.title, transients: [], pending: false }),
    states: about((e) => {
      const field = fieldOf(e);
      const isCheckable = /^(checkbox|radio)$/.test(field.type);
      return {
        visible: hasBox(e),
        enabled: !field.disabled,
        editable: isTextField(field) ? !field.hasAttribute("readonly") : null,
        checked: isCheckable ? field.checked : null,
        radio: field.type === "radio",
        focused: model.focused() === field,
      };
    }),
    aim: about((e, { wanted }) => {
      const lacks = lacking(e, wanted);
      const { x, y, width, height } = e.getBoundingClientRect();
      return lacks ? { lacks } : { point: { x: x + width / 2, y: y + height / 2 } };
    }),
    bounds: about((e) => ({ box: hasBox(e) ? e.getBoundingClientRect() : null })),
    missed: () => null,
    stopInterceptor: () => null,
    fill: about((e, { value, turn }) => {
      if (turn?.index) return { done: "skipped" };
      const field = fieldOf(e);
      if (!isTextField(field)) {
        return { mismatch: "kind", tag: field.localName, type: field.localName === "input" ? field.type : undefined };
      }
      const lacks = lacking(field, ["visible", "enabled", "editable"]);
      if (lacks) return { lacks };
      field.focus();
      field.isSelected = true;
      if (!value) return { done: "selected" };
      insert(value);
      return { done: "set" };
    }),
    selectOptions: about((e, { values }) => {
      const list = fieldOf(e);
      if (list.localName !== "select") return { mismatch: "kind", tag: list.localName };
      const options = list.querySelectorAll("option");
      const wanted = options.filter((option) => values.includes(option.getAttribute("value") ?? squash(option.textContent)));
      if (!wanted.length) return { lacks: "options" };
      for (const option of options) option.isSelected = wanted.includes(option);
      edited(list);
      return { selected: wanted.map((option) => option.getAttribute("value") ?? squash(option.textContent)) };
    }),
    focus: about((e) => {
      e.focus();
      return true;
    }),
    content: about((e, { expected }) => {
      const field = fieldOf(e);
      const value = FIELD.test(field.localName) ? field.value : null;
      return { text: e.textContent, innerText: e.innerText, value, isExpected: value === expected };
    }),
    attribute: about((e, { name }) => ({ value: e.getAttribute(name) })),
    fileInput: about((e, { handle }) =>
      e.type === "file"
        ? { input: handle, multiple: e.hasAttribute("multiple"), directory: false }
        : { mismatch: "kind", tag: e.localName },
    ),
    dispatchDrop: about((e) => {
      const send = (type) => e.dispatchEvent(new Event(type, { bubbles: true }));
      send("dragenter");
      if (send("dragover")) return { accepted: false };
      send("drop");
      return { accepted: true };
    }),
    watch: () => [],
    settled: () => ({ quiet: true, opens: false }),
    waits: () => false,
    isBlank: () => false,
    nextChange: ({ limit }) =>
      new Promise((done) => {
        model.onChange(() => done(null));
        setTimeout(() => done(null), limit);
      }),
    generate: ({ handles, testIdAttribute }) => handles.map((handle) => (held(handle) ? locatorOf(held(handle), testIdAttribute) : null)),
    locator: ({ handle, testIdAttribute }) => (held(handle) ? locatorOf(held(handle), testIdAttribute) : null),
    describe: ({ handles }) =>
      handles
        .map(held)
        .filter(Boolean)
        .map((e) => ({
          tag: e.localName,
          attributes: Object.fromEntries(e.attributes),
          text: e.innerText,
          role: roleOf(e) ?? "generic",
          name: nameOf(e),
          box: e.getBoundingClientRect(),
          ref: refTo(e),
        })),
    read: ({ handle, form }) => {
      const e = handle === undefined ? document.documentElement : held(handle);
      if (!e) return { gone: true };
      return {
        content:
          form === "html"
            ? e.outerHTML
            : tree(handle === undefined ? document.body : e)
                .filter((one) => typeof one === "string")
                .join("\n"),
        cut: false,
      };
    },
    texts: ({ handles }) =>
      handles
        .map(held)
        .filter(Boolean)
        .map((e) => e.textContent),
    metadata: () => ({
      title: document.title,
      url: model.location().href,
      description: null,
      canonical: null,
      language: null,
      charset: "UTF-8",
      viewport: null,
      openGraph: {},
      jsonLd: [],
      meta: {},
    }),
    passwords: () => null,
    typing: () => false,
    origin: () => ({ isOpaque: model.location().origin === "null" }),
    about({ find, which, ask, argument }) {
      const found = core[find](which);
      const handle = found.count === 1 ? found.elements[0].handle : found.handle;
      return handle === undefined ? { found } : { found, answer: call(ask, { ...argument, handle }) };
    },
    abouts: (calls) => calls.map(core.about),
  };

  function call(name, argument) {
    if (!core[name]) throw new Error(`The fake browser does not have the function ${name} of the injected script`);
    return core[name](argument);
  }

  return { call, held };
};
