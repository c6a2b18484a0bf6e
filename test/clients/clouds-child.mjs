// The clouds' own libraries, which call a URL of the tests: one JSON line in, one JSON line out; `id` joins the two.
import { AnthropicBedrock } from '@anthropic-ai/bedrock-sdk';
import { AnthropicVertex } from '@anthropic-ai/vertex-sdk';
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  InvokeModelCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { GoogleGenAI } from '@google/genai';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { JWT, OAuth2Client } from 'google-auth-library';
import { serveCalls } from './serve-calls.mjs';

const region = 'us-east-1';

// Each takes `{url, key, project, location}` and the library's own request, and gives the library's own reply.
const CALLS = {
  converse: ({ url, key }, request) => aws(url, key).send(new ConverseCommand(withBytes(request))),
  async 'converse stream'({ url, key }, request) {
    const { stream } = await aws(url, key).send(new ConverseStreamCommand(withBytes(request)));
    const events = [];
    for await (const event of stream) events.push(event);
    return { events };
  },
  invoke: ({ url, key }, { modelId, body }) =>
    aws(url, key).send(
      new InvokeModelCommand({ modelId, body: JSON.stringify(body), contentType: 'application/json' }),
    ),
  'anthropic bedrock': ({ url, key }, request) => {
    const keys =
      typeof key === 'string' ? { apiKey: key } : { awsAccessKey: key.accessKeyId, awsSecretKey: key.secretAccessKey };
    const client = new AnthropicBedrock({ ...keys, awsRegion: region, baseURL: url, maxRetries: 0 });
    return request.stream ? client.messages.stream(request).finalMessage() : client.messages.create(request);
  },
  'anthropic vertex': ({ url, key, project, location }, request) => {
    const client = new AnthropicVertex({
      region: location,
      projectId: project,
      baseURL: `${url}/v1`,
      authClient: holding(key),
      maxRetries: 0,
    });
    return request.stream ? client.messages.stream(request).finalMessage() : client.messages.create(request);
  },
  async 'genai vertex'({ url, key, project, location }, { stream, ...request }) {
    const httpOptions = { baseUrl: url, retryOptions: { attempts: 1 } };
    const { models } = new GoogleGenAI({
      vertexai: true,
      project,
      location,
      googleAuthOptions: { authClient: holding(key) },
      httpOptions,
    });
    if (!stream) return models.generateContent(request);
    const chunks = [];
    for await (const chunk of await models.generateContentStream(request)) chunks.push(chunk);
    return { chunks };
  },
  async 'genai express'({ url, key }, request) {
    const httpOptions = { baseUrl: url, retryOptions: { attempts: 1 } };
    return new GoogleGenAI({ vertexai: true, apiKey: key, httpOptions }).models.generateContent(request);
  },
  // What the library would send to Google for a token; nothing leaves.
  async 'google token'(_at, { email, key, keyId }) {
    let params;
    const client = new JWT({ email, key, keyId, scopes: ['https://www.googleapis.com/auth/cloud-platform'] });
    client.transporter = {
      request: async (options) => {
        params = options;
        return { data: { access_token: 'x', expires_in: 3600 }, status: 200 };
      },
    };
    await client.authorize();
    const { method, url, headers, data } = params;
    return {
      method,
      url: String(url),
      contentType: new Headers(headers).get('content-type'),
      form: Object.fromEntries(new URLSearchParams(data)),
    };
  },
};

function aws(endpoint, key) {
  const credentials =
    typeof key === 'string'
      ? { token: { token: key }, authSchemePreference: ['httpBearerAuth'] }
      : { credentials: key };
  return new BedrockRuntimeClient({
    region,
    endpoint,
    ...credentials,
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler(),
  });
}

function holding(access_token) {
  const client = new OAuth2Client();
  client.setCredentials({ access_token, expiry_date: Date.now() + 3_600_000 });
  return client;
}

/** Bytes cannot come as JSON: `{base64}` stands for them. */
function withBytes(value) {
  if (Array.isArray(value)) return value.map(withBytes);
  if (typeof value !== 'object' || value === null) return value;
  if (typeof value.base64 === 'string') return Buffer.from(value.base64, 'base64');
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withBytes(one)]));
}

serveCalls(CALLS, (thrown) => `${thrown.constructor.name}: ${thrown.message}`);
