/** The variable that snippets read. Not `OPENAI_API_KEY`, which may hold a key of OpenAI. */
const VARIABLE = 'UMG_API_KEY'

/** The command that sets it. */
export const SET_KEY = `export ${VARIABLE}=sk-live-…`

/** Its value in a shell, which says what is missing rather than send a request without a key. */
export const KEY_OR_FAIL = `\${${VARIABLE}:?set it first: ${SET_KEY}}`
