/** Names of provider settings that are secrets. */
export const SECRET_SETTING = /secret|password|(session|access|refresh)Token$/i;
