/** Any server that speaks OpenAI's formats, its videos too, at an address of the operator's. */

import type { Provider } from '../provider.ts';
import { openaiVideo } from '../video/openai-video.ts';
import { openaiCompatible } from './openai-compatible.ts';

export const openaiServer: Provider = { ...openaiCompatible, video: openaiVideo };
