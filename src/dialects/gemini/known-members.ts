/** What of a generateContent request below its top a call has words for; what stands beside it is kept under its path already. */
import { type Known, only } from '../unsaid-members.ts';

/** Reported where they stand: `videoMetadata` and `mediaResolution` are kept beside the call. */
const BESIDE = only('videoMetadata', 'mediaResolution').members;
const BLOB = only('mimeType', 'data', 'displayName');

const PART: Known = {
  members: {
    ...BESIDE,
    ...only('text', 'thought', 'thoughtSignature', 'fileData').members,
    // Kept whole, as blocks that only this format knows.
    ...only('executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse').members,
    inlineData: BLOB,
    functionCall: only('id', 'name', 'args'),
    functionResponse: {
      members: { ...only('id', 'name', 'response').members, parts: { each: { members: { inlineData: BLOB } } } },
    },
  },
};

const CONTENT: Known = { members: { role: 'all', parts: { each: PART } } };

/** All members at the top are read, or kept as extras: here stand those that go deeper. */
export const KNOWN_MEMBERS: Known = {
  deeper: {
    contents: { each: CONTENT },
    systemInstruction: CONTENT,
    tools: {
      each: {
        members: {
          functionDeclarations: { each: only('name', 'description', 'parameters', 'parametersJsonSchema') },
          googleSearch: 'all',
          ...only('googleSearchRetrieval', 'codeExecution', 'urlContext', 'googleMaps', 'fileSearch').members,
          ...only('computerUse', 'mcpServers', 'retrieval', 'enterpriseWebSearch').members,
        },
      },
    },
  },
};
