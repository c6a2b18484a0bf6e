/** The gateways under test: how each is started in front of the same upstream, and what is missing if it cannot be. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OTHER_GATEWAYS } from './other-gateways.ts';
import { output, type Peer, type Place, packageVersion, ROOT, upstreamUrl } from './peer.ts';
import { MODEL } from './workload.ts';

const nginx: Peer = {
  name: 'nginx',
  title: 'nginx',
  does: 'a plain proxy: no key, no body read, no accounts, no log',
  missing: async () => (Bun.which('nginx') ? undefined : 'nginx is not on the PATH: install it to have the reference'),
  version: async () => (await output(['nginx', '-v'])).text.split('/').at(-1) ?? '',
  launch: (place) => {
    const path = join(place.folder, 'nginx.conf');
    writeFileSync(path, nginxConfiguration(place));
    return { command: ['nginx', '-p', place.folder, '-e', 'stderr', '-c', path], environment: {}, headers: {} };
  },
};

/** Directives for an nginx that logs no call and keeps its files in one folder. */
export const nginxFiles = (folder: string): string => `
  access_log off;
  client_body_buffer_size 256k;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;`;

/** A plain proxy: one worker, kept upstream connections, no buffering, no logging. */
const nginxConfiguration = ({ port, upstreamPort, folder }: Place): string => `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr crit;
events { worker_connections 4096; }
http {
${nginxFiles(folder)}
  upstream mock {
    server 127.0.0.1:${upstreamPort};
    keepalive 600;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    keepalive_requests 1000000000;
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;

/** Bytes from socket to socket: what the runtime's sockets cost. */
const rawSockets: Peer = {
  name: 'raw-sockets',
  title: 'raw sockets',
  does: "bytes from socket to socket on Bun's own sockets: nothing parsed, checked or recorded",
  missing: async () => undefined,
  version: async () => Bun.version,
  launch: ({ port, upstreamPort }) => ({
    command: [process.execPath, join(import.meta.dir, 'raw-sockets.ts'), String(port), String(upstreamPort)],
    environment: {},
    headers: {},
  }),
};

const KEY = `sk-${'b'.repeat(48)}`;
const ADMIN_KEY = `sk-admin-${'b'.repeat(42)}`;

/** As `npm start` does. */
const LAUNCH_MODELPORT =
  process.platform === 'win32'
    ? ['node', join(ROOT, 'bin', 'modelport.mjs'), 'serve']
    : [join(ROOT, 'bin', 'modelport'), 'serve'];

/** Everything enabled: key check, holds and settlement, and a record of every call in database and log. */
const modelport: Peer = {
  ...gateway('modelport', 'Modelport', (place) => ({ type: 'openai', baseUrl: upstreamUrl(place) })),
  hasManyStreams: true,
};

/** The same with two processes on one SQLite database. */
const modelportTwo: Peer = {
  ...modelport,
  name: 'modelport-two',
  title: 'Modelport, 2 processes',
  hasManyStreams: false,
  launch: (place) => {
    const launch = modelport.launch(place);
    return { ...launch, environment: { ...launch.environment, MODELPORT_PROCESSES: '2' } };
  },
};

/** The same with an upstream of another format: requests, replies and every chunk are translated. */
const modelportTranslating = gateway('modelport-translating', 'Modelport, OpenAI to Anthropic', (place) => ({
  type: 'anthropic',
  baseUrl: upstreamUrl(place).slice(0, -'/v1'.length),
}));

/** As `modelport`, with limits of the account that are never reached, counted in this process. */
const modelportLimited: Peer = limited('modelport-limited', 'Modelport, limits', () => ({}));

/** The same on Postgres, with limits counted in Redis. */
const modelportShared: Peer = {
  ...limited('modelport-shared', 'Modelport, limits, Postgres and Redis', () => ({
    DATABASE_URL: process.env.BENCH_DATABASE_URL ?? '',
    REDIS_URL: process.env.BENCH_REDIS_URL ?? '',
    // The database outlives a start, which has another data directory.
    MODELPORT_SECRET_KEY: 'the key of every start of the bench',
  })),
  missing: async () =>
    process.env.BENCH_DATABASE_URL && process.env.BENCH_REDIS_URL
      ? undefined
      : 'Modelport on Postgres and Redis needs both of them installed and root, or BENCH_DATABASE_URL, an empty database, and BENCH_REDIS_URL',
};

const NEVER_REACHED = { requestsPerMinute: 100_000_000, tokensPerMinute: 1_000_000_000_000, concurrency: 100_000 };

function limited(name: string, title: string, environment: () => { [name: string]: string }): Peer {
  const peer = gateway(name, title, (place) => ({ type: 'openai', baseUrl: upstreamUrl(place) }));
  return {
    ...peer,
    launch: (place) => {
      const launch = peer.launch(place);
      return {
        ...launch,
        environment: { ...launch.environment, ...environment(), MODELPORT_ADMIN_KEY: ADMIN_KEY },
        async prepare(url) {
          const response = await fetch(`${url}/admin/v1/accounts/default`, {
            method: 'PATCH',
            headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
            body: JSON.stringify(NEVER_REACHED),
          });
          if (!response.ok) throw new Error(`the limits were refused: ${await response.text()}`);
        },
      };
    },
  };
}

/** The first start after a change bundles the program; what is measured is a start as any other. */
async function bundled(): Promise<string | undefined> {
  const [launcher = '', ...rest] = LAUNCH_MODELPORT;
  const { ok, text } = await output([launcher, ...rest.slice(0, -1), '--version']);
  return ok ? undefined : `Modelport does not start: ${text.split('\n')[0]}`;
}

interface Upstream {
  type: string;
  baseUrl: string;
}

function gateway(name: string, title: string, upstream: (place: Place) => Upstream): Peer {
  return {
    name,
    title,
    does: 'checks a key, holds and settles money, records the call in its database and its log',
    missing: bundled,
    version: () => packageVersion(join(ROOT, 'package.json')),
    launch: (place) => {
      const configuration = join(place.folder, 'modelport.yaml');
      writeFileSync(configuration, modelportConfiguration(upstream(place)));
      return {
        command: LAUNCH_MODELPORT,
        environment: {
          HOST: place.host ?? '127.0.0.1',
          PORT: String(place.port),
          MODELPORT_DATA_DIR: join(place.folder, 'data'),
          MODELPORT_CONFIG: configuration,
          MODELPORT_API_KEY: KEY,
          // The bench has one account, and up to 5,000 streams.
          MODELPORT_ACCOUNT_CALLS: '10000',
        },
        headers: { authorization: `Bearer ${KEY}` },
      };
    },
  };
}

function modelportConfiguration({ type, baseUrl }: Upstream): string {
  return `
providers:
  - name: mock
    type: ${type}
    baseUrl: ${baseUrl}
    credential: sk-upstream
models:
  - name: ${MODEL}
    kind: chat
    price: { input: 0.01, cachedInput: 0.005, output: 0.02 }
    maxOutputTokens: 1024
    targets:
      - { provider: mock, model: ${MODEL} }
`;
}

export const PEERS: readonly Peer[] = [
  nginx,
  rawSockets,
  modelport,
  modelportTranslating,
  modelportTwo,
  modelportLimited,
  modelportShared,
  ...OTHER_GATEWAYS,
];
