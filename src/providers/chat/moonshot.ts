/** Moonshot (Kimi). */
import { openaiCompatibleProvider } from './openai-compatible.ts';

export const moonshot = openaiCompatibleProvider({
  name: 'moonshot',
  baseUrl: 'https://api.moonshot.ai/v1',
  credentialVariable: 'MOONSHOT_API_KEY',
  quirks: {
    supportsMediaUrls: [],
    models: [
      {
        // These models accept only the default sampling values.
        match: '^kimi-(k2\\.[5-9]|k[3-9])',
        quirks: { rejects: ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty'], fixed: { n: 1 } },
      },
    ],
  },
});
