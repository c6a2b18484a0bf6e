/** Settings of providers that are credentials by another name. */
export const SECRET_SETTING = /secret|password|(session|access|refresh)Token$/i;
