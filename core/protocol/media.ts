import type { Media } from '../sdk/api.ts'

/**
 * The types of parts that hold a picture, and of those that hold a file of any other kind, in all client protocols and in the dialects of
 * servers that speak OpenAI's. Sound as base64 (`input_audio`) is missing: its tokens are fewer than a quarter of its bytes.
 */
const TYPES = new Map<string, keyof Media>([
  ...(['image_url', 'input_image', 'image', 'image_file', 'computer_screenshot'] as const).map(
    (type) => [type, 'pictures'] as const,
  ),
  ...(['file', 'input_file', 'document', 'container_upload', 'video_url', 'input_video', 'video', 'audio_url'] as const).map(
    (type) => [type, 'files'] as const,
  ),
])

/** What a part of a type is; undefined: no medium. */
export const mediumOf = (type: string): keyof Media | undefined => TYPES.get(type)

/** Whether a type of this length, in bytes, with these first and last letters, may be one of a medium: most types are told apart by that. */
export const mayBeMedium = (length: number, first: number, last: number): boolean =>
  length < LENGTHS && (ENDS[(length << 5) | (first & 31)]! & (1 << (last & 31))) !== 0

const LENGTHS = 32
/** By length and first letter, the last letters as bits. */
const ENDS = new Uint32Array(LENGTHS << 5)
for (const type of TYPES.keys())
  ENDS[(type.length << 5) | (type.charCodeAt(0) & 31)]! |= 1 << (type.charCodeAt(type.length - 1) & 31)

/** A longer value is no type of a medium, in bytes: each of its letters may be an escape of six. */
export const MAX_TYPE = 6 * Math.max(...[...TYPES.keys()].map((type) => type.length))

/** The media of a body that has none. */
export const NO_MEDIA: Media = { pictures: 0, files: 0 }
