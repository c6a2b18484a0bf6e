/** Runs command-line agents headless, each with its own home folder and a network that contains only the gateway. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientNode, installClients, installPackages } from '../clients/install.ts';

export type AgentName = 'claude' | 'codex' | 'gemini';

export interface AgentJob {
  agent: AgentName;
  /** The gateway's port on this machine. */
  gatewayPort: number;
  apiKey: string;
  model: string;
  task: string;
  /** It tries WebSockets first, as Codex does with OpenAI. */
  triesWebSockets?: true;
}

export interface Outcome {
  code: number | null;
  output: string;
  /** The number of WebSocket attempts. */
  webSockets: number;
}

/** The agent's working folder and its configuration. */
interface Workspace {
  home: string;
  url: string;
  job: AgentJob;
}

interface Agent {
  command(workspace: Workspace): string[];
  environment(workspace: Workspace): { [name: string]: string };
}

const FOLDER = import.meta.dirname;
const MODULES = join(FOLDER, 'node_modules');
const LIMIT_MS = 60_000;
/** Inside the network namespace no other program listens. */
const PORT = 8080;
const UNSHARE = process.getuid?.() === 0 ? ['-n'] : ['-rn'];

/** Whether the kernel allows a network namespace for a program. */
export const canIsolate = process.platform === 'linux' && spawnSync('unshare', [...UNSHARE, 'true']).status === 0;
if (!canIsolate) console.warn('No network namespace can be made (unshare -n): the command-line agents are skipped.');

const AGENTS: { readonly [name in AgentName]: Agent } = {
  claude: {
    command: ({ job }) => {
      const binary = join(MODULES, '@anthropic-ai', `claude-code-linux-${process.arch}`, 'claude');
      return [binary, '-p', job.task, '--allowedTools', 'Write', '--output-format', 'json'];
    },
    environment: ({ url, job }) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: job.apiKey,
      ANTHROPIC_MODEL: job.model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: job.model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
  },
  codex: {
    command: ({ home, url, job }) => {
      const provider = `[model_providers.gateway]\nname = "gateway"\nbase_url = "${url}/v1"\nwire_api = "responses"`;
      const settings = [
        `model = "${job.model}"`,
        'model_provider = "gateway"',
        'model_reasoning_effort = "low"',
        'model_reasoning_summary = "auto"',
        'check_for_update_on_startup = false',
        `${provider}\nenv_key = "GATEWAY_KEY"\nsupports_websockets = ${job.triesWebSockets === true}`,
        '[analytics]\nenabled = false',
      ];
      writeFileSync(join(home, 'config.toml'), settings.join('\n'));
      const script = join(MODULES, '@openai', 'codex', 'bin', 'codex.js');
      const options = ['--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
      return [clientNode(), script, 'exec', ...options, job.task];
    },
    environment: ({ home, job }) => ({ CODEX_HOME: home, GATEWAY_KEY: job.apiKey }),
  },
  gemini: {
    command: ({ home, job }) => {
      const settings = {
        telemetry: { enabled: false },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
        security: { auth: { selectedType: 'gemini-api-key' } },
      };
      mkdirSync(join(home, '.gemini'));
      writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(settings));
      const script = join(MODULES, '@google', 'gemini-cli', 'bundle', 'gemini.js');
      return [clientNode(), script, '-m', job.model, '--approval-mode', 'yolo', '-p', job.task];
    },
    environment: ({ url, job }) => ({
      GEMINI_API_KEY: job.apiKey,
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      GEMINI_CLI_NO_RELAUNCH: 'true',
    }),
  },
};

/** Installs the agents, once. */
export async function installAgents(): Promise<void> {
  await Promise.all([installClients(), installPackages(FOLDER)]);
}

/** Runs one task in a folder. Rejects after the time limit. */
export async function runAgent(job: AgentJob, folder: string): Promise<Outcome> {
  const home = mkdtempSync(join(tmpdir(), 'modelport-agent-'));
  const socketFile = join(home, 'gateway.sock');
  let webSockets = 0;
  const bridge = await openBridge(socketFile, job.gatewayPort, (text) => {
    webSockets += text.match(/^upgrade: *websocket\r?$/gim)?.length ?? 0;
  });
  const workspace: Workspace = { home, url: `http://127.0.0.1:${PORT}`, job };
  const { command, environment } = AGENTS[job.agent];
  const env = { PATH: process.env.PATH, HOME: home, TERM: 'dumb', NO_COLOR: '1', ...environment(workspace) };
  const isolation = [...UNSHARE, process.execPath, join(FOLDER, 'isolate-network.ts'), socketFile, String(PORT)];
  try {
    const child = spawn('unshare', [...isolation, ...command(workspace)], {
      cwd: folder,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    const late = setTimeout(() => child.pid && process.kill(-child.pid, 'SIGKILL'), LIMIT_MS);
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    clearTimeout(late);
    return { code, output, webSockets };
  } finally {
    bridge.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** A socket file connects the namespace with the gateway. */
function openBridge(socketFile: string, port: number, see: (text: string) => void): Promise<Server> {
  const server = createServer((inside) => {
    const gateway = connect(port, '127.0.0.1');
    inside.on('data', (bytes: Buffer) => see(bytes.toString('latin1')));
    inside.pipe(gateway).pipe(inside);
    inside.on('error', () => gateway.destroy());
    gateway.on('error', () => inside.destroy());
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketFile, () => resolve(server));
  });
}
