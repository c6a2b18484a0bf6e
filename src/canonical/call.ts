/** What a client asked for, free of any wire format. */
import type { ImageSize } from './image-size.ts';
import type { Json, JsonObject } from './json.ts';
import type { Upload } from './upload.ts';

export type Kind = 'chat' | 'embed' | 'rerank' | 'image' | 'speech' | 'transcription' | 'moderation' | 'video';

/** What every call carries. */
export interface Asked {
  /** The answer is wanted piece by piece. */
  stream: boolean;
  /** The stream is bare bytes: nothing can be told before, between or behind them, so one that breaks off is cut. */
  mute?: true;
  /** The public model name, letter case as the client wrote it. */
  model: string;
  /** The client's own bytes, kept for verbatim forwarding, and how it wants a stream cut where its format has two ways. */
  origin: {
    dialect: string;
    body: Uint8Array;
    framing?: 'sse' | 'json-array';
    /** Members deep in them that have no word here, by their path; they are looked for when somebody asks. */
    unsaid?: () => string[];
    /** What was left out of them so that each thing money hangs on is said once: a sentence each. */
    dropped?: readonly string[];
    /** The body is not one its dialect's providers take (a form, another shape): it is written anew for all of them. */
    foreign?: true;
  };
  /** Members that only one dialect can say, under that dialect's name; they reach a target of that dialect untouched. */
  extras: { [dialect: string]: JsonObject };
  /** Request headers that belong to the format (beta flags, versions), lower-cased. */
  headers: { [name: string]: string };
  /** When the call came, in seconds since 1970: dialects have no clock, and some replies carry a time their provider did not say. */
  receivedSeconds?: number;
  /** When its reply was complete, once it is. */
  completedSeconds?: number;
}

/** A conversation, or a text completion (then `completion` is present and `messages` holds the first prompt). */
export interface ChatCall extends Asked {
  kind: 'chat';
  messages: Message[];
  tools: Tool[];
  toolChoice?: ToolChoice;
  /** `false`: at most one tool call a turn. */
  parallelToolCalls?: boolean;
  sampling: Sampling;
  /** The ceiling asked for, reasoning included; also the ceiling of the quote. */
  maxOutputTokens?: number;
  /** What is held for where no ceiling was asked for: a format that has to say one says no more. */
  heldOutputTokens?: number;
  reasoning?: Reasoning;
  output?: OutputFormat;
  /** Kinds of output asked for; absent means text. */
  modalities?: Modality[];
  audio?: { voice: string; format: string };
  image?: { aspectRatio?: string; size?: string };
  /** The client asked for usage inside the stream (formats that always send it say `true`). */
  wantsUsage: boolean;
  /** The model draws: of usage its reply carries the three counts alone (docs/api.md#images-in-chat, docs/api.md#usage). */
  countsAlone?: true;
  /** The end user, as the caller names them. */
  user?: string;
  cacheKey?: string;
  serviceTier?: string;
  verbosity?: 'low' | 'medium' | 'high';
  metadata?: JsonObject;
  completion?: Completion;
  thread?: Thread;
  /** The messages are no longer those of the client's body: they are written anew for a target of the same format too. */
  isEdited?: boolean;
}

/** Texts to turn into vectors. */
export interface EmbedCall extends Asked {
  kind: 'embed';
  /** Texts, or token ids that only a model of the same format can read. */
  inputs: (string | number[])[];
  /** Images, audios and documents among them: the parts of each input as Google's format says them, and what they come to at most. */
  media?: { parts: JsonObject[][]; tokens: number };
  /** How the client wants its vectors: as numbers, or as base64 of little-endian float32. */
  encoding: 'float' | 'base64';
  /** Length of a vector, where the model offers several. */
  dimensions?: number;
  /** What the vectors are for, in Google's words (`RETRIEVAL_QUERY` …). */
  task?: string;
  /** Title of the document that is embedded. */
  title?: string;
  user?: string;
}

/** Documents to put in the order in which they answer a query. */
export interface RerankCall extends Asked {
  kind: 'rerank';
  query: string;
  documents: string[];
  /** How many of the best to return; absent: all. */
  topN?: number;
  returnDocuments: boolean;
  maxTokensPerDocument?: number;
}

export type ImageFormat = 'png' | 'jpeg' | 'webp' | 'gif' | 'svg';

/** Images to draw, or to change. */
export interface ImageCall extends Asked {
  kind: 'image';
  prompt: string;
  /** Images to work from, in order. */
  images: Image[];
  /** Where the first of them may change. */
  mask?: Image;
  /** The images given are to be changed; false: a new one is generated. */
  edit: boolean;
  /** How many. */
  n: number;
  size: ImageSize;
  quality?: string;
  style?: string;
  background?: string;
  negativePrompt?: string;
  seed?: number;
  format?: ImageFormat;
  /** Per cent. */
  compression?: number;
  /** How the client wants each image; absent: as the model gives it. */
  delivery?: 'url' | 'b64_json';
  /** Sketches of a stream before the image. */
  partialImages?: number;
  user?: string;
}

/** An image given to be changed; one that came as a file may stand outside memory. */
export type Image = Media | UploadedImage;

export interface UploadedImage extends Omit<Media, 'source'> {
  source: { type: 'upload'; upload: Upload };
}

/** A text to be spoken. */
export interface SpeechCall extends Asked {
  kind: 'speech';
  input: string;
  voice?: string;
  instructions?: string;
  /** Absent: as the provider has it. */
  format?: string;
  speed?: number;
  /** The audio is wanted in events, not bare. */
  asEvents: boolean;
}

/** AudioData to be written down, in its own language or in English. */
export interface TranscriptionCall extends Asked {
  kind: 'transcription';
  translate: boolean;
  file: { name: string; upload: Upload; mimeType?: string };
  /** As its bytes say: the likeliest, and the most it can be. */
  length: { seconds: number; mostSeconds: number };
  /** What else the form says, in order. */
  fields: readonly (readonly [name: string, value: string])[];
  format?: string;
}

/** Texts and images to be judged. */
export interface ModerationCall extends Asked {
  kind: 'moderation';
  /** The texts among them. */
  texts: string[];
}

export type Call = ChatCall | EmbedCall | RerankCall | ImageCall | SpeechCall | TranscriptionCall | ModerationCall;

/** What the server is asked to keep and to go on from: only formats whose server keeps conversations say it. */
export interface Thread {
  /** Keep the request and its reply. */
  store: boolean;
  /** The reply it goes on from, by its id. */
  previous?: string;
  /** Items named by their ids alone. */
  references: string[];
  /** Where an item stands that only the provider which compacted the turns in it can read. */
  compacted?: string;
  /** What becomes of a conversation longer than the model's window: its oldest turns are left out, or it is refused. */
  truncation: 'auto' | 'disabled';
  /** The request's own items as the format says them. */
  items: JsonObject[];
  /** What was kept has been put before them. */
  isResumed?: boolean;
  /** Who is about to be asked: what others have proved is not for them. */
  maker?: string;
  /** The id under which the reply will be kept, and which it bears. */
  replyId?: string;
}

export type Modality = 'text' | 'audio' | 'image';

/** What only text completions have. */
export interface Completion {
  /** One or several prompts, as text or as token ids; `n` choices each, flat: index = prompt x n + i. */
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
  /** Choices a prompt. */
  n?: number;
  logitBias?: { [token: string]: number };
  logprobs?: boolean;
  topLogprobs?: number;
}

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** How much to think, as an effort or a budget, and whether to show it. `effort: 'none'` switches thinking off. */
export interface Reasoning {
  effort?: Effort;
  budgetTokens?: number;
  /** The model decides how much (`adaptive`, a budget of -1). */
  adaptive?: boolean;
  /** How the thinking is shown: `none` hides it. */
  summary?: 'auto' | 'concise' | 'detailed' | 'none';
}

export type OutputFormat =
  | { type: 'json' }
  | { type: 'json-schema'; name: string; description?: string; schema: JsonObject; strict?: boolean };

/** The client's tools, and (`type: 'provider'`) those that run at the provider and that only `dialect` can name. */
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
  /** `maxUses`: how many searches are held for, where the client did not say. */
  | { type: 'web-search'; options: JsonObject; dialect: string; maxUses?: number }
  | { type: 'vendor'; dialect: string; item: JsonObject };

/** Where the client's format has groups of tools, a tool's name begins with that of its group. */
export interface ToolGroup {
  name: string;
  description?: string;
}

export type ToolChoice =
  | { type: 'auto' | 'none' | 'required' }
  | { type: 'tool'; name: string }
  | { type: 'allowed'; mode: 'auto' | 'required'; names: string[] }
  | { type: 'vendor'; dialect: string; item: JsonObject };

/** `developer` instructions are `system` ones: formats differ only in the word (`origin` keeps it). */
export interface Message {
  role: 'system' | 'user' | 'assistant' | 'tool';
  parts: Part[];
  name?: string;
  /** The word the client's format used where it is finer than the role (`developer`, `function`). */
  originRole?: string;
}

/** Mark after which a provider may cache the prompt. */
export interface CacheMark {
  ttl?: '5m' | '1h';
}

/** A provider's proof of its own output (signature, encrypted reasoning), handed back untouched and only to the provider it came from. */
export interface Seal {
  dialect: string;
  value: string;
  /** The item's id where the proof is bound to one. */
  id?: string;
  /** Who made it, where it is of use to nobody else who speaks the dialect. */
  maker?: string;
}

export type Part =
  | TextPart
  | MediaPart
  | ReasoningPart
  | ToolCallPart
  | ToolResultPart
  | { type: 'refusal'; text: string }
  /** A block that only `dialect` can say (a server tool's call or result …); others lose nothing where the call says it elsewhere. */
  | { type: 'vendor'; dialect: string; item: JsonObject; isSaidElsewhere?: boolean };

export interface TextPart {
  type: 'text';
  text: string;
  citations?: Citation[];
  cache?: CacheMark;
  seal?: Seal;
}

export interface MediaPart {
  type: 'media';
  media: Media;
  cache?: CacheMark;
  /** Some providers prove the images they made. */
  seal?: Seal;
}

/** Thinking. With an empty text and a seal it is hidden (redacted, encrypted). */
export interface ReasoningPart {
  type: 'reasoning';
  text: string;
  seal?: Seal;
  /** The text is a summary of the thinking, not the thinking. */
  summary?: boolean;
}

export interface ToolCallPart {
  type: 'tool-call';
  id: string;
  name: string;
  /** The arguments as the model wrote them: JSON text, or free text where `custom`. */
  input: string;
  custom?: boolean;
  /** The name of the tool's group, with which the name begins. */
  group?: string;
  seal?: Seal;
  cache?: CacheMark;
}

export interface ToolResultPart {
  type: 'tool-result';
  callId: string;
  /** The tool's name where the format says it. */
  name?: string;
  parts: Part[];
  failed: boolean;
  custom?: boolean;
  cache?: CacheMark;
}

export interface Media {
  kind: 'image' | 'audio' | 'document' | 'video';
  source: MediaSource;
  /** IANA media type where known. */
  mimeType?: string;
  name?: string;
  title?: string;
  context?: string;
  /** How closely to look at an image. */
  detail?: string;
  /** The client wants citations into this document. */
  cite?: boolean;
}

export type MediaSource =
  | { type: 'inline'; base64: string }
  | { type: 'text'; text: string }
  | { type: 'url'; url: string }
  /** A file at the provider, or an earlier output, named by an id that only `dialect` knows. */
  | { type: 'reference'; dialect: string; id: string };

/** Where a statement comes from. `start` and `end` are code points of the text part it stands in. */
export interface Citation {
  url?: string;
  title?: string;
  citedText?: string;
  start?: number;
  end?: number;
  /** The whole citation as `dialect` says it. */
  vendor?: { dialect: string; item: Json };
}
