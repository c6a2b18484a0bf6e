/** What the commands are run with: the server they ask, the modules that a few open themselves, and the terminal. */
import type { CatalogueForm } from '../catalog/catalogue.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Verifier } from '../ledger/verifier.ts';
import type { ProviderRow, Store } from '../store/store.ts';

/** Which server, with which key. */
export interface Server {
  /** Without a trailing slash. */
  url: string;
  key: string;
  /** Where the key was found. */
  keyFrom: string;
  /** Of a server on this machine that speaks TLS. */
  certificate: string | undefined;
}

/** Sends one request. Rejects where no whole answer comes. */
export type Ask = (request: {
  method: string;
  url: string;
  headers: { [name: string]: string };
  body?: string;
  certificate: string | undefined;
  timeoutMs?: number | undefined;
}) => Promise<{ status: number; header(name: string): string | null; text: string }>;

export interface Opener {
  readonly version: string;
  readonly terminal: Terminal;
  now(): number;
  /** The server whose admin API is asked, and the key for it. Throws a sentence where there is none. */
  server(asked: AskedServer): Server;
  readonly ask: Ask;
  /** The database as it is, not migrated; the same one every time. Throws a sentence where it cannot be reached. */
  store(): Promise<Store>;
  /** The ledger over that store, for a database that is migrated. */
  ledger(): Promise<Ledger>;
  /** Verifies the books of that database. */
  verifier(): Promise<Verifier>;
  /** Closes what was opened. */
  close(): Promise<void>;
  /** The settings in force, in the order they are documented. Throws a sentence where one is wrong. */
  settings(): readonly Setting[];
  /** Starts the gateway, in so many processes or as the settings say, and resolves with the exit code when it has stopped. */
  serve(processes?: number | 'auto'): Promise<number>;
  /** Reads a `modelport.yaml`, `${VARIABLE}` filled in. Throws a sentence where it is none. */
  readForm(path: string): Promise<CatalogueForm>;
  /** Looks whether a provider could be called. */
  probe(provider: ProviderRow): Promise<Probed>;
}

/** What was typed of a server. */
export interface AskedServer {
  url: string | undefined;
  keyFile: string | undefined;
}

export interface Terminal {
  /** Writes one line. */
  out(line: string): void;
  err(line: string): void;
}

export interface Setting {
  /** As the environment names it. */
  name: string;
  value: string;
  /** Only its last four characters are shown. */
  secret?: boolean;
}

export interface Probed {
  /** `unneeded`: the provider may be called without one. */
  credential: 'there' | 'missing' | 'unneeded';
  /** Whether its address answers, whatever it answers. */
  answers: boolean;
  /** What is wrong, in a sentence; nothing secret in it. */
  reportError?: string;
}
