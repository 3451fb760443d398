import { event, openaiReply } from 'unified-model-gateway/plugin/testing'

type Says = Parameters<typeof openaiReply>[0]

const SAFE = { hate: { filtered: false, severity: 'safe' }, self_harm: { filtered: false, severity: 'safe' } }

/** The results of Azure's filters for a prompt. */
export const FINDINGS = [
  { prompt_index: 0, content_filter_results: { ...SAFE, jailbreak: { filtered: false, detected: false } } },
]

/** The first event of a stream: it has no choice, no id and no model. */
export const FIRST = event({ choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: FINDINGS })

/** A reply of Azure OpenAI, whole and as the events of its stream: OpenAI's with the filters' results. `count` as of `openaiReply`. */
export function azureReply(says: Says, count?: number) {
  const { whole, stream } = openaiReply(says, count)
  const choices = whole.choices.map((choice) => ({ ...choice, content_filter_results: SAFE }))
  return { whole: { ...whole, choices, prompt_filter_results: FINDINGS }, stream: [FIRST, ...stream] }
}

/** An error reply of Azure. */
export const failure = (status: number, code: string, message: string, more: object = {}) => ({
  status,
  body: { error: { code, message, ...more } },
})

/** The refusal of a filtered prompt. */
export const BLOCKED = failure(
  400,
  'content_filter',
  "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
  {
    type: null,
    param: 'prompt',
    status: 400,
    innererror: {
      code: 'ResponsibleAIPolicyViolation',
      content_filter_result: { ...SAFE, violence: { filtered: true, severity: 'medium' } },
    },
  },
)
