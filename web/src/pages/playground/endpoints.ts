/** The endpoints of the playground, and what the form of each gets. */
export const ENDPOINTS = ['chat', 'images', 'speech', 'transcription', 'embeddings', 'rerank', 'video'] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** What both kinds of playground need. */
export interface Frame {
  endpoint: Endpoint;
  setEndpoint: (endpoint: Endpoint) => void;
  /** The id of the playground's key, until it is known undefined. */
  playgroundKey: string | undefined;
  models: readonly string[];
  /** Whether the models are known. */
  hasModels: boolean;
  account: string | undefined;
  accounts: readonly { id: string; name: string; available?: string }[];
  setAccount: (id: string) => void;
}
