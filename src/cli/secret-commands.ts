/** The key that providers' credentials are encrypted with, from a terminal. */
import type { Command } from './command.ts';
import { migratedStore } from './opened.ts';
import { printRow } from './printed.ts';

const rotate: Command = {
  name: 'secrets rotate',
  usage: '',
  summary:
    "Encrypts providers' credentials with a new key: with MODELPORT_SECRET_KEY where it is set (the old one in MODELPORT_SECRET_KEY_PREVIOUS), else with one that is made for the key file.",
  words: [0, 0],
  async run(open, given) {
    await migratedStore(open);
    const { from, providers } = await open.rotateSecrets();
    printRow(open, given, { 'providers encrypted anew': providers, 'key of': from });
    return 0;
  },
};

export const SECRET_COMMANDS: readonly Command[] = [rotate];
