/** The command that signs the owner in to the console. */
import type { Command } from './command.ts';
import { adminCommand } from './shared-commands.ts';

const loginLink = adminCommand(
  {
    name: 'login-link',
    usage: '[PERSON]',
    summary:
      'Prints a link that signs a person in to the console, once and within 15 minutes: the person with this id, or the first owner.',
  },
  async (admin, open, given) => {
    const [person] = given.words;
    const path = person === undefined ? '/login-link' : `/people/${encodeURIComponent(person)}/login-link`;
    const made = await admin.send<{ path: string; expiresAt: string }>('POST', path);
    const { url } = open.server({ url: given.option('url'), keyFile: given.option('key-file') });
    const link = `${url}${made.path}`;
    open.terminal.out(given.json ? JSON.stringify({ link, expiresAt: made.expiresAt }) : link);
  },
);

export const PEOPLE_COMMANDS: readonly Command[] = [loginLink];
