/** The text without NUL and half characters: Postgres refuses them, and with them the whole statement; SQLite would change them. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '');
