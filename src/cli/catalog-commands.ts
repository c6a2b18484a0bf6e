/** What is on sale, from a terminal. */
import { type PeoplesPrice, readComponents, writePeoplesPrice } from '../catalog/price-text.ts';
import type { Command } from './command.ts';
import { UsageError } from './command.ts';
import { migratedStore } from './opened.ts';
import { printRow, printRows, type Row } from './printed.ts';

const apply: Command = {
  name: 'apply',
  usage: '-f FILE',
  summary: 'Brings providers, models and prices to what the file says (modelport.yaml).',
  options: { file: { type: 'string', short: 'f' } },
  words: [0, 0],
  async run(open, given) {
    const file = given.option('file');
    if (file === undefined) throw new UsageError('Say which file: modelport apply -f modelport.yaml');
    const form = await open.readForm(file);
    await migratedStore(open);
    const { providers, models } = await open.apply(form);
    printRow(open, given, {
      'providers added': providers.added,
      'providers changed': providers.changed,
      'models added': models.added,
      'models changed': models.changed,
      'models repriced': models.repriced,
    });
    return 0;
  },
};

const models: Command = {
  name: 'models',
  usage: '',
  summary: 'Lists the models on sale, with prices and targets.',
  words: [0, 0],
  async run(open, given) {
    const store = await migratedStore(open);
    const rows: Row[] = [];
    for (const model of await store.models()) {
      const price = await store.price(model.priceId);
      const components = price ? writePeoplesPrice(readComponents(price.components)) : {};
      rows.push({
        name: model.name,
        kind: model.kind,
        price: priceText(components),
        targets: model.targets.map((target) => `${target.provider}/${target.model}`),
      });
    }
    printRows(open, given, rows, 'There is no model yet.');
    return 0;
  },
};

/** On one line: "input 2, output 12, tiers (from 200001, input 4, output 18)". */
function priceText(price: PeoplesPrice): string {
  const members = Object.entries(price).map(([name, written]) => {
    if (typeof written === 'string') return `${name} ${written}`;
    const lines = written.map((line) => Object.entries(line).map(([word, value]) => `${word} ${value}`));
    return `${name} ${lines.map((words) => `(${words.join(', ')})`).join(' ')}`;
  });
  return members.join(', ');
}

export const CATALOG_COMMANDS: readonly Command[] = [models, apply];
