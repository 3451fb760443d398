import { type Static, Type } from 'typebox'
import { secret } from '../../sdk/secrets.ts'
import { BUDGET, BUDGET_EXAMPLES } from '../../text/budgets.ts'
import { defaulted } from './fields.ts'

const oneBudget = Type.String({ title: 'a budget', pattern: BUDGET, examples: BUDGET_EXAMPLES })

/** The budgets of a key: one, or several of different units. */
export const budgetField = (description: string) =>
  Type.Unsafe<string | readonly string[]>({
    title: 'a budget or a list of budgets',
    type: ['string', 'array'],
    if: { type: 'string' },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's keyword
    then: oneBudget,
    else: Type.Array(oneBudget, { minItems: 1 }),
    description,
    examples: [BUDGET_EXAMPLES[0]!, BUDGET_EXAMPLES],
  })

const webhook = Type.Object({
  url: Type.String({
    title: 'an http or https address',
    pattern: '^https?://[^\\s]+$',
    description: 'Where messages are posted.',
    examples: ['https://hooks.example.com/umg'],
  }),
  secret: Type.Unsafe<Static<ReturnType<typeof secret>>>({
    ...secret({ description: 'Signs the messages, as Standard Webhooks says: `whsec_` and 24 to 64 bytes in base64.' }),
    title: '"whsec_" and 24 to 64 bytes in base64',
    examples: [`\${env:UMG_WEBHOOK_SECRET}`],
    pattern: '^whsec_[A-Za-z0-9+/]{32,86}={0,2}$',
  }),
})

/** What holds for the budgets of all keys and accounts. */
export const budgets = Type.Object(
  {
    timeZone: defaulted(
      Type.String({
        title: 'a time zone',
        format: 'time-zone',
        default: 'UTC',
        description: 'Where days, weeks and months begin and end; a week begins on Monday.',
        examples: ['Europe/Berlin', 'UTC'],
      }),
    ),
    alerts: defaulted(
      Type.Array(Type.Integer({ minimum: 1, maximum: 1000 }), {
        uniqueItems: true,
        default: [50, 80, 100],
        description: 'The parts of a budget, in per cent, at which an alert is sent. Absent: 50, 80 and 100.',
        examples: [[50, 80, 100]],
      }),
    ),
    webhooks: defaulted(
      Type.Array(webhook, { default: [], description: 'Who gets a message, in addition to the log and the audit trail.' }),
    ),
    onOutage: defaulted(
      Type.Enum(['serve', 'refuse'], {
        default: 'refuse',
        description:
          'While the counters that all processes share do not answer: `refuse` answers 503 to calls that need more than the lease of their process; `serve` serves some of them, at most a tenth of each budget in all.',
      }),
    ),
  },
  { default: {}, description: 'What holds for the budgets of all keys and accounts.' },
)

/** The validated value of `budgets`. */
export type BudgetsValues = Static<typeof budgets>
