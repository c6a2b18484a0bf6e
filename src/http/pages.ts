/** The built files of the console's pages: read once, kept in memory, and sent with a strict policy. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Pages {
  /** The file of this path below `/console/`, or the page itself, which knows its own addresses. */
  answer(path: string, headers: Pick<Headers, 'get'>): Promise<Response>;
}

interface PageFile {
  bytes: Uint8Array<ArrayBuffer>;
  zipped(): Uint8Array<ArrayBuffer>;
  type: string;
}

const TYPES: { readonly [end: string]: string } = {
  html: 'text/html;charset=utf-8',
  js: 'text/javascript;charset=utf-8',
  css: 'text/css;charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  woff2: 'font/woff2',
};

const PAGE = 'index.html';

/** No script, style or request of another origin, nothing inline, and no frame around it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const GUARDS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

/** `folder`: where the built files are; `source`: the page to build them from if there is no such folder. */
export function createPages({ folder, source }: { folder: string; source: string }): Pages {
  let files: Promise<ReadonlyMap<string, PageFile>> | undefined;
  return {
    async answer(path, headers) {
      files ??= existsSync(join(folder, PAGE)) ? Promise.resolve(readFiles(folder)) : buildFiles(source);
      const known = await files;
      const isFile = known.has(path) && path !== PAGE;
      const file = known.get(isFile ? path : PAGE);
      // A browser that has an old page asks for files of an old build: it must not take the page for one of them.
      if (!file || (!isFile && /\.(js|css)$/.test(path))) return Response.json(MISSING, { status: 404 });
      // Names of files contain a hash of their content.
      const caching = isFile ? 'public, max-age=31536000, immutable' : 'no-cache';
      const isZipped = /\bgzip\b/.test(headers.get('accept-encoding') ?? '');
      return new Response(isZipped ? file.zipped() : file.bytes, {
        headers: {
          ...GUARDS,
          'content-type': file.type,
          'cache-control': caching,
          vary: 'accept-encoding',
          ...(isZipped && { 'content-encoding': 'gzip' }),
        },
      });
    },
  };
}

const MISSING = {
  error: {
    message: 'The pages of the console have no such file.',
    type: 'not_found_error',
    param: null,
    code: 'not_found',
  },
};

function pageFile(name: string, bytes: Uint8Array<ArrayBuffer>): PageFile {
  let zipped: Uint8Array<ArrayBuffer> | undefined;
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  return {
    bytes,
    // Done when the file is first asked for: this level takes longer than zlib's and makes scripts 5 % smaller.
    zipped: () => (zipped ??= Bun.gzipSync(bytes, { library: 'libdeflate', level: 10 })),
    type,
  };
}

/** The built files by name. */
function readFiles(folder: string): ReadonlyMap<string, PageFile> {
  const names = readdirSync(folder).filter((name) => name.includes('.'));
  return new Map(names.map((name) => [name, pageFile(name, new Uint8Array(readFileSync(join(folder, name))))]));
}

/** In a clone whose launcher has not built them. */
async function buildFiles(source: string): Promise<ReadonlyMap<string, PageFile>> {
  if (!existsSync(source)) return new Map();
  const { outputs } = await Bun.build({
    entrypoints: [source],
    minify: true,
    splitting: true,
    publicPath: '/console/',
    // Without it React's development build is taken, which is twice as large.
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const named = await Promise.all(
    outputs.map(
      async (output) => [output.path.replace(/^.*[\\/]/, ''), new Uint8Array(await output.arrayBuffer())] as const,
    ),
  );
  return new Map(named.map(([name, bytes]) => [name, pageFile(name, bytes)]));
}
