/** Commands for prices: history, comparison with a price file, adoption, price groups. */
import { readFile } from 'node:fs/promises';
import { type PeoplesPrice, priceLine } from '../catalog/price-text.ts';
import { type AdminClient, moneyIn } from './admin-client.ts';
import type { CliDeps } from './cli-deps.ts';
import { type Command, type Given, UsageError } from './command.ts';
import { printRows } from './printed.ts';
import { adminCommand, changeIn, deleteCommand, listCommand } from './shared-commands.ts';

interface ShownDiff {
  source: string;
  asOf: string;
  fingerprint: string;
  models: { model: string; before: PeoplesPrice; after: PeoplesPrice; asOf: string; source: string }[];
  equal: number;
  unlisted: string[];
  effect?: ShownEffect;
}

interface ShownEffect {
  state: string;
  done?: number;
  total?: number;
  from?: string;
  to?: string;
  skipped?: number;
  calls?: number;
  before?: string;
  after?: string;
  difference?: string;
  models?: { model: string; calls: number; before: string; after: string; difference: string }[];
}

const SOURCE_OPTIONS = { source: { type: 'string' }, file: { type: 'string' } } as const;
const SOURCE_USAGE = '[--source release|URL] [--file FILE]';

async function sourceOf(given: Given): Promise<{ source?: string; prices?: unknown }> {
  const path = given.option('file');
  const source = given.option('source');
  if (path === undefined) return source === undefined ? {} : { source };
  if (source !== undefined) throw new UsageError('Give --source or --file, not both.');
  try {
    return { prices: JSON.parse(await readFile(path, 'utf8')) as unknown };
  } catch (thrown) {
    throw new UsageError(`${path} cannot be read as a price file: ${(thrown as Error).message}`);
  }
}

/** Waits for the effect, and shows how far it is. */
async function compared(open: CliDeps, admin: AdminClient, body: object, days: string | undefined): Promise<ShownDiff> {
  for (;;) {
    const diff = await admin.send<ShownDiff>('POST', '/prices/diff', body, { query: { days } });
    if (diff.effect?.state !== 'running') return diff;
    open.terminal.err(`${diff.effect.done} of ${diff.effect.total} calls read.`);
    if (!(await open.wait(1000))) throw new UsageError('Interrupted.');
  }
}

function printDiff(open: CliDeps, given: Given, diff: ShownDiff): void {
  if (given.json) {
    open.terminal.out(JSON.stringify(diff));
    return;
  }
  const rows = diff.models.map(({ model, before, after, asOf }) => {
    const bill = diff.effect?.models?.find((one) => one.model === model);
    return {
      model,
      before: priceLine(before),
      after: priceLine(after),
      'as of': asOf,
      ...(bill && { calls: bill.calls, charged: moneyIn(bill.before), 'would be': moneyIn(bill.after) }),
    };
  });
  printRows(open, given, rows, 'No price differs from the file.');
  const unlisted = diff.unlisted.length > 0 ? `; not in the file: ${diff.unlisted.join(', ')}` : '';
  open.terminal.out(`${diff.equal} models have the price of the file (${diff.source}, as of ${diff.asOf})${unlisted}.`);
  const { calls, before, after, difference, skipped, from, to } = diff.effect ?? {};
  if (calls === undefined) return;
  const left = skipped ? ` ${skipped} calls cannot be recomputed.` : '';
  open.terminal.out(
    `${calls} calls from ${from} to ${to} were charged ${before} USD, and would have been charged ${after} USD (${difference}).${left}`,
  );
}

const diff = adminCommand(
  {
    name: 'prices diff',
    usage: `${SOURCE_USAGE} [--days N]`,
    summary:
      'Compares prices with a price file, and shows what the calls of the last 30 days would have cost. Changes nothing.',
    options: { ...SOURCE_OPTIONS, days: { type: 'string' } },
  },
  async (admin, open, given) => {
    printDiff(open, given, await compared(open, admin, await sourceOf(given), given.option('days')));
  },
);

const adopt = adminCommand(
  {
    name: 'prices adopt',
    usage: `[--models A,B | --all] ${SOURCE_USAGE} [--from TIME]`,
    summary: 'Adopts prices of a price file for these models, now or for calls from a time on.',
    options: { ...SOURCE_OPTIONS, models: { type: 'string' }, all: { type: 'boolean' }, from: { type: 'string' } },
  },
  async (admin, open, given) => {
    const names = given.option('models');
    if ((names === undefined) === !given.flag('all')) {
      throw new UsageError(
        'Name the models with --models A,B or take all with --all: "modelport prices diff" shows them.',
      );
    }
    const models = names === undefined ? 'all' : names.split(',').map((name) => name.trim());
    const from = given.option('from');
    const source = await sourceOf(given);
    const { fingerprint } = await admin.send<ShownDiff>('POST', '/prices/diff', source, { query: { days: 0 } });
    const body = { ...source, ...(from !== undefined && { from }), fingerprint, models };
    const adopted = await admin.send<{ from: string; models: AdoptedModel[] }>('POST', '/prices/adopt', body);
    const rows = adopted.models.map(({ model, priceId, before, after }) => ({
      model,
      before: priceLine(before),
      after: priceLine(after),
      price: priceId,
      from: adopted.from,
    }));
    printRows(open, given, rows, 'No price differs from the file.');
  },
);

interface AdoptedModel {
  model: string;
  priceId: string;
  before: PeoplesPrice;
  after: PeoplesPrice;
}

interface ShownPriceVersion {
  id: string;
  model: string;
  price: PeoplesPrice;
  createdAt: string;
  effectiveAt?: string;
  source?: string;
}

const list = listCommand<ShownPriceVersion>(
  {
    name: 'prices list',
    usage: '[MODEL]',
    summary: 'Lists the price versions, oldest first: of all models, or of one.',
  },
  {
    path: '/prices',
    query: ({ words: [model] }) => ({ model }),
    row: ({ id, model, price, createdAt, effectiveAt, source }) => ({
      id,
      model,
      price: priceLine(price),
      created: createdAt,
      from: effectiveAt ?? createdAt,
      ...(source !== undefined && { source }),
    }),
    empty: 'There are no prices yet.',
  },
);

const cancel = deleteCommand(
  { name: 'prices cancel', usage: 'PRICE', summary: 'Cancels a scheduled price that has not begun.' },
  'prices',
);

interface ShownGroup {
  name: string;
  factor: string;
  createdAt: string;
}

const groupRow = ({ name, factor, createdAt }: ShownGroup) => ({ name, factor, created: createdAt });
const changeGroup = changeIn<ShownGroup>('price-groups', groupRow);

const groups = listCommand<ShownGroup>(
  { name: 'price-groups list', summary: 'Lists the price groups: accounts that pay list prices times a factor.' },
  { path: '/price-groups', isWhole: true, row: groupRow, empty: 'There are no price groups yet.' },
);

const setGroup: Command = {
  name: 'price-groups set',
  usage: 'NAME FACTOR',
  summary: 'Creates a price group, or changes its factor for calls from now on.',
  run(open, given) {
    const [, factor = ''] = given.words;
    return changeGroup(open, given, 'PUT', '', { factor });
  },
};

const removeGroup = deleteCommand(
  { name: 'price-groups delete', usage: 'NAME', summary: 'Removes a price group without accounts.' },
  'price-groups',
);

export const PRICE_COMMANDS: readonly Command[] = [list, diff, adopt, cancel, groups, setGroup, removeGroup];
