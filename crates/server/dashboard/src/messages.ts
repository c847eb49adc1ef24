// The messages between the page and the server, which `src/dashboard` of the server defines.

export interface Page {
  id: string;
  url: string;
  context: string | null;
  isCurrent: boolean;
}

export interface Session {
  id: string;
  name: string | null;
  owner: string;
  createdAt: number | null;
  expiresAt: number | null;
  pages: Page[];
  calls: number;
  holder: "calls" | "userNext" | "user";
  isAnnotated: boolean;
}

export interface Call {
  number: number;
  tool: string;
  arguments: string;
  began: number;
  duration: number | null;
  isError: boolean;
  answer: string;
}

export interface ConsoleLine {
  number: number;
  kind: string;
  text: string;
  location: string | null;
}

export interface RequestLine {
  method: string;
  url: string;
  type: string;
  status: number | null;
  failure: string | null;
  duration: number | null;
}

export interface FileChooser {
  isMultiple: boolean;
  canUpload: boolean;
  maxBytes: number;
}

export interface ShownPage {
  id: string;
  url: string;
  dialog: { kind: string; message: string; text: string } | null;
  fileChooser: FileChooser | null;
}

export interface Message {
  sessions?: Session[];
  controlled?: string | null;
  session?: string | null;
  page?: ShownPage | null;
  denied?: string | null;
  calls?: Call[];
  console?: ConsoleLine[];
  requests?: RequestLine[];
  log?: { server: string; text: string };
  error?: string;
}

export type Send = (message: object) => void;
