// The parameters of the bundle, which `runtime.rs` passes.

/** Functions of the server. */
declare const native: {
  /** Starts an operation. The server calls `settle` with the same id when it is complete. */
  call(id: number, request: string): void;
  /** Returns the result of a query as JSON, without a command to the browser. */
  query(request: string): string;
  print(level: string, text: string): void;
  unhandled(text: string): void;
  ended(outcome: string): void;
  url(request: string): string;
  bytes(base64: string): ArrayBuffer;
  base64(octets: string): string;
  utf8(octets: string): string;
};

/** The id of the page that is passed to the code. */
declare const currentPage: string;

/** The default timeouts of actions and navigations, in ms. */
declare const timeouts: { action: number; navigation: number };

/** The name of the client code in stack traces. */
declare const codeName: string;
