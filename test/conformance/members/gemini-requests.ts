/** A value for every member of a generateContent request. */
import type { JsonObject } from '../../../src/canonical/json.ts';
import { GIVEN, type Group } from './group.ts';
import { PNG, SCHEMA, STORED } from './samples.ts';

const gemini = (more: JsonObject): JsonObject => ({
  contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
  ...more,
});
const generating = (more: JsonObject): JsonObject => gemini({ generationConfig: more });
const geminiTool: JsonObject = { functionDeclarations: [{ name: 'look', parametersJsonSchema: SCHEMA }] };
const VERTEX = [
  'audioTimestamp',
  'enableAffectiveDialog',
  'modelSelectionConfig',
  'routingConfig',
  'translationConfig',
];

export const GEMINI_REQUESTS: readonly Group[] = [
  {
    dialect: 'gemini',
    body: gemini,
    members: {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      tools: [geminiTool],
      toolConfig: { retrievalConfig: { languageCode: 'no' } },
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
      labels: { purpose: 'a-test' },
      cachedContent: 'cachedContents/1',
      serviceTier: 'flex',
      store: STORED,
      continuationToken: 'on',
      modelArmorConfig: { promptTemplateName: 'a' },
    },
  },
  {
    dialect: 'gemini',
    declared: 'gemini/GenerationConfig',
    body: generating,
    members: {
      candidateCount: 2,
      frequencyPenalty: 0.5,
      maxOutputTokens: 77,
      mediaResolution: 'MEDIA_RESOLUTION_LOW',
      presencePenalty: 0.5,
      responseFormat: { text: { mimeType: 'text/plain' } },
      responseLogprobs: true,
      responseMimeType: 'application/json',
      responseModalities: ['TEXT', 'IMAGE'],
      seed: 42,
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      stopSequences: ['END'],
      temperature: 0.25,
      thinkingConfig: { thinkingBudget: 3500 },
      topK: 5,
      topP: 0.75,
      enableEnhancedCivicAnswers: true,
      audioTranscriptionConfig: { languageCodes: ['no'] },
    },
    elsewhere: ['logprobs', 'responseJsonSchema', 'responseSchema', ...VERTEX],
  },
  {
    dialect: 'gemini',
    body: (more) => generating({ responseLogprobs: true, ...more }),
    members: { logprobs: 3 },
  },
  {
    dialect: 'gemini',
    body: (more) => generating({ responseMimeType: 'application/json', ...more }),
    members: {
      responseJsonSchema: SCHEMA,
      responseSchema: { type: 'OBJECT', properties: { city: { type: 'STRING' } } },
    },
  },
  {
    dialect: 'gemini',
    declared: 'gemini/ThinkingConfig',
    body: (more) => generating({ thinkingConfig: more }),
    members: {
      includeThoughts: { idle: 'whether thoughts are shown: most providers show them or have none to show' },
      thinkingBudget: 3500,
      thinkingLevel: 'LOW',
    },
  },
  {
    dialect: 'gemini',
    declared: 'gemini/SpeechConfig',
    body: (more) => generating({ responseModalities: ['AUDIO'], speechConfig: more }),
    members: {
      voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } },
      languageCode: 'no-NO',
      multiSpeakerVoiceConfig: { speakerVoiceConfigs: [] },
    },
  },
  {
    dialect: 'gemini',
    declared: 'gemini/ImageConfig',
    body: (more) => generating({ imageConfig: more }),
    members: {
      aspectRatio: '16:9',
      imageSize: '2K',
      personGeneration: 'ALLOW_ADULT',
      outputMimeType: 'image/png',
      outputCompressionQuality: 80,
      imageOutputOptions: { mimeType: 'image/png' },
      prominentPeople: 'ALLOW',
    },
  },
  {
    dialect: 'gemini',
    declared: 'gemini/Part',
    body: (more) => gemini({ contents: [{ role: 'user', parts: [{ text: 'Hello' }, more] }] }),
    members: {
      text: 'Another word',
      inlineData: { mimeType: 'image/png', data: PNG },
      fileData: { mimeType: 'image/png', fileUri: 'http://files/1' },
      executableCode: { language: 'PYTHON', code: '1' },
      codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' },
      toolCall: { id: '1', toolType: 'GOOGLE_SEARCH' },
      toolResponse: { id: '1', toolType: 'GOOGLE_SEARCH' },
    },
    elsewhere: [
      'functionCall',
      'functionResponse',
      'mediaResolution',
      'videoMetadata',
      'thought',
      'thoughtSignature',
      'partMetadata',
      'mediaProcessing',
      'speechMetadata',
      'audioTranscription',
    ],
  },
  {
    dialect: 'gemini',
    body: (more) =>
      gemini({ contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: PNG }, ...more }] }] }),
    members: {
      mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' },
      videoMetadata: { fps: 2 },
      partMetadata: { a: 1 },
      mediaProcessing: { a: 1 },
      speechMetadata: { a: 1 },
      audioTranscription: { text: 'a' },
    },
  },
  {
    dialect: 'gemini',
    declared: 'gemini/FunctionDeclaration',
    body: (more) => gemini({ tools: [{ functionDeclarations: [{ name: 'look', ...more }] }] }),
    members: {
      name: GIVEN,
      behavior: 'NON_BLOCKING',
      description: 'Looks around',
      parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } } },
      parametersJsonSchema: SCHEMA,
      response: { type: 'OBJECT' },
      responseJsonSchema: SCHEMA,
    },
  },
  {
    dialect: 'gemini',
    declared: 'gemini/Tool',
    body: (more) => gemini({ tools: [geminiTool, ...(Object.keys(more).length > 0 ? [more] : [])] }),
    members: {
      googleMaps: {},
      mcpServers: [{ name: 'tools' }],
      codeExecution: {},
      computerUse: { environment: 'ENVIRONMENT_BROWSER' },
      functionDeclarations: [{ name: 'write' }],
      googleSearch: {},
      googleSearchRetrieval: {},
      urlContext: {},
      fileSearch: { fileSearchStoreNames: ['a'] },
      retrieval: {},
      enterpriseWebSearch: {},
      exaAiSearch: {},
      parallelAiSearch: {},
    },
  },
  {
    dialect: 'gemini',
    declared: 'gemini/FunctionCallingConfig',
    body: (more) => gemini({ tools: [geminiTool], toolConfig: { functionCallingConfig: { mode: 'ANY', ...more } } }),
    members: { mode: 'NONE', allowedFunctionNames: ['look'], streamFunctionCallArguments: true },
  },
  {
    dialect: 'gemini',
    declared: 'gemini/ToolConfig',
    body: (more) => gemini({ tools: [geminiTool], toolConfig: more }),
    members: {
      functionCallingConfig: { mode: 'NONE' },
      retrievalConfig: { languageCode: 'no' },
      includeServerSideToolInvocations: true,
    },
  },
];
