import {
  type Call,
  defineCallFunction,
  dropped,
  invalidValue,
  isRecord,
  mapped,
  type ParameterSupport,
  readDataUrl,
  textOf,
  unsupportedParameter,
} from 'unified-model-gateway/plugin'
import type { Blob, Content } from './wire.ts'

/** The support of each field of a request for pictures. docs/providers/gemini.md is compared with it by a test. */
export const imageParameters: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('the address'),
  prompt: mapped('contents'),
  size: mapped('generationConfig.imageConfig'),
  response_format: mapped('the reply, which the gateway writes'),
  n: mapped('nothing: a call gives one picture'),
  quality: dropped,
  style: dropped,
  moderation: dropped,
  background: dropped,
  output_format: dropped,
  output_compression: dropped,
  partial_images: dropped,
  user: dropped,
}

/** The support of each field of a request to change pictures: the files of a form, or `images` of JSON. */
export const editParameters: Readonly<Record<string, ParameterSupport>> = {
  ...imageParameters,
  image: mapped('contents'),
  'image[]': mapped('contents'),
  images: mapped('contents'),
  mask: { support: 'refused', why: 'Say in the prompt which part is to be changed.' },
  input_fidelity: dropped,
}

/** The body of generateContent for a picture. */
export interface ImageRequest {
  readonly contents: readonly [Content]
  readonly generationConfig: {
    readonly responseModalities: readonly ['IMAGE']
    readonly imageConfig?: { readonly aspectRatio: string; readonly imageSize?: '2K' | '4K' }
  }
}

/** Whether a model writes pictures, by its name: gemini-2.5-flash-image, gemini-3-pro-image-preview. Imagen was shut down in 2026. */
export const writesImages = (model: string): boolean => /-image\b/.test(model)

/** The body of generateContent. `files`: the pictures of a form, which are to be changed. */
export const imageBody = defineCallFunction(import.meta.url, 'imageBody', (call, files: readonly Blob[]) =>
  Buffer.from(JSON.stringify(toImageRequest(call, files))),
)

/** Translates a request for a picture. Throws `GatewayError` (400) for what Gemini cannot honour. */
export function toImageRequest(call: Call, files: readonly Blob[]): ImageRequest {
  if (call.stream) throw unsupportedParameter('stream', 'Gemini sends pictures whole.')
  const count = Number(call.member('n') ?? 1)
  if (count > 1) throw unsupportedParameter('n', 'Gemini gives one picture a call: call it several times.')
  if (call.member('response_format') === 'url') {
    throw unsupportedParameter('response_format', 'Gemini stores no pictures: ask for `b64_json`.')
  }
  const isEdit = call.endpoint === 'images.edits' && files.length === 0
  const images = isEdit ? inlineImages(call.member('images')) : files
  const parts = [...images.map((inlineData) => ({ inlineData })), { text: textOf(call.member('prompt')) }]
  const imageConfig = toImageConfig(call.member('size'))
  return {
    contents: [{ role: 'user', parts }],
    generationConfig: { responseModalities: ['IMAGE'], ...(imageConfig && { imageConfig }) },
  }
}

/** The ratios of width to height that Gemini knows (@google/genai 3.1, `ImageConfig`; "Image generation", ai.google.dev). */
const RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'].map((name) => {
  const [width, height] = name.split(':').map(Number)
  return { name, value: width! / height! }
})

/** The longest sides, in pixels, up to which a picture has the size `1K`, the default, and `2K`. */
const LONGEST = { '1K': 1792, '2K': 3584 }

/** The nearest that Gemini has to a size in pixels: its pictures have a ratio and about a number of pixels. */
function toImageConfig(size: unknown): ImageRequest['generationConfig']['imageConfig'] {
  if (size == null || size === 'auto') return undefined
  const [, width, height] = /^(\d{2,5})x(\d{2,5})$/.exec(String(size)) ?? []
  if (width === undefined) throw invalidValue('size', "expected 'auto' or a size in pixels, such as 1536x1024")
  const wanted = Number(width) / Number(height)
  const distance = ({ value }: { readonly value: number }) => Math.abs(Math.log(value / wanted))
  const { name: aspectRatio } = RATIOS.reduce((best, each) => (distance(each) < distance(best) ? each : best))
  const longest = Math.max(Number(width), Number(height))
  if (longest <= LONGEST['1K']) return { aspectRatio }
  return { aspectRatio, imageSize: longest <= LONGEST['2K'] ? '2K' : '4K' }
}

/** Bytes of all files of a form: they are in memory until the request is sent. Google itself takes 20 MB in one piece. */
const MAX_FILES = 8 << 20

/** The pictures in the files of a form; none of another body. Throws `GatewayError` (400) for too large ones. */
export async function formImages(call: Call): Promise<readonly Blob[]> {
  if (call.files === undefined) return []
  const described = ['image', 'image[]'].flatMap((name) => call.member(name) ?? [])
  const size = described.reduce<number>((sum, file) => sum + (isRecord(file) ? Number(file.size) : 0), 0)
  if (size > MAX_FILES) throw invalidValue('image', `Gemini gets pictures of ${MAX_FILES >> 20} MiB in all`)
  const files = await call.files(['image', 'image[]'])
  if (files.length === 0) throw invalidValue('image', 'expected a file')
  return Promise.all(
    files.map(async (file) => ({ mimeType: file.type, data: Buffer.from(await file.bytes()).toString('base64') })),
  )
}

/** OpenAI's edits as JSON: `images: [{ image_url }]`. */
function inlineImages(images: unknown): readonly Blob[] {
  const all: readonly unknown[] = Array.isArray(images) ? images : []
  if (all.length === 0) throw invalidValue('images', 'expected a list of pictures')
  return all.map((image, index) => {
    const inline = isRecord(image) && typeof image.image_url === 'string' ? readDataUrl(image.image_url) : undefined
    if (inline?.mediaType) return { mimeType: inline.mediaType, data: inline.data }
    throw unsupportedParameter(`images[${index}]`, 'Send the picture itself as a data URL in `image_url`.')
  })
}

/** The headers of a request, whose body is JSON also where the client's is a form. */
export const imageHeaders = ({ headers }: Call) => ({ ...headers, 'content-type': 'application/json' })
