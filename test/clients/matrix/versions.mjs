// Every JavaScript library of the matrix by name and version, imported on first use; and helpers for importing.

/** The arguments of each library's reader: its import, and for the AI SDK the imports of its providers. */
const IMPORTS = {
  'openai 4': [() => import('openai-4')],
  'openai 5': [() => import('openai-5')],
  'openai 6': [() => import('openai-6')],
  'openai 7': [() => import('openai')],
  'anthropic 0.32': [() => import('anthropic-sdk-0.32')],
  'anthropic 0.60': [() => import('anthropic-sdk-0.60')],
  'anthropic 0.137': [() => import('anthropic-sdk-0.137')],
  'anthropic 1': [() => import('@anthropic-ai/sdk')],
  'genai 0': [() => import('google-genai-0')],
  'genai 1': [() => import('google-genai-1')],
  'genai 2': [() => import('google-genai-2')],
  'genai 3': [() => import('@google/genai')],
  'generative-ai 0': [() => import('google-generative-ai-0')],
  'ai 4': [
    () => import('ai-4'),
    {
      openai: () => import('ai-sdk-openai-1'),
      anthropic: () => import('ai-sdk-anthropic-1'),
      google: () => import('ai-sdk-google-1'),
    },
  ],
  'ai 5': [
    () => import('ai-5'),
    {
      openai: () => import('ai-sdk-openai-2'),
      anthropic: () => import('ai-sdk-anthropic-2'),
      google: () => import('ai-sdk-google-2'),
    },
  ],
  'ai 6': [
    () => import('ai-6'),
    {
      openai: () => import('ai-sdk-openai-3'),
      anthropic: () => import('ai-sdk-anthropic-3'),
      google: () => import('ai-sdk-google-3'),
    },
  ],
  'ai 7': [
    () => import('ai'),
    {
      openai: () => import('@ai-sdk/openai'),
      anthropic: () => import('@ai-sdk/anthropic'),
      google: () => import('@ai-sdk/google'),
    },
  ],
  'mistral 1': [() => import('mistralai-1')],
  'mistral 2': [() => import('mistralai-2')],
};

/** The libraries by name and version, each made by the function for its name. */
export const librariesBy = (creations) =>
  Object.fromEntries(
    Object.entries(IMPORTS).map(([version, imports]) => [
      version,
      creations[version.split(' ')[0]](version, ...imports),
    ]),
  );

export const once = (load) => {
  let loaded;
  return () => {
    loaded ??= load();
    return loaded;
  };
};

/** The export of this name, of an ES module or of CommonJS. */
export const pick = async (loading, name) => {
  const loaded = await loading;
  return loaded[name] ?? loaded.default?.[name] ?? loaded.default;
};
