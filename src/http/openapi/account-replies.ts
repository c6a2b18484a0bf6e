/** What the operations on models, providers and the description itself take and answer. */
import { Type } from 'typebox';

const text = () => Type.String();
const some = Type.Optional;
const orNull = () => Type.Union([Type.String(), Type.Null()]);

const OpenAiModel = Type.Object(
  { id: text(), object: Type.Literal('model'), created: Type.Integer(), owned_by: text() },
  { $name: 'Model' },
);
const AnthropicModel = Type.Object(
  {
    type: Type.Literal('model'),
    id: text(),
    display_name: text(),
    created_at: text(),
    max_input_tokens: Type.Union([Type.Integer(), Type.Null()]),
    max_tokens: Type.Integer(),
  },
  { $name: 'AnthropicModel' },
);
const GoogleModel = Type.Object(
  {
    name: text(),
    version: text(),
    displayName: text(),
    description: text(),
    inputTokenLimit: some(Type.Integer()),
    outputTokenLimit: some(Type.Integer()),
    supportedGenerationMethods: Type.Array(text()),
  },
  { $name: 'GoogleModel' },
);

export const GoogleModelList = Type.Object(
  { models: Type.Array(GoogleModel), nextPageToken: some(text()) },
  { $name: 'GoogleModelList' },
);
/** In the shape that the headers ask for. */
export const AnyModelList = Type.Union([
  Type.Object({ object: Type.Literal('list'), data: Type.Array(OpenAiModel) }, { $name: 'ModelList' }),
  Type.Object(
    { data: Type.Array(AnthropicModel), has_more: Type.Boolean(), first_id: orNull(), last_id: orNull() },
    { $name: 'AnthropicModelList' },
  ),
  GoogleModelList,
]);
export const AnyModel = Type.Union([OpenAiModel, AnthropicModel, GoogleModel]);
export const OneGoogleModel = GoogleModel;

export const Metrics = Type.String({ $about: 'Counters and gauges, as Prometheus reads them.' });

export const Description = Type.Object({
  openapi: text(),
  info: Type.Object({}),
  servers: Type.Array(Type.Object({})),
  tags: Type.Array(Type.Object({})),
  paths: Type.Object({}),
  components: Type.Object({}),
});

export const ResponseItems = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(Type.Object({ type: some(text()) }, { additionalProperties: true })),
  first_id: orNull(),
  last_id: orNull(),
  has_more: Type.Boolean(),
});

/** Entries as `modelport.yaml` has them; their reader is `catalog/catalogue.ts`. `name`: whether it is the body that names it. */
export const providerEntry = (name: 'named' | 'in path') =>
  Type.Object(
    {
      name: name === 'named' ? text() : some(text()),
      type: Type.String({ $about: 'Such as `openai`, `anthropic` or `openai-compatible`.' }),
      baseUrl: some(text()),
      credential: some(text()),
      credentials: some(Type.Array(text(), { $about: 'Without them the provider keeps those it has.' })),
      settings: some(Type.Record(Type.String(), Type.Unknown())),
    },
    { $name: name === 'named' ? 'NewProvider' : 'ProviderEntry' },
  );

export const modelEntry = (name: 'named' | 'in path') =>
  Type.Object(
    {
      name: name === 'named' ? text() : some(text()),
      kind: some(
        Type.Enum(['chat', 'embed', 'rerank', 'image', 'speech', 'transcription', 'moderation', 'video'], {
          default: 'chat',
        }),
      ),
      price: Type.Record(Type.String(), Type.Unknown(), { $about: 'USD per million tokens, per image, per second …' }),
      maxOutputTokens: some(Type.Integer({ minimum: 1 })),
      contextTokens: some(Type.Integer({ minimum: 1 })),
      maxImages: some(Type.Integer({ minimum: 1 })),
      displayName: some(text()),
      ownedBy: some(text()),
      onDisconnect: some(Type.Enum(['abort', 'drain'])),
      targets: Type.Array(
        Type.Object({
          provider: text(),
          model: text(),
          priority: some(Type.Integer()),
          weight: some(Type.Number()),
        }),
      ),
    },
    { $name: name === 'named' ? 'NewModel' : 'ModelEntry' },
  );

export const catalogFile = () =>
  Type.Object(
    { providers: some(Type.Array(providerEntry('named'))), models: some(Type.Array(modelEntry('named'))) },
    { $name: 'CatalogFile' },
  );
