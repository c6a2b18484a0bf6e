/** The exception class of each library in the matrix for a status. */
import type { MatrixFormat } from './matrix-client.ts';

type Status = 400 | 401 | 404 | 429 | 502;
type Classes = { readonly [status in Status]: string };

/** The libraries of OpenAI, Anthropic and Groq, and those built on them. */
const BY_STATUS: Classes = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  404: 'NotFoundError',
  429: 'RateLimitError',
  502: 'InternalServerError',
};
const BY_SIDE: Classes = {
  400: 'ClientError',
  401: 'ClientError',
  404: 'ClientError',
  429: 'ClientError',
  502: 'ServerError',
};
/** After the name of the provider's library. */
const LANGCHAIN: Classes = {
  400: 'InvalidRequestError',
  401: 'AuthenticationError',
  404: 'ModelNotFoundError',
  429: 'RateLimitError',
  502: 'APIError',
};
const GOOGLE_FETCH = 'GoogleGenerativeAIFetchError';

export function errorClass(library: string, format: MatrixFormat, status: Status): string {
  if (/^ai \d/.test(library)) return 'APICallError';
  if (library.startsWith('mistral')) return 'SDKError';
  if (library === 'genai 0' || library === 'google-genai (Python)') return BY_SIDE[status];
  if (library.startsWith('genai')) return 'ApiError';
  if (library.startsWith('generative-ai') || (library === 'langchain 1' && format === 'gemini')) return GOOGLE_FETCH;
  if (library === 'litellm (Python)' && status === 502) return 'BadGatewayError';
  if (library === 'langchain (Python)')
    return `${format === 'anthropic-messages' ? 'Anthropic' : 'OpenAI'}${LANGCHAIN[status]}`;
  return BY_STATUS[status];
}
