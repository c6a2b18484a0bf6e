/** A provider's deviations from an API format, as data. */
import type { Media } from '../../canonical/call.ts';
import type { ImageBounds } from '../../canonical/image-size.ts';
import type { Json } from '../../canonical/json.ts';

/**
 * What differs at one provider. What is absent has its value in `DEFAULTS`, or does not differ. Names: `supports…` what the
 * provider takes, `requires…` what it insists on, `returns…` how it answers, `max…` a limit.
 */
export interface Quirks
  extends MemberQuirks,
    ChatQuirks,
    ReplyQuirks,
    ImageQuirks,
    EmbeddingQuirks,
    SpeechQuirks,
    TranscriptionQuirks {
  /** The same for models whose upstream name matches `match` (a regular expression). Rows apply in order. */
  models?: readonly { match: string; quirks: Quirks }[];
}

/** The top-level members of any request. */
interface MemberQuirks {
  /** Members that the provider refuses. They are dropped, with a warning. */
  rejects?: readonly string[];
  /** Members for which the provider takes one value only. With any other value they are dropped, with a warning. */
  fixed?: { readonly [member: string]: Json };
  /** Members that the provider has under another name. */
  renames?: { readonly [member: string]: string };
}

/** Requests in conversations. */
interface ChatQuirks {
  /** Members of a message (`name` …) that the provider refuses. They are dropped, with a warning. */
  rejectsInMessages?: readonly string[];
  /** How the provider reports usage in a stream: on request (`stream_options`), always, or never. */
  streamUsage?: 'ask' | 'always' | 'never';
  /** Where the provider takes reasoning of earlier turns; absent: where the client has it. */
  reasoningField?: 'reasoning_content' | 'reasoning' | 'reasoning_details' | 'thinking-parts' | 'none';
  /** False: messages of the role `developer` are sent as `system`. */
  supportsDeveloperRole?: boolean;
  /** False: tools that take free text are sent as functions with one text. */
  supportsFreeTextTools?: boolean;
  /** The structured output that the provider can enforce; absent: all. */
  supportsStructuredOutput?: 'json-schema' | 'json' | 'none';
  /** The provider takes marks up to which it caches (`prompt_cache_breakpoint`). */
  supportsCacheBreakpoints?: true;
  /** Kinds of media that the provider fetches itself by URL; absent: those of its format. */
  supportsMediaUrls?: readonly Media['kind'][];
  /** False: schemas are sent in the subset of OpenAPI's, where the format has both. */
  supportsJsonSchema?: boolean;
  /**
   * The model continues a last message of the assistant. `marked`: if the message has `prefix: true`; `echo`: the same, and the reply
   * repeats the message first. Absent: it starts a new reply, or refuses.
   */
  supportsPrefill?: 'last' | 'marked' | 'echo';
  /** The form of tool call ids. Ids of another form are mapped. */
  requiresToolCallIds?: 'any' | 'nine-alphanumeric';
}

/** The usage in replies. */
interface ReplyQuirks {
  /** `completion_tokens` does not include the reasoning. */
  returnsReasoningBesideOutput?: boolean;
  /** The reasoning is in `total_tokens` alone: what that has beyond input and output is reasoning. */
  returnsReasoningInTotal?: boolean;
}

/** Images: requests to generate or edit them. */
interface ImageQuirks {
  /** False: the model only generates images, and requests with images to edit are refused. */
  supportsImageInput?: boolean;
  /** Sizes that the provider generates (`1024x1024`). Another one becomes the nearest; absent: any. */
  supportsImageSizes?: readonly string[];
  /** The same as limits. A size outside becomes the nearest one inside. */
  supportsImageBounds?: ImageBounds;
  /** Names of sizes (`2K`) that the provider takes instead of pixels. */
  supportsImageSizeNames?: readonly string[];
  /** The member `resolution`: the provider's names of resolutions by ours, besides the aspect ratio. */
  supportsImageResolutions?: { readonly [fineness: string]: string };
  /** A size must be named: without one in the call it is the first of `supportsImageSizes`. */
  requiresImageSize?: true;
  /** The size is sent as `width` and `height`. */
  requiresImageSides?: true;
  /** The size is sent as one of these aspect ratios. */
  requiresImageRatios?: readonly string[];
  /** The provider's word for base64, where it is not `b64_json`. */
  requiresBase64Word?: string;
  /** Images to edit are sent in a form, not in JSON; `files`: in either, and uploaded files in a form. */
  requiresEditForm?: true | 'files';
  /**
   * How JSON holds images to edit, where it is not as `images` of `{image_url}`: as `{type, url}`; as bare URLs; in `image`,
   * `image2` …; in a member for one of them; in a list of all.
   */
  requiresEditImages?: 'typed' | 'bare' | 'numbered' | 'image_url' | 'reference_images';
  /** Images in one call. Larger calls are split. */
  maxImagesPerCall?: number;
}

interface EmbeddingQuirks {
  /** False: the provider returns vectors as numbers only. */
  supportsEncodingFormat?: boolean;
  /** Base64 holds integers from -128 to 127, not float32. */
  returnsInt8Vectors?: true;
  /** Texts in one call. Larger calls are split. */
  maxInputsPerCall?: number;
}

interface SpeechQuirks {
  /**
   * Whether the provider sends speech as events: they carry what it cost (`priced`), it has none (`never`), or it has them
   * where `stream` is set (`stream`). Absent: the client's setting is sent.
   */
  supportsSpeechEvents?: 'priced' | 'never' | 'stream';
  /** Raw samples are float32, not 16-bit integers. */
  returnsFloatSamples?: true;
}

interface TranscriptionQuirks {
  /** The provider returns transcripts as JSON only, of timed segments or of one text. Other formats are made from it. */
  transcripts?: 'segments' | 'text';
}

/** The values of quirks that are absent. */
const DEFAULTS = {
  streamUsage: 'ask',
  supportsDeveloperRole: true,
  supportsFreeTextTools: true,
  supportsJsonSchema: true,
  supportsImageInput: true,
  supportsEncodingFormat: true,
  requiresToolCallIds: 'any',
  requiresBase64Word: 'b64_json',
  maxImagesPerCall: Number.POSITIVE_INFINITY,
  maxInputsPerCall: Number.POSITIVE_INFINITY,
} as const satisfies Quirks;

/** The quirks of one upstream model, defaults included. */
export type ModelQuirks = Omit<Quirks, 'models' | keyof typeof DEFAULTS> &
  Required<Pick<Quirks, keyof typeof DEFAULTS>> & {
    /** Marks them as complete. */
    readonly isComplete: true;
  };

const remembered = new WeakMap<Quirks, Map<string, ModelQuirks>>();
// Upstream names come from the configuration, so there are few. The limit guards against names that are made up.
const MAX_REMEMBERED_MODELS = 1000;

/** The quirks of this upstream model: the defaults, the provider's, then each row that matches the model's name. */
export function quirksOf(quirks: Quirks | ModelQuirks, model: string): ModelQuirks {
  if ('isComplete' in quirks) return quirks;
  let byModel = remembered.get(quirks);
  if (!byModel) {
    byModel = new Map();
    remembered.set(quirks, byModel);
  }
  let found = byModel.get(model);
  if (!found) {
    found = resolve(quirks, model);
    if (byModel.size < MAX_REMEMBERED_MODELS) byModel.set(model, found);
  }
  return found;
}

function resolve({ models = [], ...own }: Quirks, model: string): ModelQuirks {
  const rows = models.filter((row) => new RegExp(row.match).test(model));
  return { ...DEFAULTS, ...rows.reduce((sum, row) => merge(sum, row.quirks), own), isComplete: true };
}

function merge(a: Quirks, b: Quirks): Quirks {
  return {
    ...a,
    ...b,
    rejects: [...new Set([...(a.rejects ?? []), ...(b.rejects ?? [])])],
    rejectsInMessages: [...(a.rejectsInMessages ?? []), ...(b.rejectsInMessages ?? [])],
    fixed: { ...a.fixed, ...b.fixed },
    renames: { ...a.renames, ...b.renames },
  };
}
