/** What the benchmark knows of a gateway. */
import { dirname } from 'node:path';

export const ROOT = dirname(import.meta.dir);

/** Where a gateway runs: its port, the upstream's port, and a folder for its files. */
export interface Place {
  port: number;
  upstreamPort: number;
  folder: string;
  /** The address to listen on; 127.0.0.1 unless set. */
  host?: string | undefined;
  /** Where the upstream is; 127.0.0.1 unless set. */
  upstreamHost?: string | undefined;
}

/** How to start it, and the headers of requests to it. */
export interface Launch {
  command: readonly string[];
  environment: { readonly [name: string]: string };
  headers: { readonly [name: string]: string };
  /** Where its chat requests go; `CHAT_PATH` unless set. */
  path?: string;
  /** Prepares the gateway at this URL once it answers. */
  prepare?(url: string): Promise<void>;
}

export interface Peer {
  name: string;
  /** The name in the report. */
  title: string;
  /** What is missing on this machine, as a sentence; installs what npm provides. */
  missing(): Promise<string | undefined>;
  version(): Promise<string>;
  /** What it does for a request, for the report. */
  does: string;
  /** How it was set up, for the report. */
  settings?: string;
  /** A gateway of others: one that does not start or does not withstand the load is left out with its reason. */
  isOther?: boolean;
  /** Whether it is measured with 5,000 streams too. */
  hasManyStreams?: boolean;
  launch(place: Place): Launch;
}

export const upstreamUrl = ({ upstreamPort, upstreamHost = '127.0.0.1' }: Place): string =>
  `http://${upstreamHost}:${upstreamPort}/v1`;

export async function output(command: string[], cwd = ROOT): Promise<{ ok: boolean; text: string }> {
  const child = Bun.spawn(command, { cwd, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { ok: code === 0, text: (out + err).trim() };
}

export async function packageVersion(path: string): Promise<string> {
  const { version } = await Bun.file(path).json();
  return String(version);
}
