/** Passkeys: the browser's side of the ceremonies. Loaded when one begins. */
import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { currentLanguage } from '../i18n/language.ts';
import { dictionary, translate } from '../i18n/words.ts';
import { ask } from './client.ts';
import type { SignedIn } from './session.ts';

export interface Passkey {
  id: string;
  name: string;
  /** The host that it was made for. */
  host: string;
  /** Copied to other devices. */
  isSynced: boolean;
  createdAt: string;
  usedAt: string | null;
}

/** What shows that the person is still there. */
export type Presence = { current?: string } | { confirmation: string };

interface Ceremony<Options> {
  options: Options;
  ceremony: string;
}

const begin = <Options>(path: string, body: object = {}) =>
  ask<Ceremony<Options>>(`${path}/options`, { method: 'POST', body });

const words = dictionary({
  noPasskey: [
    'No passkey was used: it was cancelled, took too long, or there is none on this device.',
    '未使用通行密钥：操作已取消、超时，或此设备上没有通行密钥。',
  ],
});

/** The browser gave no passkey: the person cancelled, did not answer in time, or has none here. Its own messages are English. */
const refuse = (reason: unknown): never => {
  throw new Error(translate(words, currentLanguage())('noPasskey'), { cause: reason });
};

async function use<Answer>(path: string): Promise<Answer> {
  const { options, ceremony } = await begin<PublicKeyCredentialRequestOptionsJSON>(path);
  const response = await startAuthentication({ optionsJSON: options }).catch(refuse);
  return ask<Answer>(path, { method: 'POST', body: { ceremony, response } });
}

export const signInWithPasskey = () => use('/console/api/sign-in/passkey');

/** Resolves with the confirmation that the person of this session is there. */
export const confirmWithPasskey = async (): Promise<string> =>
  (await use<{ confirmation: string }>('/console/api/passkeys/confirm')).confirmation;

export async function addPasskey(name: string, presence: Presence = {}): Promise<Passkey> {
  const path = '/console/api/passkeys';
  const { options, ceremony } = await begin<PublicKeyCredentialCreationOptionsJSON>(path, presence);
  const response = await startRegistration({ optionsJSON: options }).catch(refuse);
  return ask<Passkey>(path, { method: 'POST', body: { ceremony, response, name } });
}

/** The gateway asks for none within 15 minutes of a sign-in. */
const FRESH_MS = 14 * 60_000;

/** `current`: the password, as far as it was typed. Without it a passkey is asked for where the sign-in is long ago. */
export async function showPresence({ person, session, ways }: SignedIn, current: string): Promise<Presence> {
  if (current !== '') return { current };
  const isFresh = Date.parse(session.at) > Date.now() - FRESH_MS;
  const isEnough = !person.hasPassword || session.way === 'link' || session.way === 'passkey';
  if ((isFresh && isEnough) || person.passkeys === 0 || !ways.passkeys) return {};
  return { confirmation: await confirmWithPasskey() };
}
