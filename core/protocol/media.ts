import type { Media } from '../sdk/api.ts'

/**
 * The types of parts that hold a picture, and of those that hold a file of any other kind, in all client protocols and in the dialects of
 * servers that speak OpenAI's. Sound as base64 (`input_audio`) is missing: its tokens are fewer than a quarter of its bytes.
 */
const PICTURES = ['image_url', 'input_image', 'image', 'image_file', 'computer_screenshot']
const FILES = ['file', 'input_file', 'document', 'container_upload', 'video_url', 'input_video', 'video', 'audio_url']

/**
 * A text that is the whole value of a member: in a longer text its quotes would be escaped, and after a key there is a colon. Encoders do not
 * write letters as escapes, U+0040 to U+007F: each that there is may hide a type.
 */
const TYPES = new RegExp(`"(?:(${PICTURES.join('|')})|(${FILES.join('|')}))"\\s*[,}]|\\\\u00[4-7]`, 'g')

/** What a JSON body has of media at most. Text that only looks like the type of a part counts too. */
export function mediaIn(bytes: Buffer): Media {
  let pictures = 0
  let files = 0
  for (const [, picture, file] of bytes.toString('latin1').matchAll(TYPES)) {
    // An escape may hide either.
    if (file === undefined) pictures++
    if (picture === undefined) files++
  }
  return { pictures, files }
}
