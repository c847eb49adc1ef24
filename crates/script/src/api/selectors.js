// Locators are locator expressions, text that the server reads: each method adds to it. Strings and patterns that URLs must match.

const quote = (text) => `'${json(String(text)).slice(1, -1).replace(/\\"/g, '"').replace(/'/g, "\\'")}'`;

const literal = (value) => {
  if (value instanceof RegExp) return String(value);
  if (value instanceof Locator) return value[EXPRESSION];
  return typeof value === 'string' ? quote(value) : String(value);
};

const EXPRESSION = Symbol('expression');
const PAGE = Symbol('page');
const FRAME = Symbol('frame');
const API = Symbol('api');
const ID = Symbol('id');
const LIMIT = Symbol('limit');
const DO = Symbol('do');
const TAKE = Symbol('take');
const RUN = Symbol('run');
const ALL = Symbol('all');
const REACH = Symbol('reach');
const SHORT = Symbol('short');
const ROUTES = Symbol('routes');
const ROUTED = Symbol('routed');
const ROUTING = Symbol('routing');

/** `{ name: 'Go', exact: true }`, or nothing. */
const suffix = (api, given, known) => {
  const entries = Object.entries(options(api, given, ...known));
  return entries.length ? `, { ${entries.map(([key, value]) => `${key}: ${literal(value)}`).join(', ')} }` : '';
};

const FILTERS = ['has', 'hasNot', 'hasText', 'hasNotText', 'visible'];
const ROLE = ['checked', 'description', 'disabled', 'exact', 'expanded', 'includeHidden', 'level', 'name', 'pressed', 'selected'];

/** The methods that find elements, for everything that elements can be found in. `inside` gives expression and page. */
const FINDERS = {
  locator(selector, given) {
    return this[FIND](`locator(${selector instanceof Locator ? selector[EXPRESSION] : quote(selector)}${suffix('locator', given, FILTERS)})`);
  },
  getByRole(role, given) {
    return this[FIND](`getByRole(${quote(role)}${suffix('getByRole', given, ROLE)})`);
  },
  getByText(text, given) {
    return this[FIND](`getByText(${literal(text)}${suffix('getByText', given, ['exact'])})`);
  },
  getByLabel(text, given) {
    return this[FIND](`getByLabel(${literal(text)}${suffix('getByLabel', given, ['exact'])})`);
  },
  getByPlaceholder(text, given) {
    return this[FIND](`getByPlaceholder(${literal(text)}${suffix('getByPlaceholder', given, ['exact'])})`);
  },
  getByAltText(text, given) {
    return this[FIND](`getByAltText(${literal(text)}${suffix('getByAltText', given, ['exact'])})`);
  },
  getByTitle(text, given) {
    return this[FIND](`getByTitle(${literal(text)}${suffix('getByTitle', given, ['exact'])})`);
  },
  getByTestId(id) {
    return this[FIND](`getByTestId(${literal(id)})`);
  },
  frameLocator(selector) {
    return this.locator(selector).contentFrame();
  },
};
const FIND = Symbol('find');
const mix = (type, methods) => Object.defineProperties(type.prototype, Object.getOwnPropertyDescriptors(methods));

/** `*` stays within a path segment, `**` does not, `?` is itself, `{a,b}` is either. */
const glob = (pattern) => {
  let text = '';
  let group = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at];
    if (char === '\\') text += `\\${pattern[(at += 1)] ?? '\\'}`;
    else if (pattern.startsWith('**/', at) && (at === 0 || pattern[at - 1] === '/')) {
      text += '(?:.*/)?';
      at += 2;
    } else if (pattern.startsWith('**', at)) {
      text += '.*';
      at += 1;
    } else if (char === '*') text += '[^/]*';
    else if (char === '{') {
      text += '(?:';
      group += 1;
    } else if (char === '}' && group) {
      text += ')';
      group -= 1;
    } else if (char === ',' && group) text += '|';
    else text += char.replace(/[$^+.()=!|?[\]{}]/, '\\$&');
  }
  return new RegExp(`^${text}$`);
};

/** Whether a URL is the one that a string, pattern or function means. */
const matcher = (wanted) => {
  if (typeof wanted === 'function') return (url) => wanted(new URL(url));
  if (wanted instanceof RegExp) return (url) => new RegExp(wanted.source, wanted.flags.replace(/[gy]/g, '')).test(url);
  if (wanted === undefined || wanted === '') return () => true;
  const text = String(wanted);
  const pattern = glob(text);
  const normal = URL.canParse(text) ? new URL(text).href : text;
  return (url) => url === text || url === normal || pattern.test(url);
};
