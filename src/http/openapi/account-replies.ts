/** Schemas of requests and responses for models, providers and the OpenAPI document itself. */
import { type TObject, Type } from 'typebox';
import { ModelForm, ProviderForm } from '../../catalog/catalogue-schema.ts';
import { some, text } from './reply-fields.ts';

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
/** The format depends on the request headers. */
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

export const Metrics = Type.String({ $about: 'Counters and gauges in the Prometheus text format.' });

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

/** A form whose name is given in the path. */
const inPath = (form: TObject, $name: string) => Type.Object({ ...form.properties, name: some(text()) }, { $name });
export const providerInPath = () => inPath(ProviderForm, 'ProviderEntry');
export const modelInPath = () => inPath(ModelForm, 'ModelEntry');

export const catalogFile = () =>
  Type.Object(
    { providers: some(Type.Array(ProviderForm)), models: some(Type.Array(ModelForm)) },
    { $name: 'CatalogFile' },
  );

export const Verifying = Type.Object(
  { state: Type.Literal('running'), startedAt: text(), done: Type.Integer(), total: Type.Integer() },
  { $name: 'Verifying', $about: 'The verification continues: send the request again.' },
);
