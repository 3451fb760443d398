/** All that comes of a reply's body, however it ends: a stream may break off, or be left. */
export async function readText(reply: Response): Promise<string> {
  let text = ''
  try {
    for await (const piece of reply.body!.pipeThrough(new TextDecoderStream())) text += piece
  } catch {
    // What has come is all there is.
  }
  return text
}
