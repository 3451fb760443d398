import { Secret } from 'unified-model-gateway/plugin'
import type { Asked, MoreCalls, RequestsFixture } from 'unified-model-gateway/plugin/testing'

const user = (content: unknown) => ({ role: 'user', content })
const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const byId = (file_id: string) => ({ type: 'file', file: { file_id } })
const asks = (...parts: readonly unknown[]): Asked => ({ messages: [user(parts)] })

const EXTENSIONS = ['png', 'jpg', 'jpeg', 'webp', 'heic', 'heif', 'gif', 'pdf', 'txt', 'md', 'csv', 'html', 'wav', 'mp3', 'mp4']

/** Files that are not public: Google would read them with the rights of the gateway's key. */
const PRIVATE = [
  'gs://bucket/a.png',
  'https://user@pictures.example/a.png',
  'https://:password@pictures.example/a.png',
  'https://10.0.0.1/a.png',
  'https://[fd00::1]/a.png',
  'https://machine/a.png',
  'https://machine.internal/a.png',
  'https://machine.local./a.png',
  'https://generativelanguage.googleapis.com/v1beta/files/a',
]

/** Addresses of files. */
const ADDRESSES: Readonly<Record<string, Asked>> = {
  'addresses of files of each type': asks(...EXTENSIONS.map((extension) => byId(`https://files.example/a.${extension}`))),
  'addresses of an unknown type': asks(byId('https://files.example/a'), byId('https://files.example/a.xyz')),
  'addresses of images of an unknown type': asks(image('https://files.example/a'), image('https://files.example/a.xyz')),
  'addresses with a query and a fragment': asks(
    image('https://files.example/a.png?v=1.gif'),
    image('https://files.example/b.gif#c.d'),
  ),
  'a public address that ends in a dot': asks(image('http://files.example./a.png')),
  ...Object.fromEntries(PRIVATE.map((url) => [`the address ${url}`, asks(byId(url))])),
}

/** What models differ in. */
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
const MODELS = ['gemini-2.0-flash', 'gemini-2.5-pro', 'gemini-2.5-flash-lite', 'gemini-3-pro', 'gemini-3-flash', 'unlisted']
const REASONING: Readonly<Record<string, Asked>> = Object.fromEntries(
  MODELS.flatMap((model) => EFFORTS.map((effort) => [`the effort ${effort}, of ${model}`, { model, reasoning_effort: effort }])),
)

const SAMPLING: Asked = { temperature: 0.5, top_p: 0.5, frequency_penalty: 0.5, presence_penalty: 0.5 }
const IDLE: Asked = { temperature: 1, top_p: 1, frequency_penalty: 0, presence_penalty: 0 }
const tools = [{ type: 'function', function: { name: 'look' } }]
const json: Asked = { response_format: { type: 'json_object' } }

const DIFFERENCES: Readonly<Record<string, Asked>> = Object.fromEntries(
  ['gemini-2.0-flash', 'gemini-2.5-pro', 'gemini-3-pro', 'unlisted'].flatMap((model) => [
    [`sampling, of ${model}`, { model, ...SAMPLING }],
    [`sampling that changes nothing, of ${model}`, { model, ...IDLE }],
    [`two choices, of ${model}`, { model, n: 2 }],
    [`eight choices, of ${model}`, { model, n: 8 }],
    [`nine choices, of ${model}`, { model, n: 9 }],
    [`JSON beside a tool, of ${model}`, { model, tools, ...json }],
    [`JSON beside a tool that is to be called, of ${model}`, { model, tools, tool_choice: 'required', ...json }],
    [`calls with signatures, of ${model}`, { model, ...called(undefined, 'c2lnbmVk') }],
    [`calls without signatures, of ${model}`, { model, ...called('', 7, undefined) }],
  ]),
)

/** Calls of tools, with what a client keeps of the thoughts before each. */
function called(...signatures: readonly unknown[]): Asked {
  const calls = signatures.map((thought_signature, index) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name: 'look', arguments: '{}' },
    extra_content: index === 2 ? 'nothing' : { google: { thought_signature } },
  }))
  const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Rain.' }))
  return { messages: [user('Hello'), { role: 'assistant', tool_calls: calls }, ...results, user('And there?')], tools }
}

/** Chat completion requests to Gemini, by title. */
export const ASKED: Readonly<Record<string, Asked>> = {
  ...ADDRESSES,
  ...REASONING,
  ...DIFFERENCES,
  'a model by the name of its resource': { model: 'models/gemini-2.5-pro' },
  'a model whose name would change the address': { model: 'gemini-2.5-pro/../x' },
  'a signature of the second of two calls': called('', 'c2lnbmVk'),
  'marked tools': { tools: [{ ...tools[0], cache_control: { type: 'ephemeral' } }] },
}

const PICTURE = 'data:image/png;base64,iVBORw0KGgo='
const model = 'gemini-2.5-flash-image'
const pictures = (image_url: unknown): Asked => ({ model, image: undefined, images: [{ image_url: PICTURE }, { image_url }] })
const file = (name: string, size = 3) => new File([Buffer.alloc(size, 'a')], name, { type: 'image/png' })

const SIZES = [
  'auto',
  '512x512',
  '1024x1792',
  '1792x1024',
  '1793x1024',
  '1024x3584',
  '3584x3584',
  '3585x3584',
  '2100x900',
  '99999x10',
  '100',
]

/** Requests for pictures, of this model and others. */
export const IMAGES = {
  'images.generations': {
    'of a model that writes text': { model: 'gemini-2.5-flash' },
    'of a model that writes text, by its name alone': { model: 'gemini-2.5-flash-imagery' },
    ...Object.fromEntries(SIZES.map((size) => [`of the size ${size}`, { model, size }])),
    'of no size': { model, size: null },
    ...Object.fromEntries(
      ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'].map((ratio) => [
        `of about ${ratio}`,
        {
          model,
          size: ratio
            .split(':')
            .map((side) => Number(side) * 80 + 1)
            .join('x'),
        },
      ]),
    ),
    'one by one': { model, n: 1, response_format: 'b64_json' },
    'two at once': { model, n: 2 },
    'by address': { model, response_format: 'url' },
    'in a stream': { model, stream: true, partial_images: 1 },
    'with settings that Gemini does not have': {
      model,
      quality: 'low',
      style: 'vivid',
      moderation: 'low',
      background: 'opaque',
      output_format: 'png',
      output_compression: 50,
      user: 'user-1',
    },
  },
  'images.edits': {
    'of a form': { model },
    'of a form with several files': { model, 'image[]': file('b.png') },
    'of a form with only a list of files': { model, image: 'no file', 'image[]': file('b.png') },
    'of a form without pictures': { model, image: 'no file', other: file('b.png') },
    'of a form with too much': { model, image: file('a.png', (8 << 20) + 1) },
    'of a form with as much as possible in two files': { model, image: file('a.png', 8 << 20), 'image[]': file('b.png', 1) },
    'of a form with a mask': { model, mask: file('m.png') },
    'of a form, in a size': { model, size: '1536x1024', input_fidelity: 'high' },
    'of pictures in JSON': pictures(PICTURE),
    'of a JPEG in JSON': pictures('data:image/jpeg;base64,/9j/'),
    'of the address of a picture': pictures('https://pictures.example/a.png'),
    'of no picture': pictures(undefined),
    'of an empty list': { model, image: undefined, images: [] },
    'of no list': { model, image: undefined },
  },
} satisfies MoreCalls['endpoints']

/** Requests to other endpoints. */
export const ENDPOINTS: MoreCalls['endpoints'] = {
  ...IMAGES,
  embeddings: {
    'in base64, for a user': { model: 'gemini-embedding-001', encoding_format: 'base64', user: 'user-1' },
    'of a model by the name of its resource': { model: 'models/gemini-embedding-001', dimensions: null },
    'of tokens': { model: 'gemini-embedding-001', input: [1, 2] },
    'of a model whose name would change the address': { model: 'a/../b' },
  },
}

const apiKey = new Secret('AIza-canary-31c9')
const others: MoreCalls = {
  asked: { 'a streamed text': { stream: true }, 'a text with a tool': { tools } },
  endpoints: { embeddings: { 'of a text': {} }, 'images.generations': { 'of a fox': { model } } },
}

/** Configurations of the provider. */
export const CONFIGURED: RequestsFixture['configured'] = {
  "at Google's own address": { config: { apiKey }, ...others },
  'at the address of a proxy': { config: { apiKey, baseUrl: 'https://proxy.example/google/' }, ...others },
  'at the address of another version': { config: { apiKey, baseUrl: 'https://proxy.example/v1' }, ...others },
  'with addresses that are allowed': {
    config: { apiKey, addresses: ['gs://our-pictures/*', 'https://machine/*'] },
    asked: {
      'a file in our bucket': asks(image('gs://our-pictures/a.png')),
      'a file of our machine': asks(byId('https://machine/a.pdf')),
      'a file in another bucket': asks(image('gs://other-pictures/a.png')),
    },
  },
  'at the address of an endpoint': { config: { apiKey, baseUrl: 'https://proxy.example/v1beta/models' } },
  'at no address': { config: { apiKey, baseUrl: 'http://' } },
}
