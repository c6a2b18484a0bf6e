/** Google's paths, which say model and action in one: `{model}:{action}`, with or without a slash behind. */
import { Type } from 'typebox';
import type { PathReading } from '../../route.ts';

export const GoogleQuery = Type.Object({
  alt: Type.Optional(Type.String({ description: '`sse` for server-sent events; a JSON array otherwise' })),
  key: Type.Optional(Type.String({ description: "a caller's key" })),
});

/** The framework's pattern for a name that may hold slashes, and the action behind it. */
const CALL = ':call{.+}';
/** Both versions: the official library's default has changed from one to the other. */
const PREFIXES = ['/v1beta/models/', '/v1/models/'] as const;

/** Where the format stands, and how each path is read: `takes` says which actions. */
export function googlePaths(
  shownAction: string,
  takes: (action: string) => boolean,
): { path: string; reading: PathReading }[] {
  return PREFIXES.map((prefix) => ({
    path: prefix + CALL,
    reading: {
      shown: `${prefix}{model}:${shownAction}`,
      read({ call = '' }) {
        const said = modelAndAction(call);
        return takes(said.action) ? said : undefined;
      },
    },
  }));
}

const ACTIONS = new Set('generateContent streamGenerateContent countTokens embedContent batchEmbedContents'.split(' '));

/** The paths that show a model: those that name an action take POST alone. */
export function modelPath(prefix: string): PathReading {
  return {
    shown: `${prefix}/{id}`,
    read: (found) => (ACTIONS.has(modelAndAction(found.id ?? '').action) ? undefined : { ...found }),
  };
}

/** A model's name may hold colons too: the last one counts. */
function modelAndAction(call: string): { model: string; action: string } {
  const text = call.endsWith('/') ? call.slice(0, -1) : call;
  const colon = text.lastIndexOf(':');
  return colon < 0 ? { model: text, action: '' } : { model: text.slice(0, colon), action: text.slice(colon + 1) };
}
