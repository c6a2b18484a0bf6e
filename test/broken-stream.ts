/** Reads everything of a stream even if its connection breaks at the end, as some formats signal errors. */
export async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of body ?? []) chunks.push(chunk);
  } catch {
    // The text itself says that the stream failed.
  }
  return Buffer.concat(chunks).toString();
}
