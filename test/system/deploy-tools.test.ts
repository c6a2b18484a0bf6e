/** What is in `deploy/`, judged by the tools that will read it: each where it is installed. */
import { expect, test } from 'bun:test';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildahIn, IMAGE } from '../../scripts/rehearse-image.ts';
import { chatRequest } from '../helpers/chat-answers.ts';
import { freePort } from '../helpers/free-port.ts';
import { startGateway } from '../helpers/gateway-process.ts';
import { readImageConfig } from '../helpers/image-config.ts';

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy');
const CHART = join(DEPLOY, 'helm', 'modelport');
/** Helm knows no cluster here. */
const KUBERNETES = '1.33.0';

/** The tool's path if it is installed, in a version that knows what the files use. */
function tool(name: string, version: readonly string[] = [], least = 0): string | null {
  const path = Bun.which(name);
  const found = path && version.length > 0 ? Bun.spawnSync([path, ...version], { stderr: 'ignore' }) : undefined;
  const [major = '', minor = '0'] = /(\d+)(?:\.(\d+))?/.exec(found?.stdout.toString() ?? '')?.slice(1) ?? [];
  if (path && (!found || Number(`${major}.${minor.padStart(3, '0')}`) >= least)) return path;
  console.log(
    `${[name, version[0]].filter((word) => !word?.startsWith('-')).join(' ')} is not installed: its tests are skipped`,
  );
  return null;
}

const helm = tool('helm');
/** Schemas of Kubernetes' own kinds, in its package: `pip install kubernetes-validate`. */
const validate = tool('kubernetes-validate');
const hadolint = tool('hadolint');
const actionlint = tool('actionlint');
const caddy = tool('caddy');
// `--offline` is of 250; `required` of an `env_file` is of 2.24.
const analyze = tool('systemd-analyze', ['--version'], 250);
const docker = tool('docker', ['compose', 'version', '--short'], 2.024);

function run(command: readonly string[]): { code: number; stdout: string; output: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { timeout: 60_000 });
  return { code: exitCode, stdout: stdout.toString(), output: `${stdout}${stderr}` };
}

function rendered(values: readonly string[]): { code: number; output: string } {
  const sets = values.flatMap((value) => ['--set', value]);
  return run([helm ?? '', 'template', 'x', CHART, '--kube-version', KUBERNETES, '--is-upgrade', ...sets]);
}

interface Resource {
  kind: string;
  metadata: { name: string; annotations?: { [name: string]: string } };
  spec: { template: { spec: { terminationGracePeriodSeconds?: number; containers: [Container] } } };
}
interface Container {
  image: string;
  args: string[];
  env: object[];
  envFrom: object[];
}
const resourcesOf = (output: string) =>
  output.split(/^---$/m).flatMap((text) => (Bun.YAML.parse(text) as Resource | null) ?? []);

const FLEET = ['persistence.enabled=false', 'existingSecret=secrets'];
const EVERYTHING = [
  ...FLEET,
  'autoscaling.enabled=true',
  'serviceMonitor.enabled=true',
  'ingress.enabled=true',
  'ingress.host=models.example.com',
  'ingress.tlsSecret=certificate',
  'serviceAccount.name=gateway',
  'config=models: []',
  'podLabels.team=a',
  'podAnnotations.note=b',
  'extraEnv[0].name=MODELPORT_LOG_LEVEL',
  'extraEnv[0].value=warn',
  'extraEnvFrom[0].configMapRef.name=more',
  'imagePullSecrets[0].name=registry',
  'nodeSelector.disk=fast',
  'tolerations[0].key=dedicated',
  'networkPolicy.egress[0].ports[0].port=443',
];

test.skipIf(!helm)('helm lint finds nothing', () => {
  const { code, output } = run([helm ?? '', 'lint', '--strict', CHART]);
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('0 chart(s) failed') });
});

test.skipIf(!helm)('helm renders every combination, and refuses those that cannot work', () => {
  for (const values of [[], FLEET, EVERYTHING]) {
    const { code, output } = rendered(values);
    expect({ values, code, output: code === 0 ? '' : output }).toEqual({ values, code: 0, output: '' });
  }
  for (const [value, why] of [
    ['replicaCount=2', 'keeps the database in the volume of one pod'],
    ['autoscaling.enabled=true', 'keeps the database in the volume of one pod'],
    ['persistence.enabled=false', 'a database is needed'],
    ['serviceMonitor.enabled=true', 'needs existingSecret'],
    ['ingress.enabled=true', 'needs ingress.host'],
    ['drainSeconds=0', 'drainSeconds'],
    ['replicas=2', 'replicas'],
    ['image.digest=latest', 'digest'],
  ] as const) {
    const { code, output } = rendered([value]);
    expect({ value, code }).toEqual({ value, code: 1 });
    expect(output).toContain(why);
  }
});

test.skipIf(!helm)('a migration before an upgrade has the pod of the gateway, and a volume has none', () => {
  const ofKind = (values: readonly string[], kind: string) =>
    resourcesOf(rendered(values).output).find((resource) => resource.kind === kind);
  const [gateway, job] = [ofKind(EVERYTHING, 'Deployment'), ofKind(EVERYTHING, 'Job')];
  expect(job?.metadata.annotations?.['helm.sh/hook']).toBe('pre-upgrade');
  const [serving] = gateway?.spec.template.spec.containers ?? [];
  const [migrating] = job?.spec.template.spec.containers ?? [];
  expect([serving?.args, migrating?.args]).toEqual([['serve'], ['migrate']]);
  expect(migrating?.image).toBe(serving?.image as string);
  expect(migrating?.envFrom).toEqual(serving?.envFrom as object[]);
  expect(serving?.env).toEqual(expect.arrayContaining(migrating?.env ?? [{}]));
  // Longer than the drain and the pause before it.
  expect(gateway?.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(1800 + 10);
  expect(ofKind([], 'Job')).toBeUndefined();
});

test.skipIf(!helm || !validate)(
  'Kubernetes takes what is rendered',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'modelport-chart-'));
    try {
      const path = join(folder, 'rendered.yaml');
      const text = [[], EVERYTHING].map((values) => rendered(values).output).join('\n---\n');
      const validated = (written: string) => {
        writeFileSync(path, written);
        return run([validate ?? '', '--strict', '-k', '1.33', path]);
      };
      const { code, output } = validated(text);
      expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
      expect(output.match(/passed for resource deployment\/x-modelport/g)).toHaveLength(2);
      expect(validated(text.replace('readOnlyRootFilesystem', 'readOnlyRoot')).code).not.toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  120_000,
);

test.skipIf(!actionlint)('actionlint finds nothing in the workflows', () => {
  const workflows = join(DEPLOY, '..', '.github', 'workflows');
  const files = readdirSync(workflows).map((name) => join(workflows, name));
  expect(run([actionlint ?? '', '-no-color', ...files])).toMatchObject({ code: 0, output: '' });
});

test.skipIf(!caddy)(
  'Caddy serves TLS with its own authority, passes streams on, and hides the paths of the operator',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'modelport-caddy-'));
    const [httpPort, httpsPort] = [await freePort(), await freePort()];
    const gateway = await startGateway();
    const options = ['admin off', 'skip_install_trust', 'default_bind 127.0.0.1', `storage file_system ${folder}`];
    const path = join(folder, 'Caddyfile');
    writeFileSync(
      path,
      `{\n${[...options, `http_port ${httpPort}`, `https_port ${httpsPort}`].join('\n')}\n}\n${readFileSync(
        join(DEPLOY, 'caddy', 'Caddyfile'),
        'utf8',
      ).replace('modelport:8080', new URL(gateway.url).host)}`,
    );
    const file = ['--adapter', 'caddyfile', '--config', path];
    expect(run([caddy ?? '', 'validate', ...file])).toMatchObject({ code: 0 });
    const serving = Bun.spawn([caddy ?? '', 'run', ...file], {
      stdout: 'ignore',
      stderr: Bun.file(join(folder, 'log')),
    });
    try {
      const root = Bun.file(join(folder, 'pki/authorities/local/root.crt'));
      const address = `https://localhost:${httpsPort}`;
      const send = async (path: string, init: RequestInit = {}) =>
        fetch(address + path, { ...init, tls: { ca: await root.text() }, redirect: 'manual' });
      for (let up = false; !up; await Bun.sleep(50)) {
        expect(serving.exitCode).toBeNull();
        up = (await root.exists()) && (await send('/health').catch(() => undefined))?.status === 200;
      }
      const answer = await send('/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(chatRequest('sandbox-chat', { stream: true })),
      });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
      expect(await answer.text()).toContain('data: [DONE]');
      const admin = { headers: { authorization: `Bearer ${gateway.adminKey}` } };
      expect((await fetch(`${gateway.url}/admin/v1/accounts`, admin)).status).toBe(200);
      for (const path of ['/admin', '/admin/v1/accounts', '/metrics'])
        expect([path, (await send(path, admin)).status]).toEqual([path, 404]);
      const plain = await fetch(`http://localhost:${httpPort}/v1/models`, { redirect: 'manual' });
      expect([plain.status, plain.headers.get('location')]).toEqual([
        308,
        expect.stringMatching(/^https:\/\/localhost/),
      ]);
      // Without the authority's certificate no server is trusted.
      await expect(fetch(`${address}/health`)).rejects.toThrow();
    } finally {
      serving.kill();
      await serving.exited;
      await gateway.stop();
      rmSync(folder, { recursive: true });
    }
  },
  120_000,
);

test.skipIf(!hadolint)('hadolint finds nothing in the Dockerfile', () => {
  expect(run([hadolint ?? '', '--no-color', join(DEPLOY, 'docker', 'Dockerfile')])).toMatchObject({
    code: 0,
    output: '',
  });
});

/** Where `scripts/rehearse-deploy.ts` has built the image. */
const images = process.env.MODELPORT_TEST_IMAGES;
if (!images) console.log('The image was not built (scripts/rehearse-deploy.ts): its test is skipped');

test.skipIf(!images)(
  'the image has what the Dockerfile defines, and answers, checks its health and bills without a shell',
  async () => {
    const buildah = buildahIn(images ?? '');
    const only = (...words: string[]) => {
      const { code, stdout, output } = run([...buildah, ...words]);
      expect({ words, code, output: code === 0 ? '' : output }).toEqual({ words, code: 0, output: '' });
      return stdout.trim();
    };
    const { Docker } = JSON.parse(only('inspect', '--type', 'image', IMAGE)) as { Docker: { config: object } };
    const expected = readImageConfig();
    expect(Docker.config).toMatchObject({
      User: expected.user,
      Entrypoint: expected.entrypoint,
      Cmd: expected.command,
      Volumes: { [expected.volume]: {} },
      WorkingDir: expected.volume,
      StopSignal: expected.stopSignal,
      ExposedPorts: { [`${expected.environment.PORT}/tcp`]: {} },
      Healthcheck: { Test: ['CMD', ...expected.health] },
      Labels: { 'org.opencontainers.image.title': 'Modelport', 'org.opencontainers.image.licenses': 'Apache-2.0' },
    });
    const container = only('from', '--pull-never', IMAGE);
    const data = mkdtempSync(join(tmpdir(), 'modelport-image-'));
    const [uid = 0, gid = 0] = expected.user.split(':').map(Number);
    chownSync(data, uid, gid);
    const root = only('mount', container);
    try {
      expect(existsSync(join(root, 'bin/sh'))).toBe(false);
      const sbom = JSON.parse(readFileSync(join(root, 'usr/share/doc/modelport/sbom.cdx.json'), 'utf8'));
      expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'modelport' } } });
      // Buildah passes on no variable of its own: of the settings of a test those that a user of the image also sets.
      const settings = ['HOST', 'PORT', 'MODELPORT_API_KEY', 'MODELPORT_ADMIN_KEY', 'MODELPORT_SANDBOX'];
      const passed = settings.map((name) => `--env ${name}="$${name}"`).join(' ');
      const start = [...buildah, 'run', '--isolation', 'chroot', '--volume', `${data}:${expected.volume}`].join(' ');
      const inside = [
        'sh',
        '-c',
        `exec ${start} ${passed} ${container} -- ${expected.entrypoint.join(' ')} "$@"`,
        'sh',
      ];
      const gateway = await startGateway({ program: inside, dataFolder: data });
      try {
        const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify(chatRequest('sandbox-chat')),
        });
        expect(answer.status).toBe(200);
        expect(await gateway.verify()).toMatchObject({ ok: true });
        const { port } = new URL(gateway.url);
        const health = (port: string) => run(['env', `PORT=${port}`, ...inside, ...expected.health.slice(1)]).code;
        expect([health(port), health('9')]).toEqual([0, 1]);
      } finally {
        await gateway.kill();
      }
      for (const name of readdirSync(data).filter((name) => name.startsWith('modelport.db')))
        expect({ name, uid: statSync(join(data, name)).uid }).toEqual({ name, uid });
    } finally {
      only('rm', container);
      rmSync(data, { recursive: true });
    }
  },
  180_000,
);

test.skipIf(!docker)('docker compose reads the file alone and with every profile', () => {
  const file = [docker ?? '', 'compose', '--file', join(DEPLOY, 'compose.yaml')];
  for (const [profile, count] of [
    ['none', 1],
    ['postgres', 2],
    ['*', 6],
  ] as const) {
    const { code, stdout } = run([...file, '--profile', profile, 'config', '--services']);
    expect({ profile, code, services: stdout.trim().split('\n').length }).toEqual({
      profile,
      code: 0,
      services: count,
    });
  }
});

test.skipIf(!analyze)('systemd takes the unit, and finds it little exposed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-unit-'));
  try {
    const unit = readFileSync(join(DEPLOY, 'systemd', 'modelport.service'), 'utf8');
    const path = join(folder, 'modelport.service');
    // The program must exist where the unit is checked.
    writeFileSync(path, unit.replace('/usr/local/bin/modelport', process.execPath));
    // What it reports of other units of this machine does not count.
    const ofOurs = ({ output }: { output: string }) => output.split('\n').filter((line) => line.includes('modelport'));
    const verified = run([analyze ?? '', 'verify', '--man=no', '--recursive-errors=no', path]);
    expect({ code: verified.code, output: ofOurs(verified) }).toEqual({ code: 0, output: [] });
    const security = run([analyze ?? '', 'security', '--no-pager', '--offline=true', '--threshold=20', path]);
    expect({ code: security.code, exposure: /exposure level.*/.exec(security.output)?.[0] }).toEqual({
      code: 0,
      exposure: expect.stringContaining('OK'),
    });
    writeFileSync(path, unit.replace('/usr/local/bin/modelport', process.execPath).replace('Restart=', 'Restrat='));
    expect(ofOurs(run([analyze ?? '', 'verify', '--man=no', '--recursive-errors=no', path])).join()).toContain(
      'Restrat',
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
