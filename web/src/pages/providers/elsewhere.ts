/** Whether a base URL that is typed leads to another server than the stored one: the gateway does not send it the stored key. */
export function isElsewhere(typed: string, stored: string | undefined): boolean {
  // Without a stored one it is the type's own, which only the gateway knows.
  if (stored === undefined || typed === stored) return false;
  return !URL.canParse(typed) || !URL.canParse(stored) || new URL(typed).origin !== new URL(stored).origin;
}
