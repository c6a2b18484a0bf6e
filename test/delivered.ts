/** What came of a reply until it ended or its connection was broken off: formats without words for a failure break off. */
export async function deliveredText(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
      text += decoder.decode(piece.value, { stream: true });
    }
  } catch {
    // The connection was broken off: what came before is what the client has.
  }
  return text;
}
