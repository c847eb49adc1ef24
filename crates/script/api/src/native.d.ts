// What the bundle gets from `runtime.rs`.

/** Functions of the server. Text goes both ways. */
declare const native: {
  /** Begins an operation; `settle` is called with the same id when it is over. */
  call(id: number, request: string): void;
  /** Answers at once what the server knows without the browser. */
  query(request: string): string;
  print(level: string, text: string): void;
  unhandled(text: string): void;
  ended(outcome: string): void;
  url(request: string): string;
  bytes(base64: string): ArrayBuffer;
  base64(octets: string): string;
  utf8(octets: string): string;
};

/** The page that the code is given. */
declare const currentPage: string;

/** How long actions and navigations take at most, in milliseconds. */
declare const timeouts: { action: number; navigation: number };
