/** Small values used in requests and replies. */

export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
export const PDF = 'JVBERi0xLjQKJSVFT0YK';
export const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
export const HIDDEN = { idle: 'how a stream is padded, which ours is not' };
export const STORED = { idle: 'what a provider keeps: a translated call is kept nowhere' };
