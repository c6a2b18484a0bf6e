/** Any server that speaks OpenAI's formats, its videos too, at an address of the operator's. */
import { openaiCompatible } from './openai-compatible.ts';
import { openaiVideo } from './openai-video.ts';
import type { Provider } from './provider.ts';

export const openaiServer: Provider = { ...openaiCompatible, video: openaiVideo };
