/** Two models for load: one answers at once, the other streams slowly. */

import type { ScriptedUpstream } from '../upstream/scripted-upstream.ts';
import { streamAnswer, wholeAnswer } from './chat-answers.ts';
import type { GatewaySetup } from './gateway-process.ts';
import { PRICE } from './scene.ts';

const NAMES = ['whole', 'streamed'];

/** Scripts the upstream of both models; `paceMs` is the time between two chunks. */
export function scriptLoadModels(upstream: ScriptedUpstream, paceMs: number): void {
  upstream.script('/whole/', wholeAnswer('Hello', { repeat: true }));
  upstream.script('/streamed/', streamAnswer(['one ', 'two ', 'three'], { repeat: true, paceMs }));
}

export const loadModels = (upstream: ScriptedUpstream) => modelsAt(upstream, NAMES, 100);

/** A model of each name, with a provider of the same name below the upstream's URL. */
export const modelsAt = (
  upstream: ScriptedUpstream,
  names: readonly string[],
  maxOutputTokens: number,
): Required<Pick<GatewaySetup, 'providers' | 'models'>> => ({
  providers: names.map((name) => ({
    name,
    type: 'openai-compatible',
    baseUrl: `${upstream.url}/${name}/v1`,
    credential: 'sk-fake',
  })),
  models: names.map((name) => ({
    name,
    kind: 'chat',
    price: PRICE,
    maxOutputTokens,
    targets: [{ provider: name, model: 'upstream-model' }],
  })),
});
