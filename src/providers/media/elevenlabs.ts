/** ElevenLabs: speech. */
import { GatewayError } from '../../canonical/errors.ts';
import { elevenlabsPath } from '../../dialects/audio/elevenlabs-speech.ts';
import { joinUrl } from '../chat/openai-compatible.ts';
import type { Provider } from '../provider.ts';

export const elevenlabs: Provider = {
  name: 'elevenlabs',
  baseUrl: 'https://api.elevenlabs.io/v1',
  credentialVariable: 'ELEVENLABS_API_KEY',
  needsCredential: true,
  speaks: { speech: ['elevenlabs-speech'] },
  url({ baseUrl }, _dialect, call) {
    if (call.kind !== 'speech') throw new GatewayError('internal_error', 'The gateway failed on its own side.');
    return joinUrl(baseUrl, elevenlabsPath(call));
  },
  authorize({ headers }, { credential }) {
    if (credential !== undefined) headers['xi-api-key'] = credential;
  },
};
