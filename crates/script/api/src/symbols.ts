// Names of what objects of the API have beside what they offer to code.

export const ALL = Symbol("all");
export const API = Symbol("api");
export const ATTEND = Symbol("attend");
export const DO = Symbol("do");
export const EMIT = Symbol("emit");
export const EXPRESSION = Symbol("expression");
export const FIND = Symbol("find");
export const FRAME = Symbol("frame");
export const FRAME_OF = Symbol("frameOf");
export const ID = Symbol("id");
export const LISTEN = Symbol("listen");
export const LISTENERS = Symbol("listeners");
export const NAME = Symbol("name");
export const OPTIONS = Symbol("options");
export const PAGE = Symbol("page");
export const PLACE = Symbol("place");
export const ROUTED = Symbol("routed");
export const ROUTES = Symbol("routes");
export const ROUTING = Symbol("routing");
export const RUN = Symbol("run");
export const SHORTCUT = Symbol("shortcut");
export const TIMEOUTS = Symbol("timeouts");
export const UPDATE = Symbol("update");
export const WAIT = Symbol("wait");
export const WAIT_FOR_STATE = Symbol("waitForState");
