/** Two configuration files on one database: the last start wins, and reports whose prices it changed. */
import { describe, expect, test } from 'bun:test';
import { ENGINES } from '../helpers/engines.ts';
import { type GatewayProcess, type GatewaySetup, startGateway } from '../helpers/gateway-process.ts';

const PROVIDERS = [{ name: 'p', type: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', credential: 'sk-fake' }];
const setupOf = (price: { input: number; output: number }, maxOutputTokens = 100): GatewaySetup => ({
  providers: PROVIDERS,
  models: [{ name: 'm', kind: 'chat', price, maxOutputTokens, targets: [{ provider: 'p', model: 'm' }] }],
});
const DEAR = setupOf({ input: 0.15, output: 0.6 });
const HALF = setupOf({ input: 0.075, output: 0.3 }, 200);

interface Line {
  level: number;
  msg: string;
  [member: string]: unknown;
}

const WARN = 40;

/** The log lines of a start about its file. */
function fileLinesOf(gateway: GatewayProcess): Line[] {
  const lines = gateway.log().split('\n');
  return lines.flatMap((line) => (line.startsWith('{') && line.includes('"file":') ? [JSON.parse(line) as Line] : []));
}

interface AuditView {
  actor: string;
  action: string;
  before?: object;
  after?: object;
}

const newestChange = async (gateway: GatewayProcess) =>
  (await gateway.admin<{ data: AuditView[] }>('GET', '/audit?subject=m&limit=1')).data[0];

describe.each(ENGINES)('two files over $name', (engine) => {
  test('the second file reports its changes in audit and log, and whose changes it reverted', async () => {
    const { settings, tamper } = await engine.freshDatabase();
    const environment = {
      MODELPORT_LOG_LEVEL: 'info',
      // Machines that share a database share its encryption key.
      MODELPORT_SECRET_KEY: 'a key that both gateways are started with',
      ...(settings.databaseUrl && { DATABASE_URL: settings.databaseUrl }),
    };
    const startWith = (setup: GatewaySetup) =>
      startGateway({ ...setup, environment, ...(!settings.databaseUrl && { dataFolder: settings.dataDir }) });

    const first = await startWith(DEAR);
    const { actor: firstActor = '' } = (await newestChange(first)) ?? {};
    expect(firstActor).toMatch(/^file modelport\.yaml [0-9a-f]{8}$/);
    const firstPrint = firstActor.slice(-8);

    const second = await startWith(HALF);
    const record = await newestChange(second);
    await second.stop('keep');
    const [changed, warned, ...rest] = fileLinesOf(second);
    expect(rest).toEqual([]);
    expect(changed?.msg).toMatch(
      /price input 0\.15, output 0\.6 -> input 0\.075, output 0\.3 \(price version price_\w+\)/,
    );
    expect(changed?.msg).toContain('maxOutputTokens 100 -> 200');
    expect(changed).toMatchObject({ file: 'modelport.yaml', model: 'm' });
    expect(warned).toMatchObject({ level: WARN, otherFingerprint: firstPrint });
    expect(warned?.msg).toContain(`reverted what modelport.yaml (${firstPrint}) set for model "m"`);
    expect(warned?.msg).toContain('runs');
    expect(record).toMatchObject({
      actor: expect.stringMatching(/^file modelport\.yaml /),
      action: 'model.changed',
      before: { price: { input: '0.15', output: '0.6' } },
      after: { price: { input: '0.075', output: '0.3' } },
    });

    const again = await startWith(HALF);
    await Promise.all([again.stop('keep'), first.stop('keep')]);
    expect(fileLinesOf(again)).toEqual([]);
    expect(fileLinesOf(first).map(({ msg }) => msg)).toEqual([
      'modelport.yaml added provider "p".',
      expect.stringMatching(
        /^modelport\.yaml added model "m": price input 0\.15, output 0\.6 \(price version price_\w+\)\.$/,
      ),
    ]);

    // Long after the last process with the other file has ended, a change causes no warning.
    await tamper('UPDATE audits SET at = at - 3600000');
    await tamper('UPDATE config_files SET seen_at = seen_at - 3600000');
    const later = await startWith(DEAR);
    await later.stop('keep');
    expect(fileLinesOf(later).map(({ level }) => level)).toEqual([30]);
  }, 60_000);
});
