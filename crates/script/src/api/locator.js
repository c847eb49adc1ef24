// Locators and what is inside frames.

const CLICK = ['button', 'clickCount', 'delay', 'force', 'modifiers', 'position', 'timeout'];

class Locator {
  /** `frame` is the frame that the expression starts in, if not the main one; `api` is what errors begin with. */
  constructor(page, expression, frame, api = 'locator') {
    this[PAGE] = page;
    this[EXPRESSION] = expression;
    this[FRAME] = frame;
    this[API] = api;
  }
  [FIND](step) {
    return new Locator(this[PAGE], `${this[EXPRESSION]}.${step}`, this[FRAME]);
  }
  [DO](name, op, parameters) {
    const on = { page: this[PAGE][ID], frame: this[FRAME], locator: this[EXPRESSION] };
    return call(`${this[API]}.${name}`, op, { ...on, timeout: this[PAGE][LIMIT].action, ...parameters });
  }
  [TAKE](name, given, ...known) {
    return options(`${this[API]}.${name}`, given, ...known);
  }

  filter(given) {
    const conditions = suffix('locator.filter', given, FILTERS).slice(2);
    return conditions ? this[FIND](`filter(${conditions})`) : this;
  }
  first() {
    return this[FIND]('first()');
  }
  last() {
    return this[FIND]('last()');
  }
  nth(index) {
    return this[FIND](`nth(${Number(index)})`);
  }
  and(other) {
    return this[FIND](`and(${other[EXPRESSION]})`);
  }
  or(other) {
    return this[FIND](`or(${other[EXPRESSION]})`);
  }
  contentFrame() {
    return new FrameLocator(this);
  }
  page() {
    return this[PAGE];
  }
  describe() {
    return this;
  }

  async click(given) {
    await this[DO]('click', 'click', this[TAKE]('click', given, ...CLICK));
  }
  async dblclick(given) {
    await this[DO]('dblclick', 'click', { ...this[TAKE]('dblclick', given, ...CLICK), clickCount: 2 });
  }
  async hover(given) {
    await this[DO]('hover', 'hover', this[TAKE]('hover', given, 'force', 'modifiers', 'position', 'timeout'));
  }
  async fill(value, given) {
    if (typeof value !== 'string') throw new Error(`${this[API]}.fill: value: expected string, got ${typeof value}`);
    await this[DO]('fill', 'fill', { value, ...this[TAKE]('fill', given, 'timeout', 'force') });
  }
  async clear(given) {
    await this[DO]('clear', 'fill', { value: '', ...this[TAKE]('clear', given, 'timeout', 'force') });
  }
  async pressSequentially(text, given) {
    await this[DO]('pressSequentially', 'type', { text: String(text), ...this[TAKE]('pressSequentially', given, 'delay', 'timeout') });
  }
  async type(text, given) {
    await this[DO]('type', 'type', { text: String(text), ...this[TAKE]('type', given, 'delay', 'timeout') });
  }
  async press(key, given) {
    await this[DO]('press', 'press', { key: String(key), ...this[TAKE]('press', given, 'delay', 'timeout') });
  }
  async focus(given) {
    await this[DO]('focus', 'focus', this[TAKE]('focus', given, 'timeout'));
  }
  async blur(given) {
    await this[RUN]('blur', (element) => element.blur(), [], given);
  }
  async check(given) {
    await this[DO]('check', 'setChecked', { checked: true, ...this[TAKE]('check', given, 'timeout', 'force') });
  }
  async uncheck(given) {
    await this[DO]('uncheck', 'setChecked', { checked: false, ...this[TAKE]('uncheck', given, 'timeout', 'force') });
  }
  async setChecked(checked, given) {
    await this[DO]('setChecked', 'setChecked', { checked: Boolean(checked), ...this[TAKE]('setChecked', given, 'timeout', 'force') });
  }
  async selectOption(values, given) {
    const named = [values ?? []].flat().map((value) => {
      if (typeof value === 'string') return value;
      const { value: byValue, label, index } = value ?? {};
      if ((byValue ?? label ?? index) === undefined) {
        throw new Error(`${this[API]}.selectOption: an option is named by a string, { value }, { label } or { index }`);
      }
      return byValue ?? label ?? index;
    });
    if (named.some((name) => typeof name === 'number')) {
      const count = await this[RUN]('selectOption', (select) => select.options?.length ?? 0, [], given);
      for (const [at, name] of named.entries()) {
        if (typeof name !== 'number') continue;
        if (!(name in Array(count).fill())) throw new Error(`${this[API]}.selectOption: there is no option of index ${name}`);
        named[at] = await this[RUN]('selectOption', (select, index) => select.options[index].value, [name], given);
      }
    }
    return this[DO]('selectOption', 'selectOptions', { values: named, ...this[TAKE]('selectOption', given, 'timeout', 'force') });
  }
  async setInputFiles(files, given) {
    const api = `${this[API]}.setInputFiles`;
    const paths = [files].flat();
    if (paths.every((file) => typeof file === 'object' && file?.name !== undefined)) {
      const made = paths.map(({ name, mimeType, buffer }) => ({ name: String(name), type: mimeType ?? '', data: base64(typeof buffer === 'string' ? new TextEncoder().encode(buffer) : buffer) }));
      return this[RUN]('setInputFiles', fillFiles, [made], given);
    }
    if (!paths.every((file) => typeof file === 'string')) throw new Error(`${api}: files are all paths, or all { name, mimeType, buffer }`);
    await this[DO]('setInputFiles', 'setInputFiles', { paths, ...this[TAKE]('setInputFiles', given, 'timeout') });
  }
  async dragTo(target, given) {
    await this[DO]('dragTo', 'dragTo', { target: target[EXPRESSION], ...this[TAKE]('dragTo', given, 'timeout') });
  }
  async selectText(given) {
    await this[RUN]('selectText', (element) => {
      if (element.select) return element.select();
      const range = document.createRange();
      range.selectNodeContents(element);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
    }, [], given);
  }
  async scrollIntoViewIfNeeded(given) {
    await this[DO]('scrollIntoViewIfNeeded', 'scrollIntoView', this[TAKE]('scrollIntoViewIfNeeded', given, 'timeout'));
  }
  async dispatchEvent(type, init, given) {
    await this[RUN]('dispatchEvent', (element, [type, init]) => {
      const kinds = [[/^(click|dblclick|mouse|contextmenu|auxclick)/, 'MouseEvent'], [/^pointer/, 'PointerEvent'], [/^key/, 'KeyboardEvent'], [/^(focus|blur)/, 'FocusEvent'], [/^(drag|drop)/, 'DragEvent'], [/^touch/, 'TouchEvent'], [/^wheel/, 'WheelEvent'], [/^(input|beforeinput)$/, 'InputEvent']];
      const kind = kinds.find(([pattern]) => pattern.test(type))?.[1] ?? 'Event';
      element.dispatchEvent(new globalThis[kind](type, { bubbles: true, cancelable: true, composed: true, ...init }));
    }, [[type, init ?? {}]], given);
  }
  async waitFor(given) {
    await this[REACH]('waitFor', given);
  }
  [REACH](name, given) {
    return this[DO](name, 'waitFor', this[TAKE](name, given, 'state', 'timeout'));
  }
  async screenshot(given) {
    return picture(this[DO]('screenshot', 'screenshot', this[TAKE]('screenshot', given, ...PICTURE)));
  }

  async textContent(given) {
    return this[DO]('textContent', 'text', this[TAKE]('textContent', given, 'timeout'));
  }
  async innerText(given) {
    return this[DO]('innerText', 'innerText', this[TAKE]('innerText', given, 'timeout'));
  }
  async innerHTML(given) {
    return this[RUN]('innerHTML', (element) => element.innerHTML, [], given);
  }
  async inputValue(given) {
    return this[DO]('inputValue', 'value', this[TAKE]('inputValue', given, 'timeout'));
  }
  async getAttribute(name, given) {
    return this[DO]('getAttribute', 'attribute', { name: String(name), ...this[TAKE]('getAttribute', given, 'timeout') });
  }
  async isVisible() {
    return this[DO]('isVisible', 'isVisible');
  }
  async isHidden() {
    return !(await this[DO]('isHidden', 'isVisible'));
  }
  async isEnabled(given) {
    return (await this[DO]('isEnabled', 'states', this[TAKE]('isEnabled', given, 'timeout'))).enabled;
  }
  async isDisabled(given) {
    return !(await this[DO]('isDisabled', 'states', this[TAKE]('isDisabled', given, 'timeout'))).enabled;
  }
  async isChecked(given) {
    const { checked } = await this[DO]('isChecked', 'states', this[TAKE]('isChecked', given, 'timeout'));
    if (checked === null) throw new Error(`${this[API]}.isChecked: Not a checkbox or radio button`);
    return checked;
  }
  async isEditable(given) {
    const { editable } = await this[DO]('isEditable', 'states', this[TAKE]('isEditable', given, 'timeout'));
    return Boolean(editable);
  }
  async count() {
    return this[DO]('count', 'count');
  }
  async $(selector) {
    const inside = this.locator(selector);
    return (await inside.count()) ? inside.first() : null;
  }
  async $$(selector) {
    return this.locator(selector).all();
  }
  async $eval(selector, code, ...args) {
    return this.locator(selector).first()[RUN]('$eval', code, args);
  }
  async $$eval(selector, code, ...args) {
    return this.locator(selector)[ALL]('$$eval', code, args);
  }
  async elementHandle() {
    return this;
  }
  async elementHandles() {
    return this.all();
  }
  async all() {
    const count = await this[DO]('all', 'count');
    return Array.from({ length: count }, (_, index) => this.nth(index));
  }
  async allTextContents() {
    return this[ALL]('allTextContents', (elements) => elements.map((element) => element.textContent ?? ''), []);
  }
  async allInnerTexts() {
    return this[ALL]('allInnerTexts', (elements) => elements.map((element) => element.innerText ?? ''), []);
  }
  async boundingBox(given) {
    return this[DO]('boundingBox', 'bounds', this[TAKE]('boundingBox', given, 'timeout'));
  }
  async evaluate(code, ...args) {
    return this[RUN]('evaluate', code, args);
  }
  async evaluateAll(code, ...args) {
    return this[ALL]('evaluateAll', code, args);
  }
  [RUN](name, code, args, given) {
    const text = script(`${this[API]}.${name}`, code, args, 'element');
    return this[DO](name, 'evaluate', { script: text, ...this[TAKE](name, given, 'timeout') }).then(value);
  }
  [ALL](name, code, args) {
    return this[DO](name, 'evaluateAll', { script: script(`${this[API]}.${name}`, code, args, 'elements') }).then(value);
  }

  toString() {
    return this[EXPRESSION];
  }
  toJSON() {
    return { _apiName: 'Locator', _selector: this[EXPRESSION] };
  }
}
mix(Locator, FINDERS);
offer(Locator, 'locator');

/** Gives an input files that were made here; runs in the page. */
const fillFiles = (input, files) => {
  if (input instanceof HTMLLabelElement) input = input.control;
  if (!(input instanceof HTMLInputElement) || input.type !== 'file') throw new Error('Node is not an HTMLInputElement of type file');
  if (files.length > 1 && !input.multiple) throw new Error('Non-multiple file input can only accept single file');
  const transfer = new DataTransfer();
  for (const { name, type, data } of files) transfer.items.add(new File([Uint8Array.from(atob(data), (char) => char.charCodeAt(0))], name, { type }));
  input.files = transfer.files;
  input.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  input.dispatchEvent(new Event('change', { bubbles: true }));
};

/** What a page answered: `undefined` has no word in JSON. */
const value = (answer) => (answer === null ? undefined : answer.value);

class FrameLocator {
  constructor(owner) {
    this[PAGE] = owner[PAGE];
    this[EXPRESSION] = owner[EXPRESSION];
    this[FRAME] = owner[FRAME];
  }
  [FIND](step) {
    return new Locator(this[PAGE], `${this[EXPRESSION]}.contentFrame().${step}`, this[FRAME]);
  }
  owner() {
    return new Locator(this[PAGE], this[EXPRESSION], this[FRAME]);
  }
  first() {
    return this.owner().first().contentFrame();
  }
  last() {
    return this.owner().last().contentFrame();
  }
  nth(index) {
    return this.owner().nth(index).contentFrame();
  }
}
mix(FrameLocator, FINDERS);
offer(FrameLocator, 'frameLocator');

const PICTURE = ['clip', 'fullPage', 'omitBackground', 'path', 'quality', 'scale', 'timeout', 'type'];
const picture = async (taken) => Buffer.from(await taken, 'base64');
