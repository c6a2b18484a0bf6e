/** Google's paths have model and action in one segment, `{model}:{action}`, with or without a trailing slash. */
import { Type } from 'typebox';
import type { PathReading } from '../../route.ts';

export const GoogleQuery = Type.Object({
  alt: Type.Optional(Type.String({ description: '`sse` for server-sent events; otherwise a JSON array' })),
  key: Type.Optional(Type.String({ description: "a caller's key" })),
});

/** Hono's pattern for a name that may contain slashes, followed by the action. */
const CALL = ':call{.+}';
/** Both versions: the default of the official library changed from one to the other. */
const PREFIXES = ['/v1beta/models/', '/v1/models/'] as const;

/** The paths of the format and how each is parsed. `takes`: whether the route serves an action. */
export function googlePaths(
  shownAction: string,
  takes: (action: string) => boolean,
): { path: string; reading: PathReading }[] {
  return PREFIXES.map((prefix) => ({
    path: prefix + CALL,
    reading: {
      shown: `${prefix}{model}:${shownAction}`,
      read({ call = '' }) {
        const parsed = modelAndAction(call);
        return takes(parsed.action) ? parsed : undefined;
      },
    },
  }));
}

const ACTIONS = new Set('generateContent streamGenerateContent countTokens embedContent batchEmbedContents'.split(' '));

/** Paths that show a model. A path with an action supports only POST. */
export function modelPath(prefix: string): PathReading {
  return {
    shown: `${prefix}/{id}`,
    read: (found) => (ACTIONS.has(modelAndAction(found.id ?? '').action) ? undefined : { ...found }),
  };
}

/** A model's name may contain colons: the last one separates the action. */
function modelAndAction(call: string): { model: string; action: string } {
  const text = call.endsWith('/') ? call.slice(0, -1) : call;
  const colon = text.lastIndexOf(':');
  return colon < 0 ? { model: text, action: '' } : { model: text.slice(0, colon), action: text.slice(colon + 1) };
}
