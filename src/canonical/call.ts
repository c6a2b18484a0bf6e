/** A client's request, independent of any wire format. */
import type { ImageSize } from './image-size.ts';
import type { Json, JsonObject } from './json.ts';
import type { Upload } from './upload.ts';

export type Kind = 'chat' | 'embed' | 'rerank' | 'image' | 'speech' | 'transcription' | 'moderation' | 'video';

/** Members of every call. */
export interface BaseCall {
  /** The client requested a stream. */
  stream: boolean;
  /** The stream has only raw bytes and no place for an error, so a failing stream is cut. */
  mute?: true;
  /** The public model name, in the client's letter case. */
  model: string;
  /** The client's body, kept for verbatim forwarding, and details of how it was sent. */
  origin: {
    dialect: string;
    body: Uint8Array;
    /** The size of the body, once it was released. */
    bodyBytes?: number;
    framing?: 'sse' | 'json-array';
    /** Paths of nested members that this type cannot express. Computed on request. */
    unsaid?: (() => string[]) | undefined;
    /** The call's messages, if each is one text and nothing else. A changed call has others. */
    plainTurns?: readonly Message[];
    /** What was removed from the body so that each billed member occurs once, one sentence each. */
    dropped?: readonly string[];
    /** No provider of this dialect accepts the body as it is (such as a multipart form), so it is always written anew. */
    foreign?: true;
  };
  /** Members that only one dialect has, by that dialect's name. They are sent unchanged to targets of that dialect. */
  extras: { readonly [dialect: string]: JsonObject };
  /** Request headers that belong to the format (beta flags, versions), with lower-case names. */
  headers: { readonly [name: string]: string };
  /** What the caller wishes of the hosts behind a provider that understands it, bounded by the model's price. */
  hostWishes?: JsonObject;
  /**
   * When the call was received, in seconds since 1970. Dialects have no clock, and some replies need a time that the provider did not send.
   */
  receivedSeconds?: number;
  /** When the reply was complete. */
  completedSeconds?: number;
}

/** A conversation, or a text completion: then `completion` is set and `messages` contains the first prompt. */
export interface ChatCall extends BaseCall {
  kind: 'chat';
  messages: Message[];
  tools: readonly Tool[];
  toolChoice?: ToolChoice;
  /** `false`: at most one tool call per turn. */
  parallelToolCalls?: boolean;
  sampling: Sampling;
  /** The requested limit of output tokens, reasoning included. Also the basis of the hold. */
  maxOutputTokens?: number;
  /** The limit that is held for if none was requested. A format that requires a limit gets at most this. */
  heldOutputTokens?: number;
  reasoning?: Reasoning;
  output?: OutputFormat;
  /** Requested kinds of output. Absent: text. */
  modalities?: Modality[];
  audio?: { voice: string; format: string };
  image?: { aspectRatio?: string; size?: string };
  /** The client requested usage in the stream; always true for formats that send it anyway. */
  wantsUsage: boolean;
  /** For image models: the usage has only three counts (docs/api.md#images-in-chat, docs/api.md#usage). */
  countsAlone?: true;
  /** The end user, as named by the caller. */
  user?: string;
  cacheKey?: string;
  serviceTier?: string;
  verbosity?: 'low' | 'medium' | 'high';
  metadata?: JsonObject;
  completion?: Completion;
  thread?: Thread;
  /** The messages differ from those in the client's body, so they are written anew for targets of the same format too. */
  isEdited?: boolean;
  /** The last message is the beginning of the reply, which the model continues. */
  isPrefilled?: boolean;
}

/** Texts to compute embeddings of. */
export interface EmbedCall extends BaseCall {
  kind: 'embed';
  /** Texts, or token ids that only a model of the same format can read. */
  inputs: (string | number[])[];
  /** For inputs with images, audio or documents: the parts in Google's format, and the maximum of their tokens. */
  media?: { parts: JsonObject[][]; tokens: number };
  /** The encoding of the vectors: numbers, or base64 of little-endian float32. */
  encoding: 'float' | 'base64';
  /** The length of a vector, for models with several. */
  dimensions?: number;
  /** The purpose of the vectors, in Google's words (`RETRIEVAL_QUERY` …). */
  task?: string;
  /** The title of the embedded document. */
  title?: string;
  user?: string;
}

/** Documents to rank by relevance to a query. */
export interface RerankCall extends BaseCall {
  kind: 'rerank';
  query: string;
  documents: string[];
  /** How many of the best documents to return. Absent: all. */
  topN?: number;
  returnDocuments: boolean;
  maxTokensPerDocument?: number;
}

export type ImageFormat = 'png' | 'jpeg' | 'webp' | 'gif' | 'svg';

/** Images to generate or edit. */
export interface ImageCall extends BaseCall {
  kind: 'image';
  prompt: string;
  /** Input images, in order. */
  images: Image[];
  /** The area of the first image that may change. */
  mask?: Image;
  /** True: edit the input images. False: generate a new image. */
  edit: boolean;
  /** The number of images. */
  n: number;
  size: ImageSize;
  quality?: string;
  style?: string;
  background?: string;
  negativePrompt?: string;
  seed?: number;
  format?: ImageFormat;
  /** In percent. */
  compression?: number;
  /** How the client wants each image. Absent: as the provider returns it. */
  delivery?: 'url' | 'b64_json';
  /** The number of partial images in a stream. */
  partialImages?: number;
  user?: string;
}

/** An input image. An uploaded file may be on disk. */
export type Image = Media | UploadedImage;

export interface UploadedImage extends Omit<Media, 'source'> {
  source: { type: 'upload'; upload: Upload };
}

/** A text to convert to speech. */
export interface SpeechCall extends BaseCall {
  kind: 'speech';
  input: string;
  voice?: string;
  instructions?: string;
  /** Absent: the provider's default. */
  format?: string;
  speed?: number;
  /** Whether audio is sent in events instead of raw bytes. */
  asEvents: boolean;
}

/** Audio to transcribe, in its own language or translated to English. */
export interface TranscriptionCall extends BaseCall {
  kind: 'transcription';
  translate: boolean;
  file: { name: string; upload: Upload; mimeType?: string };
  /** Computed from the bytes: the most likely length, and the maximum. */
  length: { seconds: number; mostSeconds: number };
  /** The other fields of the form, in order. */
  fields: readonly (readonly [name: string, value: string])[];
  format?: string;
}

/** Texts and images to classify. */
export interface ModerationCall extends BaseCall {
  kind: 'moderation';
  /** The texts among the inputs. */
  texts: string[];
}

export type Call = ChatCall | EmbedCall | RerankCall | ImageCall | SpeechCall | TranscriptionCall | ModerationCall;

/** Stored conversations: what to store and what to continue. Only for formats whose server stores conversations. */
export interface Thread {
  /** Store the request and its reply. */
  store: boolean;
  /** The id of the reply to continue. */
  previous?: string;
  /** Items given only by their ids. */
  references: string[];
  /** The position of a compaction item, which only its provider can read. */
  compacted?: string;
  /** What to do with a conversation longer than the context window: drop the oldest turns, or refuse. */
  truncation: 'auto' | 'disabled';
  /** The request's own items in the client's format. */
  items: JsonObject[];
  /** The stored items have been inserted before them. */
  isResumed?: boolean;
  /** The provider about to be called: reasoning signatures of others are removed. */
  owner?: string;
  /** The id under which the reply is stored and which it contains. */
  replyId?: string;
}

export type Modality = 'text' | 'audio' | 'image';

/** Members of text completions only. */
export interface Completion {
  /** One or several prompts, as text or token ids. Each has `n` choices in one list: index = prompt x n + i. */
  prompts: (string | number[])[];
  suffix?: string;
  echo: boolean;
  bestOf?: number;
  /** How many likely tokens to list for each token. */
  logprobs?: number;
}

export interface Sampling {
  temperature?: number;
  topP?: number;
  topK?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  seed?: number;
  stop?: string[];
  /** Choices per prompt. */
  n?: number;
  logitBias?: { [token: string]: number };
  logprobs?: boolean;
  topLogprobs?: number;
}

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** How much to reason, as an effort or a budget, and whether to show it. `effort: 'none'` disables reasoning. */
export interface Reasoning {
  effort?: Effort;
  budgetTokens?: number;
  /** The model decides how much (`adaptive`, or a budget of -1). */
  adaptive?: boolean;
  /** How reasoning is shown: `none` hides it. */
  summary?: 'auto' | 'concise' | 'detailed' | 'none';
}

export type OutputFormat =
  | { type: 'json' }
  | { type: 'json-schema'; name: string; description?: string; schema: JsonObject; strict?: boolean };

/** The client's tools, and tools of the provider (`type: 'native'`), which only `dialect` can name. */
export type Tool =
  | {
      type: 'function';
      name: string;
      description?: string;
      parameters?: JsonObject;
      strict?: boolean;
      cache?: CacheMark;
      group?: ToolGroup;
    }
  | {
      type: 'custom';
      name: string;
      description?: string;
      format?: JsonObject;
      cache?: CacheMark;
      group?: ToolGroup;
    }
  /** `maxUses`: how many searches are held for if the client set no limit. */
  | { type: 'web-search'; options: JsonObject; dialect: string; maxUses?: number }
  | { type: 'native'; dialect: string; item: JsonObject };

/** A group of tools, for formats that have them. A tool's name starts with the name of its group. */
export interface ToolGroup {
  name: string;
  description?: string;
}

export type ToolChoice =
  | { type: 'auto' | 'none' | 'required' }
  | { type: 'tool'; name: string }
  | { type: 'allowed'; mode: 'auto' | 'required'; names: string[] }
  | { type: 'native'; dialect: string; item: JsonObject };

/** `developer` instructions have the role `system`: the formats use different words (`originRole` keeps the original). */
export interface Message {
  role: 'system' | 'user' | 'assistant' | 'tool';
  parts: Part[];
  name?: string;
  /** The client's word if it is more specific than the role (`developer`, `function`). */
  originRole?: string;
}

/** A provider may cache the prompt up to this position. */
export interface CacheMark {
  ttl?: '5m' | '1h';
}

/** A provider's signature of its own output (signature, encrypted reasoning), returned unchanged and only to the provider that made it. */
export interface ReasoningSignature {
  dialect: string;
  value: string;
  /** The id of the item, if the signature is bound to one. */
  id?: string;
  /** The provider that made it, if no other provider of this dialect can use it. */
  owner?: string;
}

export type Part =
  | TextPart
  | MediaPart
  | ReasoningPart
  | ToolCallPart
  | ToolResultPart
  | { type: 'refusal'; text: string }
  /**
   * A block that only `dialect` has (such as a provider tool's call or result). Other formats lose nothing if the call contains the same
   * elsewhere.
   */
  | { type: 'native'; dialect: string; item: JsonObject; isReadElsewhere?: boolean };

export interface TextPart {
  type: 'text';
  text: string;
  citations?: Citation[];
  cache?: CacheMark;
  signature?: ReasoningSignature;
}

export interface MediaPart {
  type: 'media';
  media: Media;
  cache?: CacheMark;
  /** Some providers sign the images they generate. */
  signature?: ReasoningSignature;
}

/** Reasoning. With an empty text and a signature it is hidden (redacted, encrypted). */
export interface ReasoningPart {
  type: 'reasoning';
  text: string;
  signature?: ReasoningSignature;
  /** The text is a summary of the reasoning. */
  summary?: boolean;
}

export interface ToolCallPart {
  type: 'tool-call';
  id: string;
  name: string;
  /** The arguments as the model wrote them: JSON text, or free text if `custom`. */
  input: string;
  custom?: boolean;
  /** The tool's group, whose name is the beginning of the tool's name. */
  group?: string;
  signature?: ReasoningSignature;
  cache?: CacheMark;
}

export interface ToolResultPart {
  type: 'tool-result';
  callId: string;
  /** The tool's name, if the format contains it. */
  name?: string;
  parts: Part[];
  failed: boolean;
  custom?: boolean;
  cache?: CacheMark;
}

export interface Media {
  kind: 'image' | 'audio' | 'document' | 'video';
  source: MediaSource;
  /** The IANA media type, if known. */
  mimeType?: string;
  name?: string;
  title?: string;
  context?: string;
  /** The resolution at which to read an image. */
  detail?: string;
  /** The client wants citations of this document. */
  cite?: boolean;
}

export type MediaSource =
  | { type: 'inline'; base64: string }
  | { type: 'text'; text: string }
  | { type: 'url'; url: string }
  /** A file at the provider or an earlier output, by an id that only `dialect` can use. */
  | { type: 'reference'; dialect: string; id: string };

/** The source of a statement. `start` and `end` are code points of its text part. */
export interface Citation {
  url?: string;
  title?: string;
  citedText?: string;
  start?: number;
  end?: number;
  /** The complete citation in the format of `dialect`. */
  native?: { dialect: string; item: Json };
}
