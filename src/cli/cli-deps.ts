/** Dependencies of commands: the server, modules for commands that open the database, and the terminal. */
import type { CatalogueForm } from '../catalog/catalogue.ts';
import type { Files } from '../files/files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Verifier } from '../ledger/verifier.ts';
import type { ProviderRow } from '../store/catalog-rows.ts';
import type { Store } from '../store/store.ts';

/** A server and the key for it. */
export interface CliServer {
  /** Without a trailing slash. */
  url: string;
  key: string;
  /** The source of the key, for messages. */
  keyFrom: string;
  /** The certificate of a server on this machine that uses TLS. */
  certificate: string | undefined;
}

/** Sends one request. Rejects if no complete response arrives. */
export type SendRequest = (request: {
  method: string;
  url: string;
  headers: { [name: string]: string };
  body?: string;
  certificate: string | undefined;
  timeoutMs?: number | undefined;
}) => Promise<{ status: number; header(name: string): string | null; text: string }>;

export interface CliDeps {
  readonly version: string;
  readonly terminal: Terminal;
  now(): number;
  /** Waits. `false`: the command has to end. */
  wait(ms: number): Promise<boolean>;
  /** The server and key to use. Throws an Error if there is no key. */
  server(options: AdminServerOptions): CliServer;
  /** The server alone, for requests that need no key. */
  address(url: string | undefined): Pick<CliServer, 'url' | 'certificate'>;
  readonly ask: SendRequest;
  /** The database, not migrated; the same object each time. Throws an Error if it cannot be reached. */
  store(): Promise<Store>;
  /** The ledger over that store; the database must be migrated. */
  ledger(): Promise<Ledger>;
  /** The verifier of that database's ledger. */
  verifier(): Promise<Verifier>;
  /** The storage of finished videos and images. */
  files(): Files;
  /** Closes what was opened. */
  close(): Promise<void>;
  /** The current settings in the order of their documentation. Throws an Error if one is invalid. */
  settings(): readonly PrintedSetting[];
  /** Runs the gateway in this number of processes, or as configured. Resolves with the exit code when it has stopped. */
  serve(processes?: number | 'auto'): Promise<number>;
  /** Reads a `modelport.yaml` and replaces `${VARIABLE}`. Throws an Error if it is invalid. */
  readForm(path: string): Promise<CatalogueForm>;
  /** Checks whether a provider can be called. */
  probe(provider: ProviderRow): Promise<Probed>;
  /** Tries what a gateway needs besides its database: Redis, storage of files, every credential, clock, disk. Never throws. */
  liveChecks(providers: readonly ProviderRow[]): Promise<LiveCheck[]>;
}

/** The server options of a command. */
export interface AdminServerOptions {
  url: string | undefined;
  keyFile: string | undefined;
}

export interface Terminal {
  /** Writes one line. */
  out(line: string): void;
  err(line: string): void;
}

export interface PrintedSetting {
  /** The name of the environment variable. */
  name: string;
  value: string;
  /** Only the last four characters are shown. */
  secret?: boolean;
}

export interface Probed {
  /** `unneeded`: the provider can be called without a credential. */
  credential: 'there' | 'missing' | 'unneeded';
  /** Whether the provider's URL answers, with any status. */
  answers: boolean;
  /** The problem in one sentence, without secrets. */
  reportError?: string;
}

export interface LiveCheck {
  check: string;
  ok: boolean;
  /** What was found, without secrets. */
  state: string;
}
