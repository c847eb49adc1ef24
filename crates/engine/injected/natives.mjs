// Rewrites the bundle for Firefox. In a sandbox, objects of the page are wrapped, and the lookup of a property takes much longer than the
// property itself: twenty times as long for `e.localName`, a hundred times for `e instanceof Element`. The rewritten code therefore calls
// the native getters and methods of the members in `src/own.json`, distinguishes kinds of nodes by their names, and looks up globals once.
import ts from "typescript";

const HTML = "http://www.w3.org/1999/xhtml";
const SVG = "http://www.w3.org/2000/svg";
const MATHML = "http://www.w3.org/1998/Math/MathML";

/** The namespace of each kind of element, and its local name if the kind has only one. */
const ELEMENTS = {
  HTMLElement: [HTML],
  SVGElement: [SVG],
  MathMLElement: [MATHML],
  HTMLDetailsElement: [HTML, "details"],
  HTMLInputElement: [HTML, "input"],
  HTMLOptionElement: [HTML, "option"],
  HTMLSelectElement: [HTML, "select"],
  HTMLSlotElement: [HTML, "slot"],
  HTMLTextAreaElement: [HTML, "textarea"],
};
const TYPES = { Element: "===1", Document: "===9", ShadowRoot: "===11&&!!host.call(e)" };
/** The interfaces whose prototypes have the members of a node, by node type. */
const NODES = {
  1: ["Element", "Node", "HTMLElement"],
  3: ["Text", "CharacterData", "Node"],
  9: ["Document", "Node"],
  11: ["DocumentFragment", "Node"],
};
/** The members that a single interface defines, so that the lookup does not depend on the node type. */
const SINGLE_INTERFACE = {
  Node: [
    "childNodes",
    "compareDocumentPosition",
    "contains",
    "firstChild",
    "getRootNode",
    "isConnected",
    "nextSibling",
    "nodeType",
    "nodeValue",
    "ownerDocument",
    "parentElement",
    "parentNode",
    "textContent",
  ],
  Element: [
    "attributes",
    "checkVisibility",
    "classList",
    "clientLeft",
    "clientTop",
    "closest",
    "firstElementChild",
    "getAttribute",
    "getAttributeNames",
    "getBoundingClientRect",
    "hasAttribute",
    "hasAttributes",
    "localName",
    "matches",
    "namespaceURI",
    "scrollIntoView",
    "shadowRoot",
  ],
};
/**
 * The members of `SINGLE_INTERFACE` that traversals read from each node, and that are never read from other objects. The code calls them
 * inline, without a fallback.
 */
const INLINED = new Set([
  "checkVisibility",
  "firstChild",
  "firstElementChild",
  "getAttribute",
  "getAttributeNames",
  "hasAttributes",
  "localName",
  "namespaceURI",
  "nextSibling",
  "nodeType",
  "nodeValue",
  "shadowRoot",
  "textContent",
]);
/** The members that are methods. All others are read as properties. */
const METHODS = new Set([
  "checkVisibility",
  "closest",
  "compareDocumentPosition",
  "contains",
  "dispatchEvent",
  "focus",
  "getAttribute",
  "getAttributeNames",
  "getBoundingClientRect",
  "getClientRects",
  "getRootNode",
  "hasAttribute",
  "hasAttributes",
  "matches",
  "querySelector",
  "querySelectorAll",
  "scrollIntoView",
]);
const CONSTANTS = { TEXT_NODE: 3, ELEMENT_NODE: 1, DOCUMENT_FRAGMENT_NODE: 11, DOCUMENT_POSITION_FOLLOWING: 4 };
const GLOBALS = ["document", "getComputedStyle", "Node", "NodeFilter", "CSS", "performance", "MutationObserver"];

/** Returns the code with calls of native getters and methods instead of property lookups. `names` are those of `src/own.json`. */
export function asNatives(code, names) {
  const used = new Set();
  const kinds = new Set();
  const own = new Set(names.map((name) => `$${name}`));
  const source = ts.createSourceFile("core.js", code, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS);
  const { factory } = ts;
  const question = factory.createToken(ts.SyntaxKind.QuestionDotToken);
  const inChain = (node) => (node.flags & ts.NodeFlags.OptionalChain) !== 0;

  const member = (node, visited, args) => {
    const name = node.name.text;
    const plain = name.slice(1);
    const called = ts.isCallExpression(node.parent) && node.parent.expression === node;
    if (METHODS.has(plain) !== called)
      throw new Error(`${name} is ${called ? "called, but METHODS does not contain it" : "not called, but METHODS contains it"}`);
    if (args.length > 1) throw new Error(`${name} has more than one argument`);
    used.add(name);
    if (INLINED.has(plain) && !inChain(node)) {
      const native = factory.createIdentifier(`${name}_native`);
      const lookUp = factory.createCallExpression(factory.createIdentifier("native"), undefined, [
        factory.createStringLiteral(plain),
        factory.createArrayLiteralExpression([factory.createIdentifier(interfaceOf(plain))]),
      ]);
      const known = factory.createParenthesizedExpression(
        factory.createBinaryExpression(native, ts.SyntaxKind.QuestionQuestionEqualsToken, lookUp),
      );
      return factory.createCallExpression(factory.createPropertyAccessExpression(known, "call"), undefined, [
        visited(node.expression),
        ...args.map(visited),
      ]);
    }
    // A short-circuited optional chain evaluates to `undefined`, so each link of it must accept `undefined`.
    const target = factory.createIdentifier(inChain(node) ? `${name}_maybe` : `${name}_of`);
    return factory.createCallExpression(target, undefined, [visited(node.expression), ...args.map(visited)]);
  };
  const isOwn = (node) => ts.isPropertyAccessExpression(node) && own.has(node.name.text);

  const rewritten = ts.transform(source, [
    (context) => (root) => {
      const visit = (node) => {
        const visitChild = (child) => ts.visitNode(child, visit);
        if (ts.isCallExpression(node) && isOwn(node.expression) && !node.questionDotToken)
          return member(node.expression, visitChild, node.arguments);
        if (isOwn(node) && !isAssigned(node)) return member(node, visitChild, []);
        if (
          ts.isPropertyAccessExpression(node) &&
          ts.isIdentifier(node.expression) &&
          node.expression.text === "Node" &&
          node.name.text in CONSTANTS
        ) {
          return factory.createNumericLiteral(CONSTANTS[node.name.text]);
        }
        if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword && ts.isIdentifier(node.right)) {
          const kind = node.right.text;
          if (kind in ELEMENTS || kind in TYPES) {
            kinds.add(kind);
            return factory.createCallExpression(factory.createIdentifier(`is_${kind}`), undefined, [visitChild(node.left)]);
          }
        }
        if (inChain(node) && !node.questionDotToken) {
          if (ts.isPropertyAccessExpression(node))
            return factory.createPropertyAccessChain(visitChild(node.expression), question, node.name);
          if (ts.isElementAccessExpression(node))
            return factory.createElementAccessChain(visitChild(node.expression), question, visitChild(node.argumentExpression));
          if (ts.isCallExpression(node))
            return factory.createCallChain(visitChild(node.expression), question, undefined, node.arguments.map(visitChild));
        }
        return ts.visitEachChild(node, visit, context);
      };
      return ts.visitNode(root, visit);
    },
  ]).transformed[0];

  const body = ts.createPrinter().printFile(rewritten);
  const globals = GLOBALS.filter((name) => new RegExp(`\\b${name}\\b`).test(code));
  return `(()=>{const{${globals.join()}}=globalThis;${prelude([...used], [...kinds])}${body}})();`;
}

/** Returns the interface that defines the member; undefined if several do. */
function interfaceOf(name) {
  return Object.keys(SINGLE_INTERFACE).find((kind) => SINGLE_INTERFACE[kind].includes(name));
}

function isAssigned(node) {
  const { parent } = node;
  return ts.isBinaryExpression(parent) && parent.left === node && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken;
}

/**
 * Returns the definitions that the rewritten code uses: for each member a function that looks up the native getter or method at the first
 * use, by the type of the node, and accesses the property if there is none; and for each kind a test.
 */
function prelude(members, kinds) {
  const native = (member) => {
    const name = member.slice(1);
    const call = METHODS.has(name) ? "(a)" : "";
    const kind = interfaceOf(name);
    if (kind) {
      return `
    let ${member}_native;
    const ${member}_of=(e,a)=>{
      try{return(${member}_native??=native("${name}",[${kind}])).call(e,a)}catch{}
      return e.${name}${call};
    };
    const ${member}_maybe=(e,a)=>e==null?void 0:${member}_of(e,a);`;
    }
    const by = Object.entries(NODES).map(
      ([type, kinds]) => `case ${type}:return(${member}_${type}??=native("${name}",[${kinds}])).call(e,a);`,
    );
    return `
    let ${Object.keys(NODES).map((type) => `${member}_${type}`)};
    const ${member}_of=(e,a)=>{
      try{switch(nodeType.call(e)){${by.join("")}}}catch{}
      return e.${name}${call};
    };
    const ${member}_maybe=(e,a)=>e==null?void 0:${member}_of(e,a);`;
  };
  const kind = (name) => {
    const [namespace, local] = ELEMENTS[name] ?? [];
    const is = namespace
      ? `nodeType.call(e)===1&&namespaceURI.call(e)==="${namespace}"${local ? `&&localName.call(e)==="${local}"` : ""}`
      : `nodeType.call(e)${TYPES[name]}`;
    return `const is_${name}=(e)=>{if(e==null)return false;try{return ${is}}catch{return false}};`;
  };
  return `
    const native=(name,kinds)=>{
      for(const kind of kinds){const property=Object.getOwnPropertyDescriptor(kind.prototype,name);if(property)return property.value??property.get}
      return function(a){const value=this[name];return typeof value==="function"?value.call(this,a):value};
    };
    const nodeType=native("nodeType",[Node]),namespaceURI=native("namespaceURI",[Element]),localName=native("localName",[Element]),host=native("host",[ShadowRoot]);
    ${members.map(native).join("")}${kinds.map(kind).join("")}`;
}
