/** Any server with OpenAI's formats including videos. */

import { openaiCompatible } from '../chat/openai-compatible.ts';
import type { Provider } from '../provider.ts';
import { openaiVideo } from '../video/openai-video.ts';

export const openaiServer: Provider = { ...openaiCompatible, video: openaiVideo };
