/** The command that rotates the encryption key of providers' credentials. */
import type { Command } from './command.ts';
import { printRow } from './printed.ts';
import { adminCommand } from './shared-commands.ts';

const rotate = adminCommand(
  {
    name: 'secrets rotate',
    summary:
      "Encrypts providers' credentials with a new key: with the server's MODELPORT_SECRET_KEY if it is set (the old one in MODELPORT_SECRET_KEY_PREVIOUS), otherwise with a key newly made for its key file.",
  },
  async (admin, open, given) => {
    const { from, providers } = await admin.send<{ from: string; providers: number }>('POST', '/secrets/rotate');
    printRow(open, given, { 'providers re-encrypted': providers, 'key of': from });
  },
);

export const SECRET_COMMANDS: readonly Command[] = [rotate];
