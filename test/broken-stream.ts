/** All that came of a stream, though the connection may break behind it: so ends a broken one in some formats. */
export async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of body ?? []) chunks.push(chunk);
  } catch {
    // It says in its last words that it broke off.
  }
  return Buffer.concat(chunks).toString();
}
