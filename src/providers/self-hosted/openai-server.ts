/** Any server that speaks OpenAI's formats, its videos too, at an address of the operator's. */

import { openaiCompatible } from '../chat/openai-compatible.ts';
import type { Provider } from '../provider.ts';
import { openaiVideo } from '../video/openai-video.ts';

export const openaiServer: Provider = { ...openaiCompatible, video: openaiVideo };
