/** Routes of video tasks in four formats. Each format reaches every model and reads every task. */
import { Type } from 'typebox';
import { GatewayError } from '../../../canonical/errors.ts';
import type { JsonObject } from '../../../canonical/json.ts';
import type { VideoCall } from '../../../canonical/task.ts';
import { jimengVideos, NOT_FOUND } from '../../../dialects/video/jimeng.ts';
import { klingVideos } from '../../../dialects/video/kling.ts';
import { openaiVideos, readRemix } from '../../../dialects/video/openai-videos.ts';
import type { TaskView, VideoFormat, VideoFormatRequest } from '../../../dialects/video/video-format.ts';
import { videoGenerations } from '../../../dialects/video/video-generations.ts';
import { warningsHeader } from '../../../gateway/relay/relay-reply.ts';
import type { Task } from '../../../tasks/task.ts';
import { readMembers } from '../../bodies/form.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { type AnsweredRoute, type RouteRequest, route } from '../../route.ts';
import { fileReply } from './file-reply.ts';

const text = () => Type.Optional(Type.String());
const ListQuery = Type.Object({ limit: text(), after: text(), order: text() });
const JimengQuery = Type.Object({ Action: text(), Version: text() });

const FORM = 'Starts the generation of a video. As a form (multipart/form-data) or as JSON.';
const JIMENG_START = 'CVSync2AsyncSubmitTask';
const URL_WHEN_FINISHED = 'Shows the progress of a video, and its URL when finished.';

/** What the path of a request says besides its body. */
type FromPath = Omit<VideoFormatRequest, 'fields'>;

export const VIDEO_ROUTES: readonly AnsweredRoute[] = [
  startRoute('/v1/videos', openaiVideos, FORM),
  route('GET', '/v1/videos', {
    gate: 'caller',
    scope: 'video',
    summary: 'Lists your videos.',
    query: ListQuery,
    answer: list,
  }),
  progressRoute('/v1/videos', openaiVideos, 'Shows the progress of a video.'),
  route('DELETE', '/v1/videos/:id', {
    gate: 'caller',
    scope: 'video',
    summary: 'Removes a video and its files; one in progress is cancelled if its provider supports that.',
    reply: Type.Object({ id: Type.String(), object: Type.Literal('video.deleted'), deleted: Type.Boolean() }),
    async answer(deps, { path, caller }) {
      await deps.videos.remove(caller, path.id ?? '');
      return { id: path.id, object: 'video.deleted', deleted: true };
    },
  }),
  route('GET', '/v1/videos/:id/content', {
    gate: 'caller',
    scope: 'video',
    summary: 'The finished video, in whole or in part (`Range`).',
    query: Type.Object({ variant: text(), index: text() }),
    answer: content,
  }),
  route('POST', '/v1/videos/:id/remix', {
    gate: 'caller',
    scope: 'video',
    summary: 'Generates a video again with another prompt, if its model supports that.',
    begins: () => openaiVideos.name,
    answer: remix,
  }),
  startRoute('/v1/video/generations', videoGenerations, FORM),
  progressRoute('/v1/video/generations', videoGenerations, URL_WHEN_FINISHED),
  ...['/vendor-a', '/kling'].flatMap((prefix) =>
    ['text2video', 'image2video'].flatMap((kind) => klingRoutes(prefix, kind)),
  ),
  ...['/vendor-b', '/vendor-b/', '/jimeng', '/jimeng/'].map((path) =>
    route('POST', path, {
      gate: 'caller',
      scope: 'video',
      summary:
        '`Action=CVSync2AsyncSubmitTask` starts the generation of a video, `Action=CVSync2AsyncGetResult` shows its progress.',
      query: JimengQuery,
      begins: (target) => (target.includes(`Action=${JIMENG_START}`) ? jimengVideos.name : undefined),
      answer: answerJimeng,
    }),
  ),
];

function klingRoutes(prefix: string, kind: string): AnsweredRoute[] {
  const path = `${prefix}/v1/videos/${kind}`;
  const fromPath = { fromImage: kind === 'image2video' };
  return [
    startRoute(path, klingVideos, 'Starts the generation of a video with a Kling body.', fromPath),
    progressRoute(path, klingVideos, URL_WHEN_FINISHED),
  ];
}

function startRoute(path: string, format: VideoFormat, summary: string, fromPath?: FromPath): AnsweredRoute {
  const answer = (deps: HttpDeps, request: RouteRequest) => create(deps, request, format, fromPath);
  return route('POST', path, { gate: 'caller', scope: 'video', summary, answer, begins: () => format.name });
}

function progressRoute(path: string, format: VideoFormat, summary: string): AnsweredRoute {
  const answer = (deps: HttpDeps, request: RouteRequest) => show(deps, request, format);
  return route('GET', `${path}/:id`, { gate: 'caller', scope: 'video', summary, answer });
}

async function create(
  deps: HttpDeps,
  request: RouteRequest,
  format: VideoFormat,
  fromPath: FromPath = {},
): Promise<object> {
  return begin(deps, request, format, format.readAsk({ fields: await fieldsOf(request), ...fromPath }));
}

async function remix(deps: HttpDeps, request: RouteRequest): Promise<object> {
  const fields = await fieldsOf(request);
  const { id, ask } = await deps.videos.find(request.caller, request.path.id ?? '');
  return begin(deps, request, openaiVideos, { ...readRemix(fields, ask), remixOf: id });
}

async function fieldsOf({ read, headers }: RouteRequest): Promise<JsonObject> {
  return readMembers(await read(), headers.get('content-type') ?? '');
}

async function begin(deps: HttpDeps, request: RouteRequest, format: VideoFormat, ask: VideoCall): Promise<Response> {
  const { headers, caller, begun } = request;
  begun?.trace.asks(
    { model: ask.model, stream: false, ...(ask.user !== undefined && { user: ask.user }) },
    headers,
    true,
  );
  const idempotencyKey = headers.get('idempotency-key');
  const task = await deps.videos.create({
    caller,
    format: format.name,
    ask,
    headers,
    strict: headers.get('x-modelport-strict') === 'true',
    ...(idempotencyKey !== null && { idempotencyKey }),
    ...(begun && { held: (id) => begun.held(id) }),
  });
  const view = viewOf(deps, task, request);
  const reply = Response.json(format.writeCreated?.(view) ?? format.writeTask(view));
  if (task.warnings?.length) reply.headers.set('x-modelport-warnings', warningsHeader(task.warnings));
  return reply;
}

async function show(deps: HttpDeps, request: RouteRequest, format: VideoFormat): Promise<object> {
  return format.writeTask(viewOf(deps, await deps.videos.find(request.caller, request.path.id ?? ''), request));
}

const MOST_LISTED = 100;

async function list(
  deps: HttpDeps,
  request: RouteRequest<{ limit?: string; after?: string; order?: string }, unknown>,
): Promise<object> {
  const { limit: text = '20', after, order } = request.query;
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LISTED) {
    throw new GatewayError('invalid_request', `\`limit\` must be a whole number from 1 to ${MOST_LISTED}.`, {
      param: 'limit',
    });
  }
  const page = { limit: limit + 1, oldestFirst: order === 'asc', ...(after !== undefined && { after }) };
  const tasks = await deps.videos.list(request.caller, page);
  const data = tasks.slice(0, limit).map((task) => openaiVideos.writeTask(viewOf(deps, task, request)));
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: tasks.length > limit,
  };
}

async function content(
  deps: HttpDeps,
  request: RouteRequest<{ variant?: string; index?: string }, unknown>,
): Promise<Response> {
  const { variant = 'video', index = '0' } = request.query;
  if (variant !== 'video') {
    throw new GatewayError('invalid_request', '`variant` must be `video`: nothing else is stored.', {
      param: 'variant',
    });
  }
  const task = await deps.videos.find(request.caller, request.path.id ?? '');
  if (task.state === 'failed')
    throw new GatewayError('not_found', `The video failed: ${task.error?.message ?? 'nothing was generated'}`);
  if (task.state !== 'completed')
    throw new GatewayError('not_found', 'The video is not finished yet: read its status until it is `completed`.');
  const output = task.outputs[Number(index)];
  if (!output && task.outputs.length > 0)
    throw new GatewayError(
      'invalid_request',
      `\`index\` must be a whole number from 0 to ${task.outputs.length - 1}.`,
      {
        param: 'index',
      },
    );
  if (!output || task.emptied) throw new GatewayError('not_found', 'The video has expired.');
  return fileReply(deps.files, output.file, output.mimeType, request.headers);
}

/** The query parameters Action and Version select the operation. */
async function answerJimeng(
  deps: HttpDeps,
  request: RouteRequest<{ Action?: string; Version?: string }, unknown>,
): Promise<object> {
  const { Action: action, Version: version } = request.query;
  if (!action) throw missing('Action', 'CVSync2AsyncSubmitTask or CVSync2AsyncGetResult');
  if (!version) throw missing('Version', 'such as 2022-08-31');
  if (action === JIMENG_START) return create(deps, request, jimengVideos);
  if (action !== 'CVSync2AsyncGetResult') throw missing('Action', 'CVSync2AsyncSubmitTask or CVSync2AsyncGetResult');
  const { task_id: id } = await fieldsOf(request);
  if (typeof id !== 'string')
    throw new GatewayError('invalid_request', '`task_id` must be the id of a task.', { param: 'task_id' });
  try {
    return jimengVideos.writeTask(viewOf(deps, await deps.videos.find(request.caller, id), request));
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.code === 'not_found') return NOT_FOUND;
    throw thrown;
  }
}

function missing(param: string, right: string): GatewayError {
  return new GatewayError('invalid_request', `The query must contain \`${param}\`: ${right}.`, { param });
}

/** URLs use the configured public URL, or else the host of the request. */
function viewOf({ settings }: HttpDeps, task: Task, { url }: RouteRequest): TaskView {
  const kept = task.state === 'completed' && !task.emptied;
  return {
    ...task,
    urls: kept
      ? task.outputs.map(({ file }) =>
          settings.publicUrl === undefined
            ? new URL(`/files/${file}`, url).href
            : `${settings.publicUrl}/files/${file}`,
        )
      : [],
  };
}
