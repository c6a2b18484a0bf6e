/** Descriptions of parameters for the OpenAPI document. */

const MODEL = "A model's name, as `GET /v1/models` lists it.";
const VIDEO_TASK = "A video task's id.";
/** The part of the path before the parameter. */
const AFTER: { readonly [part: string]: string } = {
  accounts: "An account's id or name.",
  channels: "A channel's id.",
  calls: "A call's id, as in the header `x-request-id` of its response.",
  engines: MODEL,
  files: "The last part of a file's URL.",
  generations: VIDEO_TASK,
  image2video: VIDEO_TASK,
  keys: "A key's id.",
  people: "A person's id.",
  models: MODEL,
  'price-groups': "A price group's name.",
  prices: "A price version's id.",
  providers: "A provider's name.",
  responses: "A response's id.",
  rules: "A rule's name.",
  targets: "A target: the provider's name, a slash, and the provider's name of the model.",
  text2video: VIDEO_TASK,
  videos: VIDEO_TASK,
};

/** Query parameters whose schema has no description. */
const IN_QUERY: { readonly [name: string]: string } = {
  Action: 'The action of the Volcengine API: it starts a task or returns its state.',
  Version: 'The version of the Volcengine API.',
  after: 'The id of the last entry of the page before.',
  after_id: 'Entries after this id.',
  before_id: 'Entries before this id.',
  include_obfuscation: 'Accepted and ignored.',
  index: 'Which video of a task with several, from 0.',
  key: "A caller's key.",
  limit: 'The maximum of entries on a page.',
  model: 'Only of this model.',
  order: '`asc`: oldest first. `desc`: newest first.',
  outcome: 'Only calls with this outcome.',
  pageToken: 'The `nextPageToken` of the page before.',
  rule: 'Only of this rule.',
  stream: 'Whether the stored response is sent as events.',
  variant: 'Only `video`: no thumbnail and no sprite sheet is stored.',
};

/** The parameter `{name}` of a path. */
export function pathParameterText(path: string, name: string): string | undefined {
  const before = path.slice(0, path.indexOf(`/{${name}}`));
  return AFTER[before.slice(before.lastIndexOf('/') + 1)];
}

export const queryParameterText = (name: string): string | undefined => IN_QUERY[name];
