/** What would happen to a request now, from the command line. */
import { type Command, UsageError } from './command.ts';
import { type PrintedRow, printRow, printRows } from './printed.ts';
import { adminCommand } from './shared-commands.ts';
import type { ShownExplanation } from './shown.ts';

const explain = adminCommand(
  {
    name: 'explain',
    usage: '[MODEL] [--prompt TEXT] [--file FILE] [--format NAME] [--key ID]',
    summary:
      'Explains what would happen to a request now: model, targets in order, price, hold, and what limits, balance and budgets say. Nothing is sent, held or counted.',
    options: {
      prompt: { type: 'string' },
      file: { type: 'string', short: 'f' },
      format: { type: 'string' },
      key: { type: 'string' },
    },
  },
  async (admin, open, given) => {
    const [model] = given.words;
    const file = given.option('file');
    if (model === undefined && file === undefined) throw new UsageError('Name a model, or a file with a request.');
    const content = given.option('prompt') ?? 'Hello!';
    const body = file === undefined ? { messages: [{ role: 'user', content }] } : await open.readForm(file);
    const request = { ...body, ...(model !== undefined && { model }) };
    const [format, key] = [given.option('format'), given.option('key')];
    const question = { request, ...(format !== undefined && { format }), ...(key !== undefined && { key }) };
    const explained = await admin.send<ShownExplanation>('POST', '/routing/explain', question);
    if (given.json) return open.terminal.out(JSON.stringify(explained));
    const { models, error, hold, available, cache, checks } = explained;
    const rows = models.flatMap(({ name, on = [], amount, error: failure, targets }): PrintedRow[] => {
      const known = { model: name, 'falls back on': on, cost: amount };
      if (failure) return [{ ...known, target: '', format: '', error: failure.message }];
      return targets.map(({ provider, model: upstream, format: spoken }) => ({
        ...known,
        target: `${provider}/${upstream}`,
        format: spoken,
      }));
    });
    printRows(open, given, rows, 'No model answers.');
    const shown = checks.map(({ check, of, window = '', used, limit, needs, passes, reason }): PrintedRow => {
      return { check: `${of} ${check} ${window}`.trimEnd(), used, limit, needs, passes, reason };
    });
    if (shown.length > 0) printRows(open, given, shown, '');
    const refused = error && `${error.status} ${error.code}: ${error.message}`;
    printRow(open, given, { cache, hold, available, refused });
  },
);

export const EXPLAIN_COMMANDS: readonly Command[] = [explain];
