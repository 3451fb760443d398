/** Reads a body to its end, or until it breaks off or the client disconnects. */
export async function readText(reply: Response): Promise<string> {
  let text = ''
  try {
    for await (const piece of reply.body!.pipeThrough(new TextDecoderStream())) text += piece
  } catch {
    // A broken body is returned as far as it was received.
  }
  return text
}
