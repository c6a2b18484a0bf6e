/** All operations of the OpenAPI document, by method and path. */
import { ACCOUNT_OPERATIONS } from './account-operations.ts';
import { CHAT_OPERATIONS } from './chat-operations.ts';
import { MEDIA_OPERATIONS } from './media-operations.ts';
import type { Operations } from './operation.ts';

export const OPERATIONS: Operations = { ...CHAT_OPERATIONS, ...MEDIA_OPERATIONS, ...ACCOUNT_OPERATIONS };
