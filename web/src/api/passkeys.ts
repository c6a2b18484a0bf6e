/** Passkeys: the browser's side of the ceremonies. Loaded when one begins. */
import {
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { ask } from './client.ts';

export interface Passkey {
  id: string;
  name: string;
  createdAt: string;
  usedAt: string | null;
}

interface Ceremony<Options> {
  options: Options;
  ceremony: string;
}

export async function signInWithPasskey(): Promise<void> {
  const path = '/console/api/sign-in/passkey';
  const { options, ceremony } = await ask<Ceremony<PublicKeyCredentialRequestOptionsJSON>>(`${path}/options`, {
    method: 'POST',
    body: {},
  });
  const response = await startAuthentication({ optionsJSON: options });
  await ask(path, { method: 'POST', body: { ceremony, response } });
}

export async function addPasskey(name: string): Promise<Passkey> {
  const path = '/console/api/passkeys';
  const { options, ceremony } = await ask<Ceremony<PublicKeyCredentialCreationOptionsJSON>>(`${path}/options`, {
    method: 'POST',
    body: {},
  });
  const response = await startRegistration({ optionsJSON: options });
  return ask<Passkey>(path, { method: 'POST', body: { ceremony, response, name } });
}
