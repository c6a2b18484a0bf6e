/**
 * Gateways of others, each with the settings that its documentation recommends for production. They are installed when they are first
 * measured: Portkey beside this file, the rest into `BENCH_CACHE`, outside the checkout.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { coreCount } from './machine.ts';
import { output, type Peer, type Place, packageVersion, upstreamUrl } from './peer.ts';
import { MODEL } from './workload.ts';

const CACHE =
  process.env.BENCH_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'modelport-bench');
const KEY = `sk-${'b'.repeat(48)}`;

/** What a failed installation wrote, on one line and without addresses. */
const reason = (text: string): string =>
  text
    .replace(/https?:\/\/\S+/g, '…')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 300);

/** Runs the commands unless they have succeeded before, and returns a sentence if one fails. */
async function installed(title: string, folder: string, commands: readonly string[][]): Promise<string | undefined> {
  // Written after the last command, with the commands: another version or half of an installation is installed anew.
  const mark = join(folder, 'installed-by-modelport-bench');
  const recipe = JSON.stringify(commands);
  if (existsSync(mark) && (await Bun.file(mark).text()) === recipe) return undefined;
  const [program = ''] = commands[0] ?? [];
  if (!Bun.which(program)) return `${title} was left out: its installation needs ${program}`;
  console.error(`installs ${title} in ${folder}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const command of commands) {
    const { ok, text } = await output(command, folder);
    if (!ok) return `${title} was left out: it could not be installed (${reason(text)})`;
  }
  writeFileSync(mark, recipe);
  return undefined;
}

/** A program from PyPI in a virtual environment of its own. */
function fromPypi(title: string, name: string, requirement: string) {
  const folder = join(CACHE, name);
  const bin = (program: string) => join(folder, 'bin', program);
  return {
    bin,
    missing: () =>
      installed(title, folder, [
        ['python3', '-m', 'venv', folder],
        [bin('pip'), 'install', '--quiet', '--no-cache-dir', requirement],
      ]),
  };
}

const LITELLM_VERSION = '1.106.2';
const litellmInstall = fromPypi('LiteLLM', 'litellm', `litellm[proxy]==${LITELLM_VERSION}`);

const litellm: Peer = {
  name: 'litellm',
  title: 'LiteLLM',
  isOther: true,
  does: 'checks the master key and computes the cost of a call; no accounts, budgets or record of calls, which need its database',
  settings:
    "a worker for each core with a health check of 120 s, LITELLM_MODE=PRODUCTION, LITELLM_LOG=ERROR, and the settings of its page on production (set_verbose off, request_timeout 600); Python's uvicorn with uvloop",
  missing: litellmInstall.missing,
  version: async () => LITELLM_VERSION,
  launch(place) {
    const configuration = join(place.folder, 'litellm.yaml');
    writeFileSync(configuration, litellmConfiguration(place));
    return {
      command: [
        litellmInstall.bin('litellm'),
        ...['--config', configuration],
        ...['--host', '127.0.0.1', '--port', String(place.port)],
        ...['--num_workers', String(coreCount())],
        // With uvicorn's 5 s, a busy machine ends workers that are still starting, again and again.
        ...['--timeout_worker_healthcheck', '120'],
      ],
      environment: {
        LITELLM_MODE: 'PRODUCTION',
        LITELLM_LOG: 'ERROR',
        LITELLM_MASTER_KEY: KEY,
        // Nothing is fetched from the internet at the start.
        LITELLM_LOCAL_MODEL_COST_MAP: 'True',
        LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS: 'True',
        LITELLM_LOCAL_AUTOROUTER_PRESETS: 'True',
        LITELLM_LOCAL_BLOG_POSTS: 'True',
        LITELLM_LOCAL_POLICY_TEMPLATES: 'True',
      },
      headers: { authorization: `Bearer ${KEY}` },
    };
  },
};

const litellmConfiguration = (place: Place): string => `
model_list:
  - model_name: ${MODEL}
    litellm_params:
      model: openai/${MODEL}
      api_key: sk-upstream
      api_base: ${upstreamUrl(place)}
    model_info:
      input_cost_per_token: 0.00000001
      output_cost_per_token: 0.00000002
general_settings:
  master_key: os.environ/LITELLM_MASTER_KEY
litellm_settings:
  request_timeout: 600
  set_verbose: false
  json_logs: true
`;

/** The documentation names no version to install; the newest one is, and the report names it. */
const BIFROST = 'github.com/maximhq/bifrost/transports/bifrost-http@latest';
const BIFROST_FOLDER = join(CACHE, 'bifrost');
const BIFROST_PROGRAM = join(BIFROST_FOLDER, 'bifrost-http');

const bifrost: Peer = {
  name: 'bifrost',
  title: 'Bifrost',
  isOther: true,
  does: 'records calls without their contents in SQLite; no key of callers, no budgets',
  settings: 'concurrency 1000 and buffer_size 5000 of the provider, initial_pool_size 1000, configuration from a file',
  missing: () =>
    installed('Bifrost', BIFROST_FOLDER, [
      ['go', 'version'],
      ['env', `GOBIN=${BIFROST_FOLDER}`, 'go', 'install', BIFROST],
    ]),
  version: async () => {
    const { text } = await output(['go', 'version', '-m', BIFROST_PROGRAM]);
    return /^\s*mod\s+\S+\s+(\S+)/m.exec(text)?.[1] ?? '';
  },
  launch(place) {
    writeFileSync(join(place.folder, 'config.json'), JSON.stringify(bifrostConfiguration(place)));
    return {
      command: [BIFROST_PROGRAM, '-app-dir', place.folder, '-host', '127.0.0.1', '-port', String(place.port)],
      environment: {},
      headers: {},
      // Here a model without the name of a provider is one of OpenAI.
      path: '/openai/v1/chat/completions',
    };
  },
};

const bifrostConfiguration = ({ upstreamPort, folder }: Place): object => ({
  client: {
    initial_pool_size: 1000,
    drop_excess_requests: false,
    enable_logging: true,
    disable_content_logging: true,
  },
  providers: {
    openai: {
      keys: [{ name: 'mock', value: 'sk-upstream', models: ['*'], weight: 1 }],
      network_config: { base_url: `http://127.0.0.1:${upstreamPort}`, allow_private_network: true },
      concurrency_and_buffer_size: { concurrency: 1000, buffer_size: 5000 },
    },
  },
  config_store: { enabled: false },
  logs_store: { enabled: true, type: 'sqlite', config: { path: join(folder, 'logs.db') } },
});

const LM_PROXY_VERSION = '3.3.2';
const lmProxyInstall = fromPypi('LM-Proxy', 'lm-proxy', `lm-proxy==${LM_PROXY_VERSION}`);

const lmProxy: Peer = {
  name: 'lm-proxy',
  title: 'LM-Proxy',
  isOther: true,
  does: 'checks a key of its file and writes lines of each call to its log; no money, no record of calls, no usage in replies',
  settings: "its defaults: one process of Python's uvicorn, which its command does not multiply",
  missing: lmProxyInstall.missing,
  version: async () => LM_PROXY_VERSION,
  launch(place) {
    const configuration = join(place.folder, 'lm-proxy.toml');
    writeFileSync(configuration, lmProxyConfiguration(place));
    return {
      command: [lmProxyInstall.bin('lm-proxy'), '--config', configuration],
      environment: {},
      headers: { authorization: `Bearer ${KEY}` },
    };
  },
};

const lmProxyConfiguration = (place: Place): string => `
host = "127.0.0.1"
port = ${place.port}
[connections.mock]
api_type = "open_ai"
api_base = "${upstreamUrl(place)}"
api_key = "sk-upstream"
[routing]
"*" = "mock.*"
[groups.default]
api_keys = ["${KEY}"]
`;

const PORTKEY = join(import.meta.dir, 'node_modules', '@portkey-ai', 'gateway');
/** Portkey has no setting for its listening address. */
const LOOPBACK_ONLY =
  "import net from 'node:net'; const { listen } = net.Server.prototype; " +
  "net.Server.prototype.listen = function (port, ...rest) { return typeof port === 'object' ? " +
  "listen.call(this, { ...port, host: '127.0.0.1' }, ...rest) : " +
  "listen.call(this, port, '127.0.0.1', ...rest.filter((one) => typeof one === 'function')); };";

const portkey: Peer = {
  name: 'portkey',
  title: 'Portkey',
  isOther: true,
  does: 'no key of callers, no accounts, no log of calls',
  settings: 'its defaults on Node with NODE_ENV=production, one process',
  missing: async () => {
    if (existsSync(PORTKEY)) return undefined;
    const { ok, text } = await output(['npm', 'ci', '--ignore-scripts'], import.meta.dir);
    return ok ? undefined : `Portkey was left out: it could not be installed (${reason(text)})`;
  },
  version: () => packageVersion(join(PORTKEY, 'package.json')),
  launch: (place) => ({
    command: [
      'node',
      `--import=data:text/javascript,${encodeURIComponent(LOOPBACK_ONLY)}`,
      join(PORTKEY, 'build', 'start-server.js'),
      `--port=${place.port}`,
      '--headless',
    ],
    environment: { NODE_ENV: 'production' },
    headers: {
      authorization: 'Bearer sk-upstream',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': upstreamUrl(place),
    },
  }),
};

export const OTHER_GATEWAYS: readonly Peer[] = [portkey, litellm, bifrost, lmProxy];
